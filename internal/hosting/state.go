// SPDX-License-Identifier: MIT

// Package hosting keeps a plan of a consolidation while tasks come and go: what hosts
// have left, what it costs, and which rules are broken.
package hosting

import (
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// State is a plan in which any tasks may be missing, with what follows from it.
// Missing tasks count as left out.
type State struct {
	C     *view.Consolidation
	Plan  view.Plan
	Left  []int64 // [host × resources + resource], what it has left
	Tasks []int   // on each host
	Cost  int64   // of hosts in use or kept, and of tasks left out that may be
	Moves int64   // of tasks that have a host and aren't on it, missing ones included
	// Out counts the missing tasks that may not be left out.
	Out int
	// Over counts the hosts and resources with more than they have, Broken the rules' domains
	// that break their rule.
	Over, Broken int
	// Apart counts those of Broken by which tasks keep apart: placing more tasks mends none.
	Apart int

	counts [][]tally // of each rule and domain
	total  []int     // others of each rule, in domains or not
	broken [][]bool
	fresh  []int // tasks placed anew on each host
}

// tally counts the tasks of a rule in a domain: [is bound, is other, are both][stays, is placed anew].
type tally [3][2]int

// Sides of a rule.
const (
	boundOnly = iota
	otherOnly
	both
)

// New returns the state of no task. O(hosts × resources + rules × domains).
func New(c *view.Consolidation) *State {
	s := &State{C: c, Left: make([]int64, len(c.Hosts)*c.Resources), Tasks: make([]int, len(c.Hosts)), fresh: make([]int, len(c.Hosts)),
		Plan: make(view.Plan, len(c.Jobs)), counts: make([][]tally, len(c.Rules)), total: make([]int, len(c.Rules)), broken: make([][]bool, len(c.Rules))}
	for h := range c.Hosts {
		copy(s.Left[h*c.Resources:], c.Hosts[h].Capacity)
		if c.Hosts[h].Kept {
			s.Cost += c.Hosts[h].Price
		}
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		s.Plan[i] = make([]int32, len(j.Current))
		for k := range s.Plan[i] {
			s.Plan[i][k] = view.Nowhere
			if j.Current[k] >= 0 {
				s.Moves += j.Move
			}
			s.leave(j)
		}
	}
	for k := range c.Rules {
		n := c.Values[c.Rules[k].Domain]
		s.counts[k], s.broken[k] = make([]tally, n), make([]bool, n)
	}
	return s
}

// Of returns the state of a plan.
func Of(c *view.Consolidation, p view.Plan) *State {
	s := New(c)
	for i := range p {
		for k, h := range p[i] {
			if h >= 0 {
				s.Add(i, k, int(h))
			}
		}
	}
	return s
}

// Feasible reports whether the plan is a solution: nothing is over, broken or missing, and budgets hold.
func (s *State) Feasible() bool {
	in := s.C.In
	return s.Over == 0 && s.Broken == 0 && s.Out == 0 && (in.MoveBudget == nil || s.Moves <= *in.MoveBudget) && (in.CostLimit == nil || s.Cost <= *in.CostLimit)
}

// Value returns the figures in the order of the goal.
func (s *State) Value() (first, second int64) {
	if s.C.In.Goal == model.GoalMoves {
		return s.Moves, s.Cost
	}
	return s.Cost, s.Moves
}

func (s *State) leave(j *view.ConsolidationJob) {
	if j.LeaveOut >= 0 {
		s.Cost += j.LeaveOut
	} else {
		s.Out++
	}
}

func (s *State) enter(j *view.ConsolidationJob) {
	if j.LeaveOut >= 0 {
		s.Cost -= j.LeaveOut
	} else {
		s.Out--
	}
}

// Fits reports whether host h has what a task of job i needs. A task that stays on a host
// that is overfull has it.
func (s *State) Fits(i, h int) bool {
	left := s.Left[h*s.C.Resources:]
	for r, x := range s.C.Jobs[i].Needs {
		if x > left[r] {
			return false
		}
	}
	return true
}

// Can reports whether task k of job i, which is missing, may be placed on h: it stays
// there, or h is allowed, has what it needs, and no rule is broken by it that wasn't. O(rules of
// the job), a spread also O(domains).
func (s *State) Can(i, k, h int) bool {
	j := &s.C.Jobs[i]
	stays := j.Current[k] == int32(h)
	switch {
	case stays && s.C.Hosts[h].Overfull:
	case !stays && (j.Pinned || !j.Allowed.Has(h)):
		return false
	case !s.Fits(i, h):
		return false
	}
	for _, q := range j.Rules {
		r := &s.C.Rules[q]
		if !stays && r.Type != model.RuleApart && r.Bound.Has(i) && s.C.Domains[r.Domain][h] < 0 {
			return false
		}
		d := s.C.Domains[r.Domain][h]
		if d < 0 {
			continue
		}
		s.count(q, i, d, stays, 1)
		ok := s.holds(q, int(d))
		s.count(q, i, d, stays, -1)
		if !ok && !s.broken[q][d] {
			return false
		}
	}
	return true
}

// Add places task k of job i, which is missing, on h. O(resources + rules of the job),
// a spread also O(domains).
func (s *State) Add(i, k, h int) { s.change(i, k, h, 1) }

// Remove takes task k of job i from its host.
func (s *State) Remove(i, k int) { s.change(i, k, int(s.Plan[i][k]), -1) }

// change adds (by = 1) or removes (by = -1) a task on h.
func (s *State) change(i, k, h, by int) {
	c := s.C
	j := &c.Jobs[i]
	stays := j.Current[k] == int32(h)
	host := &c.Hosts[h]
	left := s.Left[h*c.Resources:]
	for r, x := range j.Needs {
		was := left[r]
		left[r] -= int64(by) * x
		if !host.Overfull && (was < 0) != (left[r] < 0) {
			s.Over += by
		}
	}
	if by > 0 {
		s.Plan[i][k] = int32(h)
		s.enter(j)
		if s.Tasks[h] == 0 && !host.Kept {
			s.Cost += host.Price
		}
	} else {
		s.Plan[i][k] = view.Nowhere
		s.leave(j)
		if s.Tasks[h] == 1 && !host.Kept {
			s.Cost -= host.Price
		}
	}
	s.Tasks[h] += by
	if stays {
		s.Moves -= int64(by) * j.Move
	} else {
		s.fresh[h] += by
	}
	for _, q := range j.Rules {
		r := &c.Rules[q]
		d := c.Domains[r.Domain][h]
		if r.Other.Has(i) {
			s.total[q] += by
		}
		if d >= 0 {
			s.count(q, i, d, stays, by)
		} else if !stays && r.Bound.Has(i) && r.Type != model.RuleApart {
			s.Broken += by // it has no domain where it must have one
		}
		if d >= 0 && r.Type == model.RuleApart {
			s.judge(q, int(d))
			continue
		}
		if r.Type != model.RuleApart {
			for d := range s.counts[q] {
				s.judge(q, d)
			}
		}
	}
}

// count changes the tally of a rule's domain by a task of job i.
func (s *State) count(q, i int, d int32, stays bool, by int) {
	r := &s.C.Rules[q]
	side, anew := boundOnly, 1
	switch {
	case r.Bound.Has(i) && r.Other.Has(i):
		side = both
	case r.Other.Has(i):
		side = otherOnly
	}
	if stays {
		anew = 0
	}
	s.counts[q][d][side][anew] += by
}

// judge notes whether a domain breaks a rule.
func (s *State) judge(q, d int) {
	if broken := !s.holds(q, d); broken != s.broken[q][d] {
		s.broken[q][d] = broken
		by := 1
		if !broken {
			by = -1
		}
		s.Broken += by
		if s.C.Rules[q].Type == model.RuleApart {
			s.Apart += by
		}
	}
}

// holds reports whether a domain keeps a rule.
func (s *State) holds(q, d int) bool {
	r, t := &s.C.Rules[q], &s.counts[q][d]
	fresh, others := t[boundOnly][1]+t[both][1], t.others()
	switch r.Type {
	case model.RuleApart:
		// A pair of which one is placed anew: the bound one, or the other.
		bound := t[boundOnly][0] + t[boundOnly][1] + t[both][0] + t[both][1]
		return !(t[boundOnly][1] > 0 && others > 0 || t[both][1] > 0 && (others > 1 || bound > 1) || t[otherOnly][1] > 0 && bound > 0)
	case model.RuleTogether:
		return (t[boundOnly][1] == 0 || others > 0) && (t[both][1] == 0 || others > 1 || s.total[q] == 1)
	}
	if fresh == 0 {
		return true
	}
	least := -1
	for first, last := range r.Among.Runs() {
		for x := first; x <= last; x++ {
			if n := s.counts[q][x].others(); least < 0 || n < least {
				least = n
			}
		}
	}
	return others-max(least, 0) <= r.MaxSkew
}

// others counts the tasks that others are held against.
func (t *tally) others() int { return t[otherOnly][0] + t[otherOnly][1] + t[both][0] + t[both][1] }
