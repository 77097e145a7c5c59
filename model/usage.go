// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/num/order"
)

// Usage shows how much of an instance's resource a solution uses over time, how many requests wait, and how much work
// it has declined.
type Usage struct {
	Unit     string  // of the resource, plural: PEs, processors, slots
	Capacity float64 // how many there are
	// Steps are by ascending time, the first at the beginning of the first event,
	// the last at the end of the last one; empty for an instance without requests.
	Steps []UsageStep
}

// UsageStep holds the state from a time until the next step.
type UsageStep struct {
	AtS  float64
	Used float64 // in use; of a batch with two tiers, in the foreground
	// Background is how many are in use in the background tier of a batch.
	Background float64
	// Waiting counts requests that have arrived and are to run, and don't: those
	// that haven't started, and those suspended or killed in between.
	Waiting float64
	// Declined is the work of the requests declined until then, at their arrival,
	// in unit-seconds.
	Declined float64
}

// UsageOf returns the usage of a solution. The error wraps ErrUnsupported for problems without requests that run over
// time (dag and vcsched), and ErrInvalid for solutions of another problem or of other requests. O(n log n) for n
// segments.
func UsageOf(in Instance, s Solution) (*Usage, error) {
	x, ok := in.(interface {
		usage(s Solution, u *Usage) error
	})
	if !ok {
		return nil, fmt.Errorf("%w: solutions of %s run no requests over time", ErrUnsupported, in.Kind())
	}
	u := new(Usage)
	if err := x.usage(s, u); err != nil {
		return nil, err
	}
	u.Steps = UsageSteps(u.Steps)
	return u, nil
}

func wrongSolution(in Instance, s Solution) error {
	return fmt.Errorf("%w: a %T is no solution of %s", ErrInvalid, s, in.Kind())
}

func (r *Reservation) usage(s Solution, u *Usage) error {
	b, ok := s.(*Bookings)
	if !ok {
		return wrongSolution(r, s)
	}
	index, err := r.Index(b)
	if err != nil {
		return err
	}
	u.Unit, u.Capacity = "PEs", float64(r.PEs)
	taken := make([]bool, len(r.Requests))
	for i, k := range index {
		q, start := &r.Requests[k], b.Bookings[i].StartS
		taken[k] = true
		if !q.Runs(start) {
			u.wait(q.ArrivalS, max(q.ArrivalS, *q.CancelS))
			continue
		}
		u.wait(q.ArrivalS, start)
		u.use(start, start+q.Runtime(), float64(q.PEs), 0)
	}
	for k := range r.Requests {
		if q := &r.Requests[k]; !taken[k] {
			u.decline(q.ArrivalS, float64(q.PEs)*q.Runtime())
		}
	}
	return nil
}

func (b *Batch) usage(s Solution, u *Usage) error {
	e, ok := s.(*Execution)
	if !ok {
		return wrongSolution(b, s)
	}
	index, err := b.Index(e)
	if err != nil {
		return err
	}
	u.Unit, u.Capacity = "processors", b.firstCapacity()
	if len(b.Nodes) > 0 {
		u.Unit = b.Resources[0]
	}
	for i, k := range index {
		usageOfRun(u, b.Jobs[k].SubmitS, e.Runs[i].Segments, func(p *BatchPlace) (float64, float64) {
			if p.Tier == TierBackground {
				return 0, float64(len(p.Processors))
			}
			return float64(len(p.Processors)) * b.Jobs[k].firstNeed(), 0
		})
	}
	return nil
}

func (v *TVC) usage(s Solution, u *Usage) error {
	e, ok := s.(*Embeddings)
	if !ok {
		return wrongSolution(v, s)
	}
	index, err := v.Index(e)
	if err != nil {
		return err
	}
	u.Unit, u.Capacity = "slots", float64(v.FatTree.Servers()*v.FatTree.Slots)
	runs := make([]bool, len(v.Requests))
	for i, k := range index {
		runs[k] = true
		usageOfRun(u, v.Requests[k].ArrivalS, e.Runs[i].Segments, func(*Embedding) (float64, float64) {
			return float64(v.Requests[k].VMs), 0
		})
	}
	for k := range v.Requests {
		if q := &v.Requests[k]; !runs[k] {
			u.decline(q.ArrivalS, float64(q.VMs)*q.DurationS)
		}
	}
	return nil
}

