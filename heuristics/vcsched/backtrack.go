// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// placementAttempts limits how often GB and SGB put a task on a host (section 3.3).
const placementAttempts = 500_000

// GB is GR with chronological backtracking: if no host has the memory for a task, the
// task before tries its next host in the order of load. It fails after
// placementAttempts placements.
// O(placementAttempts H + nH).
func GB(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, backtrackBy(instanceOrder))
}

// SGB is GB with the tasks by decreasing memory need.
func SGB(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, backtrackBy(memoryOrder))
}

// backtrackBy places the tasks in the order of a function.
func backtrackBy(order func(*view.VCSched) []int32) placer {
	return func(ctx context.Context, u *view.VCSched, _ model.Settings) ([]int32, error) {
		return backtrack(ctx, u, order(u), placementAttempts)
	}
}

// backtrack places the tasks in order. Each level tries hosts by (load, number), so the next one is the smallest pair
// above the last: a scan finds it, without a sorted list for each level.
func backtrack(ctx context.Context, u *view.VCSched, order []int32, attempts int) ([]int32, error) {
	hosts := make([]int32, len(order))
	s := newStock(u)
	last := make([]int32, len(order)) // host tried last at a level, -1 for none
	last[0] = -1
	looks := watch{ctx: ctx}
	for k, made := 0, 0; k < len(order); {
		if looks.over(u.Hosts) {
			return nil, stopped(ctx)
		}
		i := order[k]
		from := last[k]
		if from >= 0 { // take it back
			s.put(i, int(from), -1)
		}
		next := s.nextByLoad(i, from)
		if next < 0 {
			if k--; k < 0 {
				return nil, fmt.Errorf("%w: every placement was tried, none fits in memory", model.ErrNoSolution)
			}
			continue
		}
		if made++; made > attempts {
			return nil, fmt.Errorf("%w: %d placements were tried", model.ErrNoSolution, attempts)
		}
		s.put(i, int(next), 1)
		hosts[i], last[k] = next, next
		if k++; k < len(order) {
			last[k] = -1
		}
	}
	return hosts, nil
}

// nextByLoad returns the host for task i that is next by (load, number) after host from,
// the first for -1; -1 if there is none.
func (s *stock) nextByLoad(i, from int32) int32 {
	if s.plain { // the time of backtrack goes here
		next, load, room := int32(-1), s.load, s.most-s.u.Memory[i]
		for h, used := range s.memory {
			if used > room || next >= 0 && load[h] >= load[next] {
				continue
			}
			if from < 0 || load[h] > load[from] || load[h] == load[from] && h > int(from) {
				next = int32(h)
			}
		}
		return next
	}
	next, least, tried := int32(-1), int64(0), int64(0)
	if from >= 0 {
		tried = s.loadWith(i, int(from))
	}
	for h := range int32(s.u.Hosts) {
		if !s.fits(i, int(h)) {
			continue
		}
		load := s.loadWith(i, int(h))
		if next >= 0 && load >= least {
			continue
		}
		if from < 0 || load > tried || load == tried && h > from {
			next, least = h, load
		}
	}
	return next
}
