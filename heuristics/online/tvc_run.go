// SPDX-License-Identifier: MIT

package online

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// tvcRun is a run of a policy.
type tvcRun struct {
	driver[TVCPlatform, TVCEvent, TVCDecision]
	*fattree.DataCentre
	in       *model.TVC
	requests []TVCRequest
	stopped  bool
	arrived  int // requests from here on are coming
	asked    int // those from here up to arrived are to be answered, without a queue
	left     int // requests that fit and haven't ended
	states   []tvcState
	ends     heap.Heap[tvcEnd] // also of requests that were suspended
	calls    heap.Heap[int64]
}

// tvcState is a request's place and its finished work.
type tvcState struct {
	phase    phase
	left     int64 // work that isn't done when the present segment starts
	owed     int64 // what is then left of the last migration
	end      int64 // of the present segment, if it isn't suspended
	segments []tvcSegment
}

// place returns where the request runs or ran last.
func (x *tvcState) place() *model.Embedding { return &x.segments[len(x.segments)-1].place }

type tvcSegment struct {
	start, end int64
	place      model.Embedding
}

// tvcEnd is the end of a request's run, unless it is suspended before.
type tvcEnd struct {
	at      int64
	request int32
}

func (x tvcEnd) before(y tvcEnd) bool { return x.at < y.at || x.at == y.at && x.request < y.request }

func newTVCRun(in *model.TVC, t *view.TVC, p TVCPolicy) *tvcRun {
	n := len(in.Requests)
	r := &tvcRun{driver: driver[TVCPlatform, TVCEvent, TVCDecision]{policy: p, perSecond: ticksPerSecond}, DataCentre: fattree.New(t), in: in,
		requests: make([]TVCRequest, n), states: make([]tvcState, n), ends: heap.Heap[tvcEnd]{Less: tvcEnd.before},
		calls: heap.Heap[int64]{Less: func(a, b int64) bool { return a < b }}}
	for k := range in.Requests {
		q := &t.Requests[k]
		r.requests[k] = TVCRequest{in.Requests[k].ID, int32(k), q.Arrival, q.Duration, q.VMs, q.Bandwidth, q.Fits, q.Revenue}
		if r.states[k].left = q.Duration; q.Fits {
			r.left++
		}
	}
	return r
}

// run goes from instant to instant until nothing more happens.
func (r *tvcRun) run(ctx context.Context) error {
	p := TVCPlatform{r.in.FatTree, r.in.EffectiveHose(), r.Queue, r.Goal, r.Migration}
	if err := r.policy.Begin(p); err != nil {
		return err
	}
	for instants := 0; ; instants++ {
		r.stopped = r.stopped || r.Queue && instants&0x3f == 0 && meter.Stop(ctx, 64*r.effort())
		next := r.next()
		if r.stopped || next == never {
			return r.close()
		}
		if r.now = next; r.Queue && r.now > view.MostTime {
			return view.TooLate("request", "servers")
		}
		if err := r.instant(ctx); err != nil {
			return err
		}
	}
}

// effort returns the effort of an instant of queue mode, for meter.Stop: a scheduler looks at all present requests.
func (r *tvcRun) effort() int64 { return 20 + int64(max(0, r.left-len(r.requests)+r.arrived))/128 }

// close reports requests that had to run and haven't.
func (r *tvcRun) close() error {
	switch {
	case !r.Queue || r.left == 0:
		return nil
	case r.stopped:
		return fmt.Errorf("%w: stopped at %.9g s, when %d requests hadn't run to their ends", model.ErrNoSolution, r.seconds(r.now), r.left)
	}
	return fmt.Errorf("%w: %d requests that fit haven't run to their ends, and nothing happens any more", model.ErrNoSolution, r.left)
}

// next returns when the next thing happens; never: nothing does.
func (r *tvcRun) next() int64 {
	at := int64(never)
	if r.arrived < len(r.requests) {
		at = r.requests[r.arrived].Arrival
	}
	if r.calls.Len() > 0 {
		at = min(at, r.calls.Items[0])
	}
	return min(at, r.nextEnd())
}

// nextEnd returns when the next request ends. It drops the ends of those that were suspended.
func (r *tvcRun) nextEnd() int64 {
	for r.ends.Len() > 0 {
		x := &r.ends.Items[0]
		if s := &r.states[x.request]; s.phase == running && s.end == x.at {
			return x.at
		}
		r.ends.Pop()
	}
	return never
}

// instant reports what happens now, and asks.
func (r *tvcRun) instant(ctx context.Context) error {
	for r.nextEnd() == r.now {
		k := r.ends.Pop().request
		q, x := &r.requests[k], &r.states[k]
		x.phase, x.left, r.left = over, 0, r.left-1
		r.Remove(x.place(), q.VMs, q.Bandwidth)
		if err := r.report(Ended, TVCEvent{Ended, r.now, q, x.place()}); err != nil {
			return err
		}
	}
	for r.asked = r.arrived; r.arrived < len(r.requests) && r.requests[r.arrived].Arrival == r.now; {
		if r.stopped = !r.Queue && meter.Stop(ctx, 20); r.stopped {
			break // what was told of is answered
		}
		q := &r.requests[r.arrived]
		r.states[r.arrived].phase = waiting
		r.arrived++
		if err := r.report(Submitted, TVCEvent{Submitted, r.now, q, nil}); err != nil {
			return err
		}
	}
	for r.calls.Len() > 0 && r.calls.Items[0] == r.now {
		r.calls.Pop()
		if err := r.report(Called, TVCEvent{Called, r.now, nil, nil}); err != nil {
			return err
		}
	}
	all, err := r.ask()
	if err != nil {
		return err
	}
	for i := range all {
		if reason := r.do(&all[i]); reason != "" {
			return r.refuse(r.named(&all[i]), reason)
		}
	}
	for k := r.asked; k < r.arrived && !r.Queue; k++ {
		if r.states[k].phase == waiting {
			return r.refuse(fmt.Sprintf("none on request %q", r.requests[k].ID), "without a queue a request starts or is rejected when it arrives")
		}
	}
	return nil
}

