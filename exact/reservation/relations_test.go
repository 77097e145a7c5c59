// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
)

// Relations that hold at the sizes people use, between whole instances that are
// known in advance: the optimum is the same, or changes as it must.
func TestReservationRelations(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 23))
	solve := func(in *model.Reservation, set model.Settings) (float64, *model.Bookings) {
		t.Helper()
		for k := range in.Requests {
			in.Requests[k].ArrivalS, in.Requests[k].ID = 0, strconv.Itoa(k)
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		r := reservationSearch(t, context.Background(), in, set)
		if r.Status != model.StatusOptimal {
			t.Fatalf("%s (%s): %s", r.Status, r.Reason, text(in))
		}
		return r.Objective, r.Solution.(*model.Bookings)
	}
	changed := func(in *model.Reservation, f func(q *model.Request)) *model.Reservation {
		x := *in
		x.Requests = slices.Clone(in.Requests)
		for k := range x.Requests {
			f(&x.Requests[k])
		}
		return &x
	}
	for range 1 + need.Rounds(20)/10 {
		in := load(16+rng.IntN(10), rng.Uint64(), []model.Goal{"", model.GoalPESeconds}[rng.IntN(2)])
		want, best := solve(in, model.Settings{Seed: 1})
		last := 0.0
		for _, q := range in.Requests {
			last = max(last, q.DeadlineS)
		}
		same := func(what string, x *model.Reservation, set model.Settings, factor, more float64) {
			t.Helper()
			// Both gaps may be up to the limit of 10^-6.
			if got, _ := solve(x, set); got < (want*factor+more)*(1-1e-6) || got > (want*factor+more)*(1+1e-6) {
				t.Fatalf("%s: %v, want %v: %s", what, got, want*factor+more, text(in))
			}
		}
		scaled := func(by float64) (*model.Reservation, float64) {
			x := changed(in, func(q *model.Request) {
				q.ReadyS, q.DurationS, q.DeadlineS = q.ReadyS/by, q.DurationS/by, q.DeadlineS/by // rounded to the decimal number
			})
			if in.Goal == model.GoalPESeconds {
				return x, 1 / by
			}
			return x, 1
		}
		for _, by := range []float64{8, 0.5, 1000, 0.0009765625} {
			x, factor := scaled(by)
			same("divided by "+strconv.FormatFloat(by, 'g', -1, 64), x, model.Settings{}, factor, 0)
		}
		same("reversed", changed(in, func(q *model.Request) { q.ReadyS, q.DeadlineS = last-q.DeadlineS, last-q.ReadyS }), model.Settings{}, 1, 0)
		shuffled := changed(in, func(*model.Request) {})
		rng.Shuffle(len(shuffled.Requests), func(i, j int) {
			shuffled.Requests[i], shuffled.Requests[j] = shuffled.Requests[j], shuffled.Requests[i]
		})
		same("another order", shuffled, model.Settings{Seed: 5, Threads: 2}, 1, 0)
		same("from the optimum", in, model.Settings{Start: best}, 1, 0)
		added := changed(in, func(*model.Request) {})
		added.Requests = append(added.Requests, model.Request{ReadyS: 0, DurationS: 7, DeadlineS: last + 7, PEs: 2})
		weight := 1.0
		if in.Goal == model.GoalPESeconds {
			weight = 14
		}
		same("one that fits anywhere", added, model.Settings{}, 1, weight)
		joined := changed(in, func(*model.Request) {})
		joined.Requests = append(joined.Requests, changed(in, func(q *model.Request) { q.ReadyS, q.DeadlineS = q.ReadyS+last, q.DeadlineS+last }).Requests...)
		same("twice, one after the other", joined, model.Settings{}, 2, 0)
	}
}
