// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// QuickOf computes the bounds that need no linear program, each with its evidence:
//
//   - critical-path: the longest path, each task at its least cost, edges free. O(V M + E)
//   - communication-path: the longest path, with each task on its best machine for its predecessors and successors, and
//     edges between machines at their length. Without a path for some data it alone says that there is no schedule.
//     O(E M²)
//   - area: the least costs together over the number of machines, or the same
//     with machines weighted by their speed. Of machines that run several tasks at once a cost counts by the share of a
//     resource that the task takes, here and below, and the resource is the one that gives most. O(V M R)
//   - fernandez-bussell: the work that can't be moved out of some interval
//     (Fernández, Bussell 1973), with the heads and tails of communication-path and
//     least costs. O(V P²) for P ends of intervals, at most 200 and fewer on large
//     graphs
//   - gathering: under contention, the longest path where tasks and data must come together on a machine, which runs
//     one at a time, and its links, see gathering
//   - traffic: under contention, the time of machines and their links over mixed places of the tasks, see traffic
//
// If all times have a common unit, the sums are exact, and so are the bounds except for a division, which rounds down.
// Elsewhere they are lowered by more than rounding can add.
//
// critical-path and area are computed in any case. When ctx ends, communication-path, gathering and traffic are left
// out, and fernandez-bussell is the bound proved so far.
func QuickOf(ctx context.Context, d *model.DAG) []bounds.Bound {
	x := newDAGPaths(ctx, view.Shared(ctx, d, view.OfDAG))
	all := x.quick(ctx)
	if x.g.Tasks == 0 || all[0].Infeasible {
		return all
	}
	resource := ""
	if x.resource >= 0 {
		resource = d.Resources[x.resource]
	}
	for k := range all {
		switch b := &all[k]; b.Name {
		case "critical-path":
			b.Evidence = x.named(d, x.chain())
		case "communication-path":
			b.Evidence = x.named(d, x.binding(ctx))
		case "area":
			if x.weights != nil {
				b.Evidence = &model.Evidence{Type: evidence.Load, Weights: x.weights, Resource: resource}
			}
		case "fernandez-bussell":
			if x.window[1] > x.window[0] {
				b.Evidence = &model.Evidence{Type: evidence.Interval, Window: slices.Clone(x.window[:]), Resource: resource} // without the rest of x
			} else {
				b.Evidence = x.named(d, x.straight(ctx))
			}
		case "gathering":
			b.Evidence = x.gather.evidence(d)
		case "traffic":
			b.Evidence = x.traffic.evidence()
			b.Evidence.Resource = resource
		}
		if all[k].Evidence != nil {
			all[k].Evidence.Method = all[k].Name
		}
	}
	return all
}

// named returns evidence that names tasks, nil without any.
func (x *dagPaths) named(d *model.DAG, tasks []int32) *model.Evidence {
	if len(tasks) == 0 {
		return nil
	}
	e := &model.Evidence{Type: evidence.Path}
	for _, t := range tasks {
		e.Elements = append(e.Elements, d.Tasks[t].ID)
	}
	return e
}

// chain returns the tasks of a longest path of least costs.
func (x *dagPaths) chain() []int32 {
	g := x.g
	end, from := make([]float64, g.Tasks), make([]int32, g.Tasks)
	last := g.Order[0]
	for _, t := range g.Order {
		from[t] = -1
		for _, e := range g.Pred(t) {
			if p := g.From[e]; from[t] < 0 || end[p] > end[t] {
				end[t], from[t] = end[p], p
			}
		}
		if end[t] += x.cost[t]; end[t] > end[last] {
			last = t
		}
	}
	var path []int32
	for t := last; t >= 0; t = from[t] {
		path = append(path, t)
	}
	slices.Reverse(path)
	return path
}

// straight returns the tasks of a path with least heads, costs and tails that sum to the horizon of fernandezBussell.
// The least heads and tails of its task of the largest sum need the paths to and from it, on all machines.
func (x *dagPaths) straight(ctx context.Context) []int32 {
	best, most := int32(0), -1.0
	for t := range x.g.Tasks {
		if sum := x.start[t] + x.cost[t] + x.rest[t]; sum > most {
			best, most = int32(t), sum
		}
	}
	return x.around(ctx, best)
}

