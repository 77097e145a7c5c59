// SPDX-License-Identifier: MIT

package online

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/model"
)

// reservationRun is a run of a policy. The policy knows requests, phases, starts and pes; occasions and t are the
// truth. A request is waiting until it is answered, running from then on, and over when it is rejected, has ended
// early, or is withdrawn.
type reservationRun struct {
	simulation[ReservationPlatform, ReservationEvent, ReservationDecision]
	t        *view.Reservation
	requests []ReservationRequest
	starts   []int64        // of those that are accepted; -1: it isn't
	pes      []model.PEList // nil: the booking has none yet
	held     held
	anew     bool // a booking was moved, or had no PEs at first
	free     bitset.Set
}

func newReservationRun(in *model.Reservation, t *view.Reservation, p ReservationPolicy) *reservationRun {
	n := len(in.Requests)
	r := &reservationRun{t: t, requests: make([]ReservationRequest, n),
		starts: slices.Repeat([]int64{-1}, n), pes: make([]model.PEList, n), free: bitset.New(in.PEs)}
	arrivals := make([]int64, n)
	for k := range in.Requests {
		q := &t.Requests[k]
		r.requests[k] = ReservationRequest{in.Requests[k].ID, int32(k), in.Requests[k].PEs, q.Arrival, q.Ready, q.Duration, q.Deadline}
		arrivals[k] = q.Arrival
	}
	r.simulation = simulate(r, p, "request", "arrived", "", arrivals, Accept, Reject, Move, CallAt)
	r.perSecond, r.effort, r.call = t.PerSecond(), 10, callsFirst
	r.early = func(x, _ occasion) bool { return x.kind() == arrives } // each is answered before the next
	return r
}

// ends implements problem.
func (*reservationRun) ends(next int64) (bool, error) { return next == never, nil }

// happen implements problem.
func (r *reservationRun) happen(x occasion) (told bool, err error) {
	k := x.item
	switch x.kind() {
	case arrives:
		return true, r.report(Submitted, ReservationEvent{Type: Submitted, At: r.now, Request: &r.requests[k]})
	case callsFirst:
		return true, r.report(Called, ReservationEvent{Type: Called, At: r.now})
	case takesPEs:
		return false, r.takePEs(k)
	}
	e := ReservationEvent{Ended, r.now, &r.requests[k], r.starts[k], r.pes[k]}
	if x.kind() == withdraws {
		e.Type = Withdrawn
	}
	r.phases[k] = over
	r.held.leave(e.Start, k)
	return true, r.report(e.Type, e)
}

// takePEs gives a booking that starts now its PEs.
func (r *reservationRun) takePEs(k int32) error {
	q := &r.requests[k]
	r.free.Fill(r.t.PEs)
	r.held.overlapping(r.now, r.now+q.Duration, func(x *holding) bool {
		bookings.RemovePEs(r.free, r.pes[x.request])
		return true
	})
	if n := r.free.Len(); n < q.PEs {
		return r.error(fmt.Sprintf("start of request %q", q.ID),
			fmt.Sprintf("it asks for %d PEs, %d are no one else's until its end", q.PEs, n))
	}
	pes := bookings.LowestPEs(r.free, q.PEs)
	r.hold(k, pes)
	r.foresee(k)
	return nil
}

// hold gives a booking PEs.
func (r *reservationRun) hold(k int32, pes model.PEList) {
	r.pes[k] = pes
	r.held.add(holding{r.starts[k], r.starts[k] + r.requests[k].Duration, blocksOf(pes, r.t.PEs), k}, r.now)
}

// foresee notes what will happen to a booking.
func (r *reservationRun) foresee(k int32) {
	q, start := &r.t.Requests[k], r.starts[k]
	switch {
	case !q.Runs(start):
		r.expect(k, max(q.Cancel, r.now), withdraws, 0)
	case r.pes[k] == nil:
		r.expect(k, start, takesPEs, 0)
	case q.Runtime < q.Duration:
		r.expect(k, start+q.Runtime, ends, 0)
	default:
		r.cancel(k)
	}
}

// settle implements problem.
func (r *reservationRun) settle([]ReservationDecision) error {
	return r.answered("a request is accepted or rejected when it arrives")
}

// head implements problem.
func (*reservationRun) head(d *ReservationDecision) (DecisionType, int32, int64) {
	return d.Type, d.Request, d.At
}

// id implements problem.
func (r *reservationRun) id(k int32) string { return r.requests[k].ID }

// do implements problem.
func (r *reservationRun) do(d *ReservationDecision) (reason string) {
	k := d.Request
	switch p := r.phases[k]; {
	case d.Type != Move && p != waiting:
		return "it is answered already"
	case d.Type == Reject:
		r.phases[k] = over
		return ""
	case d.Type == Move && p != running:
		return "it isn't booked"
	case d.Type == Move && (r.starts[k] < r.now || r.starts[k] == r.now && r.pes[k] != nil):
		return fmt.Sprintf("it has started at %.9g s", r.seconds(r.starts[k]))
	}
	return r.book(k, d.At, d.PEs)
}

