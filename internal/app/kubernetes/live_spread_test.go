// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// spreadRounds compares hard topology spread with the real scheduler: which nodes, domains and pods count, and
// minDomains. A pod is tied to a node by a resource that this node alone has: an affinity would change which nodes
// count.
func spreadRounds(t *testing.T, k kubernetes.Kubectl, c *kubernetes.Cluster, rng *rand.Rand) {
	t.Helper()
	for n := range c.Nodes {
		patch := fmt.Sprintf(`{"status":{"capacity":{"probe.test/n%d":"100"},"allocatable":{"probe.test/n%[1]d":"100"}}}`, n)
		kubectl(t, k, "", "patch", "node", c.Nodes[n].Name, "--subresource=status", "--type=merge", "-p", patch)
	}
	pairs, wrong, yes, excluded := 0, 0, 0, 0
	for round := range require.Rounds(16) {
		spec, labels, namespace := drawSpread(rng, c)
		can := feasible(t, c, namespace, spec("probe-x"), labels("probe-x"))
		without := spec("probe-x")
		without.TopologySpreadConstraints = nil
		free := feasible(t, c, namespace, without, labels("probe-x"))
		var items []string
		for n := range c.Nodes {
			name := fmt.Sprintf("s%d-%d", round, n)
			p := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels(name)}, Spec: spec(name)}
			one := corev1.ResourceList{corev1.ResourceName(fmt.Sprintf("probe.test/n%d", n)): resource.MustParse("1")}
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "hold", Image: "none:1", Resources: corev1.ResourceRequirements{Requests: one, Limits: one}})
			items = append(items, mustText(t, p))
		}
		kubectl(t, k, `{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`, "create", "-f", "-")
		at := settledPods(t, k, namespace, fmt.Sprint("s", round, "-"), len(c.Nodes))
		for n := range c.Nodes {
			pairs++
			is := at[fmt.Sprintf("s%d-%d", round, n)]
			if is {
				yes++
			}
			if free[n] && !is {
				excluded++
			}
			if is != can[n] {
				if wrong++; wrong <= 5 {
					t.Errorf("node %s: kube-scheduler says %v, the instance %v: %s", c.Nodes[n].Name, is, can[n], mustText(t, spec("probe-x")))
				}
			}
		}
		kubectl(t, k, "", "delete", "pods", "-n", namespace, "-l", "probe=spread", "--wait=false", "--grace-period=0", "--force")
	}
	t.Logf("%d pairs of pod with topology spread and node, %d of them feasible, %d excluded by the spread, %d judged otherwise", pairs, yes, excluded, wrong)
	if yes < pairs/20 || excluded < pairs/20 {
		t.Errorf("%d of %d pairs are feasible, the spread excludes %d", yes, pairs, excluded)
	}
}

func mustText(t *testing.T, x any) string {
	t.Helper()
	return string(require.Value(json.Marshal(x))(t))
}

// drawSpread draws a pod with one or two hard constraints on the pods of a workload, daemon sets' among them. If a pod
// matches its own constraint no other drawn one does, so that they may be there at once.
func drawSpread(rng *rand.Rand, c *kubernetes.Cluster) (spec func(name string) corev1.PodSpec, labels func(name string) map[string]string, namespace string) {
	chance := func(of int) bool { return rng.IntN(of) == 0 }
	base, _ := drawPod(rng, c)
	for i := range base.Containers {
		base.Containers[i].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("50m")
		base.Containers[i].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("64Mi")
	}
	base.Affinity.PodAffinity = nil
	other := &c.Pods[rng.IntN(len(c.Pods))]
	for other.Labels["app"] == "" || chance(2) && other.Namespace != "kube-system" {
		other = &c.Pods[rng.IntN(len(c.Pods))]
	}
	var all []corev1.TopologySpreadConstraint
	self := chance(2)
	keys := []string{corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelInstanceTypeStable, "disktype"}
	rng.Shuffle(len(keys), func(a, b int) { keys[a], keys[b] = keys[b], keys[a] })
	for x := range 1 + rng.IntN(2) {
		policy := func() *corev1.NodeInclusionPolicy {
			p := []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}[rng.IntN(2)]
			return []*corev1.NodeInclusionPolicy{nil, &p}[rng.IntN(2)]
		}
		s := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + rng.IntN(3)), TopologyKey: keys[x], WhenUnsatisfiable: corev1.DoNotSchedule, NodeAffinityPolicy: policy(), NodeTaintsPolicy: policy()}
		if chance(3) {
			min := int32(1 + rng.IntN(5))
			s.MinDomains = &min
		}
		if chance(3) {
			s.MatchLabelKeys = []string{"pod-template-hash"}
		}
		all = append(all, s)
	}
	hash := other.Labels["pod-template-hash"]
	labels = func(name string) map[string]string {
		m := map[string]string{"app": name, "probe": "spread"}
		if hash != "" {
			m["pod-template-hash"] = hash
		}
		return m
	}
	return func(name string) corev1.PodSpec {
		one := *base.DeepCopy()
		for _, s := range all {
			values := []string{other.Labels["app"]}
			if self {
				values = append(values, name)
			}
			s.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: values}}}
			one.TopologySpreadConstraints = append(one.TopologySpreadConstraints, s)
		}
		return one
	}, labels, other.Namespace
}
