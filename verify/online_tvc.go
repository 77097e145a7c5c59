// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tvcReplay replays the transcript of a policy that embeds requests. What happens follows from
// the instance and the decisions: a request arrives at its time, and ends when it has run
// for its duration, and for what migrations cost it.
//
// Arrivals and ends must be told at the instant at which they happen. A request may start
// once it was told of, while it waits, and be suspended while it runs. Without a queue it
// starts or is rejected in the turn in which it is told of. Each segment of the solution
// must be a start, in its place, up to the end or a suspension; a request that goes on in the
// same place at the instant of its suspension has one segment. Whether slots and links
// have room is for tvc to check: the solution is the same.
//
// O(requests that run) per turn.
type tvcReplay struct {
	replayClock
	ctx       context.Context
	in        *model.TVC
	index     map[string]int
	requests  []embeddedRequest
	next      int // the first request that isn't told of
	migration int64
	live      []int // requests that run, or are suspended at this instant
	asked     []int // requests that are told of in this turn, without a queue
}

// embeddedRequest is a request as the transcript has it.
type embeddedRequest struct {
	arrival   int64
	state     onlineState
	left      int64 // work that isn't done at the start of the segment
	owed      int64 // what is then left of a migration
	start     int64 // of the segment
	end       int64 // of the segment, if it isn't suspended
	suspended bool  // it waits, having run up to now
	segments  []model.Segment[model.Embedding]
	begun     int // of these
}

// tvcEvent is an event in a transcript.
type tvcEvent struct {
	Type    string `json:"type"`
	Request string `json:"request"`
}

// tvcDecision is a decision in a transcript.
type tvcDecision struct {
	Type    string           `json:"type"`
	Request string           `json:"request"`
	Place   *model.Embedding `json:"place"`
	AtS     *float64         `json:"at_s"`
}

func newTVCReplay(ctx context.Context, in *model.TVC, e *model.Embeddings, r *Report) *tvcReplay {
	j := &tvcReplay{replayClock: replayClock{r, "request", inSeconds, -1, map[int64]int{}}, ctx: ctx, in: in, index: make(map[string]int, len(in.Requests)), requests: make([]embeddedRequest, len(in.Requests))}
	j.migration, _ = micros(in.MigrationS)
	for k := range in.Requests {
		j.index[in.Requests[k].ID] = k
		j.requests[k].arrival, _ = micros(in.Requests[k].ArrivalS)
		j.requests[k].left, _ = micros(in.Requests[k].DurationS)
	}
	for i := range e.Runs {
		if k, ok := j.index[e.Runs[i].ID]; ok {
			j.requests[k].segments = e.Runs[i].Segments
		}
	}
	return j
}

// turn implements onlineReplay.
func (j *tvcReplay) turn(decode func(any) error) error {
	if err := replayTurn(decode, j.begin, j.event, j.decided); err != nil {
		return err
	}
	for _, k := range j.asked {
		if j.requests[k].state == waitingJob {
			j.report.add(impossibleDecision, 0, "without a queue, request %q neither starts nor is rejected when it arrives, at %v s", j.in.Requests[k].ID, inSeconds(j.at))
		}
	}
	return nil
}

// begin goes on to the time of a line.
func (j *tvcReplay) begin(atS float64) error {
	at, err := microsOf("at_s", &atS)
	if err != nil {
		return err
	}
	if at > j.at {
		j.pass(at - 1)
	}
	j.asked = nil
	return j.goOn(at)
}

// pass checks that all ends up to a time are told, and that what was suspended has ended
// its segment.
func (j *tvcReplay) pass(to int64) {
	j.live = slices.DeleteFunc(j.live, func(k int) bool {
		x := &j.requests[k]
		switch {
		case x.state == runningJob && x.end <= to:
			j.report.add(untold, 0, "that request %q ends at %v s", j.in.Requests[k].ID, inSeconds(x.end))
		case x.suspended:
			x.suspended = false
			j.ends(x, k)
		}
		return x.state != runningJob
	})
}

// ends checks when a segment does.
func (j *tvcReplay) ends(x *embeddedRequest, k int) {
	if s := &x.segments[x.begun-1]; s.EndS != inSeconds(x.end) {
		j.report.add(undecided, 0, "request %q, from %v s on, runs until %v s; it ended at %v s", j.in.Requests[k].ID, s.StartS, s.EndS, inSeconds(x.end))
	}
}