// change adds a step's values between two times to Steps, as two changes.
func (u *Usage) change(from, to float64, x UsageStep) {
	if !(from < to) {
		return
	}
	begins, ends := x, UsageStep{AtS: to, Used: -x.Used, Background: -x.Background, Waiting: -x.Waiting}
	begins.AtS = from
	u.Steps = append(u.Steps, begins, ends)
}

func (u *Usage) wait(from, to float64) { u.change(from, to, UsageStep{Waiting: 1}) }

func (u *Usage) use(from, to, used, background float64) {
	u.change(from, to, UsageStep{Used: used, Background: background})
}

func (u *Usage) decline(at, work float64) {
	u.Steps = append(u.Steps, UsageStep{AtS: at, Declined: work})
}

// usageOfRun adds a run that has arrived at a time; used returns the use of a place, in the foreground and in the
// background.
func usageOfRun[P any](u *Usage, arrival float64, segments []Segment[P], used func(*P) (float64, float64)) {
	for i := range segments {
		s := &segments[i]
		u.wait(arrival, s.StartS)
		front, back := used(&s.Place)
		u.use(s.StartS, s.EndS, front, back)
		arrival = s.EndS
	}
}

// UsageSteps adds up changes: each step holds the sum of all changes until its time.
// It sorts the changes. O(n log n).
func UsageSteps(changes []UsageStep) (steps []UsageStep) {
	order.Stable(changes, func(a, b UsageStep) int { return cmp.Compare(a.AtS, b.AtS) })
	var now UsageStep
	for i := 0; i < len(changes); {
		for now.AtS = changes[i].AtS; i < len(changes) && changes[i].AtS == now.AtS; i++ {
			now.Used += changes[i].Used
			now.Background += changes[i].Background
			now.Waiting += changes[i].Waiting
			now.Declined += changes[i].Declined
		}
		steps = append(steps, now)
	}
	return steps
}

// Span returns the times of the first and of the last step, 0 and 0 without steps.
func (u *Usage) Span() (from, to float64) {
	if len(u.Steps) == 0 {
		return 0, 0
	}
	return u.Steps[0].AtS, u.Steps[len(u.Steps)-1].AtS
}

// Means returns the means over n intervals of equal length that divide the time
// from from to to, n >= 1 and from < to; AtS is the start of each. Declined, a sum, is the sum at the interval's end.
// O(steps + n).
func (u *Usage) Means(from, to float64, n int) []UsageStep {
	means := make([]UsageStep, n)
	at := func(k int) float64 { return from + (to-from)*float64(k)/float64(n) }
	var now UsageStep
	next := 0
	for ; next < len(u.Steps) && u.Steps[next].AtS <= from; next++ {
		now = u.Steps[next]
	}
	for k := range means {
		m, t, end := &means[k], at(k), at(k+1)
		m.AtS = t
		for length := end - t; t < end; {
			until := end
			if next < len(u.Steps) {
				until = min(end, u.Steps[next].AtS)
			}
			share := (until - t) / length
			m.Used += share * now.Used
			m.Background += share * now.Background
			m.Waiting += share * now.Waiting
			t = until
			for ; next < len(u.Steps) && u.Steps[next].AtS <= t; next++ {
				now = u.Steps[next]
			}
		}
		m.Declined = now.Declined
	}
	return means
}

// Utilisation returns the mean share of the capacity in use from from to to, in the
// foreground; NaN for an empty interval.
func (u *Usage) Utilisation(from, to float64) float64 {
	if !(from < to) || u.Capacity == 0 {
		return math.NaN()
	}
	return u.Means(from, to, 1)[0].Used / u.Capacity
}
