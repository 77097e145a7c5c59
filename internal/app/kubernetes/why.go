// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gapwise "github.com/gapwise/gapwise"
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
	// Making tells how moves of other pods make room for one that waits and that no node would have now; nil if it runs, or
	// if that wasn't looked for.
	Making *Making `json:"making_room,omitempty"`
	// Offers are the nodes to buy of which an empty one would have it, the cheapest first; null if there are none to buy.
	Offers []string `json:"nodes_to_buy"`
}

// NodeAnswer is a node with the reason for which it refuses a pod; empty if it doesn't.
type NodeAnswer struct {
	Node string `json:"node"`
	Why  string `json:"why,omitempty"`

	short   float64 // of a node without room: the largest share of its free amounts and the need that is missing
	missing string  // "0.6 CPU"
}

// WhyPod explains where a pod, "namespace/name", could run today: one node after another, as kube-scheduler would refuse
// it. For a pod that waits it then looks for the fewest moves of others that make room for it. The error wraps
// model.ErrInvalid if no such pod counts. O(nodes × rules of the pod), and the search.
func (in *Instance) WhyPod(ctx context.Context, name string, o gapwise.Options) (*PodAnswer, error) {
	for i := range in.Pods {
		k := slices.Index(in.Pods[i], name)
		if k < 0 {
			continue
		}
		p := in.converter.jobs[i].pods[k]
		a := &PodAnswer{Pod: name, Node: cmp.Or(p.Spec.NodeName, in.converter.leaves[name]), Stays: p.pin + p.held}
		for r, need := range in.Jobs[i].Needs {
			a.Requests = append(a.Requests, amountText(in.converter.names[r], need))
		}
		for _, b := range p.budgets {
			a.Budgets = append(a.Budgets, budgetText(&in.Cluster.Budgets[b]))
		}
		a.Nodes = in.refusals(p, i, k, schedulers(in.asked()))
		if a.Node == "" && a.Stays == "" && len(in.Offers) == 0 && !slices.ContainsFunc(a.Nodes, func(x NodeAnswer) bool { return x.Why == "" }) {
			var err error
			if a.Making, err = in.makeRoom(ctx, i, name, o); err != nil {
				return nil, err
			}
		}
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

// refusals returns why each node but its own refuses task k of job i, with all others where they are, by the rules of an
// instance as kube-scheduler sees it.
func (in *Instance) refusals(p *pod, i, k int, asked *model.Consolidation) (all []NodeAnswer) {
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
		x := NodeAnswer{Node: in.Hosts[h].ID, Why: in.refusedBy(p, h)}
		switch {
		case x.Node == p.Spec.NodeName:
			continue
		case x.Why != "":
		case !free.Fits(i, h):
			var short, missing []string
			for r, need := range asked.Jobs[i].Needs {
				if left := max(0, free.Left[h*free.C.Resources+r]); need > left {
					name := in.converter.names[r]
					short = append(short, fmt.Sprintf("%s, %s are free", amountText(name, need), amountText(name, left)))
					missing = append(missing, amountText(name, need-left))
					x.short = max(x.short, float64(need-left)/float64(need))
				}
			}
			x.Why, x.missing = byOtherRoom+" for "+strings.Join(short, "; "), strings.Join(missing, " and ")
		default:
			for _, name := range names {
				if !rules[name].Can(i, k, h) {
					x.Why = byRule + name
					break
				}
			}
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b NodeAnswer) int { // those that would have it first
		return len(a.Why[:min(1, len(a.Why))]) - len(b.Why[:min(1, len(b.Why))])
	})
	return all
}

// byRule begins the reason of a node that a rule between pods keeps a pod from.
const byRule = "rule "

// amountText returns an amount of a resource in the units that people use.
func amountText(name string, n int64) string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return fmt.Sprintf("%.4g CPU", float64(n)/1000)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return fmt.Sprintf("%.3g GiB of %s", float64(n)/(1<<30), name)
	}
	if name == string(corev1.ResourcePods) {
		return words.Plural(int(n), "pod")
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
	switch text := a.Making.text(); {
	case text != "":
		line("room", text)
	case slices.ContainsFunc(a.Nodes, func(n NodeAnswer) bool {
		return strings.HasPrefix(n.Why, byOtherRoom) || strings.HasPrefix(n.Why, byRule)
	}):
		line("room", "all other pods are where they are now; plan --moves moves them, too")
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
	// NoPlace explains Refused, in its order.
	NoPlace []Wait `json:"why_no_node_would_have_them"`
	// Together are pods that would have a place by themselves, but for which first fit finds none if all pods of the node go
	// at once; nil if that wasn't looked at, as some can't go.
	Together []string `json:"pods_without_a_place_together"`
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
	case ends(n):
		a.Kept = "it is being deleted"
	case stays(n) != "":
		a.Kept = stays(n)
	case !answers(n):
		a.Kept = "it isn't ready"
	case in.Hosts[h].Kept:
		a.Kept = "--keep names it"
	}
	changes, order := map[string]int{}, []string{}
	frees := func(change string) {
		if changes[change] == 0 {
			order = append(order, change)
		}
		changes[change]++
	}
	asked := in.asked()
	for i := range in.Jobs {
		for k, p := range in.converter.jobs[i].pods {
			if p.Spec.NodeName != name {
				continue
			}
			if a.Pods++; p.pin != "" {
				a.Stays = append(a.Stays, Wait{p.id, p.pin})
				frees(in.freeing(p))
				continue
			}
			all := in.refusals(p, i, k, asked)
			if slices.ContainsFunc(all, func(x NodeAnswer) bool { return x.Why == "" }) {
				continue
			}
			a.Refused, a.NoPlace = append(a.Refused, p.id), append(a.NoPlace, Wait{p.id, refusedText(all)})
			if change := freeingOf(all); change != "" {
				frees(change)
			}
		}
	}
	if a.Pods > 0 && len(a.Stays)+len(a.Refused) == 0 {
		a.Together = in.atOnce(h, asked)
	}
	for _, x := range order {
		a.Frees = append(a.Frees, Freed{x, changes[x]})
	}
	return a, nil
}

