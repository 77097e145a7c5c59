// SPDX-License-Identifier: MIT

package tiers

import (
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// demands returns demands h_k of the jobs of a set such that Σ_k h_k y_k ≤ 1 for all rates y_k that are possible at an
// instant (mixes of each of its subsets). The rates are relative to the job's best rate. The demands are the ones with
// the largest bound in program.machine. They are found by a linear program, and in the end divided by the largest sum
// that they reach, so that they hold however the program was solved. O(2^jobs) rows
func (s *Search) demands(set uint32) []float64 {
	if h := s.demand[set]; h != nil {
		return h
	}
	m := &milp.Model{Maximise: true}
	var jobs []int
	for k := range s.n {
		upper := 0.0
		if set>>k&1 == 1 {
			jobs = append(jobs, k)
			upper = 1
		}
		m.AddVar(milp.Var{Upper: upper, Cost: s.weight[k] * s.least(k) / 2})
	}
	for at, k := range jobs {
		for _, i := range jobs[:at] {
			z := m.AddVar(milp.Var{Upper: min(s.weight[k]*s.least(i), s.weight[i]*s.least(k)), Cost: 1})
			m.AddRow("", 0, milp.Inf, milp.Term{Var: i, Coef: s.weight[k] * s.least(i)}, milp.Term{Var: z, Coef: -1})
			m.AddRow("", 0, milp.Inf, milp.Term{Var: k, Coef: s.weight[i] * s.least(k)}, milp.Term{Var: z, Coef: -1})
		}
	}
	var most [][]float64
	for some := set; some != 0; some = (some - 1) & set {
		for _, y := range s.mixes(some) {
			most = add(most, y)
		}
	}
	for _, y := range most {
		var terms []milp.Term
		for _, k := range jobs {
			if y[k] > 0 {
				terms = append(terms, milp.Term{Var: k, Coef: y[k] / s.best[k]})
			}
		}
		if len(terms) > 1 {
			m.AddRow("", -milp.Inf, 1, terms...)
		}
	}
	h := make([]float64, s.n)
	if r, err := highs.Solve(s.ctx, m, milp.Options{Relax: true}); err == nil && r.X != nil {
		for _, k := range jobs {
			h[k] = min(1, max(0, r.X[k]))
		}
	}
	worst := 1.0
	for _, y := range most {
		sum := 0.0
		for _, k := range jobs {
			sum += h[k] * y[k] / s.best[k]
		}
		worst = max(worst, sum)
	}
	for k := range h {
		h[k] /= worst * (1 + 1e-12)
	}
	s.demand[set] = h
	return h
}

// machine adds the least time on a machine for all work of some jobs that is left after the plan.
//
// Let y_k(t) be the rate of a job over its best one, and h as in demands, so that Σ_k h_k y_k ≤ 1 at
// any time. A job that needs p_k more at its best rate from a time T on ends no sooner than its mean busy time
// and p_k/2, since y_k ≤ 1. By Queyranne (1993)
//
//	Σ_k w_k (C_k - T) ≥ Σ_k w_k (1 + h_k) p_k/2 + Σ_{i<k} min(w_k h_i p_i, w_i h_k p_k).
//
// p_k is a share z_k of the whole job's need. As min is concave, the value is at least z_i times the value with all of
// p_i, if k is whole. It is at least z_i + z_k - 1 times that value if neither is.
func (p *program) machine(set uint32) {
	s := p.s
	h := s.demands(set)
	row, rest := newSum(), 0.0 // row ≥ rest
	part := func(k int, amount float64) {
		rest += amount
		for _, t := range p.left[k] {
			row.add(t.Var, amount*t.Coef)
		}
	}
	for k := range s.n {
		if set>>k&1 == 0 {
			continue
		}
		w := s.weight[k]
		row.add(p.finish[k], w)
		for x := range p.n.spans {
			row.add(x, -w)
		}
		for _, t := range p.later {
			row.add(t.Var, -w)
		}
		part(k, w*(1+h[k])*s.least(k)/2)
		for i := range k {
			if set>>i&1 == 0 {
				continue
			}
			both := min(w*h[i]*s.least(i), s.weight[i]*h[k]*s.least(k))
			switch {
			case both == 0:
			case len(p.left[k]) == 0:
				part(i, both)
			case len(p.left[i]) == 0:
				part(k, both)
			default:
				z := p.m.AddVar(milp.Var{Upper: both})
				row.add(z, -1)
				pair := newSum()
				pair.add(z, 1)
				for _, x := range []int{i, k} {
					for _, t := range p.left[x] {
						pair.add(t.Var, both*t.Coef)
					}
				}
				p.m.AddRow("", both, p.inf, pair.terms()...)
			}
		}
	}
	p.m.AddRow("", rest, p.inf, row.terms()...)
}
