// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// The real scheduler chooses one of the simulation's nodes, for drawn pods and for successors of deleted pods, under
// both profiles.
func TestLiveChoice(t *testing.T) {
	for _, profile := range []string{"default-scheduler", "packing-scheduler"} {
		t.Run(profile, func(t *testing.T) {
			k := live(t, "--size", "medium", "--seed", "4", "--scheduler", profile)
			rng := rand.New(rand.NewPCG(3, 4))
			kubectl(t, k, "", "create", "namespace", "probes")
			decorate(t, k)
			pods, wrong, ties, none := 0, 0, 0, 0
			for round := range require.Rounds(60) {
				c := require.Value(k.Read(t.Context()))(t)
				name := fmt.Sprint("p", round)
				var p, gone corev1.Pod
				if rng.IntN(2) == 0 {
					p, gone = removed(rng, c)
				} else {
					p = drawn(rng, c, name, profile)
				}
				nodes := choice(t, c, p)
				if gone.Name != "" { // kube-scheduler may hear of the successor before it hears that the pod is gone
					nodes = append(nodes, choice(t, &kubernetes.Cluster{Nodes: c.Nodes, Pods: append(slices.Clone(c.Pods), gone), Given: c.Given}, p)...)
				}
				if p.Namespace == "probes" {
					kubectl(t, k, string(require.Value(json.Marshal(p))(t)), "create", "-f", "-")
				} else {
					kubectl(t, k, "", "delete", "pod", "-n", p.Namespace, p.Name, "--grace-period=0", "--force")
				}
				at := placed(t, k, c, p)
				pods++
				switch {
				case len(nodes) == 0 && at == "":
					none++
				case !slices.Contains(nodes, at):
					if wrong++; wrong <= 5 {
						text, _ := json.Marshal(p.Spec)
						t.Errorf("%s/%s: kube-scheduler chooses %q, the simulation of %v; it was on %s: %s", p.Namespace, p.Name, at, nodes, gone.Spec.NodeName, text)
					}
				case len(nodes) > 1:
					ties++
				}
				if at == "" {
					kubectl(t, k, "", "delete", "pods", "-n", "probes", name, "--ignore-not-found", "--grace-period=0", "--force")
				}
			}
			t.Logf("%d pods, %d with ties, %d without a node, %d on nodes that the simulation doesn't say", pods, ties, none, wrong)
		})
	}
}

// decorate gives some nodes other scored properties: images, and taints that are only preferences.
func decorate(t *testing.T, k kubernetes.Kubectl) {
	for _, node := range []string{"small-001", "middle-002", "large-003", "large-004"} {
		kubectl(t, k, "", "taint", "node", node, "slow=yes:PreferNoSchedule")
		kubectl(t, k, "", "patch", "node", node, "--subresource=status", "--type=merge", "-p", `{"status":{"images":[{"names":["none:1"],"sizeBytes":6000000000}]}}`)
	}
}

