// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves a formulation of VCSched by a solver of linear models. Placements
// of the solver that don't fit exactly are excluded by rows; see covers. The
// formulation is a name of vcbounds.Formulations; "" means compact. The engine's name is
// the backend's for the compact formulation and "NAME-FORMULATION" for the others.
func Linear(backend milp.Backend, formulation string) model.Solver {
	formulation = cmp.Or(formulation, "compact")
	name := backend.Name
	if formulation != "compact" {
		name += "-" + formulation
	}
	return engine.LinearEngine[*model.VCSched, *model.Placement]{Backend: backend, ID: name,
		Prepare: func(r *engine.Run, v *model.VCSched) (h engine.Linear[*model.Placement], err error) {
			f, err := vcbounds.Build(v, formulation)
			if err != nil {
				return h, err
			}
			if p, ok := r.Set.Start.(*model.Placement); ok && p != nil {
				if err := v.CheckShape(p); err != nil {
					return h, err
				}
				h.Starts = append(h.Starts, p)
			}
			c := newCovers(v, view.Shared(r.Ctx, v, view.OfVCSched), f)
			h.Formulate = func(float64) (*milp.Formulation[*model.Placement], error) { return &c.f.Formulation, nil }
			h.Exclude = func(p *model.Placement) bool { return c.forbid(p.TaskHosts()) }
			h.Accept = func(ctx context.Context, p *model.Placement) (model.Solution, error) {
				if !c.u.Fits(p.TaskHosts()) {
					return nil, nil
				}
				return placement.RaiseAverage(ctx, v, p)
			}
			return h, nil
		}}
}
