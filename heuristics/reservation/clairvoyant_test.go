// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// offlineLoad draws n requests for 64 PEs; about a fifth of them must be declined.
func offlineLoad(n int, seed uint64, goal model.Goal) *model.Reservation {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := &model.Reservation{Name: "load", PEs: 64, Goal: goal}
	ready := 0.0
	for k := range n {
		d := float64(1+rng.IntN(2000)) / 10
		q := model.Request{ID: fmt.Sprint("r", k), ArrivalS: ready, ReadyS: ready + float64(rng.IntN(9)), DurationS: d, PEs: 1 << rng.IntN(7)}
		q.DeadlineS = q.ReadyS + d + float64(rng.IntN(200))
		switch rng.IntN(6) {
		case 0:
			runtime := d / 3
			q.RuntimeS = &runtime
		case 1:
			cancel := q.ReadyS + float64(rng.IntN(300))
			q.CancelS = &cancel
		}
		in.Requests = append(in.Requests, q)
		ready += float64(rng.IntN(20))
	}
	return in
}

// All of a plan that fills the cluster to the last PE are found, for the goal all.
func TestClairvoyantAll(t *testing.T) {
	t.Parallel()
	in := &model.Reservation{PEs: 4, Goal: model.GoalAll}
	for k, q := range []model.Request{
		{ReadyS: 0, DurationS: 3, DeadlineS: 6, PEs: 2}, {ReadyS: 0, DurationS: 3, DeadlineS: 3, PEs: 2},
		{ReadyS: 0, DurationS: 3, DeadlineS: 6, PEs: 4}, {ReadyS: 0, DurationS: 3, DeadlineS: 9, PEs: 2},
	} {
		q.ID = fmt.Sprint(k)
		in.Requests = append(in.Requests, q)
	}
	b, err := Clairvoyant(context.Background(), in, model.Settings{})
	if err != nil || len(b.Bookings) != 4 {
		t.Fatal(b, err)
	}
	in.Requests[3].DeadlineS = 5
	if b, err := Clairvoyant(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrNoSolution) {
		t.Error(b, err)
	}
}

// A plan turned into bookings and back is the same plan.
func TestTicksOf(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		in := offlineLoad(50, seed, "")
		if seed%2 == 1 {
			in.Requests[3].DurationS *= 1.0000123 // no ticks of a decimal fraction
			in.Requests[3].RuntimeS = nil
			in.Requests[3].DeadlineS += 1
		}
		ticks := view.OfReservation(in)
		p := bookings.NewOffline(ticks, seed)
		p.Construct(context.Background(), nil)
		b := require.Value(bookings.BookTicks(in, ticks, p.Starts()))(t)
		got := require.Value(bookings.TicksOf(in, ticks, b))(t)
		if d := cmp.Diff(p.Starts(), got); d != "" {
			t.Errorf("seed %d (-want,+got)\n%s", seed, d)
		}
	}
}

// A booking that is withdrawn before its start displaces none that runs.
func TestTicksOfWithdrawn(t *testing.T) {
	t.Parallel()
	cancel := 0.0
	in := &model.Reservation{PEs: 1, Goal: model.GoalPESeconds, Requests: []model.Request{
		{ID: "withdrawn", DurationS: 1, DeadlineS: 9, PEs: 1, CancelS: &cancel}, {ID: "runs", DurationS: 5, DeadlineS: 5, PEs: 1}}}
	got, err := bookings.TicksOf(in, view.OfReservation(in), &model.Bookings{Bookings: []model.Booking{
		{ID: "withdrawn", StartS: 5, PEs: model.PEList{{}}}, {ID: "runs", PEs: model.PEList{{}}}}})
	if d := cmp.Diff([]int64{view.Declined, 0}, got); err != nil || d != "" {
		t.Errorf("error %v (-want,+got)\n%s", err, d)
	}
}

func BenchmarkClairvoyant(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		in := offlineLoad(n, 1, "")
		b.Run(fmt.Sprintf("requests=%d", n), func(b *testing.B) {
			for range b.N {
				x := require.Value(Clairvoyant(context.Background(), in, model.Settings{Seed: 1}))(b)
				b.ReportMetric(float64(len(x.Bookings)), "accepted")
			}
		})
	}
}

// Steps never lose weight, and the remaining bookings fit.
func TestImprove(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		in := offlineLoad(10+int(seed)*4, seed, model.GoalPESeconds)
		ticks := view.OfReservation(in)
		p := bookings.NewOffline(ticks, seed)
		p.Construct(context.Background(), nil)
		for range 10 {
			before := p.Value()
			p.Improve(context.Background(), 100, math.Inf(1))
			value := 0.0
			for i, s := range p.Starts() {
				if j := &ticks.Jobs[i]; s >= 0 {
					if s < j.Ready || s > j.Latest() {
						t.Fatalf("seed %d: job %d starts at %d, not in [%d, %d]", seed, i, s, j.Ready, j.Latest())
					}
					value += j.Weight
				}
			}
			if p.Value() < before*(1-1e-9) || math.Abs(value-p.Value()) > 1e-6*value {
				t.Fatalf("seed %d: from %v to %v, which is %v", seed, before, p.Value(), value)
			}
			require.OK(t, require.Err(bookings.BookTicks(in, ticks, p.Starts())), "seed", seed)
		}
	}
}
