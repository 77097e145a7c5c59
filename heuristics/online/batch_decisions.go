// SPDX-License-Identifier: MIT

package online

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// do implements problem.
func (r *batchRun) do(d *BatchDecision) (reason string) {
	k := d.Job
	switch {
	case d.Type == Busy:
		return r.wait(d.At)
	case r.phases[k] == dying:
		return "it is killed already"
	case d.Type == Kill && r.phases[k] == waiting:
		return "it isn't running"
	case d.Type == Kill:
		return r.kill(k)
	case r.phases[k] == running:
		return fmt.Sprintf("it is running since %.9g s", r.t.Seconds(r.starts[k]))
	case d.Type == Start:
		return r.start(d)
	}
	r.phases[k] = over
	r.left--
	r.rejected++
	return ""
}

// wait notes that the policy is busy until an instant.
func (r *batchRun) wait(until int64) string {
	switch {
	case until > view.MostTime:
		return tooLate
	case r.options.Order != model.BatchOrderBatch:
		return fmt.Sprintf("in the order %q a policy decides at once", r.options.Order)
	}
	r.busy = max(r.busy, until)
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
	case r.nodes != nil:
		return r.startOnNodes(d, at)
	case width > r.idle:
		return fmt.Sprintf("it needs %d processors, %d are free", width, r.idle)
	case d.Processors == nil && !r.fits(d.Job):
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

// startOnNodes starts a job that waits on a machine of nodes.
func (r *batchRun) startOnNodes(d *BatchDecision, at int64) string {
	needs, list := r.t.Jobs[d.Job].Needs, d.Processors
	if list == nil {
		if list = r.nodes.Fit(needs, int(r.jobs[d.Job].Processes)); list == nil {
			return "it doesn't fit the nodes as they are used now"
		}
	} else if why := r.nodes.Refuse(needs, list); why != "" {
		return why
	}
	r.begin(d.Job, at, list)
	return ""
}

// fits reports whether a job can start now on allowed processors.
func (r *batchRun) fits(k int32) bool {
	width := int(r.jobs[k].Processes)
	if r.nodes != nil {
		return r.nodes.Fits(r.t.Jobs[k].Needs, width)
	}
	return width <= r.idle && (r.options.Placement != model.BatchContiguous || r.free.Neighbours(int32(width)) >= 0)
}

// begin gives a job its processors, and has it run from an instant on. They are named and taken already, or the lowest
// that it may hold.
func (r *batchRun) begin(k int32, at int64, named []int32) {
	width := int(r.jobs[k].Processes)
	if len(r.array) < width { // jobs have started anew
		r.array = make([]int32, max(width, 1<<14))
	}
	list := r.array[:width:width]
	r.array = r.array[width:]
	switch {
	case r.nodes != nil:
		if named == nil {
			named = r.nodes.Fit(r.t.Jobs[k].Needs, width)
		}
		copy(list, named)
		r.nodes.Take(r.t.Jobs[k].Needs, list)
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
	rank := int32(0)
	if r.options.Order == model.BatchOrderPyss { // ends come in the order of starts
		rank = int32(len(r.started))
	}
	r.phases[k], r.starts[k], r.lists[k] = running, at, list
	r.idle -= width
	r.started = append(r.started, k)
	r.expect(k, at+r.lengths[k], ends, rank)
}

// kill notes that a job that runs is killed. One that ends at this very instant, which the
// policy can't know, has ended: nothing happens. The event makes the policy be asked again. That ends: a job that is
// killed has run, so none is killed twice at an instant.
func (r *batchRun) kill(k int32) string {
	switch {
	case r.starts[k] >= r.now:
		return "it hasn't run yet"
	case r.starts[k]+r.lengths[k] > r.now:
		r.phases[k] = dying
		r.lost = append(r.lost, stay{k, r.starts[k], r.now, r.lists[k]})
		r.expect(k, r.now, kills, int32(len(r.lost)))
	}
	return ""
}
