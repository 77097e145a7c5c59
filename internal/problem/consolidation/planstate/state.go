// SPDX-License-Identifier: MIT

// Package planstate keeps a plan of a consolidation while tasks come and go: the free capacity of hosts, the plan's cost,
// and the broken rules.
package planstate

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// State is a plan in which any tasks may be missing, with its consequences. Missing tasks count as left out.
type State struct {
	C     *view.Consolidation
	Plan  view.Plan
	Left  []int64 // [host × resources + resource], its free amount
	Tasks []int   // on each host
	Cost  int64   // of hosts in use or kept, and of tasks left out that may be
	Moves int64   // of tasks that have a host and aren't on it, missing ones included
	// Out counts the missing tasks that may not be left out.
	Out int
	// Over counts the hosts and resources above their capacity of which a newly placed task needs some, Broken the rules'
	// domains that break their rule.
	Over, Broken int
	// Excess is the amount by which the hosts in use go beyond the limits.
	Excess int64
	// Apart counts the part of Broken for rules by which tasks keep apart: placing more tasks fixes none.
	Apart int

	counts [][]tally  // of each rule and domain
	spread [][]spread // of each rule by which tasks are spread, or together with standing ones, and domain; nil if it is loose
	sums   []int64    // of each limit
	total  []int      // others of each rule, in domains or not, with the standing ones of rules by which tasks are together
	broken [][]bool
	fresh  [][]int // of a host that holds more than it has now: its newly placed tasks that need each resource; else nil
}

// tally counts the tasks of a rule in a domain: [is bound, is other, are both][stays, is newly placed].
type tally [3][2]int

// Sides of a rule.
const (
	boundOnly = iota
	otherOnly
	both
)

// spread holds the counts of a domain with standing tasks, or by which tasks are spread.
type spread struct {
	tasks int // others, with the ones that are there whatever the plan
	hosts int // that are there, or bought and in use
}