// book books a request, or moves its booking.
func (r *reservationRun) book(k int32, start int64, pes model.PEList) string {
	q := &r.requests[k]
	switch {
	case start < r.now:
		return fmt.Sprintf("its start, %.9g s, is in the past", r.seconds(start))
	case start < q.Ready:
		return fmt.Sprintf("its start, %.9g s, is before it is ready, at %.9g s", r.seconds(start), r.seconds(q.Ready))
	case start > q.Deadline-q.Duration:
		return fmt.Sprintf("from %.9g s on it isn't over by its deadline, %.9g s", r.seconds(start), r.seconds(q.Deadline))
	}
	if reason := r.check(k, start, pes); reason != "" {
		return reason
	}
	if r.phases[k] == running {
		r.held.leave(r.starts[k], k)
		r.anew = true
	}
	r.anew = r.anew || pes == nil
	r.phases[k], r.starts[k], r.pes[k] = running, start, nil
	if pes != nil {
		r.hold(k, pes)
	}
	r.foresee(k)
	return ""
}

// check returns why a request can't have PEs from a start on; nil are found later.
func (r *reservationRun) check(k int32, start int64, pes model.PEList) (reason string) {
	if pes == nil {
		return ""
	}
	q, next := &r.requests[k], 0
	for _, x := range pes {
		if x.First < next || x.Last < x.First || x.Last >= r.t.PEs {
			return fmt.Sprintf("its PEs, %q, aren't ascending ranges from 0 to %d", pes, r.t.PEs-1)
		}
		next = x.Last + 1
	}
	if n := pes.Len(); n != q.PEs {
		return fmt.Sprintf("it asks for %d PEs and gets %d", q.PEs, n)
	}
	blocks := blocksOf(pes, r.t.PEs)
	r.held.overlapping(start, start+q.Duration, func(x *holding) bool {
		if x.request != k && x.blocks&blocks != 0 {
			if pe, meet := meeting(pes, r.pes[x.request]); meet {
				reason = fmt.Sprintf("PE %d is that of request %q from %.9g s to %.9g s", pe, r.requests[x.request].ID, r.seconds(x.start), r.seconds(x.end))
			}
		}
		return reason == ""
	})
	return reason
}

// bookings returns the bookings of the requests that were accepted.
func (r *reservationRun) bookings(goal model.Goal) *model.Bookings {
	b, n := &model.Bookings{Goal: goal, Online: !r.anew}, 0
	for _, start := range r.starts {
		if start >= 0 {
			n++
		}
	}
	if n > 0 {
		b.Bookings = make([]model.Booking, 0, n)
	}
	for k := range r.requests[:r.arrived] {
		if r.starts[k] < 0 {
			continue
		}
		pes := r.pes[k]
		if pes == nil { // it never runs: any will do
			pes = model.PEList{{First: 0, Last: r.requests[k].PEs - 1}}
		}
		b.Bookings = append(b.Bookings, model.Booking{ID: r.requests[k].ID, StartS: r.t.Seconds(r.starts[k]), PEs: pes})
	}
	return b
}

// holding is a booking that has PEs, from start up to end.
type holding struct {
	start, end int64
	blocks     uint64 // 64ths of the PEs that it touches, as bits
	request    int32
}

// held are the bookings that may still hold something, in the order of their starts and
// then of requests.
type held struct {
	all     []holding
	longest int64 // no booking is longer
	most    int   // as many are kept before those that have ended are looked for
}

// indexOf returns where a booking is, or where it would be.
func (h *held) indexOf(start int64, request int32) int {
	low, high := 0, len(h.all)
	for low < high {
		middle := int(uint(low+high) / 2)
		if x := &h.all[middle]; x.start < start || x.start == start && x.request < request {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// add adds a booking. Bookings that have ended by now are dropped once they are half of all.
func (h *held) add(x holding, now int64) {
	if len(h.all) >= h.most {
		h.all = slices.DeleteFunc(h.all, func(y holding) bool { return y.end <= now })
		h.most = 2*len(h.all) + 64
	}
	h.longest = max(h.longest, x.end-x.start)
	h.all = slices.Insert(h.all, h.indexOf(x.start, x.request), x)
}

// leave has a booking hold nothing, if it is there.
func (h *held) leave(start int64, request int32) {
	if at := h.indexOf(start, request); at < len(h.all) && h.all[at].start == start && h.all[at].request == request {
		h.all = slices.Delete(h.all, at, at+1)
	}
}

// overlapping calls f for the bookings that hold something from start up to end, until it
// returns false.
func (h *held) overlapping(start, end int64, f func(*holding) bool) {
	for i := h.indexOf(end, math.MinInt32) - 1; i >= 0 && h.all[i].start > start-h.longest; i-- {
		if x := &h.all[i]; x.end > start && !f(x) {
			return
		}
	}
}

// blocksOf returns the 64ths of n PEs that a list touches.
func blocksOf(pes model.PEList, n int) (blocks uint64) {
	size := (n + 63) / 64
	for _, x := range pes {
		first, last := x.First/size, x.Last/size
		blocks |= math.MaxUint64 >> (63 - (last - first)) << first
	}
	return blocks
}

// meeting returns a PE that two lists have in common.
func meeting(a, b model.PEList) (pe int, ok bool) {
	for len(a) > 0 && len(b) > 0 {
		if first := max(a[0].First, b[0].First); first <= min(a[0].Last, b[0].Last) {
			return first, true
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return 0, false
}
