// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// placer returns the host of each task, in the instance's order.
type placer func(ctx context.Context, u *view.VCSched, set model.Settings) ([]int32, error)

// placed turns a placer into a heuristic of the paper. The placer chooses hosts; CPU shares make the minimum yield as
// large as these allow; then comes the second phase (section 3.5). The paper's heuristics take no migration budget.
func placed(ctx context.Context, in *model.VCSched, set model.Settings, place placer) (*model.Placement, error) {
	if in.MigrationBudget != nil {
		return nil, fmt.Errorf("%w: it knows no migration budget; use anneal, search or highs", model.ErrUnsupported)
	}
	u := view.Shared(ctx, in, view.OfVCSched)
	hosts, err := place(ctx, u, set)
	if err == nil && !u.Fits(hosts) {
		// The memory of some host fits in units and not exactly.
		hosts, err = place(ctx, u.Strict(), set)
	}
	if err == nil && !u.Fits(hosts) {
		err = fmt.Errorf("%w: the tasks that were put on some host don't quite fit", model.ErrNoSolution)
	}
	if err != nil {
		return nil, err
	}
	return placement.RaiseAverage(ctx, in, in.NewPlacement(hosts, in.Yield(hosts)))
}

// watch looks at a context once per million units of work, a millisecond or so.
type watch struct {
	ctx  context.Context
	work int
}

// over adds work about to be done, and reports whether the context is seen to have
// ended.
func (w *watch) over(work int) bool {
	if w.work -= work; w.work > 0 {
		return false
	}
	w.work = 1 << 20
	return meter.Stop(w.ctx, 1000)
}

func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: stopped (%w)", model.ErrNoSolution, context.Cause(ctx))
}
