// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gapwise/gapwise/model"
)

// hardSpread returns the topology spread constraints that a pod must keep.
func (v *converter) hardSpread(p *corev1.Pod) (all []*corev1.TopologySpreadConstraint) {
	for k := range p.Spec.TopologySpreadConstraints {
		if t := &p.Spec.TopologySpreadConstraints[k]; t.WhenUnsatisfiable == corev1.DoNotSchedule && !v.without("spread") {
			all = append(all, t)
		}
	}
	return all
}

// labelled reports whether a node has the labels of all constraints that a pod must keep: no
// other node takes it, or counts.
func labelled(n *corev1.Node, hard []*corev1.TopologySpreadConstraint) bool {
	for _, t := range hard {
		if _, ok := n.Labels[t.TopologyKey]; !ok {
			return false
		}
	}
	return true
}

// eligible returns the nodes that count for a constraint of a pod, as kube-scheduler's plugin PodTopologySpread
// decides. They have the labels of all hard constraints. They match the pod's selector and required affinity unless
// these are to be ignored, and its tolerations if taints are to be honoured. A node that is only cordoned counts.
func (v *converter) eligible(p *pod, t *corev1.TopologySpreadConstraint, hard []*corev1.TopologySpreadConstraint) ([]bool, error) {
	affinity := nodeaffinity.GetRequiredNodeAffinity(p.Pod)
	all := make([]bool, len(v.places))
	for k, n := range v.places {
		ok := labelled(n, hard) && !(p.room == roomLeaving && ends(n)) // it is gone by then
		if ok && (t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor) {
			var err error
			if ok, err = affinity.Match(n); err != nil {
				return nil, fmt.Errorf("%w cluster: the node affinity of pod %s: %w", model.ErrInvalid, p.id, err)
			}
		}
		if ok && t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
			ok = tolerates(p.Pod, n)
		}
		all[k] = ok
	}
	return all, nil
}

// spread adds the rules of a job's hard topology spread constraints.
func (v *converter) spread(i int) error {
	g := v.jobs[i]
	p := g.pods[0]
	hard := v.hardSpread(p.Pod)
	for k, t := range hard {
		s, err := selector(t.LabelSelector, p.Labels, t.MatchLabelKeys, nil)
		if err != nil {
			return fmt.Errorf("%w cluster: the topology spread of %s: %w", model.ErrInvalid, g.id, err)
		}
		if s.Empty() { // kube-scheduler then counts no pods
			continue
		}
		among, err := v.eligible(p, t, hard)
		if err != nil {
			return err
		}
		standing := v.standing(s, p.Namespace, among)
		others := v.present(p.Pod, v.matching(s, func(namespace string) bool { return namespace == p.Namespace }))
		if len(others) == 0 {
			v.spreadByStanding(i, t, among, standing)
			continue
		}
		r := model.PlacementRule{ID: fmt.Sprintf("spread %s %d", g.id, k+1), Type: model.RuleSpread, Domain: v.domain(t.TopologyKey), Jobs: []string{g.id}, Others: others,
			MaxSkew: int(t.MaxSkew), Among: v.set(among)}
		if t.MinDomains != nil {
			r.MinDomains = int(*t.MinDomains)
		}
		r.Standing = v.counted(standing)
		v.in.Rules = append(v.in.Rules, r)
	}
	return nil
}

// counted returns the numbers of standing tasks of hosts and offers by those of places.
func (v *converter) counted(standing []int) (all []model.HostCount) {
	for n, tasks := range standing {
		switch {
		case tasks == 0:
		case n < len(v.in.Hosts):
			all = append(all, model.HostCount{Host: v.in.Hosts[n].ID, Count: int64(tasks)})
		default:
			all = append(all, model.HostCount{Offer: v.in.Offers[n-len(v.in.Hosts)].ID, Count: int64(tasks)})
		}
	}
	return all
}

// standing counts the pods of daemon sets and the like that a selector takes, on each node that counts. Pods that
// are being deleted don't.
func (v *converter) standing(s labels.Selector, namespace string, among []bool) []int {
	all := make([]int, len(among))
	for n, counts := range among {
		for _, x := range v.residents[v.places[n].Name] {
			if counts && x.DeletionTimestamp == nil && x.Namespace == namespace && s.Matches(labels.Set(x.Labels)) {
				all[n]++
			}
		}
	}
	return all
}

// spreadByStanding takes from the nodes on which a job's pods may be placed those that a constraint excludes
// which counts standing pods alone: it excludes them whatever moves.
func (v *converter) spreadByStanding(i int, t *corev1.TopologySpreadConstraint, among []bool, standing []int) {
	count := map[string]int{}
	for n, counts := range among {
		if counts && n < len(v.c.Nodes) {
			count[v.c.Nodes[n].Labels[t.TopologyKey]] += standing[n]
		}
	}
	least, first := 0, true
	for _, n := range count {
		if first || n < least {
			least, first = n, false
		}
	}
	if t.MinDomains != nil && len(count) < int(*t.MinDomains) {
		least = 0
	}
	p := v.jobs[i].pods[0]
	p.allowed = slices.Clone(p.allowed)
	for n := range p.allowed {
		p.allowed[n] = p.allowed[n] && count[v.places[n].Labels[t.TopologyKey]]-least <= int(t.MaxSkew)
	}
	v.in.Jobs[i].Allowed = v.set(p.allowed)
}