// refusedText says how many nodes refuse a pod for which reason, the most frequent first.
func refusedText(all []NodeAnswer) string {
	count := map[string]int{}
	for _, x := range all {
		why, _, _ := strings.Cut(x.Why, " for ")
		count[why]++
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, why := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", count[why], why))
	}
	return fmt.Sprintf("of %s: %s", words.Plural(len(all), "other node"), strings.Join(parts, ", "))
}

// freeingOf returns the least change by which some node would have a pod that all refuse, "" if none is known: a flag, the
// least room, or a rule.
func freeingOf(all []NodeAnswer) string {
	rule, nearest := "", (*NodeAnswer)(nil)
	for k := range all {
		x := &all[k]
		id, ruled := strings.CutPrefix(x.Why, byRule)
		switch {
		case ruled && strings.HasPrefix(id, survives):
			return "--without survive: " + x.Node + " would have it but for the rule " + id
		case ruled && strings.HasPrefix(id, prefers):
			return "no --hold: " + x.Node + " would have it but for the rule " + id
		case ruled && rule == "":
			rule = x.Node + " would have it without the rule " + id
		case x.missing != "" && (nearest == nil || x.short < nearest.short):
			nearest = x
		}
	}
	if nearest != nil {
		return nearest.missing + " more free on " + nearest.Node
	}
	return rule
}

// atOnce returns the pods of a node for which first fit finds no place among the other nodes, the fullest first, if all
// leave it at once. O(pods of the node × nodes × rules of a pod).
func (in *Instance) atOnce(h int, asked *model.Consolidation) []string {
	c := view.OfConsolidation(asked, 0)
	s, none := planstate.Of(c, c.Today()), []string{}
	var all []move
	for i := range s.Plan {
		for k, at := range s.Plan[i] {
			if int(at) == h {
				all = append(all, move{i, k})
			}
		}
	}
	for _, m := range all {
		s.Remove(m.i, m.k)
	}
	var to []int
	for n := range c.Existing {
		if n != h {
			to = append(to, n)
		}
	}
	slices.SortStableFunc(to, func(a, b int) int { return cmp.Compare(s.Tasks[b], s.Tasks[a]) })
	for _, m := range all {
		if n := slices.IndexFunc(to, func(n int) bool { return s.Can(m.i, m.k, n) }); n >= 0 {
			s.Add(m.i, m.k, to[n])
		} else {
			none = append(none, in.Pods[m.i][m.k])
		}
	}
	return none
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
	switch {
	case a.Pods == 0 && a.Kept == "":
		line("node", a.Node+" has no pods but those of daemon sets: nothing holds it")
	default:
		line("node", fmt.Sprintf("%s has %s, %d of them can be evicted", a.Node, words.Plural(a.Pods, "pod"), a.Pods-len(a.Stays)))
	}
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
	for k, x := range a.NoPlace {
		if k == mostPins && len(a.NoPlace) > mostPins+1 {
			line("", fmt.Sprintf("and %d more (--json)", len(a.NoPlace)-k))
			break
		}
		line("no place", x.Pod+": "+x.Why)
	}
	for _, x := range a.Frees {
		line("frees", words.Plural(x.Pods, "pod")+": "+x.Change)
	}
	switch {
	case len(a.Refused) > 0:
		line("", "all other pods are where they are now; plan --moves moves them, too")
	case len(a.Together) > 0:
		line("together", fmt.Sprintf("each pod would have a place elsewhere, but not all at once: first fit has none for %s; plan --moves also moves other pods", list(a.Together)))
	case a.Together != nil:
		line("together", "all of its pods would have places on other nodes now; plan says whether that is cheapest")
	}
	return b.String()
}
