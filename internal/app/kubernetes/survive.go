// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/model"
)

// What workloads can survive: the loss of any one node, or of any one zone.
const (
	surviveNode = "node"
	surviveZone = "zone"
)

// Survivals are the values of Options.Survive.
var Survivals = []string{surviveZone, surviveNode}

// survives begins the ids of rules by which workloads survive. Kube-scheduler doesn't know them.
const survives = "survive "

// domainOf names the part of a cluster that goes with a node in a loss.
func domainOf(n *corev1.Node, loss string) string {
	if loss == surviveZone {
		return zoneOf(n)
	}
	return n.Name
}

// spreadOver returns the workloads of several replicas that survive a loss, or don't, and the number of both. Jobs don't
// count.
func (v *converter) spreadOver(loss string, survive bool, nodeOf func(group, pod int) int) (names []string, replicated int) {
	names = []string{}
	count, on := map[string]int{}, map[string]map[string]bool{}
	for i, g := range v.jobs {
		for k, p := range g.pods {
			h := nodeOf(i, k)
			if kind, _ := owned(p.Pod); h < 0 || kind == "Job" || p.room != "" {
				continue
			}
			name := workload(p.Pod)
			if count[name]++; on[name] == nil {
				on[name] = map[string]bool{}
			}
			if !ends(v.places[h]) { // else it goes without any other loss
				on[name][domainOf(v.places[h], loss)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] > 1 {
			replicated++
			if len(on[name]) > 1 == survive {
				names = append(names, name)
			}
		}
	}
	return names, replicated
}

// survival adds a rule for each workload that survives the loss of a node or a zone: its pods that run, but for those on nodes that are being deleted, aren't all in one.
// A workload that survives a zone survives a node, too. Pods that wait don't count: whether they start is open.
func (v *converter) survival() {
	if v.without("survive") {
		return
	}
	losses := []string{surviveZone, surviveNode}
	switch {
	case v.Survive == surviveNode:
		losses = losses[1:]
	case v.Survive == "" && v.small():
		losses = nil
	}
	v.in.Survivors = maps.Clone(v.Survivors)
	if v.in.Survivors == nil {
		v.in.Survivors = map[string]string{}
		for _, loss := range losses {
			names, _ := v.spreadOver(loss, true, v.nodeOf)
			for _, name := range names {
				v.in.Survivors[name] = cmp.Or(v.in.Survivors[name], loss)
			}
		}
	}
	jobs, tasks := map[string][]string{}, map[string]int{}
	for _, g := range v.jobs {
		if p := g.pods[0]; p.Spec.NodeName != "" && !ends(v.places[v.nodes[p.Spec.NodeName]]) {
			name := workload(p.Pod)
			jobs[name], tasks[name] = append(jobs[name], g.id), tasks[name]+len(g.pods)
		}
	}
	keys := map[string]string{surviveZone: corev1.LabelTopologyZone, surviveNode: hostname}
	for _, name := range slices.Sorted(maps.Keys(v.in.Survivors)) {
		if loss := v.in.Survivors[name]; tasks[name] > 1 {
			v.in.Rules = append(v.in.Rules, model.PlacementRule{ID: survives + loss + " " + name, Type: model.RuleSpread, Domain: v.domain(keys[loss]),
				Jobs: jobs[name], MaxSkew: tasks[name] - 1})
		}
	}
}

// mostSmall is how many nodes a small cluster has at most.
const mostSmall = 3

// small reports whether a cluster has few nodes, in one zone. Two replicas there would keep any plan from saving a node,
// so that survival is asked for by Survive alone; the risks tell of it all the same.
func (v *converter) small() bool {
	zones, today := map[string]bool{}, v.c.Nodes[:len(v.c.Nodes)-v.launched]
	for k := range today {
		zones[zoneOf(&today[k])] = true
	}
	return len(today) <= mostSmall && len(zones) < 2
}

// nodeOf returns the number of a pod's node, negative if it waits.
func (v *converter) nodeOf(group, pod int) int {
	if h, ok := v.nodes[v.jobs[group].pods[pod].Spec.NodeName]; ok {
		return h
	}
	return -1
}

// schedulers returns the instance with the rules that kube-scheduler knows alone.
func schedulers(in *model.Consolidation) *model.Consolidation {
	x := *in
	x.Rules = slices.DeleteFunc(slices.Clone(x.Rules), func(r model.PlacementRule) bool { return wished(r.ID) })
	return &x
}

// wished reports whether a rule is one that a plan keeps and kube-scheduler doesn't know, by its id.
func wished(rule string) bool {
	return strings.HasPrefix(rule, survives) || strings.HasPrefix(rule, prefers)
}
