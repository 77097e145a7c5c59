package reservation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/heap"
)

// Area takes the PEs for one machine of their joint speed, on which
// jobs are areas that may be interrupted, and once all ready times for the
// earliest, once all deadlines for the latest. For the number of requests the
// most jobs on time is then found by Moore and Hodgson's rule (Moore: An n job, one
// machine sequencing algorithm for minimizing the number of late jobs, 1968):
// by due date, whenever the jobs are too many, decline the largest. For
// PE-seconds it is the same rule with fractions: decline the least dense.
// O(n log n).
func Area(t *Ticks) bounds.Bound { return newReservationWork(t).area() }

func (w *reservationWork) area() bounds.Bound {
	best, why := w.total, ""
	for f := range w.forms {
		for _, mirrored := range []bool{false, true} {
			accepted, reason := w.onTime(&w.forms[f], mirrored)
			if accepted = w.down(accepted); accepted < best {
				best = accepted
			}
			if why == "" {
				why = reason
			}
		}
	}
	return w.bound("area", best, why)
}

// areaJob is a job on the one machine.
type areaJob struct {
	due    int64
	area   int64 // what is left of it
	weight float64
	// badness is the order in which jobs are declined: the area, or the area for each unit of weight.
	badness float64
}

// onTime is the most weight that can be on time in the sense of
// Area, or with time reversed. why names the first deadline before
// which there is too much to do.
func (w *reservationWork) onTime(form *reservationForm, mirrored bool) (accepted float64, why string) {
	first, last := w.span()
	jobs := make([]areaJob, len(w.jobs))
	for k := range w.jobs {
		j := &w.jobs[k]
		area := form.size[k] * j.length
		jobs[k] = areaJob{j.due - first, area, j.weight, float64(area) / j.weight}
		if mirrored {
			jobs[k].due = last - j.ready
		}
	}
	slices.SortFunc(jobs, func(a, b areaJob) int { return cmp.Compare(a.due, b.due) })
	kept := heap.Heap[areaJob]{Items: make([]areaJob, 0, len(jobs)), Less: func(a, b areaJob) bool { return a.badness > b.badness }}
	busy, number := int64(0), int64(0)
	declined := 0.0
	for k := range jobs {
		x := jobs[k]
		busy += x.area
		number++
		kept.Push(x)
		room := form.capacity * x.due
		if busy > room && why == "" {
			why = w.tooMuch(number, busy, room, first, first+x.due, form)
			if mirrored {
				why = w.tooMuch(number, busy, room, last-x.due, last, form)
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
				break // its density is the same
			}
			busy -= worst.area
			declined += worst.weight
			kept.Pop()
		}
	}
	return w.total - declined, why
}

// span is the earliest ready time and the latest due one.
func (w *reservationWork) span() (first, last int64) {
	for k := range w.jobs {
		last = max(last, w.jobs[k].due)
	}
	if len(w.jobs) > 0 {
		first = w.jobs[0].ready
	}
	return first, last
}

// tooMuch says that some jobs don't fit in a window.
func (w *reservationWork) tooMuch(jobs, energy, room, from, to int64, form *reservationForm) string {
	what := "PE-seconds"
	scale := 1.0
	if form.name != "" {
		// In such units that the window offers what it does.
		what = fmt.Sprintf("PE-seconds in sizes by the dual-feasible function %q", form.name)
		scale = float64(w.forms[0].capacity) / float64(form.capacity)
	}
	return fmt.Sprintf("%d requests need %.12g %s from %.12g s to %.12g s, where there are %.12g",
		jobs, scale*w.peSeconds(energy), what, w.seconds(from), w.seconds(to), scale*w.peSeconds(room))
}
