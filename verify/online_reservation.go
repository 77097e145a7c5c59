// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// reservationReplay replays the transcript of a policy that answers requests. What happens
// follows from the instance and the decisions: a request arrives at its time; one that is
// accepted, and starts before or at its cancellation, ends after its runtime, and any other
// is withdrawn at its cancellation.
//
// An arrival, an end before the duration is over, and a withdrawal must be told at the
// instant at which they happen, arrivals last and one at a time, in their order. A request
// is accepted or rejected in the turn in which it is told of. A booking must be in the
// request's window and not in the past, on as many PEs as it asks for. They are its own
// from its start on for its duration, until it ends or is withdrawn: no other booking that is
// known then may have one. A booking without PEs takes those of the solution when it starts.
// Only what hasn't started is moved. The solution's bookings must be the last that were
// decided.
//
// Times are read as bookingJudge reads them. O(n) per turn, with n bookings made so far
// that aren't over.
type reservationReplay struct {
	replayClock
	ctx      context.Context
	in       *model.Reservation
	read     tickReader
	index    map[string]int
	requests []replayedRequest
	next     int   // the first request that isn't told of
	asked    int   // the request of this turn that isn't answered; -1: there is none
	settled  bool  // all was told in this turn that happens at its time
	live     []int // requests that are booked and not over, as was told
}

// replayedRequest is a request as the transcript has it.
type replayedRequest struct {
	requestTicks
	booked  bool // it has a start
	over    bool // it is rejected, has ended or is withdrawn, as was told
	starts  int64
	pes     model.PEList // nil: it has none yet
	outcome *model.Booking
}

// reservationEvent is an event in a transcript.
type reservationEvent struct {
	Type    string `json:"type"`
	Request string `json:"request"`
}

// reservationDecision is a decision in a transcript.
type reservationDecision struct {
	Type    string       `json:"type"`
	Request string       `json:"request"`
	StartS  *float64     `json:"start_s"`
	PEs     model.PEList `json:"pes"`
	AtS     *float64     `json:"at_s"`
}

func newReservationReplay(ctx context.Context, in *model.Reservation, b *model.Bookings, r *Report) *reservationReplay {
	j := &reservationReplay{ctx: ctx, in: in, read: newTickReader(ctx, in), index: make(map[string]int, len(in.Requests)),
		requests: make([]replayedRequest, len(in.Requests)), asked: -1}
	perSecond := math.Pow10(j.read.places)
	j.replayClock = replayClock{r, "request", func(at int64) float64 { return float64(at) / perSecond }, -1, map[int64]int{}}
	for k := range in.Requests {
		j.index[in.Requests[k].ID] = k
		j.requests[k].requestTicks = j.read.request(&in.Requests[k])
	}
	for i := range b.Bookings {
		if k, ok := j.index[b.Bookings[i].ID]; ok {
			j.requests[k].outcome = &b.Bookings[i]
		}
	}
	return j
}

// time reads a time in seconds, a whole number of ticks.
func (j *reservationReplay) time(key string, x *float64) (int64, error) {
	if x == nil {
		return 0, fmt.Errorf("there is no %s", key)
	}
	if !(*x >= 0 && *x <= math.MaxFloat64) {
		return 0, fmt.Errorf("%s is %v, must be from 0 on", key, *x)
	}
	m := j.read.moment(*x)
	if m.digits != "" || m.ticks >= beyond {
		return 0, fmt.Errorf("%s is %v, which isn't a time in the decimal places of the instance's, %d", key, *x, j.read.places)
	}
	return m.ticks, nil
}

// turn implements onlineReplay.
func (j *reservationReplay) turn(decode func(any) error) error {
	if err := replayTurn(decode, j.begin, j.event, j.decided); err != nil {
		return err
	}
	if j.asked >= 0 {
		j.report.add(impossibleDecision, 0, "request %q isn't answered when it arrives, at %v s", j.in.Requests[j.asked].ID, j.seconds(j.at))
	}
	return nil
}

