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

// PEFT is Predict Earliest Finish Time (Arabnejad, Barbosa: List Scheduling Algorithm for Heterogeneous Systems by an
// Optimistic Cost Table, IEEE TPDS 2014). The ready task with the highest mean of its row in the optimistic cost table
// is next. It is inserted on the machine with the least sum of finish time and table entry.
//
// O(E M² + V M log V).
func PEFT(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(peft)(ctx, d, set))
}

func peft(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	c := newCosts(g, nil)
	table := c.optimistic()
	rank := make([]float64, g.Tasks)
	for t := range rank {
		rank[t] = c.over(t, table)
	}
	b := newBuilder(c)
	q := newReady(g, classes(rank))
	for k := 0; q.Len() > 0; k++ {
		if k%checkEvery == 0 && meter.Stop(ctx, checkEvery) {
			return dagplay.Plan{}, stopped(ctx)
		}
		t := q.Pop()
		at := b.arrive(t)
		machine, start, best := int32(-1), 0.0, math.Inf(1)
		for m := range at {
			s := b.find(t, int32(m), at[m])
			if sum := s + b.cost(t, int32(m)) + table[int(t)*g.Machines+m]; less(sum, best) {
				machine, start, best = int32(m), s, sum
			}
		}
		if machine < 0 {
			return dagplay.Plan{}, errStuck
		}
		b.place(t, machine, start)
		q.done(t)
	}
	return b.plan(), nil
}

// optimistic returns the optimistic cost table. Its entry for task t on machine m, at [t*Machines+m], is the length of
// the longest path from t's end to an exit, each successor on its best machine, with mean lengths of edges between
// machines. O(E M²).
func (c *costs) optimistic() []float64 {
	g, m := c.g, c.g.Machines
	table := make([]float64, g.Tasks*m)
	for k := len(g.Order) - 1; k >= 0; k-- {
		row := table[int(g.Order[k])*m:][:m]
		for _, e := range g.Succ(g.Order[k]) {
			s := int(g.To[e])
			// The best elsewhere doesn't depend on where t is.
			away := math.Inf(1)
			for w := range m {
				away = min(away, table[s*m+w]+g.Cost[s*m+w]+c.comm[e])
			}
			for p := range m {
				row[p] = max(row[p], min(away, table[s*m+p]+g.Cost[s*m+p]+g.Comm(e, int32(p), int32(p))))
			}
		}
	}
	return table
}
