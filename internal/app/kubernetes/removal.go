// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Removal tells what the removal of nodes without pods means for hard topology spread, which counts a node as long as it
// is there, also if it is cordoned and empty.
type Removal struct {
	// Broken are the rules that the plan's moves keep now and wouldn't keep without the nodes that it leaves empty.
	Broken []string `json:"broken_rules,omitempty"`
	// Then is where the cluster can end if Nodes are removed one by one after the plan, each before its pods have successors.
	// It is found by first fit, so that there may be a better end.
	Then  State    `json:"then"`
	Nodes []string `json:"nodes,omitempty"`
}

// mostRemovalLooks bounds the nodes that are looked at for pods of removed ones, each with its domains: some seconds.
const mostRemovalLooks = 50_000_000

// removal finds out what the removal of empty nodes means; nil without rules of spread, or if it means nothing.
func (in *Instance) removal(c *view.Consolidation, plan view.Plan) *Removal {
	domains := 0
	for k := range c.Rules {
		if c.Rules[k].Type == model.RuleSpread && !wished(in.Rules[k].ID) {
			domains += c.Values[c.Rules[k].Domain]
		}
	}
	if domains == 0 {
		return nil
	}
	r, fence := &Removal{}, in.unused(c, plan)
	s := planstate.Of(tight(in.Consolidation), plan)
	before := s.BrokenRules()
	for h, empty := range fence {
		if empty {
			s.Retire(h)
		}
	}
	for _, q := range s.BrokenRules() {
		if !slices.Contains(before, q) {
			r.Broken = append(r.Broken, in.Rules[q].ID)
		}
	}
	x := newRemover(in, c.Assignment(plan), domains)
	for h, empty := range fence {
		if empty {
			x.s.Retire(h)
		}
	}
	r.Nodes = x.run()
	r.Then = in.state(x.s.C, x.s.Plan)
	if len(r.Broken)+len(r.Nodes) == 0 {
		return nil
	}
	return r
}

// remover removes one node after another from the end of a plan. The pods of a removed node are placed anew; all others
// stay, as no pod comes back to a node that is gone.
type remover struct {
	in    *Instance
	s     *planstate.State
	on    [][]move // pods of each node
	left  int      // looks
	price int      // of a look
}

// tight returns the view of an instance in which domains come and go: what holds as long as two are there isn't used for
// the rules of kube-scheduler. Workloads that survive a loss are to do so in the end, too, however few domains are left.
func tight(in *model.Consolidation) *view.Consolidation {
	c := view.OfConsolidation(in, 0)
	for q := range c.Rules {
		c.Rules[q].Loose = strings.HasPrefix(in.Rules[q].ID, survives)
	}
	return c
}

func newRemover(in *Instance, a *model.Assignment, domains int) *remover {
	from := *in.Consolidation
	from.Jobs = slices.Clone(from.Jobs)
	for i := range from.Jobs {
		from.Jobs[i].CurrentHosts = a.Jobs[i].Hosts
	}
	c := tight(&from)
	x := &remover{in: in, s: planstate.Of(c, c.Today()), on: make([][]move, c.Existing), left: mostRemovalLooks, price: 1 + domains}
	for i := range x.s.Plan {
		for k, h := range x.s.Plan[i] {
			if h >= 0 {
				x.on[h] = append(x.on[h], move{i, k})
			}
		}
	}
	return x
}

// run removes nodes, those with the fewest pods first, as long as one can be, and returns them.
func (x *remover) run() (gone []string) {
	for again := true; again; {
		again = false
		var nodes []int
		for h := range x.on {
			if host := &x.s.C.Hosts[h]; len(x.on[h]) > 0 && !host.Kept && !host.Closed && !x.in.Cordoned[x.in.Hosts[h].ID] {
				nodes = append(nodes, h)
			}
		}
		slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(len(x.on[a]), len(x.on[b])) })
		if n := slices.IndexFunc(nodes, x.remove); n >= 0 { // it changes which have the fewest
			gone, again = append(gone, x.in.Hosts[nodes[n]].ID), true
		}
	}
	return gone
}

// remove removes a node if all of its pods find another one in use, the fullest first, and no rule is broken then.
func (x *remover) remove(h int) bool {
	all := x.on[h]
	if slices.ContainsFunc(all, func(m move) bool { return x.s.C.Jobs[m.i].Pinned }) || x.left < 0 {
		return false
	}
	for _, m := range all {
		x.s.Remove(m.i, m.k)
	}
	x.s.Retire(h)
	var to []int
	for n := range x.on {
		if n != h && len(x.on[n]) > 0 {
			to = append(to, n)
		}
	}
	slices.SortStableFunc(to, func(a, b int) int { return cmp.Compare(len(x.on[b]), len(x.on[a])) })
	placed := 0
	for _, m := range all {
		at := slices.IndexFunc(to, func(n int) bool {
			x.left -= x.price
			return x.s.Can(m.i, m.k, n)
		})
		if at < 0 {
			break
		}
		x.s.Add(m.i, m.k, to[at])
		placed++
	}
	if placed == len(all) && x.s.Broken == 0 {
		for _, m := range all {
			n := x.s.Plan[m.i][m.k]
			x.on[n] = append(x.on[n], m)
		}
		x.on[h] = nil
		return true
	}
	for _, m := range all[:placed] {
		x.s.Remove(m.i, m.k)
	}
	x.s.Recall(h)
	for _, m := range all {
		x.s.Add(m.i, m.k, h)
	}
	return false
}

