// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func kernel(t testing.TB, ctx context.Context, in *model.Reservation, set model.Settings, off ...string) model.Result {
	t.Helper()
	s, err := resexact.Kernel.Without(off...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Solve(ctx, in, set)
	if err != nil {
		t.Fatalf("%v: %s", err, text(in))
	}
	return r
}

// The kernel finds the plain engine's results: whole, without local search, and without any device of its own.
func TestReservationKernelAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 31))
	sets := [][]string{nil, {"local-search"}, {"local-search", "lagrangian-row"}}
	for _, d := range resexact.Kernel.Devices() {
		if d.Name == "upwards" || d.Name == "downwards" || d.Name == "learning" {
			continue // with package lcg
		}
		sets = append(sets, []string{d.Name})
	}
	learned := int64(0)
	for range need.Rounds(600) {
		in := uglyReservation(rng, 2+rng.IntN(7))
		if in.Validate() != nil {
			continue
		}
		want, feasible := plain.Optimum(in)
		r := kernel(t, context.Background(), in, model.Settings{Seed: 1, Gap: 1e-12}, sets[rng.IntN(len(sets))]...)
		learned += r.Nodes
		agree(t, in, r, want, feasible)
	}
	if learned < int64(need.Rounds(600))/2 {
		t.Errorf("%d conflicts: the test draws easy instances only", learned)
	}
}

// The search in turns with the kernel finds the plain engine's results and, at ordinary size, the results of the kernel
// alone, for all goals.
func TestReservationTurns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 31))
	both := 0
	turns := func(in *model.Reservation, want float64, feasible bool) {
		t.Helper()
		r, err := resexact.Turns(&both).Solve(context.Background(), in, model.Settings{Gap: 1e-12})
		if err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		// Sweeps of weights without a unit leave a gap of their rounding.
		if r.Status == model.StatusFeasible && strings.Contains(r.Reason, "rounding") && feasible {
			if math.Abs(r.Objective-want) > 2e-9*want || r.Bound < want*(1-1e-12) || r.Bound > want*(1+2e-9) {
				t.Fatalf("%v, bound %v, want %v: %s", r.Objective, r.Bound, want, text(in))
			}
			return
		}
		agree(t, in, r, want, feasible)
	}
	for range need.Rounds(150) {
		in := uglyReservation(rng, 2+rng.IntN(7))
		if in.Validate() == nil {
			want, feasible := plain.Optimum(in)
			turns(in, want, feasible)
		}
	}
	for seed := range uint64(need.Rounds(8)) {
		in := arbitrary(10+int(seed%12), 100+seed, model.Goals[seed%4])
		want := kernel(t, context.Background(), in, model.Settings{}, "lagrangian-row")
		turns(in, want.Objective, want.Status == model.StatusOptimal)
	}
	t.Logf("%d rounds of both", both)
	if both < need.Rounds(150)/20 {
		t.Errorf("kernel and sweeps took turns %d times only", both)
	}
}

// arbitrary is n requests of arbitrary sizes and durations, four times as much work as
// there is room.
func arbitrary(n int, seed uint64, goal model.Goal) *model.Reservation {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	in := &model.Reservation{Name: "arbitrary", Goal: goal, PEs: 100}
	for k := range n {
		d := float64(1 + r.IntN(100))
		ready := math.Floor(r.Float64() * 4 * float64(n))
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k + 1), ReadyS: ready, DurationS: d, DeadlineS: ready + d + math.Floor(2*d*r.Float64()), PEs: 1 + r.IntN(60)})
	}
	return in
}

// At ordinary size the engines agree, and so does the kernel without any one device.
func TestReservationKernelAgrees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(need.Rounds(12)) {
		in := arbitrary(10+int(seed%12), seed, model.Goals[seed%4])
		if seed%5 == 4 {
			in = load(20+int(seed%10), seed, in.Goal)
		}
		want := reservationSearch(t, context.Background(), in, model.Settings{})
		feasible := want.Status == model.StatusOptimal
		if !feasible && want.Status != model.StatusInfeasible {
			t.Fatal(want.Status, want.Reason)
		}
		agree(t, in, kernel(t, context.Background(), in, model.Settings{}), want.Objective, feasible)
		d := []string{"local-search", "dominance", "lagrangian-row"}[seed%3]
		agree(t, in, kernel(t, context.Background(), in, model.Settings{}, d, "local-search"), want.Objective, feasible)
	}
}

// The kernel has a plan and a valid bound if it is stopped at any of its reports.
func TestReservationKernelStops(t *testing.T) {
	t.Parallel()
	in := arbitrary(25, 3, model.GoalPESeconds)
	reports := 0
	best := kernel(t, context.Background(), in, model.Settings{Progress: func(model.Progress) { reports++ }}, "local-search")
	if best.Status != model.StatusOptimal || reports < 10 {
		t.Fatal(best.Status, best.Reason, reports)
	}
	for stop := 0; stop < reports; stop += 1 + reports/need.Rounds(10) {
		ctx, cancel := context.WithCancel(context.Background())
		left := stop
		r := kernel(t, ctx, in, model.Settings{Progress: func(model.Progress) {
			if left--; left < 0 {
				cancel()
			}
		}}, "local-search")
		cancel()
		if r.Solution == nil || r.Objective > best.Objective || r.Bound < best.Objective*(1-1e-12) || r.Status != model.StatusOptimal && r.Reason == "" {
			t.Errorf("stopped: %s %v, bound %v (%s), the optimum is %v", r.Status, r.Objective, r.Bound, r.Reason, best.Objective)
		}
		if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
			t.Error(report, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := kernel(t, ctx, in, model.Settings{Start: best.Solution}); r.Objective != best.Objective {
		t.Errorf("from a plan of %v: %v", best.Objective, r.Objective)
	}
	if _, err := resexact.Kernel.Solve(ctx, &model.VCSched{}, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("another problem: %v", err)
	}
}
