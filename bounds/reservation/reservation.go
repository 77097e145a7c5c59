// SPDX-License-Identifier: MIT

// Package reservation bounds the requests that any schedule can accept from above, without search, and holds the linear
// formulations of Reservation.
package reservation

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// All computes the bounds on the weight that any schedule of the requests can accept, weakest first as a rule. They
// hold even for a schedule that knows in advance all requests, how long they run and which are withdrawn. They are the
// bounds of Quick (with more windows), then
//
//   - flow: interruptible jobs in their own windows with at most their own PEs, by
//     max-flow, rounded down in each part that is full by itself
//   - knapsacks: prices of each job's own for its time, which sets of jobs that fit pay (see Multipliers)
//   - lp: the linear relaxation of the time-indexed formulation, up to a size
//     that takes a few seconds
//
// All are valid when ctx ends early: a bound that needs more time is left out or gives the result proved so far. The
// error is model.ErrInvalid for an invalid instance, or one of HiGHS's.
func All(ctx context.Context, in *model.Reservation) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("bounds: %w", err)
	}
	t := view.Shared(ctx, in, view.OfReservation)
	w := newWork(t)
	w.in = in
	all := []bounds.Bound{w.area(ctx)}
	if all[0].Infeasible {
		return all, nil
	}
	for _, next := range []func(context.Context) bounds.Bound{
		func(ctx context.Context) bounds.Bound {
			return w.energetic(ctx, windowsFor(len(w.jobs), maxWindowJobs))
		},
		func(ctx context.Context) bounds.Bound { return w.flowBound(ctx, maxResources) },
	} {
		if ctx.Err() != nil {
			return all, nil
		}
		b := next(ctx)
		all = append(all, b)
		if b.Infeasible {
			return all, nil
		}
	}
	if b, ok := w.knapsacks(ctx); ok {
		if all = append(all, b); b.Infeasible {
			return all, nil
		}
	}
	b, ok, err := w.lp(ctx)
	if ok {
		all = append(all, b)
	}
	return all, err
}

// Quick computes the bounds that take no longer than a heuristic:
//
//   - area: the PEs as one machine of their joint speed, without ready times or
//     without deadlines, by Moore and Hodgson's rule. O(n log n)
//   - energetic: the PE-seconds that jobs must spend within windows, and within disjoint windows together, for a
//     thinned set of windows. O(n (c + log n)) for c jobs that are possible at the same time
//   - flow: up to 1,000 jobs, see All
//
// For the goal all, a bound may be a proof that the requests don't all fit. When ctx ends, each bound except area is
// the best proved by then.
func Quick(ctx context.Context, t *view.Reservation) []bounds.Bound {
	return newWork(t).quick(ctx)
}

func (w *work) quick(ctx context.Context) []bounds.Bound {
	all := []bounds.Bound{w.area(ctx)}
	if all[0].Infeasible || ctx.Err() != nil {
		return all
	}
	all = append(all, w.energetic(ctx, quickWindows(len(w.jobs))))
	if !all[1].Infeasible && len(w.jobs) <= maxQuickFlow {
		all = append(all, w.flowBound(ctx, 1))
	}
	return all
}

// maxQuickFlow is the number of jobs up to which the flow takes a few
// milliseconds.
const maxQuickFlow = 1000