// named names a decision.
func (r *tvcRun) named(d *TVCDecision) string {
	return r.words(d.Type, d.At, "request", d.Request, r.arrived, r.id)
}

// id returns the id of a request.
func (r *tvcRun) id(k int32) string { return r.requests[k].ID }

// do carries a decision out. It returns why it can't be; "": it is done.
func (r *tvcRun) do(d *TVCDecision) (reason string) {
	k := d.Request
	switch d.Type {
	case CallAt:
		if d.At <= r.now {
			return "this isn't later than now"
		}
		r.calls.Push(d.At)
		return ""
	case Start, Reject, Suspend:
	default:
		return fmt.Sprintf("there is no such decision, there are %q, %q, %q and %q", Start, Reject, Suspend, CallAt)
	}
	if k < 0 || int(k) >= r.arrived {
		return fmt.Sprintf("no such request has arrived, the policy knows numbers below %d", r.arrived)
	}
	switch x := &r.states[k]; {
	case x.phase == over:
		return "it has ended, or is rejected"
	case d.Type == Suspend && !r.Queue:
		return "without a queue none is suspended"
	case d.Type == Suspend && x.phase == waiting:
		return "it isn't running"
	case d.Type != Suspend && x.phase == running:
		return fmt.Sprintf("it is running since %.9g s", r.seconds(x.segments[len(x.segments)-1].start))
	case d.Type == Start:
		return r.start(k, &d.Place)
	case d.Type == Reject:
		x.phase = over
	default:
		return r.suspend(k)
	}
	return ""
}

// start starts a request, or lets it go on.
func (r *tvcRun) start(k int32, e *model.Embedding) string {
	q, x := &r.requests[k], &r.states[k]
	if reason := r.check(q, e); reason != "" {
		return reason
	}
	last := len(x.segments) - 1
	if last >= 0 && x.segments[last].end == r.now && x.segments[last].place.Switch == e.Switch && x.segments[last].place.SameServers(e) {
		x.segments[last].end = x.end // as if it hadn't been suspended
	} else {
		if last >= 0 && !x.segments[last].place.SameServers(e) {
			x.owed = r.Migration
		}
		x.end = r.now + x.owed + x.left
		x.segments = append(x.segments, tvcSegment{r.now, x.end, *e})
	}
	x.phase = running
	r.Add(e, q.VMs, q.Bandwidth)
	r.ends.Push(tvcEnd{x.end, k})
	return ""
}

// check returns why a request can't run in a place.
func (r *tvcRun) check(q *TVCRequest, e *model.Embedding) string {
	if !r.in.FatTree.Has(e.Switch) {
		return fmt.Sprintf("there is no switch %v", e.Switch)
	}
	first, last := r.ServersBelow(e.Switch)
	vms := 0
	for i, s := range e.Servers {
		switch {
		case s.Server < first || s.Server >= last:
			return fmt.Sprintf("server %d isn't below the switch %v", s.Server, e.Switch)
		case i > 0 && s.Server <= e.Servers[i-1].Server:
			return fmt.Sprintf("server %d comes after %d, they must ascend", s.Server, e.Servers[i-1].Server)
		case s.VMs < 1 || s.VMs > q.VMs-vms:
			return fmt.Sprintf("server %d gets %d VMs, it asks for %d in all", s.Server, s.VMs, q.VMs)
		case s.VMs > int(r.Free[s.Server]):
			return fmt.Sprintf("server %d gets %d VMs and has %d free slots", s.Server, s.VMs, r.Free[s.Server])
		}
		vms += s.VMs
	}
	switch {
	case vms != q.VMs:
		return fmt.Sprintf("it asks for %d VMs and gets %d", q.VMs, vms)
	case !r.Room(e, q.VMs, q.Bandwidth):
		return "a link on the way to its switch hasn't the bandwidth"
	}
	return ""
}

// suspend puts a request that runs into the queue again.
func (r *tvcRun) suspend(k int32) string {
	q, x := &r.requests[k], &r.states[k]
	segment := &x.segments[len(x.segments)-1]
	if segment.start == r.now {
		return "it hasn't run yet"
	}
	left := min(x.left, x.end-r.now) // none is done before the migration is over
	x.left, x.owed, x.phase = left, x.end-r.now-left, waiting
	segment.end = r.now
	r.Remove(&segment.place, q.VMs, q.Bandwidth)
	return ""
}

// embeddings returns the runs.
func (r *tvcRun) embeddings() *model.Embeddings {
	s := new(model.Embeddings)
	for k := range r.states {
		x := &r.states[k]
		if len(x.segments) == 0 {
			continue
		}
		run := model.Run[model.Embedding]{ID: r.requests[k].ID, Segments: make([]model.Segment[model.Embedding], len(x.segments))}
		for i, y := range x.segments {
			run.Segments[i] = model.Segment[model.Embedding]{StartS: r.Seconds(y.start), EndS: r.Seconds(y.end), Place: y.place}
		}
		s.Runs = append(s.Runs, run)
	}
	return s
}
