// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// overlaps is the kernel's other half on a machine of nodes. The kernel decides the starts, and a search places the jobs
// of each of its solutions (Hooker, Ottosson: Logic-based Benders decomposition, 2003).
//
// Let E be a set of pairs of jobs, and call it crowded if nodes can't be chosen for the jobs such that each set of jobs
// that are pairwise in E fits each node together. If E is crowded, no schedule in which all pairs of E overlap in time
// has nodes: pairwise overlapping intervals have a common instant (Helly 1923), so that the jobs of such a set run at
// one time, and fit their nodes then. A nogood says that the pairs of E don't all overlap. If jobs at given times have
// no nodes, all overlapping pairs are crowded, for the jobs of an instant overlap pairwise. So a solution that no
// nogood excludes has nodes, and there are finitely many sets E.
//
// Jobs that have no group in common are never on one node. So their pair is in no set that must fit a node, and E is
// crowded without it if it is crowded with it.
type overlaps struct {
	place  *placement
	before [][]cp.Var // whether job i ends before k starts; -1: they have no group in common
	most   int        // steps of the search for nodes
}

// order returns a Boolean that is 1 if and only if job i, of a length, ends before k starts.
func (m *kernelModel) order(i, k int, length int64) cp.Var {
	b, x, y := m.Bool(), m.starts[i], m.starts[k]
	m.Call(b, fmt.Sprint("before ", i, " ", k))
	name := fmt.Sprint("order ", i, " ", k)
	most := max(0, m.High[x]+length-m.Low[y])
	m.AddAs(name, &cp.Linear{Terms: []cp.Term{{Times: 1, Var: x}, {Times: -1, Var: y}}, AtMost: most - length,
		Groups: [][]cp.Choice{{{If: b.Is(), Value: most}, {If: b.AtMost(0)}}}})
	most = max(0, m.High[y]-m.Low[x]-length+1)
	m.AddAs(name, &cp.Linear{Terms: []cp.Term{{Times: 1, Var: y}, {Times: -1, Var: x}}, AtMost: most + length - 1,
		Groups: [][]cp.Choice{{{If: b.AtMost(0), Value: most}, {If: b.Is()}}}})
	return b
}

// shareGroup reports whether two jobs may be on one node.
func shareGroup(a, b *view.NodeNeeds) bool {
	groups := b.Groups()
	return slices.ContainsFunc(a.Groups(), func(g int64) bool { return slices.Contains(groups, g) })
}

// crowd returns pairs of jobs that can't all overlap if the jobs have no nodes at their times, nil if they have; false
// if it takes too long to tell.
func (o *overlaps) crowd(start, end []int64) (pairs [][2]int, ok bool) {
	jobs := order.Of[int](len(start))
	switch o.place.place(jobs, start, end, o.most) {
	case unknown:
		return nil, false
	case placed:
		return nil, true
	}
	crowds := func(jobs []int) bool {
		return o.place.ctx.Err() == nil && o.place.place(jobs, start, end, mostCrowding) == crowded
	}
	jobs = slices.Clone(o.place.order[:o.place.deepest+1]) // no search came further
	for i := 0; i < len(jobs); {
		if without := slices.Delete(slices.Clone(jobs), i, i+1); crowds(without) {
			jobs = without
		} else {
			i++
		}
	}
	// Intervals lose one overlap after the other, as long as they are crowded.
	start, end = slices.Clone(start), slices.Clone(end)
	for _, k := range jobs {
		for crowdedBefore := true; crowdedBefore; {
			from, first := start[k], end[k]
			for _, i := range jobs {
				if i != k && overlap(start, end, i, k) {
					first = min(first, end[i])
				}
			}
			if start[k] = first; first == end[k] || !crowds(jobs) {
				start[k], crowdedBefore = from, false
			}
		}
		for crowdedBefore := true; crowdedBefore; {
			to, last := end[k], start[k]
			for _, i := range jobs {
				if i != k && overlap(start, end, i, k) {
					last = max(last, start[i])
				}
			}
			if end[k] = last; last == start[k] || !crowds(jobs) {
				end[k], crowdedBefore = to, false
			}
		}
	}
	for a, i := range jobs {
		for _, k := range jobs[:a] {
			if overlap(start, end, i, k) && o.before[i][k] >= 0 {
				pairs = append(pairs, [2]int{i, k})
			}
		}
	}
	return pairs, true
}

func overlap(start, end []int64, i, k int) bool { return start[i] < end[k] && start[k] < end[i] }

// nogoods returns a nogood that the starts of all jobs break: none if jobs have nodes then.
func (o *overlaps) nogoods(start, end []int64) (all []cp.Named, work int64, ok bool) {
	before := o.place.steps
	pairs, ok := o.crowd(start, end)
	if len(pairs) > 0 {
		g := cp.Named{Name: "crowd"}
		for _, x := range pairs {
			g.Nogood = append(g.Nogood, o.before[x[0]][x[1]].AtMost(0), o.before[x[1]][x[0]].AtMost(0))
			g.Name += fmt.Sprint(" ", x[1], " ", x[0]) // the checker places the jobs as they come: by start
		}
		all = append(all, g)
	}
	return all, stepWork * int64(o.place.steps-before), ok
}

// stepWork is the work of a step of a placement, in 10 ns.
const stepWork = 30

// place completes the question about a model of the starts on nodes; most is how many steps the search for nodes may
// take.
func (m *kernelModel) place(ctx context.Context, in *model.Batch, j *jobs, q *engine.Kernel, most int) {
	before := make([][]cp.Var, len(m.starts))
	for i := range before {
		before[i] = make([]cp.Var, len(m.starts))
		for k := range before[i] {
			if before[i][k] = -1; i != k && shareGroup(j.t.Jobs[i].Needs, j.t.Jobs[k].Needs) {
				before[i][k] = m.order(i, k, j.length[i])
			}
		}
	}
	times := func(values []int64) (start, end []int64) {
		for k, v := range m.starts {
			start, end = append(start, values[v]), append(end, values[v]+j.length[k])
		}
		return start, end
	}
	q.Lazy = func() func([]int64) ([]cp.Named, int64, bool) {
		o := &overlaps{newPlacement(ctx, j.t), before, most}
		return func(values []int64) ([]cp.Named, int64, bool) { return o.nogoods(times(values)) }
	}
	q.Solution = func(values []int64) (model.Solution, error) {
		start, end := times(values)
		p := newPlacement(context.WithoutCancel(ctx), j.t) // the same search has found nodes
		if p.place(order.Of[int](len(start)), start, end, most) != placed {
			return nil, errors.New("batch: the jobs of a solution have no nodes")
		}
		lengths, _, err := processors.Lengths(j.t)
		if err != nil {
			return nil, err
		}
		return (&processors.Course{Starts: j.ticks(start), Lists: p.lists}).Execution(in, j.t, lengths)
	}
}
