// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/bounds"
	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// mostLinear bounds the rows and variables of a model that HiGHS gets. On models of 5,500 it proved optima in a second
// that nothing else did, and one of 40,000, which others prove, too, in eleven. On models of clusters of 500 hosts
// (79,000) and on drawn ones (86,000) it had no better bound after a minute than "cover", and no better solution than
// "lns" after two seconds.
const mostLinear = 50_000

// Linear solves the formulation "counts" by a solver of linear models. Its points count if
// they are solutions to the last unit. Models above mostLinear are model.ErrUnsupported for HiGHS.
func Linear(backend milp.Backend) model.Solver {
	bounded := backend.Name == highs.Backend.Name
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
		if bounded {
			if err := bounds.CheckSize(consbounds.Formulations[0], "rows and variables", len(p.Rows)+len(p.Vars), mostLinear); err != nil {
				return h, err
			}
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
			if err != nil || !planstate.Of(c, plan).Feasible() {
				return nil, err
			}
			return a, nil
		}
		return h, nil
	}}
}
