// SPDX-License-Identifier: MIT

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

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
