// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/google/go-cmp/cmp"
)

type solver func(context.Context, *model.Reservation, model.Settings) (*model.Bookings, error)

var solvers = func() map[string]solver {
	all := map[string]solver{"selective": Selective}
	for _, p := range allPolicies {
		all[p.name] = p.book
	}
	return all
}()

// random draws a crowded little instance, with jobs that end early and jobs that are
// cancelled.
func random(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{Name: "random", PEs: []int{1, 2, 8, 70}[rng.IntN(4)], Goal: []model.Goal{"", model.GoalPESeconds}[rng.IntN(2)]}
	unit := []float64{1, 0.1, 0.37}[rng.IntN(3)]
	arrival := 0
	for k := range n {
		arrival += rng.IntN(6)
		q := model.Request{ID: fmt.Sprint(k), ArrivalS: float64(arrival) * unit, PEs: 1 + rng.IntN(in.PEs)}
		ready, duration := arrival+rng.IntN(10), 1+rng.IntN(12)
		q.ReadyS, q.DurationS = float64(ready)*unit, float64(duration)*unit
		q.DeadlineS = float64(ready+duration+rng.IntN(25))*unit + 1e-12
		if rng.IntN(3) == 0 {
			x := float64(1+rng.IntN(duration)) * unit
			x = min(x, q.DurationS)
			q.RuntimeS = &x
		}
		if rng.IntN(5) == 0 {
			x := q.ArrivalS + float64(rng.IntN(15))*unit
			q.CancelS = &x
		}
		in.Requests = append(in.Requests, q)
	}
	return in
}

// Both implementations of the list give the same bookings of a whole stream.
func TestPlainAndFastBookAlike(t *testing.T) {
	t.Parallel()
	spec := instances.NewReservationSpec()
	spec.Requests, spec.Seed = 400, 5
	in := require.Value(spec.Generate())(t)
	early := random(rand.New(rand.NewPCG(5, 9)), 150)
	for _, in := range []*model.Reservation{in, early} {
		for _, p := range allPolicies {
			plain := require.Value(bookPlain(in, p))(t)
			got := require.Value(p.book(context.Background(), in, model.Settings{}))(t)
			want := &model.Bookings{Goal: in.Goal, Online: true}
			for k, a := range plain {
				if a != nil {
					want.Bookings = append(want.Bookings, model.Booking{ID: in.Requests[k].ID, StartS: view.OfReservation(in).Seconds(a.Start), PEs: a.PEs})
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s on %s: (-plain,+fast)\n%s", p.name, in.Name, diff)
			}
		}
	}
}

// PEs of a job that ends early, or of a booking that is cancelled, are there for
// the requests that come after, and not for those before.
func TestEarlyEndsAndCancellations(t *testing.T) {
	t.Parallel()
	half, at := 50.0, 20.0
	tests := map[string]struct {
		first       model.Request
		arrival     float64 // of a second request that needs the same PEs at once
		wantAccepts bool
	}{
		"while it runs":               {model.Request{DurationS: 100, DeadlineS: 100}, 60, false},
		"after it has ended early":    {model.Request{DurationS: 100, DeadlineS: 100, RuntimeS: &half}, 60, true},
		"when it ends early":          {model.Request{DurationS: 100, DeadlineS: 100, RuntimeS: &half}, 50, true},
		"before it ends early":        {model.Request{DurationS: 100, DeadlineS: 100, RuntimeS: &half}, 49, false},
		"after it was cancelled":      {model.Request{ReadyS: 30, DurationS: 70, DeadlineS: 100, CancelS: &at}, 30, true},
		"before it was cancelled":     {model.Request{ReadyS: 30, DurationS: 70, DeadlineS: 100, CancelS: &at}, 19, false},
		"cancelled when it had begun": {model.Request{ReadyS: 10, DurationS: 90, DeadlineS: 100, CancelS: &at}, 30, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.first.ID, test.first.PEs = "first", 8
			second := model.Request{ID: "second", ArrivalS: test.arrival, ReadyS: test.arrival, DurationS: 30, DeadlineS: test.arrival + 30, PEs: 8}
			in := &model.Reservation{PEs: 8, Requests: []model.Request{test.first, second}}
			for name, solve := range solvers {
				b := require.Value(solve(context.Background(), in, model.Settings{}))(t)
				require.Same(t, name+": accepts it", test.wantAccepts, len(b.Bookings) == 2)
			}
		})
	}
}

// On every point of the paper's three experiments LeastLoad accepts more than
// PE_W, and Selective more than LeastLoad. Means of some seeds.
func TestOwnPoliciesAcceptMore(t *testing.T) {
	t.Parallel()
	type point struct{ umed, arrival, flexibility float64 }
	points := []point{{5, 1, 3}, {6, 1, 3}, {7, 1, 3}, {8, 1, 3}, {9, 1, 3}, {7, 0.5, 3}, {7, 0.75, 3}, {7, 1.25, 3}, {7, 1.5, 3}, {7, 1, 1}, {7, 1, 2}, {7, 1, 4}, {7, 1, 5}}
	if testing.Short() {
		points = []point{points[0], points[4], points[8], points[12]}
	}
	for _, x := range points {
		mean := map[string]float64{}
		for seed := range 2 {
			spec := instances.ReservationSpec{Requests: 3000, UMed: x.umed, ArrivalFactor: x.arrival, ARTime: x.flexibility, Deadline: x.flexibility, Index: seed, Seed: 77}
			in := require.Value(spec.Generate())(t)
			add := func(name string, b *model.Bookings, err error) {
				require.OK(t, err)
				o := require.Value(in.Objective(b))(t)
				mean[name] += o.Value / 3
			}
			ctx := context.Background()
			for name, p := range map[string]policy{"PE_W": peW, "least": leastLoad} {
				b, err := p.book(ctx, in, model.Settings{})
				add(name, b, err)
			}
			b, err := Selective(ctx, in, model.Settings{})
			add("selective", b, err)
		}
		for _, pair := range [][2]string{{"least", "PE_W"}, {"selective", "least"}} {
			if !(mean[pair[0]] > mean[pair[1]]) {
				t.Errorf("%+v: %s has %.1f, %s %.1f", x, pair[0], mean[pair[0]], pair[1], mean[pair[1]])
			}
		}
	}
}

// Two requests of decimal times fit one behind the other, though a sum of float64s says that they don't.
func TestDecimalsFit(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"decimals-back-to-back", "decimals-tight", "far-deadline-tolerance"} {
		in := require.Value(instances.Load("../../exact/reservation/testdata/reservation-" + file + ".json"))(t)
		for _, a := range Algorithms() {
			if r, err := a.Solver.Solve(t.Context(), in, model.Settings{Effort: 10_000}); err != nil ||
				r.Objective != 2 {
				t.Errorf("%s: %s accepts %v of 2: %v", file, a.Name, r.Objective, err)
			}
		}
	}
}