// begin goes on to the time of a line.
func (j *reservationReplay) begin(atS float64) error {
	at, err := j.time("at_s", &atS)
	if err != nil {
		return err
	}
	j.pass(at - 1)
	j.settled = false
	return j.goOn(at)
}

// happens returns when something happens to a booking, and whether it is withdrawn then;
// math.MaxInt64: never.
func (x *replayedRequest) happens() (at int64, withdrawn bool) {
	switch {
	case x.starts > x.cancel:
		return x.cancel, true
	case x.runtime < x.duration:
		return x.starts + x.runtime, false
	}
	return math.MaxInt64, false
}

// pass checks that all was told that happened up to a time, but for arrivals, and starts the
// bookings without PEs that do by then. Those that are over by then are no longer live.
func (j *reservationReplay) pass(to int64) {
	var starting []int
	for _, k := range j.live {
		x := &j.requests[k]
		if x.over {
			continue
		}
		if at, withdrawn := x.happens(); at <= to {
			j.report.add(untold, 0, "at %v s that request %q %s", j.seconds(at), j.in.Requests[k].ID, outcomeOf(withdrawn))
		}
		if x.pes == nil && x.starts <= to && x.starts <= x.cancel {
			starting = append(starting, k)
		}
	}
	slices.SortFunc(starting, func(a, b int) int { return int(j.requests[a].starts - j.requests[b].starts) })
	for _, k := range starting {
		x := &j.requests[k]
		if x.outcome == nil {
			j.report.add(undecided, 0, "request %q starts at %v s, and isn't booked", j.in.Requests[k].ID, j.seconds(x.starts))
			continue
		}
		if why := j.conflict(k, x.starts, x.outcome.PEs); why != "" {
			j.report.add(impossibleDecision, 0, "at %v s, start of request %q: %s", j.seconds(x.starts), x.outcome.ID, why)
		}
		x.pes = x.outcome.PEs
	}
	j.live = slices.DeleteFunc(j.live, func(k int) bool {
		x := &j.requests[k]
		return x.over || x.starts <= x.cancel && x.starts+x.duration <= to
	})
}

func outcomeOf(withdrawn bool) string {
	if withdrawn {
		return "is withdrawn"
	}
	return "ends"
}

// settle is pass for the time of the turn, whose events have been told.
func (j *reservationReplay) settle() {
	if !j.settled {
		j.settled = true
		j.pass(j.at)
	}
}

// event replays an event.
func (j *reservationReplay) event(e *reservationEvent) error {
	if e.Type == "called" {
		j.called()
		return nil
	}
	k, known := j.index[e.Request]
	if !known {
		return fmt.Errorf("there is no request %q", e.Request)
	}
	x := &j.requests[k]
	switch e.Type {
	case "submitted":
		j.arrives(k)
	case "ended", "withdrawn":
		if at, withdrawn := x.happens(); !x.booked || x.over || withdrawn != (e.Type == "withdrawn") {
			j.wrong(e.Request, e.Type, "which it isn't")
		} else {
			j.told(e.Request, e.Type, at)
		}
		x.over = true
	default:
		return fmt.Errorf("an event is %q, must be submitted, ended, withdrawn or called", e.Type)
	}
	return nil
}

// arrives replays that the policy is told of a request.
func (j *reservationReplay) arrives(k int) {
	x, id := &j.requests[k], j.in.Requests[k].ID
	switch {
	case k < j.next:
		j.wrong(id, "submitted", "again")
	case k > j.next:
		j.wrong(id, "submitted", fmt.Sprintf("before %q", j.in.Requests[j.next].ID))
	case j.asked >= 0:
		j.wrong(id, "submitted", fmt.Sprintf("before %q is answered", j.in.Requests[j.asked].ID))
	}
	j.told(id, "submitted", x.arrival)
	j.settle()
	j.next, j.asked = k+1, k
}