// text returns the lines of a plan on removal, state writing a state.
func (r *Removal) text(state func(State) string) (lines [][2]string) {
	if len(r.Nodes) > 0 {
		again := ""
		if len(r.Nodes) > 1 {
			again = " one after the other"
		}
		lines = append(lines, [2]string{"one by one", state(r.Then) + fmt.Sprintf(", if %d more can be removed%s: hard topology spread no longer counts a removed node, so its pods fit elsewhere", len(r.Nodes), again)})
	}
	if len(r.Broken) > 0 {
		lines = append(lines, [2]string{"removed", fmt.Sprintf("without the emptied nodes %s, so that pods made anew may wait: %s",
			words.Plural(len(r.Broken), "rule")+" would be broken", strings.Join(r.Broken[:min(len(r.Broken), mostPins)], ", "))})
	}
	return lines
}

// guard returns nodes for whose kinds empty ones are to be kept (see spares), so that after a plan any one node may fail:
// those that may not in the answers of solve, which is asked again with the empty ones until any node may fail, or nothing
// changes. So what a plan without them gives by itself costs nothing, and the bound of the first answer is one for each
// plan after which any node may fail.
func (in *Instance) guard(solve func(*Instance) (fails []string, known bool, err error)) error {
	read, x := in.converter.Options, in
	for range mostGuards {
		fails, known, err := solve(x)
		if err != nil || known && len(fails) == 0 {
			return err
		}
		before := len(read.guards)
		for k := range in.Hosts {
			if id := in.Hosts[k].ID; (!known || slices.Contains(fails, id)) && !slices.Contains(read.guards, id) {
				read.guards = append(slices.Clip(read.guards), id)
			}
		}
		if len(read.guards) == before {
			return nil
		}
		if x, err = Convert(in.Cluster, read); err != nil {
			return err
		}
		x.MoveBudget = in.MoveBudget
	}
	return nil
}

// mostGuards bounds the answers of guard.
const mostGuards = 6

// failing returns the nodes in use that may not fail after a solution, see fails.
func (in *Instance) failing(a *model.Assignment) (nodes []string, known bool, err error) {
	if len(a.Bought) > 0 {
		if in, a, _, err = in.launched(a); err != nil {
			return nil, false, err
		}
	}
	plan, err := view.OfConsolidation(in.Consolidation, 0).PlanOf(a)
	if err != nil {
		return nil, false, err
	}
	nodes, known = in.fails(plan)
	return nodes, known, nil
}

// fails returns the nodes in use of a plan whose pods have no place once that node fails, as first fit finds: on an empty
// node kept for it, or among the others. Pods that no controller makes again need none. The rules are kube-scheduler's. It
// reports false if there is too much to look at. O(nodes² × pods of a node × rules of a pod).
func (in *Instance) fails(plan view.Plan) (nodes []string, ok bool) {
	x := *schedulers(in.Consolidation)
	x.Jobs = slices.Clone(x.Jobs)
	c, spare := view.OfConsolidation(in.Consolidation, 0), map[int]bool{}
	a, free := c.Assignment(plan), int64(0)
	for i := range x.Jobs {
		j := &x.Jobs[i]
		j.Pinned, j.CurrentHosts = false, a.Jobs[i].Hosts
		if in.isRoom(i) {
			for _, h := range plan[i] {
				spare[int(h)] = spare[int(h)] || h >= 0 && in.converter.jobs[i].pods[0].room == roomNode
			}
			j.CurrentHosts, j.LeaveOutCost = nil, &free
		}
	}
	c = view.OfConsolidation(&x, 0)
	s, left := planstate.Of(c, c.Today()), mostRemovalLooks
	on := make([][]move, len(c.Hosts))
	for i := range s.Plan {
		for k, h := range s.Plan[i] {
			if h >= 0 && metav1.GetControllerOf(in.converter.jobs[i].pods[k].Pod) != nil {
				on[h] = append(on[h], move{i, k})
			}
		}
	}
	var spares, others []int
	for h := range on {
		switch {
		case spare[h]:
			spares = append(spares, h)
		case s.Tasks[h] > 0:
			others = append(others, h)
		}
	}
	for h, all := range on {
		for _, m := range all {
			s.Remove(m.i, m.k)
		}
		fits := func(to []int) bool {
			placed := 0
			for _, m := range all {
				n := slices.IndexFunc(to, func(n int) bool { left--; return n != h && left >= 0 && s.Can(m.i, m.k, n) })
				if n < 0 {
					break
				}
				s.Add(m.i, m.k, to[n])
				placed++
			}
			for _, m := range all[:placed] {
				s.Remove(m.i, m.k)
			}
			return placed == len(all)
		}
		if len(all) > 0 && !slices.ContainsFunc(spares, func(e int) bool { return fits([]int{e}) }) && !fits(slices.Concat(spares, others)) {
			nodes = append(nodes, in.Hosts[h].ID)
		}
		for _, m := range all {
			s.Add(m.i, m.k, h)
		}
	}
	return nodes, left >= 0
}
