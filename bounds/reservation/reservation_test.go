// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// wholeRequest is a request with times in whole units.
type wholeRequest struct {
	ready, duration, deadline, runtime, cancel int64 // cancel < 0: never
	pes                                        int
}

// reservationOf returns an instance in units of the given number of seconds.
func reservationOf(pes int, goal model.Goal, unit float64, rs ...wholeRequest) *model.Reservation {
	in := &model.Reservation{Name: "test", Goal: goal, PEs: pes}
	for k, r := range rs {
		s := func(x int64) float64 { return float64(x) * unit }
		q := model.Request{ID: fmt.Sprint(k), ReadyS: s(r.ready), DurationS: s(r.duration), DeadlineS: s(r.deadline), PEs: r.pes}
		if r.runtime > 0 && r.runtime < r.duration {
			x := s(r.runtime)
			q.RuntimeS = &x
		}
		if r.cancel >= 0 {
			x := s(r.cancel)
			q.CancelS = &x
		}
		in.Requests = append(in.Requests, q)
	}
	return in
}

func randomWhole(rng *rand.Rand, most int) (pes int, rs []wholeRequest) {
	pes = 1 + rng.IntN(8)
	for range 1 + rng.IntN(most) {
		r := wholeRequest{ready: rng.Int64N(8), duration: 1 + rng.Int64N(6), cancel: -1, pes: 1 + rng.IntN(pes)}
		r.deadline = r.ready + r.duration + rng.Int64N(5)
		r.runtime = r.duration
		if rng.IntN(4) == 0 {
			r.runtime = 1 + rng.Int64N(r.duration)
		}
		if rng.IntN(8) == 0 {
			r.cancel = rng.Int64N(12)
		}
		rs = append(rs, r)
	}
	return pes, rs
}

// everyBound returns each bound in each of its variants.
func everyBound(ticks *view.Reservation) []bounds.Bound {
	ctx := context.Background()
	w := newWork(ticks)
	return append(Quick(ctx, ticks), area(ticks), energetic(ctx, ticks),
		w.energetic(ctx, windowSet{growth: 1.5, part: 2}), flowOf(ctx, ticks))
}

// checkPlain compares bounds with the plain engine's results on one of a series of small instances, of all goals, units
// of time, runtimes and cancellations.
func checkPlain(t *testing.T, k int, tight, proofs map[string]int, bounds func(*view.Reservation) []bounds.Bound) {
	units := []float64{1, 1, 0.1, 0.25, 1.0 / 3, 37 * 0x1p-30, 1e5}
	rng := rand.New(rand.NewPCG(5, uint64(k)))
	most := 5
	if k%5 == 0 {
		most = 6
	}
	pes, rs := randomWhole(rng, most)
	goal := model.Goals[k%4]
	in := reservationOf(pes, goal, units[rng.IntN(len(units))], rs...)
	require.OK(t, in.Validate())
	want, _ := plain.Optimum(in)
	for _, b := range bounds(view.OfReservation(in)) {
		switch {
		case b.Infeasible && (goal != model.GoalAll || want == float64(len(rs))):
			t.Fatalf("instance %d: %s calls it infeasible, %v of %d requests can be accepted: %s", k, b.Name, want, len(rs), b.Reason)
		case b.Infeasible && b.Reason == "":
			t.Fatalf("instance %d: %s gives no reason", k, b.Name)
		case b.Infeasible:
			proofs[b.Name]++
		case goal == model.GoalAll && b.Value != float64(len(rs)):
			t.Fatalf("instance %d: %s %v, the objective is %d or there is no solution", k, b.Name, b.Value, len(rs))
		case goal != model.GoalAll && b.Value < want:
			t.Fatalf("instance %d: %s %v below the optimum %v\n%+v", k, b.Name, b.Value, want, in)
		case goal != model.GoalAll && b.Value <= want*(1+1e-9):
			tight[b.Name]++
		}
	}
}

