// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/core/view"
)

// Nodes go one by one only as kube-scheduler lets the pods of each have successors: it counts the nodes that are left, by a
// count of its own here. A hostname spread with skew 1 that holds every node then holds none but the last.
func TestRemoval(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(51, 17))
	removed := 0
	for range 300 {
		s := newSituation(false)
		node, pod := s.Nodes[s.n1], s.Pods[s.pod]
		pod.Labels = map[string]string{"app": "web"}
		s.Nodes, s.Pods = nil, nil
		zone := func(k int) string { return string(rune('a' + k%3)) }
		nodes, skew := 2+rng.IntN(5), 1+rng.Int32N(2)
		for k := range nodes {
			n := *node.DeepCopy()
			n.Name = fmt.Sprintf("n%d", k)
			n.Labels = map[string]string{corev1.LabelHostname: n.Name, corev1.LabelTopologyZone: zone(k)}
			n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(fmt.Sprint(2 + rng.IntN(6)))
			s.Nodes = append(s.Nodes, n)
			for range rng.IntN(3) {
				p := *pod.DeepCopy()
				p.Name, p.Spec.NodeName = fmt.Sprintf("web-%d", len(s.Pods)), n.Name
				least := rng.Int32N(2) * 2
				for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone}[:1+rng.IntN(2)] {
					c := corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}
					if least > 0 {
						c.MinDomains = &least
					}
					p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
				}
				s.Pods = append(s.Pods, p)
			}
		}
		if len(s.Pods) == 0 {
			continue
		}
		in, err := Convert(s.Cluster, Options{Without: []string{"survive"}})
		if err != nil {
			t.Fatal(err)
		}
		c := view.OfConsolidation(in.Consolidation, 0)
		x := newRemover(in, c.Assignment(c.Today()), 1)
		gone, count := make([]bool, nodes), make([]int, nodes)
		for h := range nodes {
			count[h] = len(x.on[h])
			if count[h] == 0 {
				x.s.Retire(h)
				gone[h] = true
			}
		}
		for h := range nodes {
			all := slices.Clone(x.on[h])
			if len(all) == 0 || !x.remove(h) {
				continue
			}
			removed++
			gone[h], count[h] = true, 0
			for _, m := range all {
				to := int(x.s.Plan[m.i][m.k])
				spec := &x.in.converter.jobs[m.i].pods[m.k].Spec
				for _, t0 := range spec.TopologySpreadConstraints {
					in := map[string]int{}
					for n := range nodes {
						if !gone[n] {
							in[s.Nodes[n].Labels[t0.TopologyKey]] += count[n]
						}
					}
					least := 1 << 30
					for _, n := range in {
						least = min(least, n)
					}
					if t0.MinDomains != nil && len(in) < int(*t0.MinDomains) {
						least = 0
					}
					if n := in[s.Nodes[to].Labels[t0.TopologyKey]] + 1 - least; gone[to] || n > int(t0.MaxSkew) {
						t.Fatalf("a pod goes from %d to %d, by %s %d over the least: %v, gone %v", h, to, t0.TopologyKey, n, count, gone)
					}
				}
				count[to]++
			}
		}
	}
	if removed < 100 {
		t.Errorf("only %d nodes are removed", removed)
	}
}
