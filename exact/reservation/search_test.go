// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// If not all requests can be kept, the kernel names requests that can be once any one of them is left out.
func TestConflictIsMinimal(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 17))
	for range require.Rounds(300) {
		in := testkit.RandomReservation(rng, 2+rng.IntN(6))
		in.Goal = model.GoalAll
		if _, feasible := plain.Optimum(in); feasible {
			continue
		}
		r, err := resexact.Kernel.Solve(t.Context(), in, model.Settings{})
		require.OK(t, err)
		ids := r.Details.(*model.ReservationDetails).Conflict
		for _, less := range append(ids, "") {
			part := *in
			part.Requests = slices.DeleteFunc(slices.Clone(in.Requests),
				func(q model.Request) bool { return q.ID == less || !slices.Contains(ids, q.ID) })
			if _, feasible := plain.Optimum(&part); feasible != (less != "") {
				t.Fatalf("%v without %q: feasible is %v: %+v", ids, less, feasible, in)
			}
		}
	}
}

// HiGHS refuses too many possible starts, before anything is computed.
func TestTooManyStarts(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(6, 9))
	in := &model.Reservation{PEs: 16}
	for k := range 1000 {
		q := model.Request{ID: strconv.Itoa(k), ReadyS: float64(rng.IntN(100)), DurationS: 100 + rng.Float64()*1000,
			PEs: 1 + rng.IntN(16)}
		q.DeadlineS = q.ReadyS + q.DurationS + 9000*rng.Float64()
		in.Requests = append(in.Requests, q)
	}
	if _, err := resexact.Linear(highs.Backend).Solve(t.Context(), in, model.Settings{}); !errors.Is(err,
		model.ErrUnsupported) || !strings.Contains(err.Error(), "possible starts") {
		t.Errorf("%v", err)
	}
}

// A request that is cancelled at a moment runs if it starts then, whatever the digits of float sums and the rounding of
// its latest start to ticks. Two such requests want one PE at once.
func TestReservationCancelledAtItsStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ready, cancel, duration, deadline float64
		both                              bool
	}{
		"tenths":                     {18.8, 18.9, 1.2, 20.1, false}, // 20.1 - 1.2 = 18.900000000000002 in float64s
		"a deadline that is a sum":   {18.8, 18.9, 0.7, 0.7 + 18.9, false},
		"digits that are rounded":    {18.8, 18.9, 1.223456789012345, 20.123456789012345, false},
		"thirds":                     {1.6666666666666665, 1.6666666666666665, 1, 2.6666666666666665, false},
		"it may start after that":    {18.8, 18.9, 1.2, 20.2, true},
		"it may start a digit later": {18.8, 18.9, 1.223456789012345, 20.123456789012349, true},
	} {
		t.Run(name, func(t *testing.T) {
			last := model.Request{ID: "last", ReadyS: 30, DurationS: 1. / 3, DeadlineS: 40, PEs: 1}
			if c.cancel == 18.9 && c.duration < 1.21 {
				last.DurationS = 1 // nothing is rounded
			}
			in := &model.Reservation{PEs: 1}
			for k := range 2 {
				in.Requests = append(in.Requests, model.Request{ID: strconv.Itoa(k), ReadyS: c.ready, DurationS: c.duration, DeadlineS: c.deadline, PEs: 1, CancelS: &c.cancel})
			}
			in.Requests = append(in.Requests, last)
			require.OK(t, in.Validate())
			want := 2.0
			if c.both {
				want = 3
			}
			for _, s := range []model.Solver{resexact.Kernel, resexact.Linear(highs.Backend)} {
				if s.Name() == "highs" && !highs.Available() {
					continue
				}
				r, err := s.Solve(context.Background(), in, model.Settings{})
				if err != nil || r.Status != model.StatusOptimal || r.Objective != want || r.Bound < want || r.Bound >= want+1 {
					t.Fatalf("%s: %s %v, bound %v, want %v, %v", s.Name(), r.Status, r.Objective, r.Bound, want, err)
				}
				if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
					t.Errorf("%s: %v %v", s.Name(), report, err)
				}
			}
			times := view.OfReservation(in)
			starts := []float64{c.cancel, times.Seconds(times.Requests[0].Latest())}
			if c.both {
				starts = starts[:1]
			}
			for _, start := range starts {
				two := &model.Bookings{}
				for k := range 2 {
					two.Bookings = append(two.Bookings, model.Booking{ID: strconv.Itoa(k), StartS: start, PEs: model.PEList{{First: 0, Last: 0}}})
				}
				if report, err := verify.Verify(context.Background(), in, two, verify.Options{}); err != nil || report.Feasible() {
					t.Errorf("two at %v on one PE: %v %v", start, report, err)
				}
			}
		})
	}
}
