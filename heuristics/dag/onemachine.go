// SPDX-License-Identifier: MIT

package dag

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// OneMachine runs all tasks on the machine that takes the least time for them together, one after the other in a
// topological order, or as many at once as it has room for, without any transfer. A schedule on several machines has to
// beat it. If no machine can run all tasks, it is one that can run most of them, and each of the others goes where it
// takes the least time. If their data have no path there, a search finds machines for all (dagplay.Start). O(V M + E),
// with a search exponential.
func OneMachine(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(oneMachine)(ctx, d, set))
}

func oneMachine(ctx context.Context, g *view.Graph) (dagplay.Plan, error) { return startPlan(ctx, g) }

// startPlan is dagplay.Start within a context.
func startPlan(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	return dagplay.Start(g, func(effort int64) bool { return meter.Stop(ctx, effort) })
}