// binding returns the tasks that make the longest communication path: a path if one
// does, else the tasks of several; none once ctx has ended.
func (x *dagPaths) binding(ctx context.Context) []int32 {
	if !x.have(ctx, false) {
		return nil
	}
	after := x.way()
	if !x.have(ctx, true) {
		return nil
	}
	path := x.way()
	slices.Reverse(path)
	path = append(append(path, x.widest), after...)
	if x.along(path) >= x.longest {
		return path
	}
	return x.around(ctx, x.widest)
}

// have makes rows hold heads, if forward, or tails, and returns false if ctx ended.
func (x *dagPaths) have(ctx context.Context, forward bool) bool {
	if x.whole && x.forward != forward {
		x.whole = x.fill(ctx, forward)
	}
	return x.whole
}

// way returns the tasks before (after) the task of the longest path that bind on its machine, and so on, by the heads
// (tails) that there are.
func (x *dagPaths) way() (tasks []int32) {
	for t, a := x.binds(x.widest, x.on); t >= 0; t, a = x.binds(t, a) {
		tasks = append(tasks, t)
	}
	return tasks
}

// end returns the earliest end of task p on machine b (or its latest start, from the
// end, if not forward) and the machine of the least arrival over edge e on machine a.
func (x *dagPaths) end(p, e int32, a int) (least float64, on int) {
	g, m := x.g, x.g.Machines
	least = math.Inf(1)
	for b, v := range x.row(p) {
		length := g.Comm(e, int32(b), int32(a))
		if !x.forward {
			length = g.Comm(e, int32(a), int32(b))
		}
		if v += g.Cost[int(p)*m+b]; v+length < least {
			least, on = v+length, b
		}
	}
	return least, on
}

// beside returns the edges into (out of) a task, and the tasks at their other ends by edge.
func (x *dagPaths) beside(t int32) (edges, ends []int32) {
	if x.forward {
		return x.g.Pred(t), x.g.From
	}
	return x.g.Succ(t), x.g.To
}

// binds returns the task before (after) t that makes the head (tail) of t on machine
// a, and its machine; -1 if there is none.
func (x *dagPaths) binds(t int32, a int) (task int32, on int) {
	edges, ends := x.beside(t)
	task = -1
	most := math.Inf(-1)
	for _, e := range edges {
		if v, b := x.end(ends[e], e, a); v > most {
			task, on, most = ends[e], b, v
		}
	}
	return task, on
}

// bindAll sets task to the result of binds on each machine, and most to the head (tail) there.
func (x *dagPaths) bindAll(task []int32, most []float64, t int32) {
	for a := range task {
		task[a], most[a] = -1, math.Inf(-1)
	}
	edges, ends := x.beside(t)
	for _, e := range edges {
		p := ends[e]
		x.reach(x.scratch, x.row(p), p, e)
		for a, v := range x.scratch {
			if v > most[a] {
				task[a], most[a] = p, v
			}
		}
	}
}

// along returns the bound by a chain of tasks alone, as newDAGPaths computes it.
func (x *dagPaths) along(path []int32) float64 {
	g, m := x.g, x.g.Machines
	end := slices.Clone(g.Cost[int(path[0])*m:][:m])
	for k := 1; k < len(path); k++ {
		var edge int32
		for _, e := range g.Pred(path[k]) {
			if g.From[e] == path[k-1] {
				edge = e
			}
		}
		next := make([]float64, m)
		for a := range m {
			next[a] = math.Inf(1)
			for b := range m {
				next[a] = min(next[a], end[b]+g.Comm(edge, int32(b), int32(a)))
			}
			next[a] += g.Cost[int(path[k])*m+a]
		}
		end = next
	}
	return slices.Min(end)
}

// around returns the tasks that bind the heads and tails of t on any machine, and of
// those, and so on, in topological order; none once ctx has ended.
func (x *dagPaths) around(ctx context.Context, t int32) []int32 {
	in := make([]bool, x.g.Tasks)
	in[t] = true
	task, most := make([]int32, x.g.Machines), make([]float64, x.g.Machines)
	for _, forward := range []bool{x.forward, !x.forward} {
		if !x.have(ctx, forward) {
			return nil
		}
		seen := make([]bool, x.g.Tasks)
		for list := []int32{t}; len(list) > 0; {
			s := list[len(list)-1]
			list = list[:len(list)-1]
			x.bindAll(task, most, s)
			for _, p := range task {
				if p >= 0 && !seen[p] {
					seen[p], in[p] = true, true
					list = append(list, p)
				}
			}
		}
	}
	var all []int32
	for _, s := range x.g.Order {
		if in[s] {
			all = append(all, s)
		}
	}
	return all
}
