// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
)

// kernelModel is the constraint model of loss mode: the model of tvcbounds.Formulation in whole numbers. For each
// request that fits it holds whether the request is accepted, its lane, and its part at each node of the tree, with the
// part's lane. Its objective is the weight of the rejected requests.
type kernelModel struct {
	cp.Model
	in       *model.TVC
	t        *view.TVC
	w        *tvcrelax.Weights
	tree     *tvcrelax.Tree
	off      kernelSet
	total    int64 // weight of all requests
	requests []*placing
}

// placing is a request in the model.
type placing struct {
	index  int
	span   tvcrelax.Span
	accept cp.Var
	route  []cp.Var     // by lane of the root's children
	at     [][][]choice // by level and node; the first one is that it has nothing there
}

// choice is a possible part of a request at a node; lane is -1 if it loads none.
type choice struct {
	is   cp.Var
	part tvcrelax.Part
	lane int
}

// mostKernelVariables bounds the model.
const mostKernelVariables = 60_000

// kernelSize returns the number of variables of the model of some components.
func kernelSize(t *view.TVC, components ...[]int) (size int) {
	tree := tvcrelax.NewTree(t)
	for _, k := range slices.Concat(components...) {
		q := &t.Requests[k]
		size += 1 + tree.Lanes[tree.Root()-1]
		nodes := 0
		for level := range tree.Root() {
			nodes += t.Servers / tree.Servers(level)
		}
		if size += nodes; size > mostKernelVariables {
			return size
		}
		for level, parts := range tree.Parts(q.VMs, q.Bandwidth, t.PerPath) {
			size += len(parts) * tree.Lanes[level] * (t.Servers / tree.Servers(level))
		}
	}
	return size
}

// newKernelModel returns the model of some components without the devices that are off.
func newKernelModel(in *model.TVC, t *view.TVC, w *tvcrelax.Weights, off kernelSet, components ...[]int) *kernelModel {
	m := &kernelModel{in: in, t: t, w: w, tree: tvcrelax.NewTree(t), off: off}
	for _, k := range slices.Concat(components...) {
		m.total += w.Of[k]
	}
	m.Objective = m.Int(0, m.total)
	m.Call(m.Objective, "rejected")
	lost := &cp.Linear{AtMost: -m.total, Terms: []cp.Term{{Times: -1, Var: m.Objective}}}
	for _, part := range components {
		spans, instants := tvcrelax.Instants(t, part)
		var own []*placing
		for i, k := range part {
			r := m.place(k, spans[i])
			lost.Terms = append(lost.Terms, cp.Term{Times: -w.Of[k], Var: r.accept})
			own = append(own, r)
		}
		for at := range instants {
			m.capacities(own, at)
		}
		if off&offTotals == 0 {
			m.totals(own, instants)
		}
		if off&offSiblings == 0 {
			m.order(own)
		}
		m.requests = append(m.requests, own...)
	}
	m.AddAs("rejected", lost)
	return m
}

func (m *kernelModel) bool(format string, args ...any) cp.Var {
	v := m.Bool()
	m.Call(v, fmt.Sprintf(format, args...))
	m.Decisions = append(m.Decisions, v)
	return v
}

// one adds that exactly one of some Booleans is 1.
func (m *kernelModel) one(name string, vars []cp.Var) {
	none, most := cp.Nogood{}, &cp.Linear{AtMost: 1}
	for _, v := range vars {
		none = append(none, v.AtMost(0))
		most.Terms = append(most.Terms, cp.Term{Times: 1, Var: v})
	}
	m.AddAs(name, none)
	m.AddAs(name, most)
}

