package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// placer chooses the host of every task, task by task in the instance's order.
type placer func(ctx context.Context, in *model.VCSched, u *model.VCSchedUnits, set model.Settings) ([]int32, error)

// run is what every heuristic of the paper does around its placer: the CPU
// shares that make the minimum yield largest on the hosts chosen, then the
// second phase (section 3.5). The paper's heuristics don't know of migration
// budgets.
func run(ctx context.Context, in *model.VCSched, set model.Settings, place placer) (*model.Placement, error) {
	if in.MigrationBudget != nil {
		return nil, fmt.Errorf("%w: it knows no migration budget; use anneal, search or highs", model.ErrUnsupported)
	}
	u := in.Units()
	hosts, err := place(ctx, in, u, set)
	if err == nil && !u.Fits(hosts) {
		// In units the memory on some host was within its rounding.
		hosts, err = place(ctx, in, u.Strict(), set)
	}
	if err != nil {
		return nil, err
	}
	return RaiseAverage(ctx, in, in.NewPlacement(hosts, in.Yield(hosts)))
}

// watch looks at a context now and then: after about a million units of work,
// a millisecond or so.
type watch struct {
	ctx  context.Context
	work int
}

// over adds the work about to be done and reports whether the context was seen
// to have ended.
func (w *watch) over(work int) bool {
	if w.work -= work; w.work > 0 {
		return false
	}
	w.work = 1 << 20
	return w.ctx.Err() != nil
}

func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: stopped (%w)", model.ErrNoSolution, context.Cause(ctx))
}