// No bound is below the plain engine's result, and no instance is called infeasible that isn't.
func TestReservationBoundsAgainstPlain(t *testing.T) {
	t.Parallel()
	tight, proofs := map[string]int{}, map[string]int{}
	for k := range 6000 {
		checkPlain(t, k, tight, proofs, everyBound)
	}
	t.Logf("tight: %v; proofs of infeasibility: %v", tight, proofs)
	for _, name := range []string{"area", "energetic", "flow"} {
		if tight[name] < 1000 || proofs[name] < 100 {
			t.Errorf("%s: tight %d times, %d proofs", name, tight[name], proofs[name])
		}
	}
}

// Hand-made cases in which one bound is the optimum and others aren't.
func TestReservationBoundsTight(t *testing.T) {
	t.Parallel()
	fixed := func(ready, duration int64, pes int) wholeRequest {
		return wholeRequest{ready, duration, ready + duration, duration, -1, pes}
	}
	window := func(ready, duration, deadline int64, pes int) wholeRequest {
		return wholeRequest{ready, duration, deadline, duration, -1, pes}
	}
	tests := map[string]struct {
		pes  int
		rs   []wholeRequest
		goal model.Goal
		want map[string]float64
	}{
		"two of three by area": {
			4, []wholeRequest{fixed(0, 2, 2), fixed(0, 2, 2), fixed(0, 2, 2)}, "",
			map[string]float64{"area": 2, "energetic": 2, "flow": 2},
		},
		"only the mirrored area sees the late rush": {
			1, []wholeRequest{window(0, 1, 10, 1), fixed(8, 2, 1), fixed(8, 2, 1)}, "",
			map[string]float64{"area": 2, "energetic": 2, "flow": 2},
		},
		"energy that must be in the middle": {
			2, []wholeRequest{window(0, 3, 4, 2), fixed(1, 2, 1)}, "",
			map[string]float64{"area": 2, "energetic": 1, "flow": 2},
		},
		"room that is apart": {
			2, []wholeRequest{fixed(0, 1, 2), fixed(3, 1, 2), window(0, 3, 4, 1)}, "",
			map[string]float64{"area": 3, "energetic": 3, "flow": 2},
		},
		"two of three are too wide to run together": {
			10, []wholeRequest{window(0, 1, 2, 6), window(0, 1, 2, 6), window(0, 1, 2, 6), window(0, 1, 10, 4)}, "",
			map[string]float64{"area": 3, "energetic": 3, "flow": 3},
		},
		"disjoint rushes add up": {
			1, []wholeRequest{fixed(0, 2, 1), fixed(0, 2, 1), fixed(10, 3, 1), fixed(10, 3, 1), fixed(20, 4, 1), fixed(20, 4, 1)}, "",
			map[string]float64{"area": 5, "energetic": 3, "flow": 3},
		},
		"parts are rounded down each": {
			// Each rush has room for one and a half.
			2, []wholeRequest{fixed(0, 2, 2), window(0, 4, 4, 1), window(0, 4, 4, 1), fixed(10, 2, 2), window(10, 4, 14, 1), window(10, 4, 14, 1)}, "",
			map[string]float64{"flow": 4, "energetic": 4},
		},
		"PE-seconds in multiples of what all have": {
			// 7 of the 8 PE-seconds are out of reach.
			4, []wholeRequest{fixed(0, 2, 3), fixed(0, 2, 3)}, model.GoalPESeconds,
			map[string]float64{"area": 6, "energetic": 6, "flow": 6},
		},
		"PE-seconds of what is reserved, area of what runs": {
			2, []wholeRequest{{0, 4, 4, 2, -1, 2}, {0, 4, 4, 2, -1, 2}, {0, 4, 6, 1, 0, 2}}, model.GoalReservedPESeconds,
			map[string]float64{"area": 16, "energetic": 16, "flow": 16},
		},
		"PE-seconds of what runs": {
			// The last one is worth nothing if withdrawn; at 0 it is in the others' way.
			2, []wholeRequest{{0, 4, 4, 2, -1, 2}, {0, 4, 4, 2, -1, 2}, {0, 4, 6, 1, 0, 2}}, model.GoalPESeconds,
			map[string]float64{"area": 4, "energetic": 4, "flow": 4},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := reservationOf(test.pes, test.goal, 1, test.rs...)
			all := require.Value(All(context.Background(), in))(t)
			got := map[string]float64{}
			for _, b := range all {
				if _, ok := test.want[b.Name]; ok {
					got[b.Name] = b.Value
				}
			}
			require.Same(t, "result", test.want, got)
			optimum, _ := plain.Optimum(in)
			for n, v := range test.want {
				if v < optimum {
					t.Errorf("the test expects %s %v below the optimum %v", n, v, optimum)
				}
			}
		})
	}
}

