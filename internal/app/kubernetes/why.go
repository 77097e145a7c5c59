// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// PodAnswer explains where a pod could run today.
type PodAnswer struct {
	Pod  string `json:"pod"`
	Node string `json:"node,omitempty"` // empty: it waits
	// Stays explains why it can't be evicted, or why it goes on waiting; empty: it can, or may start.
	Stays    string   `json:"stays,omitempty"`
	Requests []string `json:"requests"` // "0.5 CPU"
	Budgets  []string `json:"budgets,omitempty"`
	// Nodes are all other nodes with the reason for which each refuses it now, empty if it doesn't.
	Nodes []NodeAnswer `json:"nodes"`
	// Offers are the nodes to buy of which an empty one would have it, the cheapest first; null if there are none to buy.
	Offers []string `json:"nodes_to_buy"`
}

// NodeAnswer is a node with the reason for which it refuses a pod; empty if it doesn't.
type NodeAnswer struct {
	Node string `json:"node"`
	Why  string `json:"why,omitempty"`
}

// WhyPod explains where a pod, "namespace/name", could run today: one node after another, as kube-scheduler would refuse
// it. The error wraps model.ErrInvalid if no such pod counts. O(nodes × rules of the pod).
func (in *Instance) WhyPod(name string) (*PodAnswer, error) {
	for i := range in.Pods {
		k := slices.Index(in.Pods[i], name)
		if k < 0 {
			continue
		}
		p := in.converter.jobs[i].pods[k]
		a := &PodAnswer{Pod: name, Node: p.Spec.NodeName, Stays: p.pin + p.held}
		for r, need := range in.Jobs[i].Needs {
			a.Requests = append(a.Requests, amountText(in.converter.names[r], need))
		}
		for _, b := range p.budgets {
			a.Budgets = append(a.Budgets, budgetText(&in.Cluster.Budgets[b]))
		}
		a.Nodes = in.refusals(p, i, k)
		if len(in.Offers) > 0 {
			price := map[string]int64{}
			for k := range in.Offers {
				price[in.Offers[k].ID] = in.Offers[k].Price
			}
			a.Offers = append([]string{}, in.offersFor(p)...)
			slices.SortStableFunc(a.Offers, func(x, y string) int { return cmp.Compare(price[x], price[y]) })
		}
		return a, nil
	}
	return nil, fmt.Errorf("%w cluster: no pod %q counts: pods of daemon sets and ones that have ended don't; give NAMESPACE/NAME", model.ErrInvalid, name)
}

// refusals returns why each node but its own refuses task k of job i, with all others where they are.
func (in *Instance) refusals(p *pod, i, k int) (all []NodeAnswer) {
	asked := schedulers(in.asked())
	without := func(rules []model.PlacementRule) *planstate.State {
		x := *asked
		x.Rules = rules
		c := view.OfConsolidation(&x, 0)
		s := planstate.Of(c, c.Today())
		if s.Plan[i][k] >= 0 {
			s.Remove(i, k)
		}
		return s
	}
	free := without(nil)
	rules := map[string]*planstate.State{}
	var names []string
	for _, r := range asked.Rules {
		if id := in.Jobs[i].ID; slices.Contains(r.Jobs, id) || r.Type == model.RuleApart && slices.Contains(r.Others, id) {
			names = append(names, r.ID)
			rules[r.ID] = without([]model.PlacementRule{r})
		}
	}
	for h := range in.Hosts {
		why := in.refusedBy(p, h)
		switch {
		case in.Hosts[h].ID == p.Spec.NodeName:
			continue
		case why != "":
		case !free.Fits(i, h):
			var short []string
			for r, need := range asked.Jobs[i].Needs {
				if left := free.Left[h*free.C.Resources+r]; need > left {
					short = append(short, fmt.Sprintf("%s, %s are free", amountText(in.converter.names[r], need), amountText(in.converter.names[r], max(0, left))))
				}
			}
			why = byOtherRoom + " for " + strings.Join(short, "; ")
		default:
			for _, name := range names {
				if !rules[name].Can(i, k, h) {
					why = "rule " + name
					break
				}
			}
		}
		all = append(all, NodeAnswer{in.Hosts[h].ID, why})
	}
	slices.SortStableFunc(all, func(a, b NodeAnswer) int { // those that would have it first
		return len(a.Why[:min(1, len(a.Why))]) - len(b.Why[:min(1, len(b.Why))])
	})
	return all
}

// amountText returns an amount of a resource in the units that people use.
func amountText(name string, n int64) string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return fmt.Sprintf("%.4g CPU", float64(n)/1000)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return fmt.Sprintf("%.3g GiB of %s", float64(n)/(1<<30), name)
	}
	return fmt.Sprintf("%d %s", n, name)
}

// Text returns the answer in words, with at most so many nodes; those that would have the pod come first.
func (a *PodAnswer) Text(most int) string {
	var b strings.Builder
	line := func(name, text string) { wrapped(&b, name, text) }
	switch {
	case a.Node == "" && a.Stays != "":
		line("pod", a.Pod+" waits: "+a.Stays)
	case a.Node == "":
		line("pod", a.Pod+" waits")
	case a.Stays != "":
		line("pod", a.Pod+" stays on "+a.Node+": "+a.Stays)
	default:
		line("pod", a.Pod+" is on "+a.Node+" and can be evicted")
	}
	line("requests", strings.Join(a.Requests, ", "))
	for _, x := range a.Budgets {
		line("budget", x)
	}
	for k, n := range a.Nodes {
		if k == most && len(a.Nodes) > most+1 {
			line("", fmt.Sprintf("and %d more nodes (--json)", len(a.Nodes)-k))
			break
		}
		if n.Why == "" {
			n.Why = "would have it now"
		}
		line("node", n.Node+": "+n.Why)
	}
	switch {
	case a.Offers == nil && a.Node == "" && a.Stays == "" && !slices.ContainsFunc(a.Nodes, func(n NodeAnswer) bool { return n.Why == "would have it now" }):
		line("to buy", "--offers FILE names nodes to buy")
	case a.Offers != nil && len(a.Offers) == 0:
		line("to buy", "no node to buy would hold it")
	case len(a.Offers) > 0:
		text := "a node of type " + a.Offers[0] + " would hold it"
		if len(a.Offers) > 1 {
			text += ", as would " + list(a.Offers[1:])
		}
		line("to buy", text)
	}
	return b.String()
}

