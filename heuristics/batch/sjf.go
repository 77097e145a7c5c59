// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// SJF starts jobs in the order of their estimates, ties by index, each as soon as
// it fits. As in FCFS, the first of the queue blocks the others if it doesn't fit:
// otherwise wide jobs would wait as long as narrow ones arrive.
func SJF(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onOneTier(ctx, in, set, newSJF)
}

type sjf struct {
	*machine
	queue heap.Heap[int32]
}

func newSJF(m *machine) scheduler {
	switch {
	case m.nodes != nil:
		return newOnNodes(m, m.byEstimate, false, nil)
	case m.contiguous:
		return newPlaced(m, m.byEstimate, false, nil)
	}
	return &sjf{m, heap.Heap[int32]{Less: func(a, b int32) bool { return cmp.Or(m.byEstimate(a, b), cmp.Compare(a, b)) < 0 }}}
}

// byEstimate compares the estimates of two jobs.
func (m *machine) byEstimate(a, b int32) int {
	return cmp.Compare(m.jobs[a].estimate, m.jobs[b].estimate)
}

func (s *sjf) arrive(k int32) { s.queue.Push(k) }

func (s *sjf) pass() {
	for s.queue.Len() > 0 && s.jobs[s.queue.Items[0]].width <= s.free {
		s.start(s.queue.Pop())
	}
}
