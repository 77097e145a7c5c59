package tvc

import (
	"context"
	"fmt"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// HiGHS solves the formulation "counts" of TVC in loss mode by HiGHS.
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic. Queue mode, and what would make too large a formulation, is
// model.ErrUnsupported.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveHiGHS(ctx, s.Name(), in, set, func(ctx context.Context, v *model.TVC) (h exact.HiGHS[*model.Embeddings], err error) {
		if v.Queue {
			return h, fmt.Errorf("%w: there is no linear model of queue mode; take auto or a scheduler", model.ErrUnsupported)
		}
		f, err := tvcbounds.Build(v, "")
		if err != nil {
			return h, err
		}
		from, err := start(ctx, v, set)
		return exact.HiGHS[*model.Embeddings]{
			Starts:    []*model.Embeddings{from},
			Formulate: func(float64) (*milp.Formulation[*model.Embeddings], error) { return f, nil },
			Solution:  func(_ context.Context, e *model.Embeddings) (model.Solution, error) { return e, nil },
			Better: func(f *milp.Formulation[*model.Embeddings], target float64) (*milp.Formulation[*model.Embeddings], error) {
				return f.Demand(target), nil
			},
		}, err
	})
}
