package reservation

import (
	"context"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/exact"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Linear solves the time-indexed formulation of Reservation, as the clairvoyant sees
// it, by a solver of linear models.
//
// It starts from Settings.Start, moved to the left, or from a serial schedule that
// is better. That nothing better exists is asked with a row that demands it; that
// all requests can't be kept is believed when the most that can be kept are fewer.
type Linear struct{ Backend milp.Backend }

// Name returns the backend's name.
func (s Linear) Name() string { return s.Backend.Name }

// Solve implements model.Solver. The proofs are the solver's, in floating-point
// arithmetic. What the formulation can't hold is model.ErrUnsupported.
func (s Linear) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveLinear(ctx, s.Backend, s.Name(), in, set, func(ctx context.Context, v *model.Reservation) (h exact.Linear[[]int64], err error) {
		t := v.Ticks()
		f, err := resbounds.Build(t, "")
		if err != nil {
			return h, err
		}
		// serial returns the best of some serial schedules and of the given one, if any.
		serial := func(t *model.ReservationTicks, from []int64) []int64 {
			o := resheur.NewOffline(t, set.Seed)
			o.Construct(ctx, from)
			return o.Starts()
		}
		var from []int64
		if b, ok := set.Start.(*model.Bookings); ok && b != nil {
			if from, err = resheur.TicksOf(v, t, b); err != nil {
				return h, err
			}
		}
		return exact.Linear[[]int64]{
			Starts:    [][]int64{t.ShiftLeft(serial(t, from))},
			Formulate: func(float64) (*milp.Formulation[[]int64], error) { return f, nil },
			Solution: func(_ context.Context, starts []int64) (model.Solution, error) {
				if t.Check(starts) != nil { // as, with the goal "all", if one is declined
					return nil, nil
				}
				return resheur.BookTicks(v, t, starts)
			},
			Better: func(f *milp.Formulation[[]int64], target float64) (*milp.Formulation[[]int64], error) {
				return f.Demand(target), nil
			},
			Elastic: func() (*milp.Formulation[[]int64], []int64, error) {
				loose := *t
				loose.Goal = model.GoalAccepted
				e, err := resbounds.Build(&loose, "")
				return e, serial(&loose, nil), err
			},
			Explain: func(ctx context.Context, r *model.Result) error {
				r.Reason = s.Backend.Title + " found that not all requests can be kept"
				addConflict(ctx, v, set, r)
				return nil
			},
		}, nil
	})
}

// HiGHS is Linear by HiGHS.
type HiGHS struct{}

// Name returns "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver.
func (HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Linear{highs.Backend}.Solve(ctx, in, set)
}
