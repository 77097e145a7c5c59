// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// DLS is Dynamic Level Scheduling (Sih, Lee: A Compile-Time Scheduling Heuristic for Interconnection-Constrained
// Heterogeneous Processor Architectures, IEEE TPDS 1993) without its routing. Among all pairs of a ready task and a
// machine, the one with the highest dynamic level is next, at the end of the machine's list. The level is the static
// level (the longest path of mean costs to an exit, without communication) less the start, plus the mean cost less the
// cost on the machine. Ties go to the task, then the machine, with the lowest number.
//
// On machines that run several tasks at once, a task starts behind another one as soon as it has room, and no sooner
// than that.
//
// O(V R M + E M) for at most R tasks ready at a time; with room for several, R searches for room more for each task.
func DLS(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(dls)(ctx, d, set))
}

func dls(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	c := newCosts(g, nil)
	static := make([]float64, g.Tasks)
	for k := len(g.Order) - 1; k >= 0; k-- {
		t := g.Order[k]
		for _, e := range g.Succ(t) {
			static[t] = max(static[t], static[g.To[e]])
		}
		static[t] += c.mean[t]
	}
	b := newBuilder(c)
	missing := make([]int, g.Tasks)
	arrivals := make([][]float64, g.Tasks) // and since when there is room behind the others, on machines that have some
	var open []int32
	for t := range int32(g.Tasks) {
		if missing[t] = len(g.Pred(t)); missing[t] == 0 {
			open, arrivals[t] = append(open, t), slices.Clone(b.arrive(t))
		}
	}
	free := make([]float64, g.Machines)
	for len(open) > 0 {
		if meter.Stop(ctx, int64(len(open)*g.Machines)/100+1) {
			return dagplay.Plan{}, stopped(ctx)
		}
		task, machine, best := 0, int32(0), math.Inf(-1)
		for k, t := range open {
			for m := range int32(g.Machines) {
				level := static[t] - max(free[m], arrivals[t][m]) + c.mean[t] - b.cost(t, m)
				if less(best, level) || !less(level, best) && k != task && t < open[task] {
					task, machine, best = k, m, level
				}
			}
		}
		if math.IsInf(best, -1) {
			return dagplay.Plan{}, errStuck
		}
		t := open[task]
		start := max(free[machine], arrivals[t][machine])
		free[machine] = b.follow(t, machine, start)
		open, arrivals[t] = slices.Delete(open, task, task+1), nil
		if b.rooms != nil {
			for _, u := range open {
				arrivals[u][machine] = b.behind(u, machine, arrivals[u][machine], start)
			}
		}
		for _, e := range g.Succ(t) {
			s := g.To[e]
			if missing[s]--; missing[s] == 0 {
				open, arrivals[s] = append(open, s), slices.Clone(b.arrive(s))
				if b.rooms != nil {
					for m, at := range arrivals[s] {
						arrivals[s][m] = b.behind(s, int32(m), at, free[m])
					}
				}
			}
		}
	}
	return b.plan(), nil
}
