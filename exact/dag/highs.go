package dag

import (
	"context"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// HiGHS solves the formulation of dagbounds.Build, which knows no contention, by
// HiGHS. The horizon is the makespan of the best schedule of dagheur.Improve or of
// Settings.Start.
//
// HiGHS is asked for the least makespan, and then whether one below it exists,
// which is another model, since heads and tails exclude more for an earlier
// horizon. On one model in some thousands of this kind version 1.10 calls a
// makespan optimal that isn't, or a model infeasible that isn't (with presolve and
// without, at any tolerance).
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic. Instances whose transfer model isn't ideal, or for which the
// formulation is too large, are model.ErrUnsupported.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveHiGHS(ctx, s.Name(), in, set, func(ctx context.Context, d *model.DAG) (h exact.HiGHS[*model.Schedule], err error) {
		if err := dagbounds.Check(d); err != nil {
			return h, err // before the local search starts
		}
		first, _, err := dagheur.Improve(ctx, d, model.Settings{Seed: set.Seed, Start: set.Start})
		return exact.HiGHS[*model.Schedule]{
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
