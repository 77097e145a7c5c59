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

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// exactly asks for the exact optimum: near ties in the draws are below the gap that counts as optimal by default.
var exactly = model.Settings{Seed: 1, Gap: 1e-8}

// agree compares a result with the optimum, and asks the judge.
func agree(t *testing.T, in *model.Reservation, r model.Result, want float64, feasible bool) {
	t.Helper()
	if !feasible {
		if r.Status != model.StatusInfeasible || r.Solution != nil || !math.IsNaN(r.Bound) {
			t.Fatalf("%s: %s %v (bound %v, %s), want infeasible: %s", r.Algorithm, r.Status, r.Objective, r.Bound, r.Reason, text(in))
		}
		return
	}
	if r.Status != model.StatusOptimal || math.Abs(r.Objective-want) > 1e-9*want || r.Bound < r.Objective || r.Bound > want*(1+1e-6) {
		t.Fatalf("%s: %s %v (bound %v, %s), want %v: %s", r.Algorithm, r.Status, r.Objective, r.Bound, r.Reason, want, text(in))
	}
	if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
		t.Fatalf("%s: %v %v: %s", r.Algorithm, report, err, text(in))
	}
}

// text is the instance as JSON.
func text(in *model.Reservation) string {
	b, err := in.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// The formulation, solved by HiGHS alone, and the engine on it find the plain engine's results.
func TestReservationHiGHSAgainstPlain(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 7))
	ctx := context.Background()
	infeasible, asked := 0, 0
	for range need.Rounds(300) {
		in := testkit.RandomReservation(rng, 1+rng.IntN(7))
		want, feasible := plain.Optimum(in)
		if !feasible {
			infeasible++
		}
		ticks := view.OfReservation(in)
		f, err := resbounds.Build(ticks, "")
		if err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		h, err := highs.Solve(ctx, &f.Model, milp.Options{Tolerance: 1e-8})
		if err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		if h.Feasible != feasible {
			t.Fatalf("HiGHS says %s, want feasible: %v: %s", h.Status, feasible, text(in))
		}
		if feasible {
			starts, err := f.Decode(h.X)
			if err != nil {
				t.Fatalf("%v: %s", err, text(in))
			}
			got := f.Value(f.Objective(f.Encode(starts)))
			if bound := f.Value(h.Objective); in.EffectiveGoal() != model.GoalAll && math.Abs(bound-want) > 1e-6*want {
				t.Fatalf("HiGHS's optimum is %v, want %v: %s", bound, want, text(in))
			}
			if math.Abs(got-want) > 1e-9*want {
				t.Fatalf("the point decodes to %v, want %v: %s", got, want, text(in))
			}
		}
		r, err := resexact.Linear(highs.Backend).Solve(ctx, in, model.Settings{})
		if err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		agree(t, in, r, want, feasible)
		if r.Nodes > 0 {
			asked++
		}
	}
	if infeasible < need.Rounds(300)/20 || asked < need.Rounds(480)/50 {
		t.Errorf("%d infeasible, %d that needed HiGHS's search: the test draws easy instances only", infeasible, asked)
	}
}

func TestReservationHiGHSErrors(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	one := &model.Reservation{PEs: 1, Requests: []model.Request{{ID: "a", DurationS: 1, DeadlineS: 1, PEs: 1}}}
	tests := map[string]struct {
		in    model.Instance
		start model.Solution
		kind  error
		want  string
	}{
		"another problem":       {&model.VCSched{}, nil, model.ErrUnsupported, "vcsched"},
		"bookings of something": {one, &model.Bookings{Bookings: []model.Booking{{ID: "b"}}}, model.ErrInvalid, `"b"`},
		"too many starts":       {crowd(1000), nil, model.ErrUnsupported, "possible starts"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := resexact.Linear(highs.Backend).Solve(context.Background(), c.in, model.Settings{Start: c.start})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %v with %q in one line", err, c.kind, c.want)
			}
		})
	}
}

// crowd is n requests, any of which may run at any time; no two have the same length.
func crowd(n int) *model.Reservation {
	rng := rand.New(rand.NewPCG(6, 9))
	in := &model.Reservation{Name: "crowd", PEs: 16}
	for k := range n {
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(k), ReadyS: float64(rng.IntN(100)), DurationS: 100 + rng.Float64()*1000, DeadlineS: float64(600 * n), PEs: 1 + rng.IntN(16)})
		q := &in.Requests[k]
		q.ArrivalS = 0
		q.DeadlineS = q.ReadyS + q.DurationS + 300*rng.Float64()*math.Sqrt(float64(n))
	}
	return in
}

// A stopped run says so, and the results proved so far hold.
func TestReservationHiGHSStops(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := crowd(12)
	full, err := resexact.Linear(highs.Backend).Solve(context.Background(), in, model.Settings{Threads: 2})
	if err != nil || full.Status != model.StatusOptimal {
		t.Fatalf("%+v %v", full, err)
	}
	r, err := resexact.Linear(highs.Backend).Solve(ctx, in, model.Settings{})
	if err != nil || r.Status != model.StatusFeasible || r.Reason == "" || r.Objective > full.Objective || r.Bound < full.Objective {
		t.Errorf("%+v %v, the optimum is %v", r, err, full.Objective)
	}
	// A solution to start from is kept.
	r, err = resexact.Linear(highs.Backend).Solve(ctx, in, model.Settings{Start: full.Solution})
	if err != nil || r.Objective != full.Objective {
		t.Errorf("%+v %v, it started from %v", r, err, full.Objective)
	}
	// A gap that the start meets stops it, too.
	r, err = resexact.Linear(highs.Backend).Solve(context.Background(), in, model.Settings{Gap: 0.5})
	if err != nil || r.Status != model.StatusOptimal || r.Bound < full.Objective || r.Objective > full.Objective {
		t.Errorf("%+v %v, the optimum is %v", r, err, full.Objective)
	}
	all := *in
	all.Goal = model.GoalAll
	if r, err = resexact.Linear(highs.Backend).Solve(ctx, &all, model.Settings{}); err != nil || r.Status != model.StatusUnknown || r.Reason == "" {
		t.Errorf("%+v %v, want unknown", r, err)
	}
}
