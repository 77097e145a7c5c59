// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// sides holds the variables of a rule in a domain, with the largest sum that they can have.
type sides struct {
	anew, all []milp.Term
	most      int64 // of anew
	mostAll   int64
}

// variablesOf returns the variables of the jobs that are in a set (nil: all), in a domain, on some hosts (nil: all).
func (b *builder) variablesOf(jobs []int, domain, d int, only func(i int) bool, among bitset.Set) (s sides) {
	c := b.View
	for h, x := range c.Domains[domain] {
		if int(x) != d || among != nil && !among.Has(h) {
			continue
		}
		for _, i := range jobs {
			if only != nil && !only(i) {
				continue
			}
			b.each(i, h, func(v int, anew bool) {
				s.all = append(s.all, term(v, 1))
				s.mostAll += int64(b.Vars[v].Upper)
				if anew {
					s.anew = append(s.anew, term(v, 1))
					s.most += int64(b.Vars[v].Upper)
				}
			})
		}
	}
	return s
}

// part returns the variables of a part of rule q in domain d: "jobs", "others", "both" (in both lists),
// "bound" (in the first alone), "free" (in the second alone).
func (b *builder) part(q, d int, name string) sides {
	r := &b.View.Rules[q]
	jobs, only := r.Jobs, (func(i int) bool)(nil)
	switch name {
	case "others":
		jobs = r.Others
	case "both":
		only = r.Other.Has
	case "bound":
		only = func(i int) bool { return !r.Other.Has(i) }
	case "free":
		jobs, only = r.Others, func(i int) bool { return !r.Bound.Has(i) }
	}
	return b.variablesOf(jobs, r.Domain, d, only, nil)
}

// times returns the terms times a factor.
func times(terms []milp.Term, by float64) []milp.Term {
	all := make([]milp.Term, len(terms))
	for k, t := range terms {
		all[k] = milp.Term{Var: t.Var, Coef: t.Coef * by}
	}
	return all
}

// plus adds up terms; a variable that is in both has one term.
func plus(lists ...[]milp.Term) []milp.Term {
	at, all := map[int]int{}, []milp.Term(nil)
	for _, list := range lists {
		for _, t := range list {
			if k, ok := at[t.Var]; ok {
				all[k].Coef += t.Coef
				continue
			}
			at[t.Var] = len(all)
			all = append(all, t)
		}
	}
	return all
}

// outside has bound tasks go to no host outside of domains, except by apart.
func (b *builder) outside() {
	c := b.View
	for q := range c.Rules {
		r := &c.Rules[q]
		if r.Type == model.RuleApart {
			continue
		}
		for h, x := range c.Domains[r.Domain] {
			if x >= 0 {
				continue
			}
			for _, i := range r.Jobs {
				if v := b.Anew[i][h]; v >= 0 {
					b.Vars[v].Upper = 0
				}
				b.home(i, h)
			}
		}
	}
	for i := range c.Jobs {
		for h := range c.Existing {
			if home := c.Jobs[i].Home; home != nil && !home.Has(h) {
				b.home(i, h)
			}
		}
	}
}

// home has tasks of a job leave their host if that is to be mended. It is a row, as pinned ones can't.
func (b *builder) home(i, h int) {
	v, ok := b.Stay[i][int32(h)]
	if name := fmt.Sprintf("home_%d_%d", i+1, h+1); ok && b.View.In.Mend && !b.homes[name] {
		b.homes[name] = true
		b.atMost(name, 0, term(v, 1))
	}
}

