package dag

import (
	"context"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Linear solves the formulation of dagbounds.Build, which knows no contention, by
// a solver of linear models. The horizon is the makespan of the best schedule of
// dagheur.Improve or of Settings.Start.
//
// The solver is asked for the least makespan, and then whether one below it exists,
// which is another model, since heads and tails exclude more for an earlier
// horizon. On one model in some thousands of this kind HiGHS 1.10 calls a
// makespan optimal that isn't, or a model infeasible that isn't (with presolve and
// without, at any tolerance).
type Linear struct{ Backend milp.Backend }

// Name returns the backend's name.
func (s Linear) Name() string { return s.Backend.Name }

// Solve implements model.Solver. The proofs are the solver's, in floating-point
// arithmetic. Instances whose transfer model isn't ideal, or for which the
// formulation is too large, are model.ErrUnsupported.
func (s Linear) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveLinear(ctx, s.Backend, s.Name(), in, set, func(ctx context.Context, d *model.DAG) (h exact.Linear[*model.Schedule], err error) {
		if err := dagbounds.Check(d); err != nil {
			return h, err // before the local search starts
		}
		first, _, err := dagheur.Improve(ctx, d, model.Settings{Seed: set.Seed, Start: set.Start})
		return exact.Linear[*model.Schedule]{
			Starts: []*model.Schedule{first},
			Formulate: func(makespan float64) (*milp.Formulation[*model.Schedule], error) {
				return dagbounds.Build(d, makespan)
			},
			Solution: func(_ context.Context, p *model.Schedule) (model.Solution, error) { return p, nil },
			Better: func(f *milp.Formulation[*model.Schedule], target float64) (*milp.Formulation[*model.Schedule], error) {
				return dagbounds.Build(d, f.Value(target))
			},
		}, err
	})
}

// HiGHS is Linear by HiGHS.
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver.
func (HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Linear{highs.Backend}.Solve(ctx, in, set)
}