// HeldNode explains why a node stays in use.
type HeldNode struct {
	Node string `json:"node"`
	Pods int    `json:"pods"` // that count
	// Kept explains why it stays with or without pods, empty if it doesn't.
	Kept  string  `json:"kept,omitempty"`
	Stays []Wait  `json:"pods_that_stay"`
	Frees []Freed `json:"would_free_it"`
	// Refused are pods that could be evicted, but that no other node has room for now, or would have: with the others
	// where they are.
	Refused []string `json:"pods_that_no_node_would_have"`
}

// Freed is a change by which pods of a node could be evicted.
type Freed struct {
	Change string `json:"change"`
	Pods   int    `json:"pods"`
}

// WhyNode explains why a node stays in use today: its pods that can't be evicted, the changes that would have them go, and
// those that no other node would have. The error wraps model.ErrInvalid if there is no such node.
func (in *Instance) WhyNode(name string) (*HeldNode, error) {
	h := slices.IndexFunc(in.Hosts, func(x model.ConsolidationHost) bool { return x.ID == name })
	if h < 0 {
		return nil, fmt.Errorf("%w cluster: there is no node %q", model.ErrInvalid, name)
	}
	a := &HeldNode{Node: name}
	switch n := &in.Cluster.Nodes[h]; {
	case stays(n) != "":
		a.Kept = stays(n)
	case !answers(n):
		a.Kept = "it isn't ready"
	case in.Hosts[h].Kept:
		a.Kept = "--keep names it"
	}
	changes, order := map[string]int{}, []string{}
	for i := range in.Jobs {
		for k, p := range in.converter.jobs[i].pods {
			if p.Spec.NodeName != name {
				continue
			}
			if a.Pods++; p.pin == "" {
				if !slices.ContainsFunc(in.refusals(p, i, k), func(x NodeAnswer) bool { return x.Why == "" }) {
					a.Refused = append(a.Refused, p.id)
				}
				continue
			}
			a.Stays = append(a.Stays, Wait{p.id, p.pin})
			change := in.freeing(p)
			if changes[change] == 0 {
				order = append(order, change)
			}
			changes[change]++
		}
	}
	for _, x := range order {
		a.Frees = append(a.Frees, Freed{x, changes[x]})
	}
	return a, nil
}

// freeing returns the change by which a pod that stays could be evicted.
func (in *Instance) freeing(p *pod) string {
	for _, b := range p.budgets {
		if x := &in.Cluster.Budgets[b]; p.pin == pinOfBudget(x) {
			return x.Namespace + "/" + x.Name + ": " + budgetChange(x)
		}
	}
	if key, ok := strings.CutPrefix(p.pin, "annotation "); ok {
		return "no " + strings.TrimSuffix(key, ": false") + " on " + p.id
	}
	return "not by a setting: " + p.pin
}

// budgetText tells what a budget demands and allows.
func budgetText(b *policyv1.PodDisruptionBudget) string {
	text := b.Namespace + "/" + b.Name + " allows " + words.Plural(int(b.Status.DisruptionsAllowed), "eviction")
	if b.Status.DisruptionsAllowed == 0 {
		text += "; " + budgetChange(b)
	}
	return text
}

// budgetChange returns the least change of a budget that has it allow one eviction, by the pods that are healthy now.
func budgetChange(b *policyv1.PodDisruptionBudget) string {
	s := &b.Status
	least, most := s.CurrentHealthy-1, s.ExpectedPods-s.CurrentHealthy+1
	if x := b.Spec.MinAvailable; x != nil && least >= 0 && (x.Type == intstr.String || x.IntVal > least) {
		return fmt.Sprintf("minAvailable from %s to %d", x, least)
	}
	if x := b.Spec.MaxUnavailable; x != nil && s.ExpectedPods > 0 && (x.Type == intstr.String || x.IntVal < most) {
		return fmt.Sprintf("maxUnavailable from %s to %d", x, most)
	}
	return "once its pods are ready"
}

// Text returns the answer in words.
func (a *HeldNode) Text() string {
	var b strings.Builder
	line := func(name, text string) { wrapped(&b, name, text) }
	line("node", fmt.Sprintf("%s has %s, %d of them can be evicted", a.Node, words.Plural(a.Pods, "pod"), a.Pods-len(a.Stays)))
	if a.Kept != "" {
		line("kept", a.Kept)
	}
	for k, x := range a.Stays {
		if k == mostPins && len(a.Stays) > mostPins+1 {
			line("", fmt.Sprintf("and %d more (--json)", len(a.Stays)-k))
			break
		}
		line("stays", x.Pod+": "+x.Why)
	}
	for _, x := range a.Frees {
		line("frees", words.Plural(x.Pods, "pod")+": "+x.Change)
	}
	if len(a.Refused) > 0 {
		line("no place", words.Plural(len(a.Refused), "pod")+" that no other node would have now, with all others where they are: "+list(a.Refused))
	}
	return b.String()
}