// rule adds the rows of a rule.
func (b *builder) rule(q int) {
	r := &b.View.Rules[q]
	switch r.Type {
	case model.RuleSpread:
		b.spread(q)
		return
	case model.RuleApart:
		for d := range b.View.Values[r.Domain] {
			b.mutual(q, d)
			b.exclude(q, d, "bound", "others")
			b.exclude(q, d, "free", "both")
		}
		return
	}
	alone := -1
	for d := range b.View.Values[r.Domain] {
		all, there := b.part(q, d, "others"), 0.0
		for h, x := range b.View.Domains[r.Domain] {
			switch {
			case int(x) != d || r.Standing == nil || r.Standing[h] == 0:
			case h < b.View.Existing:
				there += float64(r.Standing[h])
			default:
				b.onlyWithTasks(h)
				all.all = append(all.all, term(b.Use[h], int64(r.Standing[h])))
			}
		}
		if s := b.part(q, d, "bound"); s.most > 0 {
			b.atMost(fmt.Sprintf("together_%d_%d_bound", q+1, d+1), there, append(times(all.all, -1), term(b.flag(q, d, "bound", s), 1))...)
		}
		if s := b.part(q, d, "both"); s.most > 0 {
			if alone < 0 { // 1: there is no more than one task of the others at all
				alone = b.integer(fmt.Sprintf("alone_%d", q+1), 0, 1)
				n := int64(b.tasks(r.Others))
				placed := b.placed(r.Others)
				b.atMost(fmt.Sprintf("alone_%d", q+1), float64(max(n, 1)), append(plus(placed), term(alone, max(n-1, 0)))...)
				b.alones = append(b.alones, derived{alone, [][]milp.Term{append(placed, b.beside(q, alone)...)}})
			}
			b.atMost(fmt.Sprintf("together_%d_%d_both", q+1, d+1), there, append(times(all.all, -1), term(b.flag(q, d, "both", s), 2), term(alone, -1))...)
		}
	}
}

// beside has a task not be alone by a rule if a standing task is anywhere: alone ≤ 1 - use of each bought host with some,
// and 0 if they are on a host that is there. It returns 2 use for each of those hosts.
func (b *builder) beside(q, alone int) (all []milp.Term) {
	for h, n := range b.View.Rules[q].Standing {
		switch {
		case n == 0:
		case h < b.View.Existing:
			b.Vars[alone].Upper = 0
		default:
			b.onlyWithTasks(h)
			b.atMost(fmt.Sprintf("beside_%d_%d", q+1, h+1), 1, term(alone, 1), term(b.Use[h], 1))
			all = append(all, term(b.Use[h], 2))
		}
	}
	return all
}

// tasks counts the tasks of jobs.
func (b *builder) tasks(jobs []int) (n int) {
	for _, i := range jobs {
		n += len(b.View.Jobs[i].Current)
	}
	return n
}

// placed returns the terms of all tasks of jobs that aren't left out.
func (b *builder) placed(jobs []int) (all []milp.Term) {
	for _, i := range jobs {
		for h := range b.View.Hosts {
			b.each(i, h, func(v int, _ bool) { all = append(all, term(v, 1)) })
		}
	}
	return all
}

// flag returns the Boolean that is 1 if a task of a part of rule q is newly placed in domain d.
func (b *builder) flag(q, d int, part string, s sides) int {
	name := fmt.Sprintf("flag_%d_%d_%s", q+1, d+1, part)
	f, ok := b.flagOf[name]
	if !ok {
		f = b.integer(name, 0, 1)
		b.flagOf[name] = f
		b.atMost(name, 0, append(plus(s.anew), term(f, -s.most))...)
		b.flags = append(b.flags, derived{f, [][]milp.Term{s.anew}})
	}
	return f
}

// mutual adds that tasks of jobs in both lists exclude each other, unless all of them stay.
func (b *builder) mutual(q, d int) {
	s := b.part(q, d, "both")
	name := fmt.Sprintf("apart_%d_%d_both_both", q+1, d+1)
	switch {
	case s.most == 0 || s.mostAll <= 1:
	case s.mostAll-s.most <= 1: // at most one can stay
		b.atMost(name, 1, s.all...)
	default:
		f := b.flag(q, d, "both", s)
		b.atMost(name, float64(s.mostAll), append(plus(s.all), term(f, s.mostAll-1))...)
	}
}

// exclude adds that a newly placed task of one part excludes all of the other, and the other way round. The parts have
// no job in common.
func (b *builder) exclude(q, d int, x, y string) {
	for _, pair := range [][2]string{{x, y}, {y, x}} {
		if anew, all := b.part(q, d, pair[0]), b.part(q, d, pair[1]); anew.most > 0 && all.mostAll > 0 {
			f := b.flag(q, d, pair[0], anew)
			b.atMost(fmt.Sprintf("apart_%d_%d_%s_%s", q+1, d+1, pair[0], pair[1]), float64(all.mostAll), append(plus(all.all), term(f, all.mostAll))...)
		}
	}
}
