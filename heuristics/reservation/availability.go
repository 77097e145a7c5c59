// Package reservation holds the online policies for advance reservations with
// deadlines (Li et al.: Resource Availability-Aware Advance Reservation for
// Parallel Jobs with Deadlines) over the paper's slot structure, policies of our own, and
// a clairvoyant heuristic.
package reservation

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Availability tells which PEs are busy when: the paper's AvailRectList
// (section 4), a list of records {time, busy PEs}, each valid until the next.
// It is canonical: no two neighbours hold the same PEs, and the first isn't
// empty. Before the first record and after the last all PEs are free.
//
// Plain is the paper's implementation, Fast gives the same answers faster.
type Availability interface {
	// Add books PEs over [start, end) (Algorithm 1). ErrBusy if one is
	// taken there; nothing is changed then.
	Add(start, end float64, pes model.PEList) error
	// Delete frees PEs over [start, end) (Algorithm 2): of a job that ended
	// early, or of a booking that was cancelled. ErrFree if one is free there;
	// nothing is changed then.
	Delete(start, end float64, pes model.PEList) error
	// Find looks for a start and PEs (Algorithm 3) and books nothing.
	Find(q Query, p Policy) (Allocation, bool)
	// Advance makes now the beginning of time: what was before is forgotten.
	// What Add and Delete say of the past is ignored from then on.
	Advance(now float64)
	// Records are all records, for tests and for people.
	Records() []Record
}

// ErrBusy and ErrFree are for PEs that aren't what Add and Delete need.
var (
	ErrBusy = errors.New("reservation: a PE is busy")
	ErrFree = errors.New("reservation: a PE is free")
)

// Record says that exactly the PEs Busy are busy from Time to the next record's.
type Record struct {
	Time float64
	Busy model.PEList
}

// Query is what a request asks for, see model.Request, whose rules it must keep.
type Query struct {
	Ready, Duration, Deadline float64
	PEs                       int
}

// NewQuery is a request's.
func NewQuery(r *model.Request) Query {
	return Query{Ready: r.ReadyS, Duration: r.DurationS, Deadline: r.DeadlineS, PEs: r.PEs}
}

// Allocation is a start with PEs. Rectangle is the maximum availability
// rectangle of the start.
type Allocation struct {
	Start, End float64
	PEs        model.PEList
	Rectangle  Rectangle
}

// Rectangle is the maximum availability rectangle of a start s (section 4.2):
// the PEs that are free over [s, s + duration), from when to when all of them
// stay free. It doesn't reach into the past, of which nothing can be used.
//
// How far it reaches into the future is ambiguous in print. The paper's search
// looks at the time slots of [ready, deadline], and so the rectangle ends at
// the deadline here if its PEs stay free as long: what comes later is of no use to
// the request, and the durations of rectangles that never end couldn't be compared.
// With this reading all findings of section 6 are found again. The other one, in
// which it ends where a PE is taken or at +Inf, is Policy.Open.
type Rectangle struct {
	Begin, End float64
	PEs        int
}

// window is a candidate start and its end.
type window struct{ start, end float64 }

// Candidate starts of a query (section 4.2) are the ready time, the latest
// start, every time slot between them, and every slot minus the duration
// between them. Each goes with the end that it comes from, since adding the
// duration to a difference may miss the slot by a rounding error; of two
// windows with the same start the shorter counts. In this order starts and
// ends both never decrease: rounding to nearest keeps the order.
//
// first and last are the windows at the ready time and at the latest start.
func (q Query) first() window { return window{q.Ready, q.Ready + q.Duration} }

func (q Query) last() window {
	if s := q.Deadline - q.Duration; s > q.Ready {
		return window{s, q.Deadline}
	}
	return q.first()
}

// candidates are the windows of a query by start, the slots in no order.
func candidates(slots []float64, q Query) []window {
	last := q.last()
	all := []window{q.first(), last}
	for _, t := range slots {
		for _, w := range [...]window{{t, t + q.Duration}, {t - q.Duration, t}} {
			if w.start >= q.Ready && w.start <= last.start {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b window) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return slices.CompactFunc(all, func(a, b window) bool { return a.start == b.start })
}

// from is the query without what lies before now; ok is false if nothing is left.
func (q Query) from(now float64) (_ Query, ok bool) {
	if q.Ready >= now {
		return q, true
	}
	ok = now <= q.last().start
	q.Ready = now
	return q, ok
}

// forever is the end of what isn't blocked.
var forever = math.Inf(1)
