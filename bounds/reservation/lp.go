// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// maxLPPoints and maxLPTerms are the largest numbers of possible starts and coefficients of a relaxation that lp
// solves. HiGHS takes 0.1 s for 5,300 starts, 1 to 5 s for 16,400 with 48,600 to 58,300 coefficients, and 10 s for
// 37,800 with 125,000.
const (
	maxLPPoints = 20_000
	maxLPTerms  = 60_000
)

// lp bounds the accepted weight by the linear relaxation of the formulation "time-indexed" (see Build), solved by
// HiGHS. The value is the bound of the Lagrangian relaxation of the capacity with the dual solution's prices of a PE at
// each point,
//
//	PEs Σ_t π_t + Σ_j max(0, weight_j - PEs_j min_s Σ_{s ≤ t < s + length_j} π_t),
//
// s over j's points, which is valid however inaccurate the prices are, and equal to the
// relaxation's if they are accurate. It is rounded down, and its evidence are the prices.
// ok is false, and there is no bound, if the formulation is too large, ctx ended before
// it was solved, or there is no HiGHS. The error is HiGHS's.
func (w *work) lp(ctx context.Context) (b bounds.Bound, ok bool, err error) {
	none, t := bounds.Bound{Name: "lp"}, w.ticks
	if ctx.Err() != nil || !highs.Available() {
		return none, false, nil
	}
	// For the goal all, too, it bounds how many requests can be accepted: a bound below all is a proof that doesn't
	// depend on HiGHS's word.
	counted := *t
	if t.Goal == model.GoalAll {
		counted.Goal = model.GoalAccepted
	}
	points, ok := startPoints(&counted, maxLPPoints)
	if !ok {
		return none, false, nil
	}
	f := buildTimeIndexed(&counted, points)
	terms := 0
	for i := range f.Rows {
		terms += len(f.Rows[i].Terms)
	}
	if terms > maxLPTerms {
		return none, false, nil
	}
	r, err := highs.Solve(ctx, &f.Model, milp.Options{Relax: true})
	if err != nil {
		return none, false, fmt.Errorf("bound: relaxation: %w", err)
	}
	if r.Status != milp.Optimal {
		return none, false, nil
	}
	// The bound is in the formulation's units, made up for the rounding of its sum. If the formulation is whole, so are
	// the objectives of its solutions.
	times, prices := f.prices(r.Duals)
	value, total := f.priced(times, prices)*(1+1e-12), f.Limit
	if f.Whole {
		value = math.Floor(value + 1e-9)
	}
	value = max(0, min(value, total))
	b = bounds.Bound{Name: "lp", Value: value*f.unit + t.FreeWeight}
	switch {
	case t.Goal == model.GoalAll && value < total:
		b.Infeasible, b.Reason = true, fmt.Sprintf("a linear relaxation proves that at most %.12g of the %d requests can be accepted", b.Value, len(t.Jobs)+len(t.Free))
	case t.Goal.PESeconds():
		b.Value *= 1 + 1e-15*float64(len(t.Jobs)+8) // for the rounding of weights
	}
	return w.proved(b, w.atInstants(times, prices, f.unit/float64(max(1, f.common)))), true, nil
}

// prices returns the prices of a unit of common PEs that a dual solution has, and the
// points that have them, ascending. The reduced cost of u_t is the price at t.
func (b *timeIndexed) prices(duals []float64) (times []int64, prices []float64) {
	rows := duals[len(b.points):]
	for i, at := range b.at {
		next := 0.0
		if i+1 < len(b.at) {
			next = rows[i+1]
		}
		if price := rows[i] - next; price > leastPrice {
			times, prices = append(times, at), append(prices, price)
		}
	}
	return times, prices
}

// leastPrice is the least price that counts, in units of the objective.
const leastPrice = 1e-12

// priced returns the value of the Lagrangian relaxation by prices at times.
func (b *timeIndexed) priced(times []int64, prices []float64) float64 {
	sums := make([]float64, 1, len(prices)+1)
	for _, p := range prices {
		sums = append(sums, sums[len(sums)-1]+p)
	}
	before := func(at int64) float64 {
		i, _ := slices.BinarySearch(times, at)
		return sums[i]
	}
	value := 0.0
	if len(prices) > 0 {
		value = sums[len(prices)] * float64(b.t.PEs/b.common)
	}
	for j, list := range b.points {
		x, least := &b.t.Jobs[j], math.Inf(1)
		for _, at := range list {
			least = min(least, before(at+x.Length)-before(at))
		}
		value += max(0, b.weights[j]-least*float64(x.PEs/b.common))
	}
	return value
}

// atInstants returns the evidence of prices of a unit of PEs at times, times a factor; nil if there are more prices
// than the judge reads.
func (w *work) atInstants(times []int64, prices []float64, factor float64) *model.Evidence {
	if len(prices) == 0 {
		return &model.Evidence{Type: evidence.Windows} // that all may be accepted
	}
	if len(prices) > mostPrices || w.in == nil {
		return nil
	}
	e := model.Evidence{Type: evidence.Prices, Times: times}
	for _, p := range prices {
		e.Prices = append(e.Prices, p*factor)
	}
	for j := range w.ticks.Jobs {
		e.Elements = append(e.Elements, w.in.Requests[w.ticks.Jobs[j].Request].ID)
	}
	return &model.Evidence{Type: evidence.Prices, Parts: []model.Evidence{e}}
}

// mostPrices is the largest number of prices in evidence.
const mostPrices = 1 << 14
