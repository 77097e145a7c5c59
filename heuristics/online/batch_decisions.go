// SPDX-License-Identifier: MIT

package online

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// do carries a decision out. It returns why it can't be; "": it is done.
func (r *batchRun) do(d *BatchDecision) (reason string) {
	switch d.Type {
	case CallAt, Busy:
		return r.later(d)
	case Start, Reject, Kill:
	default:
		return fmt.Sprintf("there is no such decision, there are %q, %q, %q, %q and %q", Start, Reject, Kill, CallAt, Busy)
	}
	k := d.Job
	if k < 0 || int(k) >= r.arrived {
		return fmt.Sprintf("no such job has been submitted, the policy knows numbers below %d", r.arrived)
	}
	switch p := r.phases[k]; {
	case p == over:
		return "it has ended, or is rejected"
	case p == dying:
		return "it is killed already"
	case d.Type == Kill && p == waiting:
		return "it isn't running"
	case d.Type != Kill && p == running:
		return fmt.Sprintf("it is running since %.9g s", r.t.Seconds(r.starts[k]))
	}
	switch d.Type {
	case Start:
		return r.start(d)
	case Reject:
		r.phases[k] = over
		r.left--
		r.rejected++
	default:
		return r.kill(k)
	}
	return ""
}

// later notes that the policy wants to be called, or is busy.
func (r *batchRun) later(d *BatchDecision) string {
	switch {
	case d.At <= r.now:
		return "this isn't later than now"
	case d.Type == CallAt:
		r.calls.Push(d.At)
	case d.At > view.MostTime:
		return tooLate
	case r.options.Order != model.BatchOrderBatch:
		return fmt.Sprintf("in the order %q a policy decides at once", r.options.Order)
	default:
		r.busy = max(r.busy, d.At)
	}
	return ""
}

const tooLate = "this is after 8e+09 s, the last time whose microseconds are exact"

// start starts a job that waits.
func (r *batchRun) start(d *BatchDecision) string {
	at, width := d.At, int(r.jobs[d.Job].Processes)
	if at == 0 {
		at = r.now
	}
	switch {
	case at > view.MostTime:
		return tooLate
	case at < r.now:
		return fmt.Sprintf("its start, %.9g s, is in the past", r.t.Seconds(at))
	case d.Processors != nil && len(d.Processors) != width:
		return fmt.Sprintf("it has %d processes, on %d processors", width, len(d.Processors))
	case width > r.idle:
		return fmt.Sprintf("it needs %d processors, %d are free", width, r.idle)
	case d.Processors == nil && !r.fits(width):
		return fmt.Sprintf("it needs %d neighbouring processors, of the %d that are free fewer are neighbours", width, r.idle)
	}
	for i, p := range d.Processors {
		if p < 0 || int(p) >= r.t.Processors {
			return fmt.Sprintf("there is no processor %d, there are 0 to %d", p, r.t.Processors-1)
		}
		if r.options.Placement == model.BatchContiguous && int(p-d.Processors[0]) != i {
			r.free.Give(d.Processors[:i])
			return fmt.Sprintf("processor %d after %d is no neighbour, as the placement %q demands", p, d.Processors[i-1], r.options.Placement)
		}
		if !r.free.Has(p) {
			r.free.Give(d.Processors[:i])
			return fmt.Sprintf("processor %d isn't free", p)
		}
		r.free.Remove(p)
	}
	r.begin(d.Job, at, d.Processors)
	return ""
}

// fits reports whether a job of a width can start now on allowed processors.
func (r *batchRun) fits(width int) bool {
	return width <= r.idle && (r.options.Placement != model.BatchContiguous || r.free.Neighbours(int32(width)) >= 0)
}

// begin gives a job its processors, either named and taken already or the lowest that it may hold, and has it run from
// an instant on.
func (r *batchRun) begin(k int32, at int64, named []int32) {
	width := int(r.jobs[k].Processes)
	if len(r.array) < width { // jobs have started anew
		r.array = make([]int32, max(width, 1<<14))
	}
	list := r.array[:width:width]
	r.array = r.array[width:]
	switch {
	case named != nil:
		copy(list, named)
	case r.options.Placement == model.BatchContiguous:
		first := r.free.Neighbours(int32(width))
		for i := range list {
			list[i] = first + int32(i)
			r.free.Remove(list[i])
		}
	default:
		r.free.Take(list)
	}
	x := completion{at: at + r.lengths[k], job: k}
	if r.options.Order == model.BatchOrderPyss { // ends come in the order of starts
		x.rank = int32(len(r.started))
	}
	r.phases[k], r.starts[k], r.lists[k] = running, at, list
	r.idle -= width
	r.started = append(r.started, k)
	r.completions.Push(x)
}

// kill notes that a job that runs is killed. One that ends at this very instant, which the
// policy can't know, has ended: nothing happens.
func (r *batchRun) kill(k int32) string {
	switch {
	case r.starts[k] >= r.now:
		return "it hasn't run yet"
	case r.end(k) > r.now:
		r.phases[k] = dying
		r.lost = append(r.lost, stay{k, r.starts[k], r.now, r.lists[k]})
	}
	return ""
}
