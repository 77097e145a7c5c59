// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// apart has a pod keep apart from others of its workload, by nodes.
func apart(p *corev1.Pod) {
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}

// To mend, a drain evicts the pods that break rules and no others, to nodes in use; at the end all nodes are open, and
// what is mended and left is what was read then. What it can't bring kube-scheduler to do it says, and evicts no pod.
func TestDrainMends(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change  func(d *madeUp)
		bars    func(p *corev1.Pod, node string) bool
		evicted int
		says    string
		log     string
	}{
		"three on one node": {evicted: 2, says: "mended: 1 broken rule (apart shop/fw 1); left: nothing"},
		"one that can't move": {change: func(d *madeUp) {
			d.pod("bare", "bare", "", "n2", func(p *corev1.Pod) {
				p.OwnerReferences, p.Spec.NodeSelector = nil, map[string]string{"kubernetes.io/hostname": "n3"}
			})
		}, evicted: 2, says: "mended: 1 broken rule (apart shop/fw 1); left: 1 pod where its workload may not be"},
		"pods that take cordoned nodes": {change: func(d *madeUp) {
			for _, x := range d.items {
				if p, ok := x.(*corev1.Pod); ok && p.Labels["app"] == "fw" {
					p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
				}
			}
		}, evicted: 0, says: "mended: nothing; left: 1 broken rule (apart shop/fw 1)", log: "not evicted: shop/fw-"},
		"a scheduler that places elsewhere": {bars: func(p *corev1.Pod, node string) bool { return p.Labels["app"] == "fw" && node != "n4" && node != "n5" },
			evicted: 2, says: "mended: 1 broken rule (apart shop/fw 1); left: nothing", log: "not as simulated"},
		"nothing broken": {change: func(d *madeUp) {
			d.items = slices.DeleteFunc(d.items, func(x any) bool { p, ok := x.(*corev1.Pod); return ok && p.Name != "fw-0" && p.Labels["app"] == "fw" })
		}, says: "mended: nothing; left: nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := nodesOf("n1", "n2", "n3", "n4", "n5")
			for k := range 3 {
				d.pod(fmt.Sprint("fw-", k), "fw", "ReplicaSet", "n1", apart)
				d.pod(fmt.Sprint("web-", k), "web", "ReplicaSet", fmt.Sprint("n", k%2+2), nil)
			}
			if x.change != nil {
				x.change(d)
			}
			p := &played{t: t, c: d.cluster(t), rng: rand.New(rand.NewPCG(1, 2)), lost: map[int]int{}, closed: map[string]bool{}, bars: x.bars}
			log := ""
			got, err := kubernetes.Drain(t.Context(), p, kubernetes.DrainOptions{Options: kubernetes.Options{Prices: kubernetes.PriceByNode, Mend: true, Without: []string{"survive"}},
				Allow: []string{"single-replica"}, Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 200_000}}, Patience: 5 * time.Millisecond, Poll: time.Millisecond,
				Log: func(format string, args ...any) { log += fmt.Sprintf(format, args...) + "\n" }})
			require.OK(t, err)
			if got.Evicted != x.evicted || !strings.Contains(got.Mended(), x.says) || !strings.Contains(log, x.log) {
				t.Errorf("%d evicted, %s\n%s", got.Evicted, got.Mended(), log)
			}
			for k := range p.c.Nodes {
				if n := &p.c.Nodes[k]; n.Spec.Unschedulable || len(n.Annotations) > 0 {
					t.Errorf("%s stays cordoned\n%s", n.Name, log)
				}
			}
			if x.bars == nil && got.After.Nodes != got.Before.Nodes && name != "nothing broken" {
				t.Errorf("%d nodes in use, %d before", got.After.Nodes, got.Before.Nodes)
			}
			for k := range p.c.Pods {
				if q := &p.c.Pods[k]; strings.HasPrefix(q.Name, "web-") && q.Name != fmt.Sprint("web-", q.Name[4:5]) {
					t.Errorf("%s was evicted, and breaks nothing", q.Name)
				}
			}
		})
	}
}
