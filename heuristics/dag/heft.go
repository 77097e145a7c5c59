// SPDX-License-Identifier: MIT

package dag

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// HEFT is the Heterogeneous Earliest Finish Time heuristic (Topcuoglu, Hariri, Wu: Performance-Effective and
// Low-Complexity Task Scheduling for Heterogeneous Computing, IEEE TPDS 2002; section 5.2 of the paper). It takes tasks
// by descending upward rank, and inserts each where it finishes first.
//
// O(V log V + E + V M log V) on a uniform network, O(E M) instead of O(E) on
// others: an insertion costs O(log gaps) on each machine, on one that runs several tasks at once as capacity says.
func HEFT(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(tracedHEFT(ctx, d, set))
}

func tracedHEFT(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, []model.Round, error) {
	plan := func(ctx context.Context, g *view.Graph) (dagplay.Plan, error) { return heft(ctx, g, newTracer(d, set)) }
	return listed(plan)(ctx, d, set)
}

func heft(ctx context.Context, g *view.Graph, x *tracer) (dagplay.Plan, error) {
	b, err := heftWith(ctx, newCosts(g, nil), x)
	if err != nil {
		return dagplay.Plan{}, err
	}
	return b.plan(), nil
}

// heftWith is HEFT with the given edge lengths. It reports each step to its tracer, if not nil.
func heftWith(ctx context.Context, c *costs, x *tracer) (*builder, error) {
	b, rank := newBuilder(c), c.upward()
	order := byPriority(c.g, rank)
	x.ranks(rank)
	x.order(order)
	for k, t := range order {
		if k%checkEvery == 0 && meter.Stop(ctx, checkEvery) {
			return nil, stopped(ctx)
		}
		m, start := b.earliest(t)
		if m < 0 {
			return nil, errStuck
		}
		x.choose(b, t, m, start)
		b.place(t, m, start)
	}
	return b, nil
}