// place adds the variables and constraints of one request:
//
//   - the parts of a node's children have the VMs of the node's part; the parts of the root's children have all VMs if
//     the request is accepted, otherwise none;
//   - with HosePerPath their loads sum to no more than the load of the node's part,
//     unless that has all VMs;
//   - a part goes by a lane of its level, within the group of the request's lanes.
func (m *kernelModel) place(k int, span tvcrelax.Span) *placing {
	t, q := m.tree, &m.t.Requests[k]
	root := t.Root()
	r := &placing{index: k, span: span, accept: m.bool("accept %d", k), at: make([][][]choice, root)}
	for l := range t.Lanes[root-1] {
		r.route = append(r.route, m.bool("route %d %d", k, l))
	}
	m.one(fmt.Sprint("route ", k), r.route)
	for level, parts := range t.Parts(q.VMs, q.Bandwidth, m.t.PerPath) {
		for v := range m.t.Servers / t.Servers(level) {
			all := []choice{{m.bool("none %d %d %d", k, level, v), tvcrelax.Part{}, -1}}
			for _, p := range parts {
				for l := range t.Lanes[level] {
					if int(p.VMs) == q.VMs {
						if l > 0 {
							break
						}
						l = -1
					}
					all = append(all, choice{m.bool("part %d %d %d %d %d %d", k, level, v, p.VMs, p.Load, l), p, l})
				}
			}
			vars := make([]cp.Var, len(all))
			size := len(r.route) / t.Lanes[level]
			for i, c := range all {
				vars[i] = c.is
				if c.lane >= 0 && t.Lanes[level] > 1 {
					other := cp.Nogood{c.is.Is()}
					for _, y := range r.route[c.lane*size : (c.lane+1)*size] {
						other = append(other, y.AtMost(0))
					}
					m.AddAs(fmt.Sprintf("lane %d %d %d", k, level, v), other)
				}
			}
			m.one(fmt.Sprintf("one %d %d %d", k, level, v), vars)
			r.at[level] = append(r.at[level], all)
			if level > 0 {
				m.divide(r, level, v)
			}
		}
	}
	m.sum(fmt.Sprint("whole ", k), r.at[root-1], nil, r.accept, int64(q.VMs))
	return r
}

// vms and load are the quantities that are summed.
func vms(c choice) int64  { return int64(c.part.VMs) }
func load(c choice) int64 { return int64(c.part.Load) }

// group returns the choices with the values of f, or with most - f if most isn't 0.
func group(all []choice, f func(c choice) int64, most int64) []cp.Choice {
	g := make([]cp.Choice, len(all))
	for i, c := range all {
		if g[i] = (cp.Choice{If: c.is.Is(), Value: f(c)}); most != 0 {
			g[i].Value = most - f(c)
		}
	}
	return g
}

func most(all []choice, f func(c choice) int64) (x int64) {
	for _, c := range all {
		x = max(x, f(c))
	}
	return x
}

// sum adds that the VMs of some nodes add up to the VMs of one node, or to times the variable x.
func (m *kernelModel) sum(name string, nodes [][]choice, one []choice, x cp.Var, times int64) {
	least, most1 := &cp.Linear{}, &cp.Linear{}
	for _, n := range nodes {
		if top := most(n, vms); top > 0 {
			most1.Groups = append(most1.Groups, group(n, vms, 0))
			least.Groups = append(least.Groups, group(n, vms, top))
			least.AtMost += top
		}
	}
	if one == nil {
		most1.Terms = []cp.Term{{Times: -times, Var: x}}
		least.Terms = []cp.Term{{Times: times, Var: x}}
	} else if top := most(one, vms); top > 0 {
		most1.Groups = append(most1.Groups, group(one, vms, top))
		most1.AtMost = top
		least.Groups = append(least.Groups, group(one, vms, 0))
	}
	m.AddAs(name, most1)
	m.AddAs(name, least)
}

// divide makes the parts of a node's children sum to its own.
func (m *kernelModel) divide(r *placing, level, v int) {
	fan, own := m.tree.Fan[level], r.at[level][v]
	children := r.at[level-1][v*fan : (v+1)*fan]
	m.sum(fmt.Sprintf("divide %d %d %d", r.index, level, v), children, own, 0, 0)
	if !m.t.PerPath {
		return
	}
	n := m.t.Requests[r.index].VMs
	whole := func(c choice) int64 {
		if int(c.part.VMs) == n {
			return int64(n)
		}
		return load(c)
	}
	if top := most(own, whole); top > 0 {
		row := &cp.Linear{AtMost: top, Groups: [][]cp.Choice{group(own, whole, top)}}
		for _, c := range children {
			row.Groups = append(row.Groups, group(c, load, 0))
		}
		m.AddAs(fmt.Sprintf("loads %d %d %d", r.index, level, v), row)
	}
}

