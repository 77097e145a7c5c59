// Package reservation holds the online policies for advance reservations with
// deadlines (Li et al.: Resource Availability-Aware Advance Reservation for
// Parallel Jobs with Deadlines) over the paper's slot structure, policies of our own, and
// a clairvoyant heuristic.
package reservation

import (
	"errors"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Availability tells which PEs are busy when: the paper's AvailRectList
// (section 4), a list of records {time, busy PEs}, each valid until the next.
// Times are ticks (see model.ReservationTicks), so that what fits does.
// It is canonical: no two neighbours hold the same PEs, and the first isn't
// empty. Before the first record and after the last all PEs are free.
//
// Plain is the paper's implementation, Fast gives the same answers faster.
type Availability interface {
	// Add books PEs over [start, end) (Algorithm 1). ErrBusy if one is
	// taken there; nothing is changed then.
	Add(start, end int64, pes model.PEList) error
	// Delete frees PEs over [start, end) (Algorithm 2): of a job that ended
	// early, or of a booking that was cancelled. ErrFree if one is free there;
	// nothing is changed then.
	Delete(start, end int64, pes model.PEList) error
	// Find looks for a start and PEs (Algorithm 3) and books nothing.
	Find(q Query, p Policy) (Allocation, bool)
	// Advance makes now the beginning of time: what was before is forgotten.
	// What Add and Delete say of the past is ignored from then on.
	Advance(now int64)
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
	Time int64
	Busy model.PEList
}

// Query is what a request asks for, see model.RequestTicks, whose rules it must keep.
type Query struct {
	Ready, Duration, Deadline int64
	PEs                       int
}

// NewQuery is that of a request with its times.
func NewQuery(r *model.Request, t *model.RequestTicks) Query {
	return Query{Ready: t.Ready, Duration: t.Duration, Deadline: t.Deadline, PEs: r.PEs}
}

// Allocation is a start with PEs. Rectangle is the maximum availability
// rectangle of the start.
type Allocation struct {
	Start, End int64
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
// which it ends where a PE is taken or never, at math.MaxInt64, is Policy.Open.
type Rectangle struct {
	Begin, End int64
	PEs        int
}

// length is how long it is, in ticks; +Inf if it never ends.
func (r *Rectangle) length() float64 {
	if r.End == forever {
		return math.Inf(1)
	}
	return float64(r.End - r.Begin)
}

// window is a candidate start and its end.
type window struct{ start, end int64 }

// Candidate starts of a query (section 4.2) are the ready time, the latest
// start, every time slot between them, and every slot minus the duration
// between them.

// latest is the latest start.
func (q Query) latest() int64 { return q.Deadline - q.Duration }

// at is the window of a start.
func (q Query) at(start int64) window { return window{start, start + q.Duration} }

// candidates are the starts of a query, ascending; the slots may be in no order.
func candidates(slots []int64, q Query) []int64 {
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

// from is the query without what lies before now; ok is false if nothing is left.
func (q Query) from(now int64) (_ Query, ok bool) {
	if q.Ready >= now {
		return q, true
	}
	ok = now <= q.latest()
	q.Ready = now
	return q, ok
}

// forever is the end of what isn't blocked.
const forever = math.MaxInt64
