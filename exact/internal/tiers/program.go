// SPDX-License-Identifier: MIT

package tiers

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/simplex"
	"github.com/gapwise/gapwise/model/milp"
)

// program bounds the weighted sums of responses of all schedules that begin as a node does, and go on by its plan. Its
// variables are the lengths of the spans, the time of free groups in their first orientation, the time of jobs in each
// tier between the points of the plan, and the ends of jobs that the plan doesn't have:
//
//   - A job that has ended has done its work; a running job has done no more than that; a job that ends by the plan
//     does it by then.
//   - A job without a planned end ends no sooner than the last point plus its remaining time, at its best rate, and no
//     sooner than its submission plus all of its work; if it migrates, after the migration.
//   - Together, the jobs end no sooner than machines allow (mean busy times, see machine).
//
// Its dual bounds hold however it is solved (duals.SafeLower). O(lives + plan · mixes + jobs²) figures.
func (s *Search) program(n *node) {
	s.Programs++
	p := s.room.program(s, n)
	for range n.spans {
		p.m.AddVar(milp.Var{Upper: s.horizon})
	}
	for i := range n.lives {
		p.sharing = append(p.sharing, -1)
		if l := &n.lives[i]; l.free && len(l.jobs) > 1 && l.from < p.end(l) {
			y := p.m.AddVar(milp.Var{Upper: s.horizon})
			p.sharing[i] = y
			terms := []milp.Term{{Var: y, Coef: -1}}
			for x := l.from; x < p.end(l); x++ {
				terms = append(terms, milp.Term{Var: x, Coef: 1})
			}
			p.m.AddRow("", 0, p.inf, terms...)
		}
	}
	p.points()
	p.plan()
	p.works()
	started, ended := s.after(n)
	rest := (uint32(1)<<s.n - 1) &^ ended
	for _, set := range []uint32{rest, rest &^ started} {
		if !s.Unsquashed && set&(set-1) != 0 && (set == rest || started != 0) {
			p.machine(set)
		}
	}
	lower, x := s.room.simplex.Solve(context.Background(), p.m, simplex.Options{Cutoff: s.upper, Pivots: mostPivots})
	n.bound, n.value = max(n.bound, lower), x
}

// program is one that is being made.
type program struct {
	s       *Search
	n       *node
	m       *milp.Model
	inf     float64
	sharing []int         // variable of each life; -1: none
	got     [][]milp.Term // work of jobs, or nil
	ends    []int         // by job: the point of its planned end, in later; -1: none
	later   []milp.Term   // the time from the last point to the points of the plan
	does    [][]milp.Term // work of jobs in later
	lost    [][]milp.Term // for how long there their migrations go on
	finish  []int         // variable of the end of each job that isn't planned
	left    [][]milp.Term // the rest of such a job's least time then: 1 less these
}

// room holds the memory for programs, which are made in it one after the other.
type room struct {
	made    program
	simplex simplex.Simplex
}

// mostPivots is how far a program is solved.
const mostPivots = 600

// program returns an empty program.
func (r *room) program(s *Search, n *node) *program {
	p := &r.made
	if p.m == nil {
		*p = program{s: s, m: &milp.Model{}, inf: math.Inf(1), got: make([][]milp.Term, s.n), does: make([][]milp.Term, s.n), lost: make([][]milp.Term, s.n),
			left: make([][]milp.Term, s.n), ends: make([]int, s.n), finish: make([]int, s.n)}
	}
	p.n = n
	p.m.Vars, p.m.Rows, p.m.Offset = p.m.Vars[:0], p.m.Rows[:0], 0
	p.sharing, p.later = p.sharing[:0], p.later[:0]
	for k := range s.n {
		p.got[k], p.does[k], p.left[k], p.ends[k] = p.got[k][:0], p.does[k][:0], p.left[k][:0], -1
	}
	return p
}

func (p *program) end(l *life) int {
	if l.to < 0 {
		return p.n.spans
	}
	return l.to
}

// until returns the time of a point, from the origin, times a factor.
func until(at int, factor float64) []milp.Term {
	all := make([]milp.Term, at)
	for x := range all {
		all[x] = milp.Term{Var: x, Coef: factor}
	}
	return all
}

