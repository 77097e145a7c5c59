// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// levelQueues finds the ready tasks that dlsTasks.next has to compare, without a look at the others. A task's level on
// a machine is its priority, static + mean - cost, less its start. Tasks whose data came before the machine is free
// start together, so their order is that of the priorities. The others' levels don't change until the machine is free
// that late. So two heaps for each machine hold the levels, and each task changes from one to the other once.
//
// dlsTasks.next takes levels that differ by the tie as equal, which is no order. It gives the same result for all tasks
// as for a set of them if a gap of more than the tie lies between the set's lowest level and the others' highest: a
// level below the gap never replaces one above it, and one above it always replaces one below.
type levelQueues struct {
	*dlsTasks
	number  []int32             // of each task: how many got ready before it
	count   int32               // of all that got ready
	waiting []heap.Heap[queued] // of each machine: by arrival
	late    []heap.Heap[queued] // of each machine: data come after it is free; by level
	early   []heap.Heap[queued] // of each machine: the others, by priority
	largest float64             // of the numbers that levels are sums of, to bound their rounding
	found   []int32
	seen    []int32 // of each task: the last step in which it was found
	step    int32
	stack   []int
}

// queued is a task in a heap, the one with the least key first.
type queued struct {
	key  float64
	task int32
}

func newLevelQueues(r *dlsTasks) *levelQueues {
	q := &levelQueues{dlsTasks: r, number: make([]int32, r.g.Tasks), seen: make([]int32, r.g.Tasks)}
	for _, heaps := range []*[]heap.Heap[queued]{&q.waiting, &q.late, &q.early} {
		for range r.g.Machines {
			*heaps = append(*heaps, heap.Heap[queued]{Less: func(a, b queued) bool { return a.key < b.key }})
		}
	}
	return q
}

// add adds a ready task. O(M log R).
func (q *levelQueues) add(t int32) {
	q.number[t] = q.count
	q.count++
	for m, at := range q.arrivals[t] {
		q.note(q.static[t], q.mean[t], q.cost(t, int32(m)), at)
		if at > q.free[m] {
			q.waiting[m].Push(queued{at, t})
			q.late[m].Push(queued{-q.level(t, int32(m)), t})
		} else {
			q.early[m].Push(queued{-q.priority(t, int32(m)), t})
		}
	}
}

// note notes finite numbers that levels are sums of.
func (q *levelQueues) note(numbers ...float64) {
	for _, x := range numbers {
		if x = math.Abs(x); !math.IsInf(x, 1) {
			q.largest = max(q.largest, x)
		}
	}
}

// priority returns the level of a task that could start at 0.
func (q *levelQueues) priority(t, m int32) float64 { return q.static[t] + q.mean[t] - q.cost(t, m) }

// arrived moves the tasks whose data are on a machine by the time that it is free now. O(log R) for each.
func (q *levelQueues) arrived(m int32) {
	q.note(q.free[m])
	for w := &q.waiting[m]; w.Len() > 0 && w.Items[0].key <= q.free[m]; {
		if t := w.Pop().task; q.arrivals[t] != nil {
			q.early[m].Push(queued{-q.priority(t, m), t})
		}
	}
}

// highest returns the ready tasks with the highest levels, in the order in which they got ready. Below them is a gap
// of more than the tie. O(M) for each task that is returned, and for each more level that ties join to the set. Tasks
// that were placed leave the heaps' tops in O(log R) each.
func (q *levelQueues) highest() []int32 {
	low := math.Inf(-1)
	for m := range int32(q.g.Machines) {
		e, l := &q.early[m], &q.late[m]
		for e.Len() > 0 && q.arrivals[e.Items[0].task] == nil {
			e.Pop()
		}
		for l.Len() > 0 && q.gone(l.Items[0].task, m) {
			l.Pop()
		}
		for _, h := range []*heap.Heap[queued]{e, l} {
			if h.Len() > 0 {
				low = max(low, q.level(h.Items[0].task, m))
			}
		}
	}
	q.found, q.step = q.found[:0], q.step+1
	if math.IsInf(low, -1) {
		return q.found
	}
	// The best of a machine by its rounded priority may be an ulp or so below the highest level: found are the tasks
	// down to a limit below that.
	for limit := q.below(low); ; limit = q.below(low) {
		for m := range int32(q.g.Machines) {
			q.collect(&q.early[m], limit+q.free[m])
			q.collect(&q.late[m], limit)
		}
		lower := low
		for _, t := range q.found {
			for m := range int32(q.g.Machines) {
				if level := q.level(t, m); level >= limit {
					lower = min(lower, level)
				}
			}
		}
		if !(lower < low) { // nor is a level that isn't a number
			break
		}
		low = lower
	}
	slices.SortFunc(q.found, func(a, b int32) int { return cmp.Compare(q.number[a], q.number[b]) })
	return q.found
}

// gone reports that a task is placed, or that its data are there by the time that a machine is free: it has changed to
// the other heap.
func (q *levelQueues) gone(t, m int32) bool {
	return q.arrivals[t] == nil || q.arrivals[t][m] <= q.free[m]
}

// below returns a number that is less than a level by more than twice the tie and the rounding of sums.
func (q *levelQueues) below(level float64) float64 {
	return level - 2*tie*math.Abs(level) - 0x1p-46*q.largest
}

// collect finds the tasks of a heap with keys of at most -limit.
func (q *levelQueues) collect(h *heap.Heap[queued], limit float64) {
	for q.stack = append(q.stack[:0], 0); len(q.stack) > 0; {
		k := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		if k >= h.Len() || -h.Items[k].key < limit {
			continue
		}
		if t := h.Items[k].task; q.arrivals[t] != nil && q.seen[t] != q.step {
			q.found, q.seen[t] = append(q.found, t), q.step
		}
		q.stack = append(q.stack, 2*k+1, 2*k+2)
	}
}