// event replays an event.
func (j *tvcReplay) event(e *tvcEvent) error {
	if e.Type == "called" {
		j.called()
		return nil
	}
	k, known := j.index[e.Request]
	if !known {
		return fmt.Errorf("there is no request %q", e.Request)
	}
	x := &j.requests[k]
	really := x.arrival
	switch e.Type {
	case "submitted":
		if k != j.next {
			j.wrong(e.Request, e.Type, fmt.Sprintf("the next one is number %d", j.next+1))
			return nil
		}
		j.next++
		x.state = waitingJob
		if !j.in.Queue {
			j.asked = append(j.asked, k)
		}
	case "ended":
		if x.state != runningJob {
			j.wrong(e.Request, e.Type, "which isn't running")
			return nil
		}
		really, x.state = x.end, goneJob
		j.ends(x, k)
	default:
		return fmt.Errorf("an event is %q, must be submitted, ended or called", e.Type)
	}
	j.told(e.Request, e.Type, really)
	return nil
}

// decided replays a decision.
func (j *tvcReplay) decided(d *tvcDecision) error {
	cannot := func(reason string, args ...any) { j.cannot(d.Type, d.Request, reason, args...) }
	switch d.Type {
	case "call":
		at, err := microsOf("at_s", d.AtS)
		if err == nil {
			j.call(at)
		}
		return err
	case "start", "reject", "suspend":
	default:
		return fmt.Errorf("a decision is %q, must be start, reject, suspend or call", d.Type)
	}
	k, known := j.index[d.Request]
	if !known {
		cannot("there is no such request")
		return nil
	}
	x := &j.requests[k]
	switch {
	case x.state == untoldJob:
		cannot("it wasn't told of then, it arrives at %v s", inSeconds(x.arrival))
	case d.Type == "suspend" && (x.state != runningJob || x.start >= j.at || !j.in.Queue):
		cannot("it wasn't running, or there is no queue")
	case d.Type != "suspend" && x.state != waitingJob:
		cannot("it wasn't waiting")
	case d.Type == "reject":
		x.state = goneJob
	case d.Type == "suspend":
		left := min(x.left, x.end-j.at)
		x.left, x.owed, x.end = left, x.end-j.at-left, j.at
		x.state, x.suspended = waitingJob, true
	case d.Place == nil:
		return fmt.Errorf("a start has no place")
	default:
		j.start(x, k, d.Place)
	}
	return nil
}

// start replays the start of a request that waits, in a place.
func (j *tvcReplay) start(x *embeddedRequest, k int, place *model.Embedding) {
	same := func(s *model.Segment[model.Embedding]) bool {
		return s.Place.Switch == place.Switch && slices.Equal(s.Place.Servers, place.Servers)
	}
	x.state = runningJob
	if x.suspended {
		x.suspended = false
		if same(&x.segments[x.begun-1]) { // it hasn't been suspended
			x.end = j.at + x.owed + x.left
			return
		}
		j.ends(x, k)
	} else {
		j.live = append(j.live, k)
	}
	if x.begun == len(x.segments) || x.segments[x.begun].StartS != inSeconds(j.at) || !same(&x.segments[x.begun]) {
		x.state = goneJob
		j.report.add(undecided, 0, "request %q is started at %v s on %v below %v, and doesn't run so then", j.in.Requests[k].ID, inSeconds(j.at), place.Servers, place.Switch)
		return
	}
	if x.begun > 0 && !slices.Equal(x.segments[x.begun-1].Place.Servers, place.Servers) {
		x.owed = j.migration
	}
	x.begun++
	x.start, x.end = j.at, j.at+x.owed+x.left
}

// end implements onlineReplay.
func (j *tvcReplay) end() {
	j.pass(1 << 62)
	for k := range j.requests {
		if stopped(j.ctx, k) {
			return
		}
		switch x := &j.requests[k]; {
		case x.state == untoldJob:
			j.report.add(untold, 0, "that request %q is submitted", j.in.Requests[k].ID)
		case x.begun < len(x.segments):
			j.report.add(undecided, 0, "request %q runs from %v s on, and no decision starts it then", j.in.Requests[k].ID, x.segments[x.begun].StartS)
		}
	}
}
