// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"context"
)

// freed is when a job ends that some start has.
type freed struct {
	at  int64
	job int
}

// freedHeap holds ends, the earliest on top.
type freedHeap []freed

func (h freedHeap) Len() int           { return len(h) }
func (h freedHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h freedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *freedHeap) Push(x any)        { *h = append(*h, x.(freed)) }
func (h *freedHeap) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}

// maxStarts is the number of starts in all that leftStarts finds at most; of few jobs it is
// less, as chains of them are many and short work for other bounds.
const maxStarts = 20_000

// leftStarts returns starts of each job, ascending, of which some plan that accepts the same jobs
// as any given one has none but these. In that plan no job can start earlier while the others
// stay: whoever moves a job to the left shortens the sum of starts, whole numbers, so that this ends.
// A job that starts after it is ready is then held up just before its start: all that may run
// there needs more PEs than there are, and another job ends at its start, for else it could start
// one tick earlier. That one's start is of the same kind, so the starts are found in the order of time.
func (w *bookedWork) leftStarts(ctx context.Context) ([][]int64, error) {
	starts := make([][]int64, len(w.jobs))
	var ends freedHeap
	left := min(maxStarts, 50*len(w.jobs)*len(w.jobs))
	add := func(k int, at int64) {
		if n := len(starts[k]); n == 0 || starts[k][n-1] < at {
			left--
			starts[k] = append(starts[k], at)
			heap.Push(&ends, freed{at + w.jobs[k].length, k})
		}
	}
	for k := range w.jobs {
		add(k, w.jobs[k].ready)
	}
	for len(ends) > 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first := heap.Pop(&ends).(freed)
		several := false
		for len(ends) > 0 && ends[0].at == first.at {
			next := heap.Pop(&ends).(freed)
			several = several || next.job != first.job
		}
		if left < 0 {
			return nil, tooMuch("starts")
		}
		may := int64(0)
		for k := range w.jobs {
			if j := &w.jobs[k]; j.ready < first.at && first.at <= j.due {
				may += j.pes
			}
		}
		if may <= w.pes {
			continue
		}
		for k := range w.jobs {
			if j := &w.jobs[k]; j.ready < first.at && first.at <= j.due-j.length && (several || first.job != k) {
				add(k, first.at)
			}
		}
	}
	return starts, nil
}
