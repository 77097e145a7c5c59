// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"fmt"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves the formulation "counts" of TVC in loss mode by a solver of linear models. Rows exclude points with
// embeddings that exceed a rate by less than its tolerance. Queue mode, and instances with too large a formulation, are
// model.ErrUnsupported.
func Linear(backend milp.Backend) model.Solver {
	return engine.LinearEngine[*model.TVC, *model.Embeddings]{Backend: backend, Prepare: questions}
}

func questions(r *engine.Run, v *model.TVC) (h engine.Linear[*model.Embeddings], err error) {
	if v.Queue {
		return h, fmt.Errorf("%w: there is no linear model of queue mode; take auto or a scheduler", model.ErrUnsupported)
	}
	if err := tvcbounds.Check(v, ""); err != nil {
		return h, err
	}
	from, err := start(r)
	var f *tvcbounds.Formulation
	return engine.Linear[*model.Embeddings]{
		Starts: []*model.Embeddings{from},
		Formulate: func(float64) (_ *milp.Formulation[*model.Embeddings], err error) {
			if f == nil {
				if f, err = tvcbounds.Build(r.Ctx, v, ""); err != nil {
					return nil, err
				}
			}
			return &f.Formulation, nil
		},
		Accept: func(ctx context.Context, e *model.Embeddings) (model.Solution, error) {
			ok, err := fits(ctx, v, e)
			if !ok {
				return nil, err
			}
			return e, nil
		},
		Exclude: func(e *model.Embeddings) bool { return f.Exclude(e) },
	}, err
}

// fits reports whether embeddings in loss mode have their slots and links.
func fits(ctx context.Context, v *model.TVC, e *model.Embeddings) (bool, error) {
	index, err := v.Index(e)
	if err != nil {
		return false, err
	}
	t := view.Shared(ctx, v, view.OfTVC)
	place := make([]*model.Embedding, len(t.Requests))
	for i, k := range index {
		place[k] = &e.Runs[i].Segments[0].Place
	}
	d := fattree.New(t)
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
