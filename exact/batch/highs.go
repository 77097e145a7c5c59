package batch

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// HiGHS solves the time-indexed formulation of Batch on one tier by HiGHS. It starts
// from Settings.Start, or from the best heuristic if that is better.
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic. Two tiers, more starts than the formulation holds and weighted sums
// that may not fit (batchbounds.Units.Fit) are model.ErrUnsupported.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveHiGHS(ctx, s.Name(), in, set, func(ctx context.Context, b *model.Batch) (h exact.HiGHS[[]int64], err error) {
		j, err := newJobs(b)
		if err != nil {
			return h, err
		}
		if err := bounds.CheckSize(batchbounds.Formulations[0], "jobs", len(b.Jobs), batchbounds.MaxJobs); err != nil {
			return h, err
		}
		if !j.units.Fit(j.t) {
			return h, fmt.Errorf("%w: %s", model.ErrUnsupported, batchbounds.SumsDontFit)
		}
		best, err := start(ctx, b, set)
		if err != nil {
			return h, err
		}
		var from []int64
		if best != nil {
			order, err := j.orderOf(best)
			if err != nil {
				return h, err
			}
			from = batchbounds.Serial(j.t, order)
			h.Starts = append(h.Starts, from)
		}
		h.Formulate = func(incumbent float64) (*milp.Formulation[[]int64], error) {
			if math.IsNaN(incumbent) {
				return batchbounds.Build(j.t, "")
			}
			return batchbounds.BuildBelow(j.t, j.sum(incumbent))
		}
		h.Solution = func(_ context.Context, starts []int64) (model.Solution, error) { return batchheur.Place(b, starts) }
		h.Better = func(f *milp.Formulation[[]int64], target float64) (*milp.Formulation[[]int64], error) {
			return f.Demand(target), nil
		}
		return h, nil
	})
}
