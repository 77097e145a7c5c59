package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// First returns a placement in little time: the greedy one, tasks by decreasing larger
// need on the host of least load that has the memory, those that run now where they are
// if there is a migration budget. Where that doesn't fit and nothing runs, it is MCB8's.
// Parallel jobs stay at the minimum yield, since more takes a linear program.
func First(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	u := in.Units()
	hosts := greedyStart(u)
	if !u.Fits(hosts) {
		if in.MigrationBudget != nil {
			return nil, fmt.Errorf("%w: the greedy placement doesn't fit", model.ErrNoSolution)
		}
		var err error
		if hosts, err = searchYield(ctx, u, newPacker(u, largerKey, -1, nil), nil); err != nil {
			return nil, err
		}
		if !u.Fits(hosts) {
			return nil, fmt.Errorf("%w: the tasks that were put on some host don't quite fit", model.ErrNoSolution)
		}
	}
	lowest := in.Yield(hosts)
	for i := range in.Jobs {
		if in.Jobs[i].Tasks > 1 {
			return in.NewPlacement(hosts, lowest), nil
		}
	}
	return raiseGreedily(in, hosts, lowest), nil
}
