// Package testkit holds instances drawn at random and brute forces, which the
// tests of several packages need.
package testkit

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// BruteReservation returns the optimum of an instance of at most 8 requests,
// and whether there is a solution, which only the goal "all" can lack (the
// value is then of no use).
//
// It tries all orders: each request starts as early as those before it in the
// order allow, at its ready time or when one of them ends, or is declined. That
// is exact. Take an optimal solution and move requests to earlier starts, one
// at a time, as long as one can be moved; no window is left by that. Then place
// its requests in the order of their starts. Would one find a place before its
// start, it would fit there in spite of those after it, too: they start no
// earlier than it did, so where it overlaps them now it did before, when all
// fitted. But no request could be moved. So this order reproduces the solution
// start by start. A request that doesn't fit now won't fit when there are more:
// it is enough to try those that do, and stop anywhere.
//
// Times are the ticks of the model, whose tests are elsewhere. A request that
// would be cancelled before its latest start takes no PEs when it is booked
// there. If that counts for nothing (see Reservation.WithdrawnWeight) it may also
// run, from a start no later than its cancellation.
func BruteReservation(t testing.TB, in *model.Reservation) (value float64, feasible bool) {
	t.Helper()
	n := len(in.Requests)
	if n > 8 {
		t.Fatalf("%d requests are too many for brute force", n)
	}
	times, total := in.Ticks(), 0.0
	for k := range in.Requests {
		total += in.Weight(k)
	}
	type placed struct {
		start, end int64
		pes        int
	}
	var plan []placed
	// earliest is where request k fits first, negative if nowhere.
	earliest := func(k int) int64 {
		q := &times.Requests[k]
		starts := []int64{q.Ready}
		for _, p := range plan {
			starts = append(starts, p.end)
		}
		slices.Sort(starts)
		for _, s := range starts {
			if s < q.Ready || s > q.Latest() || !q.Runs(s) {
				continue
			}
			// The most PEs are in use at s or when another starts.
			fits := true
			for i := -1; i < len(plan); i++ {
				at := s
				if i >= 0 {
					at = plan[i].start
				}
				if at < s || at >= s+q.Runtime {
					continue
				}
				used := in.Requests[k].PEs
				for _, p := range plan {
					if p.start <= at && p.end > at {
						used += p.pes
					}
				}
				fits = fits && used <= in.PEs
			}
			if fits {
				return s
			}
		}
		return -1
	}
	done := make([]bool, n)
	best, most := 0.0, 0
	var walk func(value, rest float64, accepted int)
	walk = func(value, rest float64, accepted int) {
		best, most = max(best, value), max(most, accepted)
		if most == n || value+rest <= best {
			return
		}
		for k := range n {
			if done[k] {
				continue
			}
			q := &times.Requests[k]
			if w := in.WithdrawnWeight(k); w > 0 && !q.Runs(q.Latest()) {
				done[k] = true
				walk(value+w, rest-w, accepted+1)
				done[k] = false
				return // it costs nothing, so it may as well come first
			}
			s := earliest(k)
			if s < 0 {
				continue
			}
			done[k] = true
			plan = append(plan, placed{s, s + q.Runtime, in.Requests[k].PEs})
			walk(value+in.Weight(k), rest-in.Weight(k), accepted+1)
			plan = plan[:len(plan)-1]
			done[k] = false
		}
	}
	walk(0, total, 0)
	return best, in.EffectiveGoal() != model.GoalAll || most == n
}

// RandomReservation draws a valid instance of n requests with tight windows, of
// any goal. Times are whole, tenths of a second, thirds in float32, whole ones
// at 10^12, ratios of 10^9, or any floats; some requests end early or are
// cancelled.
func RandomReservation(rng *rand.Rand, n int) *model.Reservation {
	in := &model.Reservation{Name: "random", PEs: 1 + rng.IntN(8)}
	in.Goal = []model.Goal{"", model.GoalAccepted, model.GoalPESeconds, model.GoalReservedPESeconds, model.GoalAll, model.GoalAll}[rng.IntN(6)]
	span := 1 + rng.IntN(2*n)                    // of the ready times
	longest := 1 + rng.IntN(8)                   // duration
	slack := rng.IntN(1 + longest)               // of the windows
	small := rng.IntN(2)                         // requests take half of the PEs at most
	early, cancelled := rng.IntN(3), rng.IntN(4) // of 10 requests
	var figure func(from, most int) float64
	begin := 0.0
	switch rng.IntN(7) {
	case 0, 1:
		figure = func(from, most int) float64 { return float64(from + rng.IntN(most-from+1)) }
	case 2:
		figure = func(from, most int) float64 { return float64(from+rng.IntN(most-from+1)) / 10 }
	case 3:
		figure = func(from, most int) float64 { return float64(float32(from+rng.IntN(most-from+1)) / 3) }
	case 4:
		begin = 1e12
		figure = func(from, most int) float64 { return float64(from + rng.IntN(most-from+1)) }
	case 5:
		figure = func(from, most int) float64 {
			return float64(from+rng.IntN(most-from+1)) * []float64{1, 1e9, 1 + 1e9}[rng.IntN(3)]
		}
	default:
		scale := []float64{1, 1, 1e-3, 1e6}[rng.IntN(4)]
		figure = func(from, most int) float64 { return scale * (float64(from) + rng.Float64()*float64(most-from)) }
	}
	for range n {
		q := model.Request{PEs: 1 + rng.IntN(max(1, in.PEs/(1+small)))}
		q.ReadyS = begin + figure(0, span)
		q.DurationS = figure(1, longest)
		q.DeadlineS = q.ReadyS + q.DurationS
		if rng.IntN(4) > 0 {
			q.DeadlineS += figure(0, slack)
		}
		if q.ArrivalS = q.ReadyS; rng.IntN(2) == 0 {
			q.ArrivalS = min(q.ReadyS, begin+figure(0, span))
		}
		if rng.IntN(10) < early {
			runtime := min(q.DurationS, figure(1, longest))
			q.RuntimeS = &runtime
		}
		if rng.IntN(10) < cancelled {
			cancel := q.ArrivalS + figure(0, longest+slack)
			q.CancelS = &cancel
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.Request) int {
		switch {
		case a.ArrivalS < b.ArrivalS:
			return -1
		case a.ArrivalS > b.ArrivalS:
			return 1
		}
		return 0
	})
	for k := range in.Requests {
		in.Requests[k].ID = "r" + strconv.Itoa(k+1)
	}
	return in
}
