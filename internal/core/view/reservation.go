// SPDX-License-Identifier: MIT

package view

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/ticks"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/model"
)

// Reservation is a model.Reservation in whole numbers: times are ticks. Policies, bounds and engines all work on it, so
// that they agree on feasibility.
type Reservation struct {
	ticks.Times // as in the instance

	PEs  int
	Goal model.Goal       // the effective one
	Jobs []ReservationJob // the requests that hold PEs, in their order
	// Free are the numbers of the requests that cost nothing to accept and count:
	// booked at their latest start they are cancelled before. FreeWeight is their
	// weight, in the objective's unit. The goal pe_seconds has none.
	Free       []int
	FreeWeight float64
}

// Request are a request's times in ticks.
type Request = ticks.Request

// ReservationJob is a request as the clairvoyant sees it: it holds PEs for Length
// ticks, its runtime, within [Ready, Due).
type ReservationJob struct {
	Request            int   // its number in the instance
	Ready, Due, Length int64 // ticks; Length is at least 1
	Counted            int64 // its weight in PE-ticks is PEs times this: Length, or the ticks of its duration
	PEs                int
	Weight             float64 // its contribution to the objective
}

// Latest returns the latest start.
func (j *ReservationJob) Latest() int64 { return j.Due - j.Length }

// Area returns PEs times ticks.
func (j *ReservationJob) Area() float64 { return float64(j.PEs) * float64(j.Length) }

// OfReservation returns the instance, which must be valid, in ticks. O(requests).
//
// A request that is cancelled before its latest start is free where withdrawn
// requests count: some best solution books it there, since it then holds no PEs
// and is in no other booking's way. Only a request that runs counts for the goal pe_seconds, and it runs if it starts
// by its cancellation: its window ends there. Withdrawn ones add nothing to the objective, so leaving them out loses
// nothing. Rounding relaxes this window, too: rounded down, a start is no later than a cancellation rounded down, if it
// wasn't before. Any other request has started by the time of its cancellation, whatever its start, and runs.
// timesOf reads the requests' times.
func timesOf(r *model.Reservation) ticks.Times {
	return ticks.Of(len(r.Requests), func(k int) ticks.Seconds {
		q := &r.Requests[k]
		t := ticks.Seconds{Arrival: q.ArrivalS, Ready: q.ReadyS, Duration: q.DurationS, Deadline: q.DeadlineS, Runtime: q.Runtime(), Cancel: math.Inf(1)}
		if q.CancelS != nil {
			t.Cancel = *q.CancelS
		}
		return t
	})
}

func OfReservation(r *model.Reservation) *Reservation {
	t := &Reservation{Times: timesOf(r), PEs: r.PEs, Goal: r.EffectiveGoal()}
	for k := range r.Requests {
		q := &t.Requests[k]
		latest, counted := q.Latest(), q.Duration
		if t.Goal == model.GoalPESeconds {
			if latest, counted = min(latest, q.Cancel), q.Runtime; latest < q.Ready {
				continue // it never runs
			}
		} else if !q.Runs(latest) {
			t.Free = append(t.Free, k)
			t.FreeWeight += r.WithdrawnWeight(k)
			continue
		}
		t.Jobs = append(t.Jobs, ReservationJob{Request: k, Ready: q.Ready, Due: latest + q.Runtime, Length: q.Runtime,
			Counted: counted, PEs: r.Requests[k].PEs, Weight: r.Weight(k)})
	}
	return t
}

// WeightUnit returns the common unit of the jobs' weights for a goal in PE-seconds, in PE-ticks: the greatest whole
// number that divides PEs times Counted of each job. It is 0 if a time is rounded, a product exceeds 2^62, or there are
// no jobs.
func (t *Reservation) WeightUnit() int64 {
	if !t.Exact {
		return 0
	}
	weights := make([]int64, len(t.Jobs))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if float64(j.PEs)*float64(j.Counted) > 1<<62 {
			return 0
		}
		weights[i] = int64(j.PEs) * j.Counted
	}
	return units.Common(weights, 1<<62)
}