// points adds the known facts about the times of points, and the lengths of migrations.
func (p *program) points() {
	s, n := p.s, p.n
	for _, x := range n.points {
		upper := p.inf
		if x.then {
			upper = x.submit
		}
		if x.submit > 0 || x.then {
			p.m.AddRow("", x.submit, upper, until(x.at, 1)...)
		}
	}
	spans := func(from, to int) (all []milp.Term) {
		for x := from; x < to; x++ {
			all = append(all, milp.Term{Var: x, Coef: 1})
		}
		return all
	}
	for i := range n.events {
		if e := &n.events[i]; e.what == arrives {
			p.m.AddRow("", s.migration, s.migration, spans(e.since, e.at)...)
		}
	}
	for k := range s.n {
		if n.moving[k] >= 0 && int(n.moving[k]) < n.spans {
			p.m.AddRow("", -p.inf, s.migration, spans(int(n.moving[k]), n.spans)...)
		}
	}
}

// works adds the rows of the jobs' works and ends.
func (p *program) works() {
	s, n, m := p.s, p.n, p.m
	for i := range n.lives {
		l := &n.lives[i]
		for at, k := range l.jobs {
			a, b := l.rate[0][at], l.rate[1][at]
			rest := a
			if y := p.sharing[i]; y >= 0 {
				if rest = b; a != b {
					p.got[k] = append(p.got[k], milp.Term{Var: y, Coef: a - b})
				}
			}
			if rest == 0 {
				continue
			}
			for x := l.from; x < p.end(l); x++ {
				p.got[k] = append(p.got[k], milp.Term{Var: x, Coef: rest})
			}
		}
	}
	for k := range s.n {
		w := s.weight[k]
		m.Offset -= w * s.submit[k]
		if n.phase[k] == over {
			p.m.AddRow("", s.work[k], s.work[k], p.got[k]...)
			for x := range int(n.ended[k]) {
				m.Vars[x].Cost += w
			}
			continue
		}
		if n.phase[k] != waits && len(p.got[k]) > 0 {
			p.m.AddRow("", -p.inf, s.work[k], p.got[k]...)
		}
		rest, from := s.least(k), n.spans
		if n.phase[k] == lifted || n.phase[k] == transit {
			rest += s.migration
		} else if n.moving[k] >= 0 {
			rest, from = rest+s.migration, int(n.moving[k])
		}
		if n.again>>k&1 == 1 && n.phase[k] == runs {
			rest += s.migration
		}
		end := newSum() // of the job
		if p.ends[k] >= 0 {
			p.m.AddRow("", s.work[k], p.inf, slices.Concat(p.got[k], p.does[k])...)
			for x := range n.spans {
				m.Vars[x].Cost += w
				end.add(x, 1)
			}
			for _, t := range p.later[:p.ends[k]] {
				m.Vars[t.Var].Cost += w
				end.add(t.Var, 1)
			}
			if rest == s.least(k) {
				continue
			}
		} else {
			c := m.AddVar(milp.Var{Lower: min(s.horizon, s.submit[k]+s.least(k)), Upper: s.horizon, Cost: w})
			end.add(c, 1)
			p.finish[k] = c
			for _, t := range slices.Concat(p.got[k], p.does[k]) {
				p.left[k] = append(p.left[k], milp.Term{Var: t.Var, Coef: t.Coef / s.work[k]})
			}
			for _, t := range p.does[k] {
				end.add(t.Var, t.Coef/s.best[k])
			}
			if rest == s.least(k) { // if it migrates, it may be over by then
				for _, t := range p.later {
					end.add(t.Var, -1)
				}
			}
		}
		for x := range from {
			end.add(x, -1)
		}
		for _, t := range p.got[k] {
			end.add(t.Var, t.Coef/s.best[k])
		}
		p.m.AddRow("", rest, p.inf, end.terms()...)
	}
}

// sum is a linear expression that is being added up.
type sum struct{ coef []float64 }

func newSum() *sum { return &sum{make([]float64, 0, 64)} }

func (s *sum) add(v int, c float64) {
	for len(s.coef) <= v {
		s.coef = append(s.coef, 0)
	}
	s.coef[v] += c
}

func (s *sum) terms() []milp.Term {
	all := make([]milp.Term, 0, len(s.coef))
	for v, c := range s.coef {
		if c != 0 {
			all = append(all, milp.Term{Var: v, Coef: c})
		}
	}
	return all
}
