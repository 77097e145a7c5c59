// SPDX-License-Identifier: MIT

package reservation

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// query is the demand of a request. It must keep the rules of view.Request.
type query struct {
	Ready, Duration, Deadline int64
	PEs                       int
}

// newQuery returns the query of a request.
func newQuery(r *online.ReservationRequest) query {
	return query{Ready: r.Ready, Duration: r.Duration, Deadline: r.Deadline, PEs: r.PEs}
}

// allocation is PEs over [Start, End), in ticks. Rectangle is the maximum
// availability rectangle of the start.
type allocation struct {
	Start, End int64
	PEs        model.PEList
	Rectangle  rectangle
}

// rectangle is the maximum availability rectangle of a start s (section 4.2). It says how many PEs are free over [s, s
// + duration), and over which [Begin, End) all of them stay free, in ticks. It doesn't reach into the past, which can't
// be used.
//
// How far it reaches into the future is ambiguous in print. The paper's search looks at the time slots of [ready,
// deadline], so here the rectangle ends at the deadline if its PEs stay free as long. Later time is of no use to the
// request, and lengths of rectangles that never end couldn't be compared. More findings of section 6 are found again
// with this reading (docs/results/summary.md counts them). The rectangle of the other reading, policy.Open, ends where
// a PE is taken, or never, at math.MaxInt64.
type rectangle struct {
	Begin, End int64
	PEs        int
}

// length returns the ticks from Begin to End; +Inf if it never ends.
func (r *rectangle) length() float64 {
	if r.End == forever {
		return math.Inf(1)
	}
	return float64(r.End - r.Begin)
}

// window is a candidate start and its end.
type window struct{ start, end int64 }

// latest returns the latest start.
func (q query) latest() int64 { return q.Deadline - q.Duration }

// windowOf returns the window of a start.
func (q query) windowOf(start int64) window { return window{start, start + q.Duration} }

// candidates returns the starts that a query's policies choose from (section 4.2), ascending. They are the ready time,
// the latest start, and between them every time slot and every time slot minus the duration. The slots may be in any
// order.
func candidates(slots []int64, q query) []int64 {
	last := q.latest()
	all := []int64{q.Ready, last}
	for _, t := range slots {
		for _, start := range [...]int64{t, t - q.Duration} {
			if start > q.Ready && start < last {
				all = append(all, start)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// from returns the query without the time before now; ok is false if nothing is left.
func (q query) from(now int64) (_ query, ok bool) {
	if q.Ready >= now {
		return q, true
	}
	ok = now <= q.latest()
	q.Ready = now
	return q, ok
}

// forever is the end of a rectangle that nothing blocks.
const forever = math.MaxInt64
