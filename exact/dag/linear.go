// SPDX-License-Identifier: MIT

package dag

import (
	"context"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact/internal/engine"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves the formulation of dagbounds.Build, which leaves contention out, by a solver of linear models. The
// horizon is the makespan of the best schedule of dagheur.Improve or of Settings.Start.
//
// The solver gets the question for the least makespan. The certificates are for the model of its answer, since heads
// and tails exclude more for an earlier horizon.
//
// Instances with a transfer model that isn't ideal, or with too large a formulation, are model.ErrUnsupported.
func Linear(backend milp.Backend) model.Solver {
	ask := func(r *engine.Run, d *model.DAG) (h engine.Linear[*model.Schedule], err error) {
		if err := dagbounds.Check(d); err != nil {
			return h, err // before the local search starts
		}
		first, err := dagheur.Improve(r.Ctx, d, model.Settings{Seed: r.Set.Seed, Start: r.Set.Start})
		err = nowhere(r, err)
		return engine.Linear[*model.Schedule]{
			Starts: []*model.Schedule{first},
			Formulate: func(makespan float64) (*milp.Formulation[*model.Schedule], error) {
				return dagbounds.Build(d, makespan)
			},
			Accept: func(_ context.Context, p *model.Schedule) (model.Solution, error) { return p, nil },
		}, err
	}
	return engine.LinearEngine[*model.DAG, *model.Schedule]{Backend: backend, Prepare: ask}
}
