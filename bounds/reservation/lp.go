// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/duals"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// maxLPPoints and maxLPTerms are the most possible starts and coefficients of a
// relaxation that lp solves. HiGHS takes 0.1 s for 5,300 starts, 1 to 5 s for 16,400
// with 48,600 to 58,300 coefficients, and 10 s for 37,800 with 125,000.
const (
	maxLPPoints = 20_000
	maxLPTerms  = 60_000
)

// lp bounds the accepted weight by the linear relaxation of the formulation
// "time-indexed" (see Build), solved by HiGHS. The value is computed from the dual
// solution in a way that is valid however inaccurate that is (duals.SafeUpper;
// Neumaier, Shcherbina: Safe bounds in linear and mixed-integer linear programming,
// 2004), and rounded down. ok is false, and there is no bound, if the formulation is
// too large, ctx ended before it was solved, or there is no HiGHS. The error is
// HiGHS's.
func lp(ctx context.Context, t *view.Reservation) (b bounds.Bound, ok bool, err error) {
	none := bounds.Bound{Name: "lp"}
	if ctx.Err() != nil || !highs.Built {
		return none, false, nil
	}
	// For the goal all, too, it bounds how many can be accepted: that fewer than
	// all can be is a proof that doesn't depend on HiGHS's word.
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
	// In the formulation's units. SafeUpper makes up for the rounding of its sum.
	// If the formulation is whole, so are the objectives of its solutions.
	value, total := duals.SafeUpper(&f.Model, r.Duals)*(1+1e-15), f.Limit
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
	return b, true, nil
}
