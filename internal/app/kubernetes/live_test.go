// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/test/require"
)

// live starts a real control plane, with nodes and pods that kube-fill draws (--size, --seed, --scheduler), and returns
// its kubectl. GAPWISE_KUBERNETES names the folder of its programs (kube-up, kube-fill); the binaries must be built.
func live(t *testing.T, fill ...string) kubernetes.Kubectl {
	t.Helper()
	folder := os.Getenv("GAPWISE_KUBERNETES")
	if folder == "" {
		t.Skip("GAPWISE_KUBERNETES doesn't name the programs of a control plane (make kubernetes)")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		out, err := exec.Command(filepath.Join(folder, name), args...).Output()
		if err != nil {
			t.Skipf("%s: %v: there is no control plane", name, err)
		}
		return strings.TrimSpace(string(out))
	}
	config := run("kube-up", dir)
	t.Cleanup(func() { run("kube-down", dir) })
	fill = append(fill, config)
	run("kube-fill", fill...)
	run("kube-fill", append([]string{"--churn"}, fill...)...)
	return kubernetes.Kubectl{Args: []string{"--kubeconfig", config}}
}

func kubectl(t *testing.T, k kubernetes.Kubectl, input string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("kubectl", append(slices.Clone(k.Args), args...)...)
	cmd.Stdin = strings.NewReader(input)
	return []byte(require.Run(t, cmd))
}

// The real scheduler places a pod on a node, if it is the only one that the pod may be on, if and only if
// the state of the instance can have it there.
func TestLiveFeasibleNodes(t *testing.T) {
	k := live(t, "--size", "medium", "--seed", "4")
	rng := rand.New(rand.NewPCG(7, 8))
	c := require.Value(k.Read(t.Context()))(t)
	kubectl(t, k, "", "create", "namespace", "probes")
	pairs, wrong, yes := 0, 0, 0
	for round := range require.Rounds(12) {
		spec, labels := drawPod(rng, c)
		can := feasible(t, c, "probes", spec, labels)
		var items []string
		for n := range c.Nodes {
			p := pinned(spec, labels, c.Nodes[n].Name, fmt.Sprintf("p%d-%d", round, n))
			items = append(items, string(require.Value(json.Marshal(p))(t)))
		}
		kubectl(t, k, `{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`, "create", "-f", "-")
		at := settledPods(t, k, "probes", fmt.Sprint("p", round, "-"), len(c.Nodes))
		for n := range c.Nodes {
			pairs++
			is := at[fmt.Sprintf("p%d-%d", round, n)]
			if is {
				yes++
			}
			if is != can[n] {
				if wrong++; wrong <= 5 {
					text, _ := json.Marshal(spec)
					t.Errorf("node %s: kube-scheduler says %v, the instance %v: %s", c.Nodes[n].Name, is, can[n], text)
				}
			}
		}
		kubectl(t, k, "", "delete", "pods", "-n", "probes", "--all", "--wait=false", "--grace-period=0", "--force")
	}
	t.Logf("%d pairs of pod and node, %d of them feasible, %d judged otherwise", pairs, yes, wrong)
	if yes < pairs/20 || yes > pairs*19/20 {
		t.Errorf("%d of %d pairs are feasible", yes, pairs)
	}
	spreadRounds(t, k, c, rng)
}

// settledPods waits until kube-scheduler has tried all pods, and returns which have a node.
func settledPods(t *testing.T, k kubernetes.Kubectl, namespace, prefix string, n int) map[string]bool {
	t.Helper()
	for range 200 {
		var list corev1.PodList
		require.OK(t, json.Unmarshal(kubectl(t, k, "", "get", "pods", "-n", namespace, "-o", "json"), &list))
		at, tried := map[string]bool{}, 0
		for i := range list.Items {
			p := &list.Items[i]
			if !strings.HasPrefix(p.Name, prefix) {
				continue
			}
			at[p.Name] = p.Spec.NodeName != ""
			for _, x := range p.Status.Conditions {
				if x.Type == corev1.PodScheduled {
					tried++
				}
			}
		}
		if tried == n {
			return at
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatal("kube-scheduler doesn't try all pods")
	return nil
}

// feasible returns the nodes on which a pod can be by the instance.
func feasible(t *testing.T, c *kubernetes.Cluster, namespace string, spec corev1.PodSpec, labels map[string]string) []bool {
	t.Helper()
	with := *c
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "zz-probe", Labels: labels}, Spec: spec}
	with.Pods = append(slices.Clone(c.Pods), p)
	in := require.Value(kubernetes.Convert(&with, kubernetes.Options{}))(t)
	v := view.OfConsolidation(in.Consolidation, 0)
	s := planstate.Of(v, v.Today())
	for i := range in.Jobs {
		if in.Pods[i][0] != namespace+"/zz-probe" {
			continue
		}
		can := make([]bool, len(v.Hosts))
		for h := range can {
			can[h] = s.Can(i, 0, h)
		}
		return can
	}
	t.Fatal("the pod isn't there")
	return nil
}

