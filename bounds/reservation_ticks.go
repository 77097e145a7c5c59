package bounds

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// ReservationTicks is a Reservation as the clairvoyant sees it, with times as
// whole numbers of ticks: which requests hold PEs how long within which window.
// Everything that bounds or solves a Reservation exactly works on it.
//
// If all times are multiples of a decimal fraction of a second down to a
// microsecond, that is the tick, and nothing is rounded. Otherwise
// the tick is 2^-40 of the last deadline, ready times and durations are rounded
// down and deadlines up: every solution of the instance, its starts rounded
// down, then is one of the ticks, so what the ticks can't do the instance
// can't either; and a solution of the ticks is one of the instance to within a few
// ticks, which is far below the judge's tolerance.
type ReservationTicks struct {
	PerSecond float64 // ticks in a second
	PEs       int
	Goal      model.Goal
	Jobs      []ReservationJob // in the order of the requests
	// Free are requests that cost nothing to accept: booked at their latest
	// start they are cancelled before. FreeWeight is what they add up to.
	Free       []int
	FreeWeight float64
}

// ReservationJob is a request that needs PEs: Length ticks within [Ready, Due).
type ReservationJob struct {
	Request            int // its number in the instance
	Ready, Due, Length int64
	PEs                int
	Weight             float64 // what accepting it adds to the objective
}

// Latest is the latest start.
func (j *ReservationJob) Latest() int64 { return j.Due - j.Length }

// Area is PEs times ticks.
func (j *ReservationJob) Area() float64 { return float64(j.PEs) * float64(j.Length) }

// NewReservationTicks makes the ticks of a valid instance. A job is held for
// its runtime, since the clairvoyant knows it; its window is that of the
// duration that it reserves.
func NewReservationTicks(in *model.Reservation) *ReservationTicks {
	perSecond, whole := ticksPerSecond(in)
	t := &ReservationTicks{PerSecond: perSecond, PEs: in.PEs, Goal: in.Aim()}
	down := func(x float64) int64 { return int64(math.Floor(x * perSecond)) }
	up := func(x float64) int64 { return int64(math.Ceil(x * perSecond)) }
	if whole {
		down = func(x float64) int64 { return int64(math.Round(x * perSecond)) }
		up = down
	}
	for k := range in.Requests {
		q := &in.Requests[k]
		if !q.Runs(q.Latest()) {
			t.Free = append(t.Free, k)
			t.FreeWeight += in.Weight(k)
			continue
		}
		j := ReservationJob{Request: k, Ready: down(q.ReadyS), Length: down(q.Runtime()), PEs: q.PEs, Weight: in.Weight(k)}
		if whole {
			j.Due = down(q.DeadlineS) - down(q.DurationS) + j.Length
		} else {
			j.Due = up(q.Latest()) + j.Length
		}
		j.Due = max(j.Due, j.Ready+j.Length)
		t.Jobs = append(t.Jobs, j)
	}
	return t
}

// ticksPerSecond is the coarsest of 1, 10, ... 1e6 ticks per second that makes
// all times whole, or else 2^40 ticks until the last deadline.
func ticksPerSecond(in *model.Reservation) (n float64, whole bool) {
	last := 0.0
	for k := range in.Requests {
		last = max(last, in.Requests[k].DeadlineS)
	}
next:
	for _, n := range []float64{1, 10, 100, 1000, 1e4, 1e5, 1e6} {
		if last*n > 1<<50 {
			break
		}
		for k := range in.Requests {
			q := &in.Requests[k]
			for _, x := range [...]float64{q.ReadyS, q.DurationS, q.DeadlineS, q.Runtime()} {
				if d := math.Abs(x*n - math.Round(x*n)); d > 4e-16*x*n {
					continue next
				}
			}
		}
		return n, true
	}
	return (1 << 40) / last, false
}

// Start is the time of a tick in seconds, kept within a request's window.
func (t *ReservationTicks) Start(in *model.Reservation, request int, tick int64) float64 {
	q := &in.Requests[request]
	return min(max(float64(tick)/t.PerSecond, q.ReadyS), q.Latest())
}
