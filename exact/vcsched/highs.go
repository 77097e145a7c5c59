package vcsched

import (
	"cmp"
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// HiGHS solves a formulation of VCSched by HiGHS. Placements of HiGHS that don't
// fit exactly are excluded by rows; see covers.
type HiGHS struct {
	// Formulation is a name of vcbounds.Formulations; empty means compact.
	Formulation string
}

// Name returns "highs" for the compact formulation and "highs-NAME" for the others.
func (s HiGHS) Name() string {
	if s.Formulation == "" || s.Formulation == "compact" {
		return "highs"
	}
	return "highs-" + s.Formulation
}

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveHiGHS(ctx, s.Name(), in, set, func(_ context.Context, v *model.VCSched) (h exact.HiGHS[*model.Placement], err error) {
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
