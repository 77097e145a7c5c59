// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// Clairvoyant books offline: it sees all requests at once, how long they really
// run and which will be cancelled. It shows what knowing the future is worth; its
// bookings don't claim to be online.
//
// It books requests one after another at their first feasible start (serial schedule generation) in several orders. It
// takes the best plan, or set.Start if that is better, and improves it (bookings.Offline.Improve). At last it moves
// jobs to earlier starts, for the second objective.
//
// The result depends on the seed alone: the number of steps is fixed (see bookings.Steps), time and ctx only stop it.
// O(n) memory. A step costs O(w + k log n) for w requests with windows that may overlap the step's, and k ≤ 25 of them
// that are booked again.
//
// The error is model.ErrInvalid for a start that isn't bookings of the instance,
// and model.ErrNoSolution if the goal is all and some request found no place.
func Clairvoyant(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return clairvoyant(run.New(ctx, "clairvoyant", in, set), in)
}

func clairvoyant(r *run.Run, in *model.Reservation) (*model.Bookings, error) {
	ctx, t := r.Ctx, view.Shared(r.Ctx, in, view.OfReservation)
	p, err := constructed(r, in, t)
	if err != nil {
		return nil, err
	}
	report(r, in, t, p)
	p.Improve(ctx, bookings.Steps(len(t.Jobs)), math.Inf(1))
	p.ShiftLeft(ctx)
	b, err := bookings.BookTicks(in, t, p.Starts())
	if err != nil {
		return nil, err
	}
	if in.EffectiveGoal() == model.GoalAll && len(b.Bookings) < len(in.Requests) {
		return nil, fmt.Errorf("%w: %d of %d requests could be booked together", model.ErrNoSolution, len(b.Bookings), len(in.Requests))
	}
	return b, nil
}

// constructed returns the plan of Settings.Start, or else the best of serial schedules.
func constructed(r *run.Run, in *model.Reservation, t *view.Reservation) (*bookings.Offline, error) {
	var from []int64
	if b, ok := r.Set.Start.(*model.Bookings); ok && b != nil {
		var err error
		if from, err = bookings.TicksOf(in, t, b); err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
	}
	p := bookings.NewOffline(t, r.Set.Seed)
	p.Construct(r.Ctx, from)
	return p, nil
}

// report reports a plan that is a solution.
func report(r *run.Run, in *model.Reservation, t *view.Reservation, p *bookings.Offline) {
	if r.Set.Progress == nil {
		return
	}
	b, err := bookings.BookTicks(in, t, p.Starts())
	if err == nil && (in.EffectiveGoal() != model.GoalAll || len(b.Bookings) == len(in.Requests)) {
		r.Tell(p.Value()+t.FreeWeight, math.NaN(), func() model.Solution { return b })
	}
}

// First returns bookings in little time: one serial schedule of Clairvoyant, the requests of the least area for their
// weight first, until ctx ends. The error is model.ErrNoSolution if the goal is all and some request found no place.
func First(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	t := view.Shared(ctx, in, view.OfReservation)
	p := bookings.NewOffline(t, set.Seed)
	starts, _ := p.Serial(ctx, 0)
	b, err := bookings.BookTicks(in, t, starts)
	return declined(in, b, err)
}