// order puts siblings in descending order of their VMs of the component's requests, starting with the request of the
// most VMs. The order is lexicographic, as a sum with weights, for as many as the sum has room for. The first request
// goes by the first lane.
//
// Children of a node can be exchanged with all below them, in all requests of the
// component at once; that changes no number of VMs at a node above. So siblings can be
// sorted at one level after the other. The same holds for groups of lanes, and lanes
// within a group.
func (m *kernelModel) order(own []*placing) {
	own = slices.Clone(own)
	order.Stable(own, func(a, b *placing) int {
		return cmp.Compare(m.t.Requests[b.index].VMs, m.t.Requests[a.index].VMs)
	})
	m.AddAs("first lane", cp.Nogood{own[0].route[0].AtMost(0)})
	for level := range m.tree.Root() {
		tops := make([]int64, len(own))
		size, sum := 0, int64(1)
		for ; size < len(own) && sum < 1<<40; size++ {
			tops[size] = most(own[size].at[level][0], vms)
			sum *= tops[size] + 1
		}
		for v := range m.t.Servers/m.tree.Servers(level) - 1 {
			if (v+1)%m.tree.Fan[level+1] == 0 {
				continue
			}
			row, weight := &cp.Linear{}, int64(1)
			for i := size - 1; i >= 0; i-- {
				of := func(c choice) int64 { return weight * vms(c) }
				if top := weight * tops[i]; top > 0 {
					row.Groups = append(row.Groups, group(own[i].at[level][v], of, top), group(own[i].at[level][v+1], of, 0))
					row.AtMost += top
				}
				weight *= tops[i] + 1
			}
			m.AddAs("siblings", row)
		}
	}
}

// activeAt returns the requests that run at an instant if they are accepted. The last one
// names the instant, which is its arrival.
func activeAt(own []*placing, at int) (active []*placing, last int) {
	for _, r := range own {
		if r.span.From <= at && at <= r.span.To {
			active, last = append(active, r), r.index
		}
	}
	return active, last
}

// capacities adds the limits at an instant: the slots of each server and the rate of each lane.
func (m *kernelModel) capacities(own []*placing, at int) {
	active, last := activeAt(own, at)
	t := m.tree
	for level := range t.Root() {
		nodes := m.t.Servers / t.Servers(level)
		for v := range nodes {
			if level == 0 {
				m.row(fmt.Sprintf("slots %d %d", v, last), active, level, v, int64(m.t.Slots), func(_ *placing, c choice) int64 { return vms(c) })
			}
			for l := range t.Lanes[level] {
				m.row(fmt.Sprintf("link %d %d %d %d", level, v, l, last), active, level, v, t.Rate[level], func(r *placing, c choice) int64 {
					if c.lane != l {
						return 0
					}
					return load(c) * m.t.Requests[r.index].Bandwidth
				})
			}
		}
	}
}

// row adds that the active requests have at most a capacity at a node, unless they always do.
func (m *kernelModel) row(name string, active []*placing, level, v int, capacity int64, f func(r *placing, c choice) int64) {
	row, sum := &cp.Linear{AtMost: capacity}, 0.0
	for _, r := range active {
		of := func(c choice) int64 { return f(r, c) }
		if top := most(r.at[level][v], of); top > 0 {
			row.Groups = append(row.Groups, group(r.at[level][v], of, 0))
			sum += float64(top)
		}
	}
	if sum > float64(capacity) {
		m.AddAs(name, row)
	}
}

// totals adds that the accepted requests that run at an instant take at most a capacity of all nodes together, unless
// they always do (tvcrelax.Tree.Totals). The first one is the total of all slots, which checkers of proofs know.
func (m *kernelModel) totals(own []*placing, instants int) {
	requests, place := make([]int, len(own)), map[*placing]int{}
	for i, r := range own {
		requests[i], place[r] = r.index, i
	}
	for n, x := range m.tree.Totals(m.t, requests) {
		if n > 0 && m.off&offOtherTotals != 0 {
			break
		}
		for at := range instants {
			active, last := activeAt(own, at)
			row, sum := &cp.Linear{AtMost: x.Capacity}, int64(0)
			for _, r := range active {
				if d := x.Demand[place[r]]; d > 0 {
					row.Terms = append(row.Terms, cp.Term{Times: d, Var: r.accept})
					sum += d
				}
			}
			if sum > x.Capacity {
				name := fmt.Sprint("total ", last)
				if n > 0 {
					name = fmt.Sprintf("total %d of resource %d", last, n)
				}
				m.AddAs(name, row)
			}
		}
	}
}
