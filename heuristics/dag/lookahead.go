// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Lookahead is HEFT with a look at the children (Bittencourt, Sakellariou, Madeira: DAG Scheduling Using a Lookahead
// Variant of the Heterogeneous Earliest Finish Time Algorithm, PDP 2010). A task goes to the machine on which the
// latest finish of its children is least, if HEFT inserts these right after it, in the order of their numbers. Ties go
// to the machine on which the task itself finishes first. The children's other parents count only if they are placed.
//
// O(E M² log V) on a uniform network.
func Lookahead(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(lookahead)(ctx, d, set))
}

func lookahead(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	c := newCosts(g, nil)
	b := newBuilder(c)
	starts := make([]float64, g.Machines)
	for _, t := range byPriority(g, c.upward()) {
		if meter.Stop(ctx, int64(g.Machines*g.Machines)/8+1) {
			return dagplay.Plan{}, stopped(ctx)
		}
		at := b.arrive(t)
		for m := range starts {
			starts[m] = b.find(t, int32(m), at[m])
		}
		best, own, last := int32(-1), math.Inf(1), math.Inf(1)
		for m := range int32(g.Machines) {
			if !g.Runs(t, m) || math.IsInf(starts[m], 1) {
				continue
			}
			b.place(t, m, starts[m])
			latest := b.finish[t]
			for _, e := range g.Succ(t) {
				s := g.To[e]
				on, start := b.earliest(s)
				if on < 0 {
					latest = math.Inf(1)
					break
				}
				b.place(s, on, start)
				latest = max(latest, b.finish[s])
			}
			for _, e := range g.Succ(t) {
				if s := g.To[e]; b.machine[s] >= 0 {
					b.unplace(s)
				}
			}
			if less(latest, last) || !less(last, latest) && less(b.finish[t], own) {
				best, own, last = m, b.finish[t], latest
			}
			b.unplace(t)
		}
		if best < 0 {
			return dagplay.Plan{}, errStuck
		}
		b.place(t, best, starts[best])
	}
	return b.plan(), nil
}
