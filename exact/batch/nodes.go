// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/problem/batch/pooled"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// The kernel on a machine of nodes decides the starts, and a search places the jobs of each solution (Hooker, Ottosson:
// Logic-based Benders decomposition, 2003).
//
// # Overlaps
//
// Whether jobs have nodes depends on nothing but the pairs of them that run at one time. Jobs on a node fit it at each
// instant, and the jobs of an instant are pairwise at one time; pairwise overlapping intervals have a common instant
// (Helly 1923). So a set E of pairs is crowded, nodes of jobs can't be chosen such that pairwise overlapping jobs fit
// each node together, if and only if no schedule in which all of E overlap has nodes. A nogood says that E don't all
// overlap.
//
// Jobs that have no group in common are never on one node: their pair is left out of E.
type overlaps struct {
	t      *view.Batch
	place  *placement
	before [][]cp.Var // whether i ends before k starts; -1: they have no group in common
}

// restrict adds to a model of starts that jobs have nodes: pooled resources, and the overlaps.
func (m *kernelModel) restrict(ctx context.Context, j *jobs) *overlaps {
	o := &overlaps{t: j.t, place: newPlacement(ctx, j.t)}
	n := len(m.starts)
	for i := range n {
		o.before = append(o.before, make([]cp.Var, n))
		for k := range n {
			o.before[i][k] = -1
			if i != k && shareGroup(j.t.Jobs[i].Needs, j.t.Jobs[k].Needs) {
				o.before[i][k] = m.order(i, k, j.length[i])
			}
		}
	}
	return o
}