// drawn draws a pod with rules and preferences.
func drawn(rng *rand.Rand, c *kubernetes.Cluster, name, profile string) corev1.Pod {
	chance := func(of int) bool { return rng.IntN(of) == 0 }
	spec, labels := drawPod(rng, c)
	spec.SchedulerName = profile
	if chance(4) {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "silent", Image: "other"})
	}
	if chance(3) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: "slow", Operator: corev1.TolerationOpExists})
	}
	if chance(3) {
		if spec.Affinity.NodeAffinity == nil {
			spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		for _, key := range []string{"disktype", corev1.LabelTopologyZone} {
			spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(1 + rng.IntN(100)), Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd", "here-b"}}}}})
		}
	}
	other := c.Pods[rng.IntN(len(c.Pods))]
	for other.Labels["app"] == "" {
		other = c.Pods[rng.IntN(len(c.Pods))]
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": other.Labels["app"]}}
	if chance(2) {
		selector.MatchLabels["app"] = "probe"
		other.Namespace = "probes"
	}
	key := []string{corev1.LabelHostname, corev1.LabelTopologyZone, "disktype"}[rng.IntN(3)]
	if chance(3) {
		term := []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + rng.IntN(100)), PodAffinityTerm: corev1.PodAffinityTerm{LabelSelector: selector, TopologyKey: key, Namespaces: []string{other.Namespace}}}}
		if chance(2) {
			if spec.Affinity.PodAffinity == nil {
				spec.Affinity.PodAffinity = &corev1.PodAffinity{}
			}
			spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = term
		} else {
			if spec.Affinity.PodAntiAffinity == nil {
				spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
			}
			spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = term
		}
	}
	if chance(3) {
		for range 1 + rng.IntN(2) {
			s := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + rng.IntN(3)), TopologyKey: []string{corev1.LabelHostname, corev1.LabelTopologyZone, "disktype"}[rng.IntN(3)],
				WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "probe"}}}
			if chance(3) {
				ignore, honor := corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor
				s.NodeAffinityPolicy, s.NodeTaintsPolicy = &ignore, &honor
			}
			if len(spec.TopologySpreadConstraints) == 0 || spec.TopologySpreadConstraints[0].TopologyKey != s.TopologyKey {
				spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, s)
			}
		}
	}
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "probes", Name: name, Labels: labels}, Spec: spec}
}

// removed takes a pod of a deployment out of the cluster as read, and returns it without its node, and as it is while
// it is being deleted.
func removed(rng *rand.Rand, c *kubernetes.Cluster) (p, gone corev1.Pod) {
	for {
		n := rng.IntN(len(c.Pods))
		p = c.Pods[n]
		if len(p.OwnerReferences) > 0 && p.OwnerReferences[0].Kind == "ReplicaSet" && p.Spec.NodeName != "" && p.Spec.PriorityClassName == "" {
			c.Pods = slices.Delete(slices.Clone(c.Pods), n, n+1)
			gone = p
			gone.Name, gone.DeletionTimestamp = "gone", &metav1.Time{}
			p.Spec.NodeName = ""
			p.Status = corev1.PodStatus{}
			return p, gone
		}
	}
}

// choice returns the names of the simulation's nodes.
func choice(t *testing.T, c *kubernetes.Cluster, p corev1.Pod) (names []string) {
	with := *c
	with.Pods = append(slices.Clone(c.Pods), p)
	in := require.Value(kubernetes.Convert(&with, kubernetes.Options{Packs: []string{"packing-scheduler"}}))(t)
	for i := range in.Pods {
		if n := slices.Index(in.Pods[i], p.Namespace+"/"+p.Name); n >= 0 {
			for _, h := range kubernetes.NewScheduler(in).Choice(i, n) {
				names = append(names, in.Hosts[h].ID)
			}
			return names
		}
	}
	t.Fatal("the pod isn't there")
	return nil
}

// placed waits until kube-scheduler has tried the pod, or its successor, and returns its node.
func placed(t *testing.T, k kubernetes.Kubectl, before *kubernetes.Cluster, p corev1.Pod) string {
	known := map[string]bool{}
	for i := range before.Pods {
		known[before.Pods[i].Namespace+"/"+before.Pods[i].Name] = true
	}
	for range 200 {
		var list corev1.PodList
		require.OK(t, json.Unmarshal(kubectl(t, k, "", "get", "pods", "-n", p.Namespace, "-o", "json"), &list))
		for i := range list.Items {
			x := &list.Items[i]
			if known[x.Namespace+"/"+x.Name] || p.Namespace != "probes" && (x.Name == p.Name || !strings.HasPrefix(x.Name, p.GenerateName)) {
				continue
			}
			for _, condition := range x.Status.Conditions {
				if condition.Type == corev1.PodScheduled {
					return x.Spec.NodeName
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("kube-scheduler doesn't try %s/%s", p.Namespace, p.Name)
	return ""
}
