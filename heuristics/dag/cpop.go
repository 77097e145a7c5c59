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

// CPOP is Critical Path on a Processor (Topcuoglu, Hariri, Wu 2002). It takes ready tasks by descending sum of upward
// and downward rank. The tasks of the critical path go to the machine with the least sum of their costs, the others, by
// insertion, where they finish first. If there are several critical paths, it takes the one through the lowest task
// numbers. If no machine can run all tasks of the path, the machine is one that can run most of them, and the rest are
// others.
//
// O(V log V + E + V M log V) on a uniform network, O(E M) instead of O(E) on
// others.
func CPOP(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(cpop)(ctx, d, set))
}

func cpop(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	c := newCosts(g, nil)
	up, priority := c.upward(), c.downward()
	for t := range priority {
		priority[t] += up[t]
	}
	critical := criticalPath(c, priority)
	machine := dagplay.BestMachine(g, func(t int32) bool { return critical[t] }, false)
	b := newBuilder(c)
	q := newReady(g, classes(priority))
	for k := 0; q.Len() > 0; k++ {
		if k%checkEvery == 0 && meter.Stop(ctx, checkEvery) {
			return dagplay.Plan{}, stopped(ctx)
		}
		t := q.Pop()
		m, start := machine, math.Inf(1)
		if critical[t] && g.Runs(t, m) {
			start = b.find(t, m, b.arrive(t)[m])
		}
		if math.IsInf(start, 1) {
			m, start = b.earliest(t)
		}
		if m < 0 {
			return dagplay.Plan{}, errStuck
		}
		b.place(t, m, start)
		q.done(t)
	}
	return b.plan(), nil
}

// criticalPath marks the tasks of one path from an entry task to an exit on
// which every task has the highest priority.
func criticalPath(c *costs, priority []float64) []bool {
	g := c.g
	on := make([]bool, g.Tasks)
	at, highest := int32(-1), math.Inf(-1)
	for t := range int32(g.Tasks) {
		if len(g.Pred(t)) == 0 && less(highest, priority[t]) || at < 0 && len(g.Pred(t)) == 0 {
			at, highest = t, priority[t]
		}
	}
	for at >= 0 {
		on[at] = true
		next := int32(-1)
		for _, e := range g.Succ(at) {
			s := g.To[e]
			if !less(priority[s], highest) && (next < 0 || s < next) {
				next = s
			}
		}
		at = next
	}
	return on
}
