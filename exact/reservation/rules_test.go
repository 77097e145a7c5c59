package reservation_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/verify"
)

// uglyReservation draws from the families of randomReservation, with equal
// requests or windows that just fit among them, and times from 1 s to 3e15 s in
// one instance, so that the weights' sums are beyond 2^53.
func uglyReservation(rng *rand.Rand, n int) *model.Reservation {
	in := modeltest.RandomReservation(rng, n)
	switch rng.IntN(6) {
	case 0: // equal ones
		for k := 1; k < n; k++ {
			if q := &in.Requests[rng.IntN(k)]; rng.IntN(2) == 0 {
				id := in.Requests[k].ID
				in.Requests[k] = *q
				in.Requests[k].ID = id
			}
		}
		for k := range in.Requests {
			in.Requests[k].ArrivalS = 0
		}
	case 1: // just fit
		for k := range in.Requests {
			if q := &in.Requests[k]; rng.IntN(2) == 0 {
				q.DeadlineS = q.ReadyS + q.DurationS
			}
		}
	case 2:
		in = &model.Reservation{PEs: 1 + rng.IntN(8), Goal: model.GoalPESeconds}
		figure := func(most int) float64 {
			return float64(rng.IntN(most))*1e14 + float64(rng.IntN(4))
		}
		for k := range n {
			q := model.Request{ID: "r" + strconv.Itoa(k), PEs: 1 + rng.IntN(in.PEs), ReadyS: figure(12), DurationS: 1 + figure(4)}
			if rng.IntN(2) == 0 {
				q.DurationS = 1 + math.Mod(q.DurationS, 1e14)
			}
			q.DeadlineS = q.ReadyS + q.DurationS + figure(3)
			in.Requests = append(in.Requests, q)
		}
	}
	return in
}

// With each device off by itself, forwards and backwards, the same optimum
// comes out as with all on and as brute force finds; and with a large gap limit
// the bound is one still.
func TestReservationDevices(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 24))
	masks, names := []int{0, ^0}, []string{"", "backwards"}
	for _, d := range resexact.SweepDevices() {
		masks, names = append(masks, d.Mask, ^d.Mask), append(names, d.Name, d.Name+" backwards")
	}
	nodes, kinds, brute := make([]int64, len(masks)), map[model.Goal]int{}, 0
	const count = 70
	for range need.Rounds(count) {
		in := uglyReservation(rng, 6+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		kinds[in.EffectiveGoal()]++
		total := 0.0
		for k := range in.Requests {
			total += in.Weight(k)
		}
		results, err := resexact.Sweeps(in, model.Settings{Gap: 1e-12}, masks, []int64{0, 16}[rng.IntN(2)])
		if err != nil {
			t.Fatal(err)
		}
		want := results[0].Value
		if len(in.Requests) <= 8 {
			best, feasible := modeltest.BruteReservation(t, in)
			brute++
			if feasible && math.Abs(best-want) > 1e-9*total || !feasible && results[0].Upper > total-1+1e-9*total {
				t.Fatalf("%v (bound %v), brute force %v %v: %s", want, results[0].Upper, best, feasible, text(in))
			}
		}
		for k, r := range results {
			nodes[k] += r.Nodes
			same := math.Abs(r.Value-want) <= 2e-9*total && (in.EffectiveGoal() == model.GoalAll || math.Abs(r.Upper-want) <= 2e-9*total)
			if in.EffectiveGoal() == model.GoalAll {
				// Without grains it can't be told that less than all is one
				// less at least.
				same = (r.Value > total-0.5) == (want > total-0.5) && (strings.HasPrefix(names[k], "whole-values") || (r.Upper > total-0.5) == (want > total-0.5))
			}
			if !same {
				t.Fatalf("without %q: %v (bound %v), with all %v: %s", names[k], r.Value, r.Upper, want, text(in))
			}
		}
		if in.EffectiveGoal() == model.GoalAll {
			continue
		}
		limit := []float64{0.05, 0.15, 0.3, 0.5}[rng.IntN(4)]
		loose, err := resexact.Sweeps(in, model.Settings{Gap: limit}, []int{0, ^0}, 1+rng.Int64N(16))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range loose {
			if r.Value > want+2e-9*total || r.Upper < want-2e-9*total || model.Gap(r.Value, r.Upper) > limit {
				t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %s", limit, r.Value, r.Upper, want, text(in))
			}
		}
	}
	t.Logf("%v, %d against brute force, states %v", kinds, brute, nodes)
	for k, name := range names {
		if (name == "dominance" || name == "lagrangian-bound") && nodes[k] <= nodes[0] {
			t.Errorf("without %s %d states, with all %d: the test doesn't need it", name, nodes[k], nodes[0])
		}
	}
}

// A request that is cancelled at a moment runs if it starts then, whatever
// digits the sums of floats have, and whatever rounding to ticks does to its
// latest start. Two such requests want one PE at once.
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
			for _, s := range []model.Solver{resexact.Search{}, resexact.HiGHS{}} {
				r, err := s.Solve(context.Background(), in, model.Settings{})
				if err != nil || r.Status != model.StatusOptimal || r.Objective != want || r.Bound < want || r.Bound >= want+1 {
					t.Fatalf("%s: %s %v, bound %v, want %v, %v", s.Name(), r.Status, r.Objective, r.Bound, want, err)
				}
				if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
					t.Errorf("%s: %v %v", s.Name(), report, err)
				}
			}
			times := in.Ticks()
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
