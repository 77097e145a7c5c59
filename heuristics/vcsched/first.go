// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/model"
)

// greedyTasks is the number of tasks up to which the greedy placement takes no longer
// than MCB8's packing at one yield.
const greedyTasks = 200_000

// First returns a placement in little time: the greedy one, tasks by decreasing larger need on the host of least load
// that has the memory. Tasks that run now stay if there is a migration budget. If that doesn't fit, or there are many
// tasks, and nothing runs, it is MCB8's, unless ctx ends before. Parallel jobs stay at the minimum yield, since more
// takes a linear program, and so do many.
func First(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	u := view.Shared(ctx, in, view.OfVCSched)
	many := len(u.CPU) > greedyTasks && in.MigrationBudget == nil
	var hosts []int32
	var err error
	if !many {
		hosts = greedyStart(u)
	}
	// Strictly: with many tasks some host is filled up to the rounding of their needs.
	packer := newPacker(u.Strict(), largerKey, -1, nil)
	if many {
		hosts = packOnce(ctx, packer, min(1, in.Yield(make([]int32, len(u.CPU)))*float64(in.Hosts)))
	}
	if !u.Fits(hosts) && in.MigrationBudget == nil {
		if hosts, err = searchYield(ctx, u.Strict(), packer, nil); err != nil {
			return nil, err
		}
	}
	if !u.Fits(hosts) {
		return nil, fmt.Errorf("%w: neither the greedy placement nor MCB8's fits", model.ErrNoSolution)
	}
	lowest := in.Yield(hosts)
	for i := range in.Jobs {
		many = many || in.Jobs[i].Tasks > 1
	}
	if many {
		return in.NewPlacement(hosts, lowest), nil
	}
	return placement.RaiseGreedily(in, hosts, lowest), nil
}

// packOnce returns the first packing, at falling parts of the largest yield: so many tasks leave little room over. The
// last is made whatever ctx says: then there is a placement.
func packOnce(ctx context.Context, p packer, most float64) []int32 {
	for _, part := range []float64{0.98, 0.9} {
		if hosts, ok := p.pack(ctx, part*most); ok {
			return hosts
		}
	}
	hosts, _ := p.pack(context.WithoutCancel(ctx), most/2)
	return hosts
}
