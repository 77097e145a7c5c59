// SPDX-License-Identifier: MIT

package online

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// tvcRun is a run of a policy.
type tvcRun struct {
	simulation[TVCPlatform, TVCEvent, TVCDecision]
	*fattree.DataCentre
	in       *model.TVC
	requests []TVCRequest
	left     int // requests that fit and haven't ended
	courses  []fattree.Course
}

func newTVCRun(in *model.TVC, t *view.TVC, p TVCPolicy) *tvcRun {
	n := len(in.Requests)
	r := &tvcRun{DataCentre: fattree.New(t), in: in, requests: make([]TVCRequest, n), courses: make([]fattree.Course, n)}
	arrivals := make([]int64, n)
	for k := range in.Requests {
		q := &t.Requests[k]
		r.requests[k] = TVCRequest{in.Requests[k].ID, int32(k), q.Arrival, q.Duration, q.VMs, q.Bandwidth, q.Fits, q.Revenue}
		arrivals[k] = q.Arrival
		if r.courses[k].Left = q.Duration; q.Fits {
			r.left++
		}
	}
	r.simulation = simulate(r, p, "request", "arrived", "ended", arrivals, Start, Reject, Suspend, CallAt)
	if !t.Queue {
		r.effort = 20
	}
	return r
}

// platform returns a policy's knowledge before the first request.
func (r *tvcRun) platform() TVCPlatform {
	return TVCPlatform{r.in.FatTree, r.in.EffectiveHose(), r.Queue, r.Goal, r.Migration}
}

// ends implements problem. It reports requests that had to run and haven't.
func (r *tvcRun) ends(next int64) (bool, error) {
	stopped := r.Queue && r.instants&0x3f == 0 && meter.Stop(r.ctx, 64*r.work())
	switch {
	case !r.Queue:
		return next == never || len(r.arrivals) < len(r.requests), nil
	case !stopped && next == never && r.left > 0:
		return true, fmt.Errorf("%w: %d requests that fit haven't run to their ends, and nothing happens any more",
			model.ErrNoSolution, r.left)
	case stopped && r.left > 0:
		return true, fmt.Errorf("%w: stopped at %.9g s, when %d requests hadn't run to their ends",
			model.ErrNoSolution, r.seconds(r.now), r.left)
	case stopped || next == never:
		return true, nil
	case next > view.MostTime:
		return true, view.TooLate("request", "servers")
	}
	return false, nil
}

// work returns the effort of an instant of queue mode, for meter.Stop: a scheduler looks at all present requests.
func (r *tvcRun) work() int64 { return 20 + int64(max(0, r.left-len(r.requests)+r.arrived))/128 }

// happen implements problem.
func (r *tvcRun) happen(x occasion) (told bool, err error) {
	switch x.kind() {
	case arrives:
		return true, r.report(Submitted, TVCEvent{Submitted, r.now, &r.requests[x.item], nil})
	case calls:
		return true, r.report(Called, TVCEvent{Called, r.now, nil, nil})
	}
	q, s := &r.requests[x.item], &r.courses[x.item]
	r.phases[x.item], s.Left, r.left = over, 0, r.left-1
	r.Remove(&s.Last().Place, q.VMs, q.Bandwidth)
	return true, r.report(Ended, TVCEvent{Ended, r.now, q, &s.Last().Place})
}

// settle implements problem.
func (r *tvcRun) settle([]TVCDecision) error {
	if r.Queue {
		return nil
	}
	return r.answered("without a queue a request starts or is rejected when it arrives")
}

// head implements problem.
func (*tvcRun) head(d *TVCDecision) (DecisionType, int32, int64) { return d.Type, d.Request, d.At }

// id implements problem.
func (r *tvcRun) id(k int32) string { return r.requests[k].ID }

// do implements problem.
func (r *tvcRun) do(d *TVCDecision) (reason string) {
	k := d.Request
	x, runs := &r.courses[k], r.phases[k] == running
	switch {
	case d.Type == Suspend && !r.Queue:
		return "without a queue none is suspended"
	case d.Type == Suspend && !runs:
		return "it isn't running"
	case d.Type == Suspend:
		return r.suspend(k)
	case runs:
		return fmt.Sprintf("it is running since %.9g s", r.seconds(x.Last().Start))
	case d.Type == Start:
		return r.start(k, &d.Place)
	}
	r.phases[k] = over
	return ""
}

// start starts a request, or lets it go on.
func (r *tvcRun) start(k int32, e *model.Embedding) string {
	q, x := &r.requests[k], &r.courses[k]
	if reason := r.check(q, e); reason != "" {
		return reason
	}
	x.Start(r.now, r.Migration, e)
	r.phases[k] = running
	r.Add(e, q.VMs, q.Bandwidth)
	r.expect(k, x.End, ends, 0)
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
	q, x := &r.requests[k], &r.courses[k]
	if x.Last().Start == r.now {
		return "it hasn't run yet"
	}
	x.Suspend(r.now)
	r.phases[k] = waiting
	r.cancel(k)
	r.Remove(&x.Last().Place, q.VMs, q.Bandwidth)
	return ""
}
