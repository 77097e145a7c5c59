// SPDX-License-Identifier: MIT

package batch

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// FCFS starts jobs in the order of their arrivals, each as soon as it fits. A job
// that doesn't fit blocks those behind it.
func FCFS(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onOneTier(ctx, in, set, newFCFS)
}

type fcfs struct {
	*machine
	next, arrived int32 // jobs from next up to arrived are waiting
}

func newFCFS(m *machine) scheduler {
	switch {
	case m.nodes != nil:
		return newOnNodes(m, nil, false, nil)
	case m.contiguous:
		return newPlaced(m, nil, false, nil)
	}
	return &fcfs{machine: m}
}

func (s *fcfs) arrive(k int32) { s.arrived = k + 1 }

func (s *fcfs) pass() {
	for s.next < s.arrived && s.jobs[s.next].width <= s.free {
		s.start(s.next)
		s.next++
	}
}