// The reason of infeasibility names the window and the energy.
func TestReservationInfeasibleReason(t *testing.T) {
	t.Parallel()
	in := reservationOf(4, model.GoalAll, 10, wholeRequest{1, 2, 3, 2, -1, 3}, wholeRequest{1, 2, 4, 2, -1, 3}, wholeRequest{50, 1, 60, 1, -1, 1})
	ticks := view.OfReservation(in)
	tests := map[string]struct {
		bound bounds.Bound
		want  string
	}{
		"energetic": {energetic(context.Background(), ticks), "2 requests need 90 PE-seconds from 10 s to 30 s, where there are 80"},
		"flow":      {flowOf(context.Background(), ticks), "2 requests need 90 PE-seconds from 10 s to 30 s, where there are 80"},
	}
	for name, test := range tests {
		if !test.bound.Infeasible || test.bound.Reason != test.want {
			t.Errorf("%s: %+v, want %q", name, test.bound, test.want)
		}
	}
	all, err := All(context.Background(), in)
	if err != nil || !all[len(all)-1].Infeasible {
		t.Errorf("%+v, %v: the proof isn't the last", all, err)
	}
}

// Stopped bounds are valid, and weaker or equal.
func TestReservationBoundsStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for k := range 50 {
		ticks := randomTicks(k, 20, model.GoalAccepted)
		n := float64(len(ticks.Jobs)) + ticks.FreeWeight
		for _, b := range []bounds.Bound{energetic(ctx, ticks), flowOf(ctx, ticks)} {
			if b.Value != n || b.Infeasible {
				t.Errorf("%+v of a stopped run, want %v", b, n)
			}
		}
	}
}

func TestReservationBoundsEdges(t *testing.T) {
	t.Parallel()
	none, err := All(context.Background(), &model.Reservation{PEs: 3})
	if err != nil || len(none) < 3 {
		t.Fatal(none, err)
	}
	for _, b := range none {
		if b.Value != 0 || b.Infeasible {
			t.Errorf("%+v without requests", b)
		}
	}
	require.Refused(t, "error", require.Err(All(context.Background(), &model.Reservation{})), model.ErrInvalid, "")
	// Areas that don't fit in 64 bits: three jobs of nearly all PEs and time.
	long := int64(1) << 49
	huge := &view.Reservation{PEs: 10_000_000, Goal: model.GoalAccepted}
	for k := range 3 {
		huge.Jobs = append(huge.Jobs, view.ReservationJob{Request: k, Due: long, Length: long - 10, PEs: 9_999_999, Weight: 1})
	}
	for _, b := range everyBound(huge) {
		require.Same(t, fmt.Sprintf("%+v", b), 1, b.Value)
	}
}

// The usable PEs are the largest sum of sizes, found by trying all.
func TestUsablePEs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 9))
	for range 3000 {
		pes := 1 + rng.Int64N(200)
		var sizes, distinct []int64
		seen := map[int64]bool{}
		step := 1 + rng.Int64N(4)
		for range 1 + rng.IntN(9) {
			x := min(pes, step*(1+rng.Int64N(40)))
			sizes = append(sizes, x)
			if !seen[x] {
				distinct = append(distinct, x)
			}
			seen[x] = true
		}
		want := int64(0)
		for set := range 1 << len(sizes) {
			sum := int64(0)
			for k, x := range sizes {
				if set>>k&1 != 0 {
					sum += x
				}
			}
			if sum <= pes {
				want = max(want, sum)
			}
		}
		if got := usablePEs(sizes, distinct, pes); got != want {
			t.Fatalf("%d of %d PEs usable by %v, want %d", got, pes, sizes, want)
		}
	}
}