// pinned returns a pod that may be on one node alone.
func pinned(spec corev1.PodSpec, labels map[string]string, node, name string) corev1.Pod {
	one := *spec.DeepCopy()
	field := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	if one.Affinity == nil {
		one.Affinity = &corev1.Affinity{}
	}
	if one.Affinity.NodeAffinity == nil {
		one.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}}
	}
	terms := one.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for k := range terms {
		terms[k].MatchFields = append(terms[k].MatchFields, field)
	}
	// The pod's own affinity, now to one node, would decide which domains count: let all count.
	ignore := corev1.NodeInclusionPolicyIgnore
	for k := range one.TopologySpreadConstraints {
		one.TopologySpreadConstraints[k].NodeAffinityPolicy = &ignore
	}
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "probes", Name: name, Labels: labels}, Spec: one}
}

// drawPod draws the requests that a pod may have, against the workloads of kube-fill.
func drawPod(rng *rand.Rand, c *kubernetes.Cluster) (corev1.PodSpec, map[string]string) {
	chance := func(of int) bool { return rng.IntN(of) == 0 }
	var s corev1.PodSpec
	cpu := []string{"100m", "500m", "2", "4", "7"}[rng.IntN(5)]
	text := fmt.Sprintf(`{"containers":[{"name":"main","image":"none:1","resources":{"requests":{"cpu":%q,"memory":"%dMi"}}}]}`, cpu, 100+rng.IntN(12_000))
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	if chance(4) {
		s.InitContainers = []corev1.Container{*s.Containers[0].DeepCopy()}
		s.InitContainers[0].Name = "init"
	}
	if chance(3) {
		s.NodeSelector = map[string]string{"disktype": "ssd"}
	}
	if chance(2) {
		keys := []string{"disktype", "dedicated", "accelerator", corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable}
		var terms []corev1.NodeSelectorTerm
		for range 1 + rng.IntN(2) {
			op := []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist}[rng.IntN(4)]
			r := corev1.NodeSelectorRequirement{Key: keys[rng.IntN(len(keys))], Operator: op}
			if op == corev1.NodeSelectorOpIn || op == corev1.NodeSelectorOpNotIn {
				r.Values = []string{[]string{"ssd", "batch", "nvidia", "here-a", "general-16"}[rng.IntN(5)], "here-b"}
			}
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}})
		}
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	for _, tol := range []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "batch", Effect: corev1.TaintEffectNoSchedule},
		{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}, {Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "other"}, {Operator: corev1.TolerationOpExists}} {
		if chance(4) {
			s.Tolerations = append(s.Tolerations, tol)
		}
	}
	other := c.Pods[rng.IntN(len(c.Pods))]
	for other.Labels["app"] == "" {
		other = c.Pods[rng.IntN(len(c.Pods))]
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": other.Labels["app"]}}
	key := []string{corev1.LabelHostname, corev1.LabelTopologyZone}[rng.IntN(2)]
	term := []corev1.PodAffinityTerm{{LabelSelector: selector, TopologyKey: key, Namespaces: []string{other.Namespace}}}
	if chance(4) {
		term[0].Namespaces, term[0].NamespaceSelector = nil, &metav1.LabelSelector{}
	}
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	switch rng.IntN(4) {
	case 0:
		s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
	case 1:
		s.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
	}
	if chance(8) {
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	return s, map[string]string{"app": "probe"}
}
