package exact_test

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// uglyReservation draws from the families of randomReservation, with equal requests or windows that just fit among them, and
// times from 1 s to 3e15 s in one instance, so that the weights' sums are beyond 2^53.
func uglyReservation(rng *rand.Rand, n int) *model.Reservation {
	in := randomReservation(rng, n)
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

// With each rule off by itself, forwards and backwards, the same optimum comes out as with all on and as brute force finds; and
// with a large gap limit the bound is one still.
func TestReservationRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 24))
	masks := []int{0, ^0}
	for r := range exact.SweepRules {
		masks = append(masks, 1<<r)
	}
	masks = append(masks, ^(1 << rng.IntN(len(exact.SweepRules))))
	nodes, kinds, brute := make([]int64, len(masks)), map[model.Goal]int{}, 0
	const count = 120
	for range rounds(count) {
		in := uglyReservation(rng, 6+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		kinds[in.Aim()]++
		total := 0.0
		for k := range in.Requests {
			total += in.Weight(k)
		}
		results, err := exact.Sweeps(in, model.Settings{Gap: 1e-12}, masks, []int64{0, 16}[rng.IntN(2)])
		if err != nil {
			t.Fatal(err)
		}
		want := results[0].Value
		if len(in.Requests) <= 8 {
			best, feasible := bruteReservation(t, in)
			brute++
			if feasible && math.Abs(best-want) > 1e-9*total || !feasible && results[0].Upper > total-1+1e-9*total {
				t.Fatalf("%v (bound %v), brute force %v %v: %s", want, results[0].Upper, best, feasible, text(in))
			}
		}
		for k, r := range results {
			nodes[k] += r.Nodes
			off := masks[k]
			same := math.Abs(r.Value-want) <= 2e-9*total && (in.Aim() == model.GoalAll || math.Abs(r.Upper-want) <= 2e-9*total)
			if in.Aim() == model.GoalAll {
				// Without grains it can't be told that less than all is one less at least.
				same = (r.Value > total-0.5) == (want > total-0.5) && (off > 0 && exact.SweepRules[bits.Len(uint(off))-1] == "grain" || (r.Upper > total-0.5) == (want > total-0.5))
			}
			if !same {
				t.Fatalf("without the rules %b: %v (bound %v), with all %v: %s", off, r.Value, r.Upper, want, text(in))
			}
		}
		if in.Aim() == model.GoalAll {
			continue
		}
		limit := []float64{0.05, 0.15, 0.3, 0.5}[rng.IntN(4)]
		loose, err := exact.Sweeps(in, model.Settings{Gap: limit}, []int{0, ^0}, 1+rng.Int64N(16))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range loose {
			if r.Value > want*(1+1e-12) || r.Upper < want*(1-1e-12) || model.Gap(r.Value, r.Upper) > limit {
				t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %s", limit, r.Value, r.Upper, want, text(in))
			}
		}
	}
	t.Logf("%v, %d against brute force, states %v", kinds, brute, nodes)
	for k, off := range masks {
		if r := bits.Len(uint(max(1, off))) - 1; off > 0 && (exact.SweepRules[r] == "dominance" || exact.SweepRules[r] == "prices") && nodes[k] <= nodes[0] {
			t.Errorf("without %s %d states, with all %d: the test doesn't need it", exact.SweepRules[r], nodes[k], nodes[0])
		}
	}
}

// A request that is cancelled at 18.9 s runs if it starts then, whatever digits the sums of floats have, and whatever rounding
// to ticks does to its latest start.
func TestReservationCancelledAtItsStart(t *testing.T) {
	cancel := 18.9
	for name, c := range map[string]struct{ duration, deadline, want float64 }{
		"tenths":                       {1.2, 20.1, 1}, // 20.1 - 1.2 = 18.900000000000002 in float64s
		"a deadline that was a sum":    {0.7, 0.7 + 18.9, 1},
		"digits that are rounded":      {1.223456789012345, 20.123456789012345, 1},
		"it may start after it really": {1.2, 20.2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			in := &model.Reservation{PEs: 1}
			for k := range 2 {
				in.Requests = append(in.Requests, model.Request{ID: strconv.Itoa(k), ReadyS: 18.8, DurationS: c.duration, DeadlineS: c.deadline, PEs: 1, CancelS: &cancel})
			}
			if err := in.Validate(); err != nil {
				t.Fatal(err)
			}
			r := reservationSearch(t, context.Background(), in, model.Settings{})
			if r.Status != model.StatusOptimal || r.Objective != c.want || r.Bound != c.want {
				t.Errorf("%s %v, bound %v, want %v", r.Status, r.Objective, r.Bound, c.want)
			}
			if c.want == 2 {
				return
			}
			for _, start := range []float64{18.9, 18.900000000000002} {
				both := &model.Bookings{}
				for k := range 2 {
					both.Bookings = append(both.Bookings, model.Booking{ID: strconv.Itoa(k), StartS: start, PEs: model.PEList{{0, 0}}})
				}
				if report, err := verify.Verify(context.Background(), in, both, verify.Options{}); err != nil || report.Feasible() {
					t.Errorf("two at %v on one PE: %v %v", start, report, err)
				}
			}
		})
	}
}