// order returns a Boolean that is 1 if and only if job i, of a length, ends before k starts.
func (m *kernelModel) order(i, k int, length int64) cp.Var {
	b, x, y := m.Bool(), m.starts[i], m.starts[k]
	most := max(0, m.High[x]+length-m.Low[y])
	m.Add(&cp.Linear{Terms: []cp.Term{{Times: 1, Var: x}, {Times: -1, Var: y}}, AtMost: most - length,
		Groups: [][]cp.Choice{{{If: b.Is(), Value: most}, {If: b.AtMost(0)}}}})
	most = max(0, m.High[y]-m.Low[x]-length+1)
	m.Add(&cp.Linear{Terms: []cp.Term{{Times: 1, Var: y}, {Times: -1, Var: x}}, AtMost: most + length - 1,
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
	switch o.place.place(jobs, start, end) {
	case unknown:
		return nil, false
	case placed:
		return nil, true
	}
	crowds := func(jobs []int) bool { return len(jobs) > 0 && o.place.place(jobs, start, end) == crowded }
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
func (o *overlaps) nogoods(start, end []int64) (all []cp.Nogood, work int64, ok bool) {
	before := o.place.steps
	pairs, ok := o.crowd(start, end)
	if len(pairs) > 0 {
		var g cp.Nogood
		for _, x := range pairs {
			g = append(g, o.before[x[0]][x[1]].AtMost(0), o.before[x[1]][x[0]].AtMost(0))
		}
		all = append(all, g)
	}
	return all, stepWork * int64(o.place.steps-before), ok
}

// stepWork is the work of a step of a placement, in 10 ns.
const stepWork = 30

// rows returns the pooled resources of the nodes, the ones with the most work first: of each resource r, set of groups,
// and need e of some process of it, the multiples of e. On a node of capacity c processes with needs x hold Σ ⌊x/e⌋ ≤
// ⌊Σ x/e⌋ ≤ ⌊c/e⌋ of them. A job that has its nodes alone holds all of them: of slots s and room for f processes on a
// node of group g its p processes hold p min s_g/f_g at least, and the slots of one node. Rows that all jobs together
// don't exceed are left out.
func rows(t *view.Batch) []*view.Batch {
	type row struct {
		*view.Batch
		area float64
	}
	var all []row
	for _, groups := range pooled.Sets(t) {
		for r := range t.Nodes.Resources {
			steps := []int64{1}
			for k := range t.Jobs {
				if e := t.Jobs[k].Needs.Each[r]; e > 1 && !slices.Contains(steps, e) {
					steps = append(steps, e)
				}
			}
			slices.Sort(steps)
			for _, e := range steps[:min(len(steps), mostSteps)] {
				slots := func(g int) int64 { return t.Nodes.Capacity[g][r] / e }
				p := pooled.Of(t, groups, slots, func(j *view.BatchJob) int64 { return takes(t, j, slots, j.Needs.Each[r]/e) })
				if p == nil {
					continue
				}
				x, sum := row{Batch: p}, int64(0)
				for k := range p.Jobs {
					sum += int64(p.Jobs[k].Processes)
					x.area += float64(p.Jobs[k].Length) * float64(p.Jobs[k].Processes) / float64(p.Processors)
				}
				if sum > int64(p.Processors) {
					all = append(all, x)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.area, a.area) })
	list := make([]*view.Batch, 0, mostRows)
	for _, x := range all[:min(len(all), mostRows)] {
		list = append(list, x.Batch)
	}
	return list
}

const (
	mostRows  = 12
	mostSteps = 6 // needs of a resource
)

// takes returns how many slots the processes of a job hold at least, each by itself so many.
func takes(t *view.Batch, j *view.BatchJob, slots func(g int) int64, each int64) int64 {
	all := int64(j.Processes) * each
	if !j.Needs.Exclusive {
		return all
	}
	least, one := int64(-1), int64(-1)
	for _, g := range j.Needs.Groups() {
		fit := nodes.Each(j.Needs, t.Nodes.Capacity[g], j.Processes)
		if fit == 0 {
			continue
		}
		high, low := bits.Mul64(uint64(j.Processes), uint64(slots(int(g))))
		held, rest := bits.Div64(high, low, uint64(fit))
		if rest > 0 {
			held++
		}
		if least < 0 || int64(held) < least {
			least = int64(held)
		}
		if one < 0 || slots(int(g)) < one {
			one = slots(int(g))
		}
	}
	return max(all, least, one)
}

// pool adds rows to a model: the capacity of each, and for the first ones the bound by prices.
func (m *kernelModel) pool(ctx context.Context, j *jobs, starts []cp.Start, most, constant int64, off deviceSet) {
	if off&devRows != 0 {
		return
	}
	for n, p := range rows(j.t) {
		row, of, paying := &cp.Cumulative{Capacity: int64(p.Processors)}, make([]int, len(p.Jobs)), *p
		paying.Jobs = nil
		goal := float64(most) * float64(j.units.Time)
		for k := range p.Jobs {
			if of[k] = -1; p.Jobs[k].Processes > 0 {
				of[k], paying.Jobs = len(paying.Jobs), append(paying.Jobs, p.Jobs[k])
				row.Starts, row.Lengths = append(row.Starts, starts[k]), append(row.Lengths, j.length[k])
				row.Demands = append(row.Demands, int64(p.Jobs[k].Processes))
			} else {
				goal -= float64(j.weight[k]) * float64(p.Jobs[k].Length) // its least response
			}
		}
		m.Add(row)
		if n < pricedRows && off&devPrices == 0 {
			unit := batchbounds.UnitsOf(&paying).Weight / j.units.Weight // others' weights may not be multiples of it
			priced := batchbounds.NewPriced(ctx, &paying, goal/float64(unit), priceSteps(len(paying.Jobs)))
			m.charge(j, priced, starts, of, float64(unit), constant)
		}
	}
}

const pricedRows = 3

// place completes the question about a model of the starts on nodes.
func (m *kernelModel) place(ctx context.Context, in *model.Batch, j *jobs, q *engine.Kernel) {
	o := m.restrict(ctx, j)
	times := func(values []int64) (start, end []int64) {
		for k, v := range m.starts {
			start, end = append(start, values[v]), append(end, values[v]+j.length[k])
		}
		return start, end
	}
	q.Lazy = func() func([]int64) ([]cp.Nogood, int64, bool) {
		o := o.clone()
		return func(values []int64) ([]cp.Nogood, int64, bool) { return o.nogoods(times(values)) }
	}
	q.Solution = func(values []int64) (model.Solution, error) {
		start, end := times(values)
		o.place.ctx = context.WithoutCancel(ctx) // the same search has found nodes
		if o.place.place(order.Of[int](len(start)), start, end) != placed {
			return nil, errors.New("batch: jobs of a solution have no nodes")
		}
		lengths, _, err := processors.Lengths(j.t)
		if err != nil {
			return nil, err
		}
		c := &processors.Course{Starts: j.ticks(start), Lists: slices.Clone(o.place.lists)}
		return c.Execution(in, j.t, lengths)
	}
}

// clone returns overlaps for another kernel.
func (o *overlaps) clone() *overlaps {
	c := *o
	c.place = newPlacement(o.place.ctx, o.t)
	return &c
}
