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
// O((V log R + E) M) for at most R tasks ready at a time, if few levels are equal to the highest, else as with room for
// several tasks: O(V R M + E M), where R searches for room come to each task.
func DLS(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(listed(dls)(ctx, d, set))
}

func dls(ctx context.Context, g *view.Graph) (dagplay.Plan, error) {
	b := newBuilder(newCosts(g, nil))
	return dlsBy(ctx, b, b.rooms == nil)
}

// dlsTasks are the tasks of DLS with what the levels of ready ones need.
type dlsTasks struct {
	*builder
	static   []float64   // of each task
	arrivals [][]float64 // of each ready task and machine, and since when there is room behind the others, if it has some
	free     []float64   // of each machine
}

// level returns the dynamic level of a ready task on a machine.
func (r *dlsTasks) level(t, m int32) float64 {
	return r.static[t] - max(r.free[m], r.arrivals[t][m]) + r.mean[t] - r.cost(t, m)
}

// dlsBy looks for the next task in queues of levels, or at every ready task.
func dlsBy(ctx context.Context, b *builder, queued bool) (dagplay.Plan, error) {
	g := b.g
	r := &dlsTasks{builder: b, static: make([]float64, g.Tasks), arrivals: make([][]float64, g.Tasks),
		free: make([]float64, g.Machines)}
	for k := len(g.Order) - 1; k >= 0; k-- {
		t := g.Order[k]
		for _, e := range g.Succ(t) {
			r.static[t] = max(r.static[t], r.static[g.To[e]])
		}
		r.static[t] += b.mean[t]
	}
	var open []int32 // in the order in which they got ready; unused with queues
	var queues *levelQueues
	if queued {
		queues = newLevelQueues(r)
	}
	count := 0
	add := func(t int32) {
		if r.arrivals[t], count = slices.Clone(b.arrive(t)), count+1; queued {
			queues.add(t)
		} else {
			open = append(open, t)
		}
	}
	missing := make([]int, g.Tasks)
	for t := range int32(g.Tasks) {
		if missing[t] = len(g.Pred(t)); missing[t] == 0 {
			add(t)
		}
	}
	for count > 0 {
		if meter.Stop(ctx, int64(count*g.Machines)/100+1) {
			return dagplay.Plan{}, stopped(ctx)
		}
		from := open
		if queued {
			from = queues.highest()
		}
		k, machine := r.next(from)
		if k < 0 {
			return dagplay.Plan{}, errStuck
		}
		t := from[k]
		start := max(r.free[machine], r.arrivals[t][machine])
		r.free[machine] = b.follow(t, machine, start)
		r.arrivals[t], count = nil, count-1
		if queued {
			queues.arrived(machine)
		} else {
			open = slices.Delete(open, k, k+1)
		}
		if b.rooms != nil {
			for _, u := range open {
				r.arrivals[u][machine] = b.behind(u, machine, r.arrivals[u][machine], start)
			}
		}
		for _, e := range g.Succ(t) {
			s := g.To[e]
			if missing[s]--; missing[s] == 0 {
				add(s)
				if b.rooms != nil {
					for m, at := range r.arrivals[s] {
						r.arrivals[s][m] = b.behind(s, int32(m), at, r.free[m])
					}
				}
			}
		}
	}
	return b.plan(), nil
}

// next returns the index of the task of the highest level and its machine; -1 if no level is finite.
func (r *dlsTasks) next(open []int32) (task int, machine int32) {
	best := math.Inf(-1)
	for k, t := range open {
		for m := range int32(r.g.Machines) {
			level := r.level(t, m)
			if less(best, level) || !less(level, best) && k != task && t < open[task] {
				task, machine, best = k, m, level
			}
		}
	}
	if math.IsInf(best, -1) {
		return -1, 0
	}
	return task, machine
}
