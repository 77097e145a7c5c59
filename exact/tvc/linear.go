package tvc

import (
	"context"
	"fmt"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Linear solves the formulation "counts" of TVC in loss mode by a solver of linear
// models. Points whose embeddings exceed a rate by less than its tolerance are
// excluded by rows.
type Linear struct{ Backend milp.Backend }

// Name returns the backend's name.
func (s Linear) Name() string { return s.Backend.Name }

// Solve implements model.Solver. The proofs are the solver's, in floating-point
// arithmetic. Queue mode, and what would make too large a formulation, is
// model.ErrUnsupported.
func (s Linear) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveLinear(ctx, s.Backend, s.Name(), in, set, func(ctx context.Context, v *model.TVC) (h exact.Linear[*model.Embeddings], err error) {
		if v.Queue {
			return h, fmt.Errorf("%w: there is no linear model of queue mode; take auto or a scheduler", model.ErrUnsupported)
		}
		if err := tvcbounds.Check(v, ""); err != nil {
			return h, err
		}
		from, err := start(ctx, v, set)
		var f *tvcbounds.Formulation
		return exact.Linear[*model.Embeddings]{
			Starts: []*model.Embeddings{from},
			Formulate: func(float64) (_ *milp.Formulation[*model.Embeddings], err error) {
				if f == nil {
					if f, err = tvcbounds.Build(ctx, v, ""); err != nil {
						return nil, err
					}
				}
				return &f.Formulation, nil
			},
			Solution: func(_ context.Context, e *model.Embeddings) (model.Solution, error) {
				ok, err := fits(v, e)
				if !ok {
					return nil, err
				}
				return e, nil
			},
			Better: func(f *milp.Formulation[*model.Embeddings], target float64) (*milp.Formulation[*model.Embeddings], error) {
				return f.Demand(target), nil
			},
			Exclude: func(e *model.Embeddings) bool { return f.Exclude(e) },
		}, err
	})
}

// fits reports whether embeddings in loss mode have their slots and links.
func fits(v *model.TVC, e *model.Embeddings) (bool, error) {
	index, err := v.Index(e)
	if err != nil {
		return false, err
	}
	t := v.Ticks()
	place := make([]*model.Embedding, len(t.Requests))
	for i, k := range index {
		place[k] = &e.Runs[i].Segments[0].Place
	}
	d := tvcheur.NewDataCentre(t)
	for k, p := range place {
		if p == nil {
			continue
		}
		q := &t.Requests[k]
		for j, x := range place[:k] {
			if y := &t.Requests[j]; x != nil && y.Arrival+y.Duration <= q.Arrival {
				d.Remove(x, y.VMs, y.Bandwidth)
				place[j] = nil
			}
		}
		if !d.Room(p, q.VMs, q.Bandwidth) {
			return false, nil
		}
		d.Add(p, q.VMs, q.Bandwidth)
	}
	return true, nil
}

// HiGHS is Linear by HiGHS.
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver.
func (HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Linear{highs.Backend}.Solve(ctx, in, set)
}
