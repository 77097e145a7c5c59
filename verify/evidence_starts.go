// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"context"
	"slices"
)

// freed is the end of a job with some start. If there are few jobs, set has a bit for each job of a chain: the first
// starts when it is ready, each other one when the one before it ends, and this one is the last.
type freed struct {
	at  int64
	job int
	set uint32
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

const (
	// maxStarts is the number of starts in all that leftStarts finds at most; of so few jobs that the
	// square is less, 50 for each two.
	maxStarts = 20_000
	// maxChained is the number of jobs up to which no job is in a chain twice. They have at most
	// maxChained · 2^(maxChained-1) chains that end at different times, as the first job and the set say when.
	maxChained = 12
)

// leftStarts returns starts of each job, ascending. For any given plan, some plan that accepts the same jobs uses these
// starts alone. In that plan no job can start earlier while the others stay: moving a job to the left shortens the sum
// of starts, whole numbers, so that this ends. A job that starts after it is ready is then held up just before its
// start; otherwise it could start one tick earlier. All jobs that may run there need more PEs than there are, and
// another job ends at its start. That one's start is of the same kind, so the starts are found in the order of time.
//
// Starts get earlier from a job back to the one that it waits for. So no job is twice in the chain that ends with it.
func (w *bookedWork) leftStarts(ctx context.Context) ([][]int64, error) {
	starts := make([][]int64, len(w.jobs))
	var ends freedHeap
	few := len(w.jobs) <= maxChained
	left := maxStarts
	if !few {
		left = min(left, 50*len(w.jobs)*len(w.jobs))
	}
	add := func(k int, at int64, set uint32) {
		if n := len(starts[k]); n == 0 || starts[k][n-1] < at {
			left--
			starts[k] = append(starts[k], at)
		} else if !few {
			return
		}
		if few {
			set |= 1 << k
		}
		if w.jobs[k].length > 0 { // else it holds up no job
			heap.Push(&ends, freed{at + w.jobs[k].length, k, set})
		}
	}
	for k := range w.jobs {
		add(k, w.jobs[k].ready, 0)
	}
	var sets []uint32
	for len(ends) > 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at, job, several := ends[0].at, ends[0].job, false
		sets = sets[:0]
		for len(ends) > 0 && ends[0].at == at {
			e := heap.Pop(&ends).(freed)
			several = several || e.job != job
			if few && !slices.Contains(sets, e.set) {
				sets = append(sets, e.set)
			}
		}
		if left < 0 {
			return nil, tooMuch("starts")
		}
		may := int64(0)
		for k := range w.jobs {
			if j := &w.jobs[k]; j.ready < at && at <= j.due {
				may += j.pes
			}
		}
		if may <= w.pes {
			continue
		}
		for k := range w.jobs {
			j := &w.jobs[k]
			if j.ready >= at || at > j.due-j.length {
				continue
			}
			if !few && (several || job != k) {
				add(k, at, 0)
			}
			for _, set := range sets {
				if set>>k&1 == 0 {
					add(k, at, set)
				}
			}
		}
	}
	return starts, nil
}
