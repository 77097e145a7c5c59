// SPDX-License-Identifier: MIT

package dag

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
)

// OneMachine runs all tasks on the machine that takes the least time for them together, one after the other in a
// topological order, without any transfer. A schedule on several machines has to beat it. O(V M + E).
func OneMachine(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(oneMachine)(ctx, d, set))
}

func oneMachine(_ context.Context, g *view.Graph) (dagplay.Plan, error) {
	return onBestMachine(g), nil
}

// onBestMachine returns the plan of OneMachine, the first of equal machines.
func onBestMachine(g *view.Graph) dagplay.Plan {
	total := make([]float64, g.Machines)
	for k, c := range g.Cost {
		total[k%g.Machines] += c
	}
	best := int32(0)
	for m := range total {
		if total[m] < total[best] {
			best = int32(m)
		}
	}
	return dagplay.OnMachine(g, best)
}
