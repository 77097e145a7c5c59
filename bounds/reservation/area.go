// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// area bounds the accepted weight by areas (PEs times ticks). It replaces the PEs by one machine of their joint speed
// on which jobs may be interrupted, and all ready times by the earliest, or all deadlines by the latest. For the number
// of requests it finds the most jobs on time by Moore and Hodgson's rule (Moore: An n job, one machine sequencing
// algorithm for minimizing the number of late jobs, 1968). It takes jobs in the order of due times and declines the
// largest whenever the jobs so far are too many. For PE-seconds it relaxes to fractions of jobs: decline the least
// dense. O(n log n).
func area(t *view.Reservation) bounds.Bound { return newWork(t).area(context.Background()) }

// area is Area, for as many resources as ctx allows, at least one.
func (w *work) area(ctx context.Context) bounds.Bound {
	best, why := w.total, ""
	var by *model.Evidence
	for f := range w.resources {
		for _, mirrored := range []bool{false, true} {
			if by != nil && ctx.Err() != nil {
				break
			}
			accepted, reason := w.onTime(&w.resources[f], mirrored)
			if accepted = w.down(accepted); accepted < best || by == nil {
				best = accepted
				by = &model.Evidence{Type: evidence.Areas, Function: w.resources[f].function, Mirrored: mirrored}
			}
			if why == "" {
				why = reason
			}
		}
	}
	return w.proved(w.bound("area", best, why), by)
}

// areaJob is a job on the one machine.
type areaJob struct {
	due       int64
	area      int64 // the rest of it
	weight    float64
	perWeight float64 // area per unit of weight: the largest is declined first
}

// onTime returns the most weight that can be on time in the sense of Area. If mirrored, time is reversed: then
// deadlines are relaxed instead of ready times. why names the first deadline before which there is too much to do.
func (w *work) onTime(res *resource, mirrored bool) (accepted float64, why string) {
	first, last := w.span()
	jobs := make([]areaJob, len(w.jobs))
	for k := range w.jobs {
		j := &w.jobs[k]
		area := res.size[k] * j.length
		jobs[k] = areaJob{j.due - first, area, j.weight, float64(area) / j.weight}
		if mirrored {
			jobs[k].due = last - j.ready
		}
	}
	slices.SortFunc(jobs, func(a, b areaJob) int { return cmp.Compare(a.due, b.due) })
	kept := heap.Heap[areaJob]{Items: make([]areaJob, 0, len(jobs)), Less: func(a, b areaJob) bool { return a.perWeight > b.perWeight }}
	busy, number := int64(0), int64(0)
	declined := 0.0
	for k := range jobs {
		x := jobs[k]
		busy += x.area
		number++
		kept.Push(x)
		room := res.capacity * x.due
		if busy > room && why == "" {
			why = w.tooMuch(number, busy, room, first, first+x.due, res)
			if mirrored {
				why = w.tooMuch(number, busy, room, last-x.due, last, res)
			}
		}
		for busy > room {
			worst := &kept.Items[0]
			if over := busy - room; !w.count && over < worst.area {
				part := worst.weight * (float64(over) / float64(worst.area))
				worst.area -= over
				worst.weight -= part
				declined += part
				busy = room
				break // its area per weight stays the same
			}
			busy -= worst.area
			declined += worst.weight
			kept.Pop()
		}
	}
	return w.total - declined, why
}

// span returns the first ready time and the last due time.
func (w *work) span() (first, last int64) {
	for k := range w.jobs {
		last = max(last, w.jobs[k].due)
	}
	if len(w.jobs) > 0 {
		first = w.jobs[0].ready
	}
	return first, last
}

// tooMuch says that jobs need more energy in a window than there is room.
func (w *work) tooMuch(jobs, energy, room, from, to int64, res *resource) string {
	what := "PE-seconds"
	scale := 1.0
	if res.name != "" {
		// The scale makes the window offer its real PE-seconds.
		what = fmt.Sprintf("PE-seconds in sizes by the dual-feasible function %q", res.name)
		scale = float64(w.resources[0].capacity) / float64(res.capacity)
	}
	return fmt.Sprintf("%d requests need %.12g %s from %.12g s to %.12g s, where there are %.12g",
		jobs, scale*w.peSeconds(energy), what, w.seconds(from), w.seconds(to), scale*w.peSeconds(room))
}
