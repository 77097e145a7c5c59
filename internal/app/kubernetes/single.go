// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/model"
)

// mostSingles is how many budgets and rules are left out one by one.
const mostSingles = 12

// single is something that can be left out by itself: why pods can't move, or a rule.
type single struct {
	name string
	in   *model.Consolidation
	// bounding is in, but without empty nodes kept for the loss of one.
	bounding *model.Consolidation
	// atLeast is a bound on the cost without it: no more than that can be saved.
	atLeast float64
	tasks   int
	change  string
}

// singles returns the instance without each budget and annotation that pins pods, and without each rule of a
// workload.
func (in *Instance) singles() (all []single) {
	pins := map[string][]int{}
	var names []string
	for i := range in.Jobs {
		why, ok := in.Pins[in.Jobs[i].ID]
		if !ok || why == noCompany || why == noVolume {
			continue
		}
		why = strings.TrimSuffix(why, noEviction)
		if pins[why] == nil {
			names = append(names, why)
		}
		pins[why] = append(pins[why], i)
	}
	for _, name := range names {
		c := *in.Consolidation
		c.Jobs = slices.Clone(c.Jobs)
		s := single{name: name, in: &c}
		for _, i := range pins[name] {
			c.Jobs[i].Pinned = false
			s.tasks += c.Jobs[i].Tasks
			s.change = in.freeing(in.converter.jobs[i].pods[0])
		}
		if _, s.change, _ = strings.Cut(s.change, ": "); !strings.HasPrefix(name, "budget ") {
			s.change = ""
		}
		all = append(all, s)
	}
	tasks := map[string]int{}
	for i := range in.Jobs {
		tasks[in.Jobs[i].ID] = in.Jobs[i].Tasks
	}
	rules := map[string][]int{}
	names = nil
	for k := range in.Rules {
		name := ruleOf(in.Rules[k].ID)
		if rules[name] == nil {
			names = append(names, name)
		}
		rules[name] = append(rules[name], k)
	}
	for _, name := range names {
		c := *in.Consolidation
		c.Rules = nil
		s := single{name: "rule " + name, in: &c}
		for k := range in.Rules {
			if !slices.Contains(rules[name], k) {
				c.Rules = append(c.Rules, in.Rules[k])
				continue
			}
			for _, id := range in.Rules[k].Jobs {
				s.tasks += tasks[id]
			}
		}
		all = append(all, s)
	}
	return all
}

// ruleOf returns the name of a rule as its workload has it: pods of other sizes or labels are other jobs (KIND
// WORKLOAD#2 NUMBER), each with a rule.
func ruleOf(id string) string {
	before, job, some := strings.Cut(id, "#")
	if _, number, ok := strings.Cut(job, " "); some && ok && !wished(id) {
		return before + " " + number
	}
	return id
}

// explainSingles finds the least cost without each budget and rule by itself, from the plan that keeps all. Those by
// which the quick bound shows that nothing is saved need no search. The others are ordered by the most that the bound
// lets them save, then by their number of pods. As many as mostSingles are solved, each with the options' effort, all
// within half of their time limit. Bounds are of the singles without empty nodes kept for the loss of one, which are in the
// same order, if such nodes are kept (see unguarded).
func (e *Explanation) explainSingles(ctx context.Context, in *Instance, unguarded []single, with *least, o gapwise.Options) error {
	value, err := in.Objective(with.Solution)
	if err != nil {
		return err
	}
	var open []single
	for k, s := range in.singles() {
		if ctx.Err() != nil {
			break
		}
		if s.bounding = s.in; len(unguarded) > 0 {
			s.bounding = unguarded[k].in
		}
		for _, b := range consbounds.Quick(ctx, s.bounding) {
			s.atLeast = math.Max(s.atLeast, b.Value)
		}
		if s.atLeast < value.Value {
			open = append(open, s)
		} else {
			e.Needless++
		}
	}
	slices.SortStableFunc(open, func(a, b single) int {
		return cmp.Or(cmp.Compare(a.atLeast, b.atLeast), cmp.Compare(b.tasks, a.tasks), cmp.Compare(a.name, b.name))
	})
	e.Untried = max(0, len(open)-mostSingles)
	o.Start = with.Solution
	questions := len(open) - e.Untried
	if len(unguarded) > 0 {
		questions *= 2
	}
	share := sharing(o.TimeLimit/2, questions)
	for _, s := range open[:len(open)-e.Untried] {
		in.converter.ask("without "+s.name, 1)
		o.TimeLimit = share()
		r, err := in.leastCost(ctx, s.in, o)
		if err == nil && s.bounding != s.in && r.Solution != nil {
			free := o
			free.Start, free.TimeLimit = nil, share()
			var without *least
			if without, err = in.leastCost(ctx, s.bounding, free); err == nil {
				r.unguarded(without)
			}
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if r.Solution == nil {
			continue
		}
		one := costOf(s.name, r)
		one.Change = s.change
		e.Singles = append(e.Singles, one)
	}
	e.Stopped = ctx.Err() != nil
	slices.SortStableFunc(e.Singles, func(a, b RuleCost) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Bound, b.Bound))
	})
	return nil
}
