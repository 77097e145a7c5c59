// SPDX-License-Identifier: MIT

package reservation

import "github.com/gapwise/gapwise/internal/num/heap"

// queue holds the open states: the earliest first or, if there are too many, the latest; at a tie the most valuable
// first.
type queue struct {
	heap.Heap[*state]
	deep bool
}

func newQueue() queue {
	return queue{Heap: heap.Heap[*state]{Less: stateBefore(false)}}
}

func stateBefore(deep bool) func(x, y *state) bool {
	return func(x, y *state) bool {
		switch {
		case x.time != y.time:
			return (x.time < y.time) != deep
		case x.value != y.value:
			return x.value > y.value
		}
		return x.seq < y.seq
	}
}

// turn makes the latest state the first, or the earliest.
func (q *queue) turn(deep bool) {
	if q.deep != deep {
		q.deep, q.Less = deep, stateBefore(deep)
		q.Init()
	}
}
