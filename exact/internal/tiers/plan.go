// SPDX-License-Identifier: MIT

package tiers

import (
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/model/milp"
)

// A plan is the order of the starts and ends that are to come. It is decided first, one by one, in a node in which
// nothing has happened; then come the places and the moves of the jobs. All jobs that the plan has started hold
// processors until they end, so their rates are one of mixes. Migrations cost nothing there, and no job is on
// processors of its own. So plans cost little, and most of them are refuted as a whole: for eight jobs on four
// processors at load 2, the best schedule leaves only some thousand plans.
//
// planned reports whether a node's plan has the ends of all jobs.
func (s *Search) planned(n *node) bool {
	started, ended := s.after(n)
	return len(n.lifts) > 0 || started == 0 && ended == 1<<s.n-1
}

// after returns the jobs that run, and that have ended, after a node's plan.
func (s *Search) after(n *node) (started, ended uint32) {
	for k, phase := range n.phase {
		switch phase {
		case waits:
		case over:
			ended |= 1 << k
		default:
			started |= 1 << k
		}
	}
	for _, e := range n.plan {
		if int(e) < s.n {
			started &^= 1 << e
			ended |= 1 << e
		} else {
			started |= 1 << (int(e) - s.n)
		}
	}
	return started, ended
}

// next reports whether an event may be the next one by the plan: the end of a job, or, from the number of jobs on, its start.
func (n *node) next(e int32) bool { return len(n.plan) == 0 || int32(n.plan[0]) == e }

// happens takes the first event from the plan.
func (n *node) happens() {
	if len(n.plan) > 0 {
		n.plan = n.plan[1:]
	}
}

// plans returns the plan with one more start or end.
//
// If jobs are identical except for their submissions, the first one starts first: otherwise they could change names.
// Jobs that can't hold processors together don't run together.
func (s *Search) plans(n *node) (all []*node) {
	started, ended := s.after(n)
	add := func(e int) {
		c := *n
		c.plan = append(slices.Clip(n.plan), int8(e))
		c.value = nil
		all = append(all, &c)
	}
	for k := range s.n {
		switch bit := uint32(1) << k; {
		case ended&bit != 0:
		case started&bit != 0:
			add(k)
		case s.like[k] >= 0 && (started|ended)>>s.like[k]&1 == 0:
		case len(s.mixes(started|bit)) > 0:
			add(s.n + k)
		}
	}
	return all
}

// mostAway bounds the jobs with a remaining migration cost in plan: each one doubles the ways at most.
const mostAway = 3

// plan adds the time after the last point. Between two points of the plan each running job is in one of the tiers.
// Variables give the time for which the jobs are in which tier, for all ways that give the largest rates, wherever they
// are. At each instant of a schedule that follows the plan, the rates are no more than the rates of one of the ways, so
// its lengths satisfy all rows.
//
// A job with a migration under way does nothing until it is over, and doesn't end sooner. So each way is there once
// more for each set of such jobs, with their rates zero. For each job these ways last at least as long as its migration
// does from the last point on. While it does nothing, the others have the rates of a way, as before. A job that
// migrates again (parts) has one more migration to come, or the first. If there are more jobs than mostAway, some are
// treated as if they worked during their migrations.
func (p *program) plan() {
	s, n := p.s, p.n
	away := uint32(0) // the jobs with a remaining migration cost
	for k, phase := range n.phase {
		p.lost[k] = p.lost[k][:0]
		if s.migration > 0 && !s.Unpaid && (phase == lifted || phase == transit || phase == runs && (n.moving[k] >= 0 || n.again>>k&1 == 1)) && bits.OnesCount32(away) < mostAway {
			away |= 1 << k
		}
	}
	y := s.stand(n)
	for _, e := range n.plan {
		for idle := y.set & away; ; idle = (idle - 1) & y.set & away {
			for _, rates := range s.mixesAt(&y, idle) {
				x := p.m.AddVar(milp.Var{Upper: s.horizon})
				p.later = append(p.later, milp.Term{Var: x, Coef: 1})
				for k, r := range rates {
					if r > 0 {
						p.does[k] = append(p.does[k], milp.Term{Var: x, Coef: r})
					}
					if idle>>k&1 == 1 {
						p.lost[k] = append(p.lost[k], milp.Term{Var: x, Coef: 1})
					}
				}
			}
			if idle == 0 {
				break
			}
		}
		if k := int(e) - s.n; k < 0 {
			p.ends[e] = len(p.later)
			if away>>e&1 == 1 {
				terms, times := slices.Clone(p.lost[e]), float64(n.again>>e&1)
				if n.moving[e] >= 0 {
					times++
					for x := int(n.moving[e]); x < n.spans; x++ {
						terms = append(terms, milp.Term{Var: x, Coef: 1})
					}
				} else if n.phase[e] != runs {
					times = 1
				}
				p.m.AddRow("", times*s.migration, p.inf, terms...)
			}
		} else if s.submit[k] > 0 {
			p.m.AddRow("", s.submit[k], p.inf, slices.Concat(until(n.spans, 1), p.later)...)
		}
		y.pass(s, e)
	}
}
