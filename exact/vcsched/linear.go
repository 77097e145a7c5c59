package vcsched

import (
	"cmp"
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Linear solves a formulation of VCSched by a solver of linear models. Placements
// of the solver that don't fit exactly are excluded by rows; see covers.
type Linear struct {
	Backend milp.Backend
	// Formulation is a name of vcbounds.Formulations; empty means compact.
	Formulation string
}

// Name returns the backend's name for the compact formulation and "NAME-FORMULATION"
// for the others.
func (s Linear) Name() string {
	if s.Formulation == "" || s.Formulation == "compact" {
		return s.Backend.Name
	}
	return s.Backend.Name + "-" + s.Formulation
}

// Solve implements model.Solver. The proofs are the solver's, in floating-point
// arithmetic.
func (s Linear) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveLinear(ctx, s.Backend, s.Name(), in, set, func(_ context.Context, v *model.VCSched) (h exact.Linear[*model.Placement], err error) {
		f, err := vcbounds.Build(v, cmp.Or(s.Formulation, "compact"))
		if err != nil {
			return h, err
		}
		if p, ok := set.Start.(*model.Placement); ok && p != nil {
			if err := v.CheckShape(p); err != nil {
				return h, err
			}
			h.Starts = append(h.Starts, p)
		}
		c := newCovers(v, v.Units(), f)
		h.Formulate = func(float64) (*milp.Formulation[*model.Placement], error) { return &c.f.Formulation, nil }
		h.Exclude = func(p *model.Placement) bool { return c.forbid(p.TaskHosts()) }
		h.Solution = func(ctx context.Context, p *model.Placement) (model.Solution, error) {
			if !c.u.Fits(p.TaskHosts()) {
				return nil, nil
			}
			return vcheur.RaiseAverage(ctx, v, p)
		}
		return h, nil
	})
}

// HiGHS is Linear by HiGHS.
type HiGHS struct {
	Formulation string // as of Linear
}

// Name returns "highs" or "highs-FORMULATION".
func (s HiGHS) Name() string { return Linear{highs.Backend, s.Formulation}.Name() }

// Solve implements model.Solver.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Linear{highs.Backend, s.Formulation}.Solve(ctx, in, set)
}