// decided replays a decision.
func (j *reservationReplay) decided(d *reservationDecision) error {
	j.settle()
	cannot := func(reason string, args ...any) { j.cannot(d.Type, d.Request, reason, args...) }
	switch d.Type {
	case "call":
		at, err := j.time("at_s", d.AtS)
		if err == nil {
			j.call(at)
		}
		return err
	case "accept", "reject", "move":
	default:
		return fmt.Errorf("a decision is %q, must be accept, reject, move or call", d.Type)
	}
	k, known := j.index[d.Request]
	if !known {
		cannot("there is no such request")
		return nil
	}
	x := &j.requests[k]
	switch {
	case k >= j.next:
		cannot("it wasn't told of then, it arrives at %v s", j.seconds(x.arrival))
		return nil
	case d.Type != "move" && k != j.asked:
		cannot("it didn't arrive then")
		return nil
	case d.Type == "reject":
		x.over, j.asked = true, -1
		return nil
	case d.Type == "move" && (!x.booked || x.over || x.starts < j.at || x.starts == j.at && x.pes != nil):
		cannot("it wasn't waiting for its start")
		return nil
	}
	start, err := j.time("start_s", d.StartS)
	if err != nil {
		return err
	}
	switch n := d.PEs.Len(); {
	case start < j.at:
		cannot("%v s is in the past", *d.StartS)
	case start < x.ready || start > x.deadline-x.duration:
		cannot("%v s isn't in its window", *d.StartS)
	case d.PEs != nil && n != j.in.Requests[k].PEs:
		cannot("it asks for %d PEs and gets %d", j.in.Requests[k].PEs, n)
	default:
		if why := j.conflict(k, start, d.PEs); why != "" {
			cannot("%s", why)
		}
	}
	if d.Type == "accept" {
		j.asked = -1
		j.live = append(j.live, k)
	}
	x.booked, x.starts, x.pes = true, start, d.PEs
	return nil
}

// conflict returns why request k can't have PEs from a start on; "": it can.
func (j *reservationReplay) conflict(k int, start int64, pes model.PEList) string {
	end := start + j.requests[k].duration
	for _, other := range j.live {
		x := &j.requests[other]
		if other == k || x.over || start >= x.starts+x.duration || x.starts >= end {
			continue
		}
		for a, b := pes, x.pes; len(a) > 0 && len(b) > 0; {
			if pe := max(a[0].First, b[0].First); pe <= min(a[0].Last, b[0].Last) {
				return fmt.Sprintf("PE %d was that of request %q from %v s to %v s", pe, j.in.Requests[other].ID, j.seconds(x.starts), j.seconds(x.starts+x.duration))
			}
			if a[0].Last < b[0].Last {
				a = a[1:]
			} else {
				b = b[1:]
			}
		}
	}
	return ""
}

// end implements onlineReplay.
func (j *reservationReplay) end() {
	j.pass(math.MaxInt64 - 1)
	for k := range j.requests {
		if stopped(j.ctx, k) {
			return
		}
		x, id := &j.requests[k], j.in.Requests[k].ID
		switch {
		case k >= j.next:
			j.report.add(untold, 0, "that request %q is submitted", id)
		case x.booked != (x.outcome != nil):
			j.report.add(undecided, 0, "request %q: booked is %v in the solution, and %v as was decided", id, x.outcome != nil, x.booked)
		case !x.booked:
		case j.read.start(x.outcome.StartS, 0) != (moment{ticks: x.starts}):
			j.report.add(undecided, 0, "request %q starts at %v s, and was to start at %v s", id, x.outcome.StartS, j.seconds(x.starts))
		case x.pes != nil && !slices.Equal(x.pes, x.outcome.PEs):
			j.report.add(undecided, 0, "request %q is on PEs %s, and was to be on %s", id, x.outcome.PEs, x.pes)
		}
	}
}
