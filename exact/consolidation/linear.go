// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/hosting"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves the formulation "counts" by a solver of linear models. Its points count if
// they are solutions to the last unit.
func Linear(backend milp.Backend) model.Solver {
	return engine.LinearEngine[*model.Consolidation, *model.Assignment]{Backend: backend, Prepare: func(r *engine.Run, in *model.Consolidation) (h engine.Linear[*model.Assignment], err error) {
		from, err := start(r)
		if err != nil {
			return h, err
		}
		if from != nil {
			h.Starts = append(h.Starts, from)
		}
		p, err := consbounds.Build(in, most(in, from))
		if err != nil {
			return h, err
		}
		for _, b := range consbounds.Quick(r.Ctx, in) {
			if !b.Infeasible {
				p.Limit = max(p.Limit, b.Value)
			}
		}
		h.Formulate = func(float64) (*milp.Formulation[*model.Assignment], error) { return &p.Formulation, nil }
		h.Accept = func(_ context.Context, a *model.Assignment) (model.Solution, error) {
			c := view.OfConsolidation(in, in.Tasks())
			plan, err := c.PlanOf(a)
			if err != nil || !hosting.Of(c, plan).Feasible() {
				return nil, err
			}
			return a, nil
		}
		if from == nil { // it may have no solution, which no other question confirms
			return h, nil
		}
		h.Better = func(f *milp.Formulation[*model.Assignment], target float64) (*milp.Formulation[*model.Assignment], error) {
			return f.Demand(target), nil
		}
		return h, nil
	}}
}
