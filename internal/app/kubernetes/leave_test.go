// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// deleted has the first node of a cluster be deleted.
func (d *madeUp) deleted() *madeUp {
	d.items[0].(map[string]any)["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	return d
}

// annotated has the first node of a cluster be deleted although it asks to be kept.
func (d *madeUp) annotated() *madeUp {
	d.deleted().items[0].(map[string]any)["metadata"].(map[string]any)["annotations"] = map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
	return d
}

// Pods on a node that is being deleted have left it, and the plan keeps room for those that are made again. They are no
// replicas that survive a loss: the others are to be on two nodes. The node counts neither today nor then.
func TestNodeBeingDeleted(t *testing.T) {
	t.Parallel()
	cpus := func(n string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(n)
		}
	}
	apart := func(p *corev1.Pod) {
		cpus("100m")(p)
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}}}}
	}
	spread := func(p *corev1.Pod) {
		cpus("100m")(p)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}}
	}
	four := nodesOf("n1", "n2", "n3", "n4")
	for n := range 4 {
		four.pod(fmt.Sprint("web-", n), "web", "ReplicaSet", fmt.Sprint("n", n+1), nil)
	}
	tainted := nodesOf("n1", "n2", "n3").pod("a", "a", "StatefulSet", "n1", cpus("3")).pod("b", "b", "ReplicaSet", "n2", cpus("2"))
	tainted.items[0].(map[string]any)["spec"] = map[string]any{"taints": []any{map[string]any{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}}}
	for name, x := range map[string]struct {
		d    *madeUp
		want string // nodes now and then, room, pins
		says string
	}{
		"a replica":       {four.deleted(), "3 2 [{deletion shop/web 1 1 [n2] }] []", "1 of 1 pod on nodes being deleted, of 1 workload, have room elsewhere"},
		"it keeps a node": {nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", cpus("3")).pod("b", "b", "ReplicaSet", "n2", cpus("2")).pod("c", "c", "ReplicaSet", "n3", cpus("13")).deleted(), "2 2 [{deletion shop/a 1 1 [n3] }] []", ""},
		"a taint":         {tainted, "1 1 [{deletion shop/a 1 1 [n3] }] []", ""},
		"no room":         {nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", cpus("17")).pod("b", "b", "ReplicaSet", "n2", nil).deleted(), "1 1 [{deletion shop/a 1 0 []", "none for shop/a (1): "},
		"apart":           {nodesOf("n1", "n2", "n3").pod("a-0", "a", "ReplicaSet", "n1", apart).pod("a-1", "a", "ReplicaSet", "n1", apart).pod("b", "b", "ReplicaSet", "n2", nil).deleted(), "1 2 [{deletion shop/a 2 2 [n2 n3] }] []", ""},
		"spread":          {nodesOf("n1", "n2", "n3").pod("a-0", "a", "ReplicaSet", "n1", spread).pod("a-1", "a", "ReplicaSet", "n2", spread).pod("a-2", "a", "ReplicaSet", "n3", spread).deleted(), "2 2 [{deletion shop/a 1 1 [n2] }] []", ""},
		"kept":            {nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", nil).pod("b", "b", "ReplicaSet", "n2", nil).annotated(), "1 1 [{deletion shop/a 1 1 [n2] }] []", ""},
		"others": {nodesOf("n1", "n2").pod("d", "d", "DaemonSet", "n1", nil).pod("static", "n1", "Node", "n1", nil).pod("bare", "x", "x", "n1", func(p *corev1.Pod) { p.OwnerReferences = nil }).
			pod("gone", "g", "ReplicaSet", "n1", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }).pod("b", "b", "ReplicaSet", "n2", nil).deleted(), "2 2 [] [{no controller would make it again 1 1}]", ""},
	} {
		in := require.Value(kubernetes.Convert(x.d.cluster(t), kubernetes.Options{Prices: kubernetes.PriceByNode}))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
		if got := fmt.Sprint(p.Now.Nodes, p.Then.Nodes, p.Room, p.Pins); !strings.HasPrefix(got, x.want) || p.WaitingStatus != "optimal" || p.Now.Cost != int64(p.Now.Nodes) {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
		require.Says(t, name, p.Text(true), x.says)
		require.Says(t, name, fmt.Sprint(in.Account.Lines()), "1 node being deleted: no pods are placed there")
		if w := require.Value(in.WhyNode("n1"))(t); w.Kept != "it is being deleted" {
			t.Errorf("%s: %+v", name, w)
		}
		for _, wave := range p.Waves {
			for _, m := range wave {
				if m.From == "n1" || m.To == "n1" {
					t.Errorf("%s: the move %+v", name, m)
				}
			}
		}
	}
}
