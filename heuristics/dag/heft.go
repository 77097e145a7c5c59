package dag

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// HEFT is the Heterogeneous Earliest Finish Time heuristic (Topcuoglu, Hariri,
// Wu: Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous
// Computing, IEEE TPDS 2002; section 5.2 of the paper): tasks by descending
// upward rank, each inserted where it finishes first.
//
// O(V log V + E + V M log V) on a uniform network, O(E M) instead of O(E) on
// others: an insertion costs O(log gaps) on each machine.
var HEFT = replayed(heft)

func heft(ctx context.Context, g *model.Graph) (Plan, error) {
	b, err := heftWith(ctx, newCosts(g, nil))
	if err != nil {
		return Plan{}, err
	}
	return b.plan(), nil
}

// heftWith is HEFT with the given edge lengths.
func heftWith(ctx context.Context, c *costs) (*builder, error) {
	b := newBuilder(c)
	for k, t := range byPriority(c.g, c.upward()) {
		if k%checkEvery == 0 && ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		m, start := b.earliest(t)
		b.place(t, m, start)
	}
	return b, nil
}
