// SPDX-License-Identifier: MIT

package reservation

import (
	"context"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Linear solves the time-indexed formulation of Reservation, as the clairvoyant sees
// it, by a solver of linear models.
//
// It starts from Settings.Start, moved to the left, or from a serial schedule if that is better.
//
// What the formulation can't hold is model.ErrUnsupported.
func Linear(backend milp.Backend) model.Solver {
	ask := func(r *engine.Run, v *model.Reservation) (h engine.Linear[[]int64], err error) {
		t, seed := view.Shared(r.Ctx, v, view.OfReservation), r.Set.Seed
		f, err := resbounds.Build(t, "")
		if err != nil {
			return h, err
		}
		var from []int64
		if b, ok := r.Set.Start.(*model.Bookings); ok && b != nil {
			if from, err = bookings.TicksOf(v, t, b); err != nil {
				return h, err
			}
		}
		o := bookings.NewOffline(t, seed)
		o.Construct(r.Ctx, from) // the best of some serial schedules and of the given one, if any
		return engine.Linear[[]int64]{
			Starts:    [][]int64{t.ShiftLeft(o.Starts())},
			Formulate: func(float64) (*milp.Formulation[[]int64], error) { return f, nil },
			Accept: func(_ context.Context, starts []int64) (model.Solution, error) {
				if t.Check(starts) != nil { // as, with the goal "all", if one is declined
					return nil, nil
				}
				return bookings.BookTicks(v, t, starts)
			},
			Explain: func(ctx context.Context, r *model.Result) error {
				r.Reason = backend.Title + " found that not all requests can be kept"
				addConflict(ctx, v, seed, r)
				return nil
			},
		}, nil
	}
	return engine.LinearEngine[*model.Reservation, []int64]{Backend: backend, Prepare: ask}
}