// New returns the state without tasks. O(hosts × resources + rules × domains).
func New(c *view.Consolidation) *State {
	s := &State{C: c, Left: make([]int64, len(c.Hosts)*c.Resources), Tasks: make([]int, len(c.Hosts)), fresh: make([][]int, len(c.Hosts)),
		Plan: make(view.Plan, len(c.Jobs)), counts: make([][]tally, len(c.Rules)), total: make([]int, len(c.Rules)), broken: make([][]bool, len(c.Rules)), spread: make([][]spread, len(c.Rules)), sums: make([]int64, len(c.Limits))}
	for h := range c.Hosts {
		copy(s.Left[h*c.Resources:], c.Hosts[h].Capacity)
		if c.Hosts[h].Held != nil {
			s.fresh[h] = make([]int, c.Resources)
		}
		if c.Hosts[h].Kept {
			s.Cost += c.Hosts[h].Price
			s.limit(h, 1)
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
		if c.Rules[k].Among != nil && !c.Rules[k].Loose {
			s.spread[k] = make([]spread, n)
		}
	}
	for h := range c.Existing {
		s.host(h, 1)
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
	return s.Over == 0 && s.Excess == 0 && s.Broken == 0 && s.Out == 0 && (in.MoveBudget == nil || s.Moves <= *in.MoveBudget) && (in.CostLimit == nil || s.Cost <= *in.CostLimit)
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

// Fits reports whether host h has room for a newly placed task of job i: enough of each resource that the task needs.
func (s *State) Fits(i, h int) bool {
	left := s.Left[h*s.C.Resources:]
	for r, x := range s.C.Jobs[i].Needs {
		if x > left[r] && x > 0 {
			return false
		}
	}
	return true
}

// returns reports whether a task of job i may stay on host h by its needs: the host has room, or no newly placed task
// needs what it hasn't. If the host never had too little, it has room.
func (s *State) returns(i, h int) bool {
	fresh, left := s.fresh[h], s.Left[h*s.C.Resources:]
	if fresh == nil {
		return s.Fits(i, h)
	}
	for r, x := range s.C.Jobs[i].Needs {
		if x > left[r] && x > 0 && fresh[r] > 0 {
			return false
		}
	}
	return true
}

// Can reports whether task k of job i, which is missing, may be placed on h. It stays there, or h is allowed, has room
// for it, and is in use or within the limits; and it breaks no rule that wasn't broken. O(rules of the job), for a
// spread also O(domains), and if h is bought O(rules × domains).
func (s *State) Can(i, k, h int) bool { return s.can(i, h, s.C.Jobs[i].Current[k] == int32(h), false) }

// CanAnew is Can for a task of job i that comes next in an order of tasks, and is placed anew wherever it goes, so that the
// rules bind it on its current host, too. The first of those that want each other's company goes anywhere, the second joins
// the first; tasks that have no domain are nobody's company.
func (s *State) CanAnew(i, h int) bool { return s.can(i, h, false, true) }

// first reports whether no task is in a domain whose company job i wants, and its own tasks would do.
func (s *State) first(i int) bool {
	own := false
	for _, q := range s.C.Jobs[i].Rules {
		r := &s.C.Rules[q]
		if r.Type != model.RuleTogether || !r.Bound.Has(i) {
			continue
		}
		own = r.Other.Has(i)
		for d := range s.counts[q] {
			if !own || s.others(q, d) > 0 {
				return false
			}
		}
	}
	return own
}

// others counts the others of a rule of company in a domain.
func (s *State) others(q, d int) int {
	if s.spread[q] != nil {
		return s.spread[q][d].tasks
	}
	return s.counts[q][d].others()
}

func (s *State) can(i, h int, stays, next bool) bool {
	j := &s.C.Jobs[i]
	switch {
	case !stays && (j.Pinned || !j.Allowed.Has(h)):
		return false
	case stays && j.Home != nil && !j.Home.Has(h), !stays && !s.Fits(i, h), stays && !s.returns(i, h):
		return false
	case !stays && s.Tasks[h] == 0 && !s.C.Hosts[h].Kept && !s.within(h):
		return false
	}
	stays = stays && !s.C.In.Mend // no rule binds it
	bought := h >= s.C.Existing && s.Tasks[h] == 0
	if bought {
		s.host(h, 1)
		defer s.host(h, -1)
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
		if next && r.Type == model.RuleTogether {
			if r.Bound.Has(i) && s.others(q, int(d)) == 0 && !s.first(i) {
				return false
			}
			continue
		}
		s.count(q, i, h, stays, 1)
		ok := s.broken[q][d] || s.holds(q, int(d))
		if bought && s.spread[q] != nil {
			ok = ok && s.spreads(q)
		}
		s.count(q, i, h, stays, -1)
		if !ok {
			return false
		}
	}
	for q := range s.C.Rules {
		if r := &s.C.Rules[q]; bought && s.spread[q] != nil && r.Among.Has(h) && !r.Bound.Has(i) && !r.Other.Has(i) && !s.spreads(q) {
			return false
		}
	}
	return true
}

// spreads reports whether all domains that keep a rule keep it now that a host is bought, since the host's domain may
// be the one that has fewest.
func (s *State) spreads(q int) bool {
	least := s.least(q)
	for d := range s.spread[q] {
		if !s.broken[q][d] && !s.spreadHolds(q, d, least) {
			return false
		}
	}
	return true
}

// host counts a host and the standing tasks on it in the domains of rules that have such, or no longer (by = -1).
func (s *State) host(h, by int) {
	for q := range s.spread {
		r := &s.C.Rules[q]
		if s.spread[q] == nil || !r.Among.Has(h) {
			continue
		}
		if r.Type == model.RuleTogether {
			s.total[q] += by * r.Standing[h]
		}
		if d := s.C.Domains[r.Domain][h]; d >= 0 {
			x := &s.spread[q][d]
			if x.hosts += by; r.Standing != nil {
				x.tasks += by * r.Standing[h]
			}
		}
	}
}

// Retire has a host that is there, without tasks, no longer count for any rule, as if it were gone; Recall undoes that. No
// task may be placed on it meanwhile. O(rules × domains).
func (s *State) Retire(h int) { s.retire(h, -1) }

// Recall undoes Retire.
func (s *State) Recall(h int) { s.retire(h, 1) }

func (s *State) retire(h, by int) {
	s.host(h, by)
	for q := range s.spread {
		if s.spread[q] != nil {
			s.judgeAll(q)
		}
	}
}

// BrokenRules returns the rules that are broken in some domain, or by a task in none. O(rules × domains + tasks).
func (s *State) BrokenRules() (all []int) {
	for q := range s.broken {
		r := &s.C.Rules[q]
		broken := slices.Contains(s.broken[q], true)
		for _, i := range r.Jobs {
			for k, h := range s.Plan[i] {
				broken = broken || h >= 0 && h != s.C.Jobs[i].Current[k] && r.Type != model.RuleApart && s.C.Domains[r.Domain][h] < 0
			}
		}
		if broken {
			all = append(all, q)
		}
	}
	return all
}

// limit counts a host in use, or no longer (by = -1).
func (s *State) limit(h int, by int64) {
	for k := range s.sums {
		l := &s.C.Limits[k]
		before := max(0, s.sums[k]-l.Most)
		s.sums[k] += by * l.Counts[h]
		s.Excess += max(0, s.sums[k]-l.Most) - before
	}
}

// within reports whether the limits allow a host to come into use.
func (s *State) within(h int) bool {
	for k := range s.sums {
		if l := &s.C.Limits[k]; l.Counts[h] > 0 && s.sums[k]+l.Counts[h] > l.Most {
			return false
		}
	}
	return true
}

// Add places task k of job i, which is missing, on h. O(resources + rules of the job), for a spread also O(domains),
// and if h is bought O(rules × domains).
func (s *State) Add(i, k, h int) { s.change(i, k, h, 1) }

// Remove takes task k of job i from its host.
func (s *State) Remove(i, k int) { s.change(i, k, int(s.Plan[i][k]), -1) }

// change adds (by = 1) or removes (by = -1) a task on h.
func (s *State) change(i, k, h, by int) {
	c := s.C
	j := &c.Jobs[i]
	stays := j.Current[k] == int32(h)
	host := &c.Hosts[h]
	left, fresh := s.Left[h*c.Resources:], s.fresh[h]
	for r, x := range j.Needs {
		was := left[r] < 0 && (fresh == nil || fresh[r] > 0)
		left[r] -= int64(by) * x
		if fresh != nil && x > 0 && !stays {
			fresh[r] += by
		}
		if was != (left[r] < 0 && (fresh == nil || fresh[r] > 0)) {
			s.Over += by
		}
	}
	if by > 0 {
		s.Plan[i][k] = int32(h)
		s.enter(j)
		if s.Tasks[h] == 0 && !host.Kept {
			s.Cost += host.Price
			s.limit(h, 1)
		}
	} else {
		s.Plan[i][k] = view.Nowhere
		s.leave(j)
		if s.Tasks[h] == 1 && !host.Kept {
			s.Cost -= host.Price
			s.limit(h, -1)
		}
	}
	s.Tasks[h] += by
	if bought := h >= c.Existing && (s.Tasks[h] == 0 || by > 0 && s.Tasks[h] == 1); bought {
		s.host(h, by)
		for q := range c.Rules {
			if r := &c.Rules[q]; s.spread[q] != nil && r.Among.Has(h) && !r.Bound.Has(i) && !r.Other.Has(i) {
				s.judgeAll(q)
			}
		}
	}
	if stays {
		s.Moves -= int64(by) * j.Move
		if j.Home != nil && !j.Home.Has(h) {
			s.Broken += by
		}
		stays = !c.In.Mend // no rule binds it
	}
	for _, q := range j.Rules {
		r := &c.Rules[q]
		d := c.Domains[r.Domain][h]
		if r.Other.Has(i) {
			s.total[q] += by
		}
		if d >= 0 {
			s.count(q, i, h, stays, by)
		} else if !stays && r.Bound.Has(i) && r.Type != model.RuleApart {
			s.Broken += by // it has no domain where it must have one
		}
		switch {
		case r.Type == model.RuleTogether || s.spread[q] != nil:
			s.judgeAll(q)
		case d >= 0:
			s.judge(q, int(d), s.holds(q, int(d)))
		}
	}
}

// judgeAll notes which domains break a rule of spread or company.
func (s *State) judgeAll(q int) {
	if s.C.Rules[q].Type == model.RuleTogether {
		for d := range s.counts[q] {
			s.judge(q, d, s.holds(q, d))
		}
		return
	}
	least := s.least(q)
	for d := range s.spread[q] {
		s.judge(q, d, s.spreadHolds(q, d, least))
	}
}

// count changes the tally of the domain of a host by a task of job i.
func (s *State) count(q, i, h int, stays bool, by int) {
	r := &s.C.Rules[q]
	d := s.C.Domains[r.Domain][h]
	if s.spread[q] != nil && r.Other.Has(i) && r.Among.Has(h) {
		s.spread[q][d].tasks += by
	}
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
func (s *State) judge(q, d int, holds bool) {
	if broken := !holds; broken != s.broken[q][d] {
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
	others := t.others()
	switch r.Type {
	case model.RuleApart:
		// One of a pair is newly placed: the bound one, or the other.
		bound := t[boundOnly][0] + t[boundOnly][1] + t[both][0] + t[both][1]
		return !(t[boundOnly][1] > 0 && others > 0 || t[both][1] > 0 && (others > 1 || bound > 1) || t[otherOnly][1] > 0 && bound > 0)
	case model.RuleTogether:
		others = s.others(q, d)
		return (t[boundOnly][1] == 0 || others > 0) && (t[both][1] == 0 || others > 1 || s.total[q] == 1)
	}
	if r.Loose {
		return t[boundOnly][1]+t[both][1] == 0 || others <= r.MaxSkew
	}
	return s.spreadHolds(q, d, s.least(q))
}

// spreadHolds reports whether a domain keeps a spread, if another one has least.
func (s *State) spreadHolds(q, d, least int) bool {
	t := &s.counts[q][d]
	return t[boundOnly][1]+t[both][1] == 0 || s.spread[q][d].tasks-least <= s.C.Rules[q].MaxSkew
}

// least returns the content of the domain that has fewest, 0 if there are too few domains.
func (s *State) least(q int) int {
	least, domains := 0, 0
	for _, x := range s.spread[q] {
		if x.hosts == 0 {
			continue
		}
		if domains == 0 || x.tasks < least {
			least = x.tasks
		}
		domains++
	}
	if domains < s.C.Rules[q].MinDomains {
		return 0
	}
	return least
}

// others counts the tasks with which others are compared.
func (t *tally) others() int { return t[otherOnly][0] + t[otherOnly][1] + t[both][0] + t[both][1] }
