// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves the time-indexed formulation of Batch on one tier by a solver of
// linear models. It starts from Settings.Start, or from the best heuristic if that
// is better. Two tiers, more starts than the formulation holds and weighted sums that may not fit
// (batchbounds.Units.Fit) are model.ErrUnsupported.
func Linear(backend milp.Backend) model.Solver {
	return engine.LinearEngine[*model.Batch, []int64]{Backend: backend, Prepare: questions}
}

func questions(r *engine.Run, b *model.Batch) (h engine.Linear[[]int64], err error) {
	j, err := newJobs(r.Ctx, b)
	if err != nil {
		return h, err
	}
	if err := j.t.Alike(); err != nil {
		return h, err
	}
	if err := bounds.CheckSize(batchbounds.Formulations[0], "jobs", len(b.Jobs), batchbounds.MaxJobs); err != nil {
		return h, err
	}
	if !j.units.Fit(j.t) {
		return h, fmt.Errorf("%w: %s", model.ErrUnsupported, batchbounds.SumsDontFit)
	}
	best, err := start(r)
	if err != nil {
		return h, err
	}
	if best != nil {
		order, err := j.orderOf(best)
		if err != nil {
			return h, err
		}
		h.Starts = append(h.Starts, batchbounds.Serial(j.t, order))
	}
	h.Formulate = func(incumbent float64) (*milp.Formulation[[]int64], error) {
		if math.IsNaN(incumbent) {
			return batchbounds.Build(j.t, "")
		}
		return batchbounds.BuildBelow(j.t, j.sum(incumbent))
	}
	h.Accept = func(_ context.Context, starts []int64) (model.Solution, error) {
		return processors.Place(b, j.t, starts)
	}
	return h, nil
}
