// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

func reservationSearch(t testing.TB, ctx context.Context, in *model.Reservation, set model.Settings) model.Result {
	t.Helper()
	r, err := resexact.Search.Solve(ctx, in, set)
	if err != nil {
		t.Fatalf("%v: %s", err, text(in))
	}
	return r
}

// The search finds the plain engine's values (mostly without the sweep, which TestSweepAgainstBruteForce has alone). If
// not all requests can be kept, it names requests that can be once any one of them is left out.
func TestReservationSearchAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 17))
	infeasible := 0
	for range need.Rounds(1500) {
		in := testkit.RandomReservation(rng, 1+rng.IntN(7))
		want, feasible := plain.Optimum(in)
		r := reservationSearch(t, context.Background(), in, exactly)
		agree(t, in, r, want, feasible)
		if !feasible {
			infeasible++
			minimal(t, in, r.Details.(*model.ReservationDetails).Conflict)
		}
	}
	if infeasible < need.Rounds(1500)/20 {
		t.Errorf("only %d are infeasible", infeasible)
	}
}

// part is an instance of the named requests, without one.
func part(in *model.Reservation, ids []string, less string) *model.Reservation {
	p := *in
	p.Requests = nil
	for _, q := range in.Requests {
		if q.ID != less && slices.Contains(ids, q.ID) {
			p.Requests = append(p.Requests, q)
		}
	}
	return &p
}

// minimal checks a conflict by the plain engine.
func minimal(t *testing.T, in *model.Reservation, ids []string) {
	t.Helper()
	if _, feasible := plain.Optimum(part(in, ids, "")); feasible || len(ids) == 0 {
		t.Fatalf("%v are no conflict: %s", ids, text(in))
	}
	for _, id := range ids {
		if _, feasible := plain.Optimum(part(in, ids, id)); !feasible {
			t.Fatalf("%v are a conflict without %s: %s", ids, id, text(in))
		}
	}
}

// The engines agree on larger instances, too.
func TestReservationEnginesAgree(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 18))
	for range need.Rounds(60) {
		in := testkit.RandomReservation(rng, 10+rng.IntN(4))
		a, err := resexact.Linear(highs.Backend).Solve(context.Background(), in, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != model.StatusOptimal && a.Status != model.StatusInfeasible {
			t.Fatalf("%s (%s): %s", a.Status, a.Reason, text(in))
		}
		b := reservationSearch(t, context.Background(), in, model.Settings{})
		agree(t, in, b, a.Objective, a.Status == model.StatusOptimal)
	}
}

// Requests of one arrival may come in any order.
func TestReservationSearchSameValueInAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 19))
	for range need.Rounds(100) {
		in := testkit.RandomReservation(rng, 12)
		for k := range in.Requests {
			in.Requests[k].ArrivalS = 0
		}
		a := reservationSearch(t, context.Background(), in, model.Settings{Seed: 2})
		rng.Shuffle(len(in.Requests), func(i, j int) { in.Requests[i], in.Requests[j] = in.Requests[j], in.Requests[i] })
		b := reservationSearch(t, context.Background(), in, model.Settings{Seed: 3})
		agree(t, in, b, a.Objective, a.Status == model.StatusOptimal)
	}
}

// load is n requests, each for a power of two of 64 PEs; some are too many.
func load(n int, seed uint64, goal model.Goal) *model.Reservation {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	in := &model.Reservation{Name: "load", PEs: 64, Goal: goal}
	ready := 0.0
	for k := range n {
		d := []float64{1, 5, 15, 30, 60, 180}[rng.IntN(6)]
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint("r", k), ArrivalS: ready, ReadyS: ready, DurationS: d,
			DeadlineS: ready + d + math.Floor(2*d*rng.Float64()), PEs: 1 << rng.IntN(7)})
		ready += float64(rng.IntN(7))
	}
	return in
}

func TestReservationSearchProvesTheSameWithAnyThreads(t *testing.T) {
	t.Parallel()
	for n, goal := range map[int]model.Goal{30: "", 25: model.GoalPESeconds, 12: model.GoalAll} {
		in := load(n, 3, goal)
		want := reservationSearch(t, context.Background(), in, model.Settings{Seed: 3, Threads: 1})
		if want.Status != model.StatusOptimal && want.Status != model.StatusInfeasible {
			t.Fatalf("%d requests: %s (%s)", n, want.Status, want.Reason)
		}
		for _, threads := range []int{2, 4} {
			got := reservationSearch(t, context.Background(), in, model.Settings{Seed: 3, Threads: threads})
			want.Elapsed, want.Nodes, want.Solution, want.SecondObjective = got.Elapsed, got.Nodes, got.Solution, got.SecondObjective
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
				t.Errorf("%d requests, %d threads (-want,+got)\n%s", n, threads, d)
			}
		}
	}
}

// The search has a plan and a valid bound whenever it is stopped. The moments are its reports of progress.
func TestReservationSearchStops(t *testing.T) {
	t.Parallel()
	in := load(40, 0, model.GoalPESeconds)
	reports := 0
	best := reservationSearch(t, context.Background(), in, model.Settings{Progress: func(model.Progress) { reports++ }})
	if best.Status != model.StatusOptimal || reports < 10 {
		t.Fatal(best.Status, best.Reason, reports)
	}
	step := 2
	if testing.Short() {
		step = max(2, reports/5)
	}
	for stop := 0; stop < reports; stop += step {
		ctx, cancel := context.WithCancel(context.Background())
		left := stop
		r := reservationSearch(t, ctx, in, model.Settings{Progress: func(model.Progress) {
			if left--; left < 0 {
				cancel()
			}
		}})
		cancel()
		if r.Solution == nil || r.Objective > best.Objective || r.Bound < best.Objective*(1-1e-12) || r.Status != model.StatusOptimal && r.Reason == "" {
			t.Errorf("stopped: %s %v, bound %v (%s), the optimum is %v", r.Status, r.Objective, r.Bound, r.Reason, best.Objective)
		}
		if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
			t.Error(report, err)
		}
	}
	// Requests that can't all be kept aren't reported as kept.
	all := load(40, 5, model.GoalAll)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := reservationSearch(t, ctx, all, model.Settings{}); r.Solution != nil || r.Status == model.StatusOptimal || r.Status == model.StatusFeasible {
		t.Errorf("stopped: %s %v", r.Status, r.Objective)
	}
}

func TestReservationSearchErrors(t *testing.T) {
	t.Parallel()
	in := load(3, 1, "")
	tests := map[string]struct {
		in    model.Instance
		start model.Solution
		want  error
	}{
		"another problem":   {&model.VCSched{}, nil, model.ErrUnsupported},
		"a start elsewhere": {in, &model.Bookings{Bookings: []model.Booking{{ID: "nobody"}}}, model.ErrInvalid},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := resexact.Search.Solve(context.Background(), c.in, model.Settings{Start: c.start}); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// A start is taken, and given back if nothing is better.
func TestReservationSearchStart(t *testing.T) {
	t.Parallel()
	in := load(30, 9, "")
	a := reservationSearch(t, context.Background(), in, model.Settings{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if b := reservationSearch(t, ctx, in, model.Settings{Start: a.Solution}); b.Objective != a.Objective {
		t.Errorf("from a plan of %v: %v", a.Objective, b.Objective)
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
			if err := in.Validate(); err != nil {
				t.Fatal(err)
			}
			want := 2.0
			if c.both {
				want = 3
			}
			for _, s := range []model.Solver{resexact.Search, resexact.Kernel, resexact.Linear(highs.Backend)} {
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
