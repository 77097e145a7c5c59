// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// GR is the greedy heuristic (section 3.3). Each task, in the instance's order, goes to the host of least CPU load that
// has the memory (and the other rigid resources) for it, the lowest-numbered of equals. The load includes the task, and
// is divided by the host's CPU, if hosts differ. O(n log H) in the good case, O(nH) in the worst (see leastLoad).
func GR(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, greedyBy(instanceOrder))
}

// SG is GR with the tasks by decreasing memory need (section 3.3). With several rigid resources, the key is the largest
// share of a host that a task needs of one. Equals keep the instance's order. O(n log n) and as GR.
func SG(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, greedyBy(memoryOrder))
}

func instanceOrder(u *view.VCSched) []int32 {
	return order.Of[int32](len(u.CPU))
}

func memoryOrder(u *view.VCSched) []int32 {
	if len(u.Rigid) == 1 {
		return order.Falling(instanceOrder(u), u.Memory)
	}
	need, mean := make([]float64, len(u.CPU)), meanCaps(u)
	for i := range need {
		need[i] = largestNeed(u, mean, int32(i))
	}
	return order.Falling(instanceOrder(u), need)
}

// greedyBy places the tasks in the order of a function.
func greedyBy(order func(*view.VCSched) []int32) placer {
	return func(ctx context.Context, u *view.VCSched, _ model.Settings) ([]int32, error) {
		return greedy(ctx, u, order(u))
	}
}

func greedy(ctx context.Context, u *view.VCSched, order []int32) ([]int32, error) {
	hosts := make([]int32, len(order))
	s := newLeastLoad(u)
	looks := watch{ctx: ctx}
	for _, i := range order {
		before := s.nodes
		best := s.best(i)
		if looks.over(s.nodes - before) {
			return nil, stopped(ctx)
		}
		if best < 0 {
			return nil, fmt.Errorf("%w: no host has the memory for task %d", model.ErrNoSolution, i)
		}
		hosts[i] = int32(best)
		s.put(i, best)
	}
	return hosts, nil
}
