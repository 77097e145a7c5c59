// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Limits of Tighten: patterns of one instant, rounds, and patterns of all linear
// programs together, which take a second or so.
const (
	maxPatterns   = 4000
	patternRounds = 8
	allPatterns   = 200_000
)

// Tighten adds cuts by patterns until the relaxation keeps them all or a limit is
// reached.
//
// A pattern is a possible content of one server at one instant, from the active requests: c_j VMs of j, Σ c_j slots and
// Σ min(c_j, N_j - c_j)·B_j bit/s. Let y ≥ 0 and M the largest Σ y_j c_j of any pattern. If the requests with x_j = 1
// run on S servers, the c_j of j sum to N_j x_j, so Σ_j y_j N_j x_j = Σ_servers Σ_j y_j c_j ≤ S·M: the cut. M is the
// largest of all patterns, which are listed. The dual solution of covering N_j x_j by the fewest patterns is the y with
// the cut that the point x breaks most (Gilmore, Gomory: A linear programming approach to the cutting stock problem,
// 1961).
//
// Instants with more than maxPatterns patterns, and instants at which x leaves half of the slots, are left out. It
// returns the last multipliers, nil if the linear program wasn't solved.
func (r *Relaxation) Tighten(ctx context.Context) (*Multipliers, error) {
	if !highs.Available() {
		return nil, nil
	}
	var at instants
	solved := 0
	for round := 0; ; round++ {
		m, x, err := r.solve(ctx, nil)
		if err != nil || x == nil || round == patternRounds {
			return m, err
		}
		if at.active == nil {
			at = r.instants()
		}
		before := len(r.Cuts)
		for t, active := range at.active {
			if meter.Stop(ctx, 100) {
				return m, nil
			}
			if solved < allPatterns && r.used(active, x) > 0.5 {
				patterns := r.patternsAt(&at, t)
				solved += len(patterns)
				if patterns == nil {
					continue
				}
				if err := r.separate(ctx, active, patterns, x); err != nil {
					return m, err
				}
			}
		}
		if len(r.Cuts) == before {
			return m, nil
		}
	}
}

// instants holds the data for Tighten. The linear program is solved before. It bounds the sum of the active requests,
// and if it is too large none of this is made.
type instants struct {
	active   [][]int     // by instant: the requests, by position
	parts    [][]Part    // of a request on a server
	patterns [][]pattern // by instant, once listed
	listed   []bool
}

func (r *Relaxation) instants() instants {
	at := instants{active: make([][]int, r.Instants), parts: make([][]Part, len(r.requests)), patterns: make([][]pattern, r.Instants), listed: make([]bool, r.Instants)}
	for i, s := range r.spans {
		for t := s.From; t <= s.To; t++ {
			at.active[t] = append(at.active[t], i)
		}
	}
	servers := *r.tree
	servers.Fan = r.tree.Fan[:2]
	for i, k := range r.requests {
		q := &r.ticks.Requests[k]
		at.parts[i] = servers.Parts(q.VMs, q.Bandwidth, r.ticks.PerPath)[0]
	}
	return at
}

// patternsAt returns the patterns of an instant, listed when first asked for.
func (r *Relaxation) patternsAt(at *instants, t int) []pattern {
	if !at.listed[t] {
		at.patterns[t], at.listed[t] = r.patterns(at.active[t], at.parts), true
	}
	return at.patterns[t]
}

// used returns the share of the slots in use by the active requests.
func (r *Relaxation) used(active []int, x []float64) (sum float64) {
	for _, i := range active {
		sum += r.Resources[0].Demand[i] * x[i]
	}
	return sum
}

// pattern is a number of VMs for each active request.
type pattern []int32

// patterns lists the patterns of some requests to which no VM can be added, nil if
// there are too many. With y ≥ 0 the others have no larger sum.
func (r *Relaxation) patterns(active []int, parts [][]Part) (all []pattern) {
	now := make(pattern, len(active))
	var walk func(k, slots int, rate int64) bool
	walk = func(k, slots int, rate int64) bool {
		if k == len(active) {
			if len(all) == maxPatterns {
				return false
			}
			all = append(all, append(pattern(nil), now...))
			return true
		}
		if !walk(k+1, slots, rate) {
			return false
		}
		b := r.ticks.Requests[r.requests[active[k]]].Bandwidth
		for _, p := range parts[active[k]] {
			if int(p.VMs) > slots {
				break
			}
			if load := int64(p.Load) * b; load <= rate {
				now[k] = p.VMs
				if !walk(k+1, slots-int(p.VMs), rate-load) {
					return false
				}
				now[k] = 0
			}
		}
		return true
	}
	if !walk(0, r.ticks.Slots, r.ticks.ServerRate) {
		return nil
	}
	key := func(p pattern) string {
		b := make([]byte, 0, 2*len(p))
		for _, c := range p {
			b = append(b, byte(c), byte(c>>8))
		}
		return string(b)
	}
	known := map[string]bool{}
	for _, p := range all {
		known[key(p)] = true
	}
	return slices.DeleteFunc(all, func(p pattern) bool {
		for j := range p {
			p[j]++
			more := known[key(p)]
			p[j]--
			if more {
				return true
			}
		}
		return false
	})
}

// separate adds the cut of one instant that x breaks most, if it breaks one.
func (r *Relaxation) separate(ctx context.Context, active []int, patterns []pattern, x []float64) error {
	m := milp.Model{}
	rows := make([]milp.Row, len(active))
	for k, p := range patterns {
		m.AddVar(milp.Var{Upper: milp.Inf, Cost: 1})
		for j, c := range p {
			if c > 0 {
				rows[j].Terms = append(rows[j].Terms, milp.Term{Var: k, Coef: float64(c)})
			}
		}
	}
	vms := func(j int) float64 { return float64(r.ticks.Requests[r.requests[active[j]]].VMs) }
	for j := range rows {
		m.AddRow("", max(0, vms(j)*x[active[j]]), milp.Inf, rows[j].Terms...)
	}
	h, err := highs.Solve(ctx, &m, milp.Options{Relax: true})
	if err != nil || h.Status != milp.Optimal || h.Objective < float64(r.ticks.Servers)*(1+1e-6) {
		return err
	}
	y := wholeWeights(h.Duals[:len(active)])
	largest := 0.0
	for _, p := range patterns {
		sum := 0.0
		for j, c := range p {
			sum += y[j] * float64(c)
		}
		largest = max(largest, sum)
	}
	if largest == 0 {
		return nil
	}
	// Lowered by more than the rounding of the sums above.
	scale := (1 - 1e-12) / (largest * float64(r.ticks.Servers))
	c := Cut{Limit: 1, all: largest * float64(r.ticks.Servers)}
	sum := 0.0
	for j, i := range active {
		if a := y[j] * vms(j) * scale; a > 0 {
			c.Members, c.Coef, c.weights = append(c.Members, i), append(c.Coef, a), append(c.weights, y[j])
			sum += a * x[i]
		}
	}
	if sum > 1+1e-6 {
		r.Cuts = append(r.Cuts, c)
	}
	return nil
}

// wholeWeights returns dual values as whole numbers below 2^36 in proportion, rounded down; a value that is no number
// from 0 on becomes 0.
func wholeWeights(duals []float64) []float64 {
	most := 0.0
	for _, d := range duals {
		if d > most && !math.IsInf(d, 0) {
			most = d
		}
	}
	_, exponent := math.Frexp(most)
	y := make([]float64, len(duals))
	for j, d := range duals {
		if d > 0 && !math.IsInf(d, 0) {
			y[j] = math.Floor(math.Ldexp(d, 36-exponent))
		}
	}
	return y
}
