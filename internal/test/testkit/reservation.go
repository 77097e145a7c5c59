// SPDX-License-Identifier: MIT

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
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
func BruteReservation(in *model.Reservation) (value float64, feasible bool) {
	n := len(in.Requests)
	if n > 8 {
		panic("more than 8 requests are too many for brute force")
	}
	times, total := view.OfReservation(in), 0.0
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

// RandomReservation draws a valid instance of n requests on up to 8 PEs, of 17 and more on
// up to 64, of any goal. Durations are of one style; windows are tight, some of them at
// 10^12 s. Some requests are equal to others, end early, are cancelled or are far away.
func RandomReservation(rng *rand.Rand, n int) *model.Reservation {
	for {
		// Validate refuses some of the ugly figures, and rightly so.
		if in := drawReservation(rng, n); in.Validate() == nil {
			return in
		}
	}
}

func drawReservation(rng *rand.Rand, n int) *model.Reservation {
	duration := pick(rng)
	in := &model.Reservation{PEs: 1 + rng.IntN(8), Goal: one(rng, append(slices.Clone(model.Goals), "", model.GoalAll)...)}
	if n > 16 {
		in.PEs = 1 + rng.IntN(64)
	}
	in.Name = fmt.Sprintf("%s-%s-%dPEs", duration.Name, in.EffectiveGoal(), in.PEs)
	unit := one(rng, 1, 1, 1, 0.1, 7, 1024.0/1000)
	length := func() float64 { return max(duration.Draw(rng)*unit, 1e-3) }
	mean := 0.0
	for range 20 {
		mean += length() / 20
	}
	// The load on the PEs, from one to four times what they can do.
	horizon := 0.6 * mean * float64(n) / (1 + 3*rng.Float64())
	slack, grid := one(rng, 0, 0.5, 1, 2, 2, 6), one(rng, unit, unit, math.Pow(10, math.Floor(math.Log10(mean))))
	offset := 0.0
	if rng.IntN(12) == 0 {
		offset = 1e12
		in.Name += "-late"
	}
	widest := one(rng, in.PEs, in.PEs, in.PEs, max(1, in.PEs/2), max(1, in.PEs/2), 1)
	early, cancelled := rng.IntN(4), rng.IntN(4) // of 15 requests
	for range n {
		d := length()
		q := model.Request{DurationS: d, PEs: 1 + rng.IntN(widest)}
		q.ReadyS = offset + math.Floor(rng.Float64()*horizon/grid)*grid
		q.DeadlineS = q.ReadyS + d
		if rng.IntN(4) > 0 {
			q.DeadlineS += math.Floor(rng.Float64()*slack*d/unit) * unit
		}
		if rng.IntN(4) > 0 { // as a person would write the sum
			q.DeadlineS = inMillionths(q.DeadlineS)
		}
		if rng.IntN(60) == 0 {
			q.DeadlineS = 1e12 + offset // far beyond all others
		}
		if rng.IntN(60) == 0 {
			q.DurationS = 1e-3 // far below
		}
		q.ArrivalS = one(rng, 0, 0, q.ReadyS, math.Floor(q.ReadyS/2))
		if rng.IntN(15) < early {
			runtime := one(rng, q.DurationS/2, max(min(q.DurationS, unit), 1e-3))
			q.RuntimeS = &runtime
		}
		if rng.IntN(15) < cancelled {
			cancel := max(q.ArrivalS, one(rng, math.Floor((q.ReadyS+q.DeadlineS)/2), q.ReadyS-unit, q.ReadyS, q.DeadlineS-q.DurationS))
			q.CancelS = &cancel
		}
		if len(in.Requests) > 0 && rng.IntN(6) == 0 { // equal to another
			q = in.Requests[rng.IntN(len(in.Requests))]
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.Request) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
	for k := range in.Requests {
		in.Requests[k].ID = fmt.Sprint("r", k+1)
	}
	return in
}
