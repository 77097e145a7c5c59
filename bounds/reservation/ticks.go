package reservation

import "github.com/gapwise/gapwise/model"

// Ticks is a Reservation as the clairvoyant sees it, with times as
// whole numbers of ticks (see model.ReservationTimes): which requests hold PEs how long within
// which window. Everything that bounds or solves a Reservation exactly works on it.
type Ticks struct {
	Times     *model.ReservationTimes
	PerSecond float64 // ticks in a second
	PEs       int
	Goal      model.Goal
	Jobs      []Job // in the order of the requests
	// Free are requests that cost nothing to accept: booked at their latest
	// start they are cancelled before. FreeWeight is what they add up to.
	Free       []int
	FreeWeight float64
}

// Job is a request that needs PEs: Length ticks, at least one, within [Ready, Due).
type Job struct {
	Request            int // its number in the instance
	Ready, Due, Length int64
	Reserved           int64 // the ticks of its duration, of which it runs for Length
	PEs                int
	Weight             float64 // what accepting it adds to the objective
}

// Latest is the latest start.
func (j *Job) Latest() int64 { return j.Due - j.Length }

// Area is PEs times ticks.
func (j *Job) Area() float64 { return float64(j.PEs) * float64(j.Length) }

// NewTicks makes the ticks of a valid instance. A job is held for
// its runtime, since the clairvoyant knows it; its window is that of the
// duration that it reserves.
//
// A request is free if it is cancelled before its latest start: booked there it holds
// no PEs and no other booking is in its way, so some best solution accepts it so.
// Any other is started by its cancellation, whatever its start, and runs.
func NewTicks(in *model.Reservation) *Ticks {
	times := in.Times()
	t := &Ticks{Times: times, PerSecond: times.PerSecond(), PEs: in.PEs, Goal: in.Aim()}
	for k := range in.Requests {
		q := &times.Requests[k]
		if !q.Runs(q.Latest()) {
			t.Free = append(t.Free, k)
			t.FreeWeight += in.Weight(k)
			continue
		}
		t.Jobs = append(t.Jobs, Job{Request: k, Ready: q.Ready, Due: q.Latest() + q.Runtime, Length: q.Runtime,
			Reserved: q.Duration, PEs: in.Requests[k].PEs, Weight: in.Weight(k)})
	}
	return t
}
