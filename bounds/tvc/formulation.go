// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"counts"}

// Formulation is a linear model of loss mode.
//
// For each request that fits an empty data centre, binary variables say whether it is accepted (x), by which lane it
// goes (y, see Tree), and which part each node has of it (u). For each request:
//
//   - Σ y = x; the lanes of an edge switch's links are the groups of the lanes of a pod's links;
//   - a node has at most one part, by a lane that the request goes by; a part with
//     all VMs loads no lane;
//   - the parts of a node's children have the VMs of the node's part; the parts of the root's children have all VMs if
//     the request is accepted. With HosePerPath their loads sum to no more than the load of the node's part, unless
//     that has all VMs.
//
// A variable for each number of VMs, since the load min(m, N-m)·B isn't convex
// in m. At every instant (see Instants) the parts of the active requests fit in
// the slots of each server and the rate of each lane.
//
// Rows for the resources (see resource) are implied by these in whole numbers and
// cut off points of the relaxation.
//
// Symmetry: children of one node can be exchanged, groups of lanes can, and lanes
// within a group, together in all nodes. In each component the request of the most
// VMs has descending numbers of VMs at the children of every node, and the first
// lane. Any solution becomes such a one by a permutation of the whole data centre
// during the component. If the request is rejected, its numbers are all 0 and
// the rows say nothing.
type Formulation struct {
	milp.Formulation[*model.Embeddings]
	in       *model.TVC
	ticks    *view.TVC
	tree     *tvcrelax.Tree
	requests []*modelled
	of       []*modelled // by request of the instance; nil: it never fits
}

// modelled is a request in the model.
type modelled struct {
	index  int
	leader *modelled     // of its component
	span   tvcrelax.Span // of the component's instants
	parts  [][]tvcrelax.Part
	accept int
	route  []int     // y, by lane of the root's children
	use    [][][]use // by level and node
}

// use is a variable u.
type use struct {
	part tvcrelax.Part
	lane int // -1: the part has all VMs
	x    int
}

// Limits of the size of a formulation.
const (
	mostVariables = 300_000
	mostTerms     = 6_000_000
)

// Check reports whether Build takes an instance, judged by the numbers of slots alone. The error is
// model.ErrUnsupported for queue mode and for too large a formulation.
func Check(in *model.TVC, name string) error {
	switch {
	case name != "" && name != Formulations[0]:
		return fmt.Errorf("formulation %q is unknown, give one of %v", name, Formulations)
	case in.Queue:
		return fmt.Errorf("formulation counts: %w: it is for loss mode, the instance has a queue", model.ErrUnsupported)
	}
	t := view.OfTVC(in)
	fits, nodes := 0, 0
	for k := range t.Requests {
		if t.Requests[k].Fits {
			fits++
		}
	}
	tree := tvcrelax.NewTree(t)
	for level := range tree.Root() {
		nodes += t.Servers / tree.Servers(level)
	}
	return bounds.CheckSize("counts", "variables", fits*nodes, mostVariables)
}

// Build builds a formulation of an instance in loss mode by its name, "" for the default. The error is
// model.ErrUnsupported for queue mode and for too large a formulation, and ctx's error when ctx ends.
func Build(ctx context.Context, in *model.TVC, name string) (*Formulation, error) {
	if err := Check(in, name); err != nil {
		return nil, err
	}
	t := view.Shared(ctx, in, view.OfTVC)
	f := &Formulation{in: in, ticks: t, tree: tvcrelax.NewTree(t), of: make([]*modelled, len(t.Requests))}
	f.Name, f.Scheme, f.Maximise = in.Name, "counts", true
	f.Encode, f.Decode = f.encode, f.decode
	top := 1.0
	if in.EffectiveGoal() == model.GoalRevenue {
		top = 0
		for k := range t.Requests {
			if t.Requests[k].Fits {
				top = max(top, t.Requests[k].Revenue)
			}
		}
	} else {
		f.Whole = true
	}
	f.Scale = &objective.Scale{Factor: top}
	f.Value = f.Scale.Value
	w := tvcrelax.NewWeights(in, t)
	variables, terms := 0, 0
	for _, part := range tvcrelax.Components(t) {
		spans, instants := tvcrelax.Instants(t, part)
		var own []*modelled
		for i, k := range part {
			q := &t.Requests[k]
			m := &modelled{index: k, span: spans[i], parts: f.tree.Parts(q.VMs, q.Bandwidth, t.PerPath)}
			own = append(own, m)
			f.of[k] = m
			for level, parts := range m.parts {
				u := len(parts) * f.tree.Lanes[level] * (t.Servers / f.tree.Servers(level))
				variables += u
				terms += u * (3 + spans[i].To - spans[i].From)
			}
		}
		if err := bounds.CheckSize("counts", "variables", variables, mostVariables); err != nil {
			return nil, err
		}
		if err := bounds.CheckSize("counts", "terms", terms, mostTerms); err != nil {
			return nil, err
		}
		leader := slices.MaxFunc(own, func(a, b *modelled) int {
			return cmp.Or(cmp.Compare(t.Requests[a.index].VMs, t.Requests[b.index].VMs), cmp.Compare(b.index, a.index))
		})
		for _, m := range own {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("formulation counts: stopped: %w", ctx.Err())
			}
			m.leader = leader
			cost := 1.0
			if !f.Whole {
				cost = t.Requests[m.index].Revenue / top
			}
			f.add(m, cost)
		}
		f.capacities(own, instants)
		f.cuts(own, tvcrelax.NewRelaxation(t, part, w, false))
		f.requests = append(f.requests, own...)
	}
	return f, nil
}

// add adds the variables and the rows of one request.
func (f *Formulation) add(m *modelled, cost float64) {
	t, root := f.tree, f.tree.Root()
	q := &f.ticks.Requests[m.index]
	binary := func(format string, args ...any) int {
		return f.AddVar(milp.Var{Name: fmt.Sprintf("%s_%d", fmt.Sprintf(format, args...), m.index+1), Upper: 1, Integer: true})
	}
	m.accept = binary("x")
	f.Vars[m.accept].Cost = cost
	f.Limit += cost
	lanes := t.Lanes[root-1]
	sum := []milp.Term{{Var: m.accept, Coef: -1}}
	for l := range lanes {
		m.route = append(m.route, binary("y_%d", l))
		sum = append(sum, milp.Term{Var: m.route[l], Coef: 1})
		if m == m.leader && l > 0 {
			f.Vars[m.route[l]].Upper = 0
		}
	}
	f.AddRow("", 0, 0, sum...)
	m.use = make([][][]use, root)
	for level := range root {
		lanes := t.Lanes[level]
		for v := range f.ticks.Servers / t.Servers(level) {
			var uses []use
			one := []milp.Term{{Var: m.accept, Coef: -1}}
			by := make([][]milp.Term, lanes)
			for _, p := range m.parts[level] {
				for l := range lanes {
					u := use{p, l, 0}
					if int(p.VMs) == q.VMs {
						if l > 0 {
							break
						}
						u.lane = -1
					}
					u.x = binary("u_%d_%d_%d_%d_%d", level, v, p.VMs, p.Load, l)
					uses = append(uses, u)
					one = append(one, milp.Term{Var: u.x, Coef: 1})
					if u.lane >= 0 {
						by[l] = append(by[l], milp.Term{Var: u.x, Coef: 1})
					}
				}
			}
			f.AddRow("", math.Inf(-1), 0, one...)
			if lanes > 1 {
				size := len(m.route) / lanes
				for l := range lanes {
					for r := l * size; r < (l+1)*size; r++ {
						by[l] = append(by[l], milp.Term{Var: m.route[r], Coef: -1})
					}
					f.AddRow("", math.Inf(-1), 0, by[l]...)
				}
			}
			m.use[level] = append(m.use[level], uses)
			if level > 0 {
				f.divide(m, level, v, uses)
			}
		}
	}
	all := []milp.Term{{Var: m.accept, Coef: -float64(q.VMs)}}
	for _, uses := range m.use[root-1] {
		all = append(all, vmsOf(uses, 1)...)
	}
	f.AddRow("", 0, 0, all...)
	if m == m.leader {
		for level := range root {
			for v := range len(m.use[level]) - 1 {
				if (v+1)%t.Fan[level+1] != 0 {
					f.AddRow("", 0, milp.Inf, append(vmsOf(m.use[level][v], 1), vmsOf(m.use[level][v+1], -1)...)...)
				}
			}
		}
	}
}

// divide adds the rows that make the parts of a node's children sum to its own.
func (f *Formulation) divide(m *modelled, level, v int, uses []use) {
	fan := f.tree.Fan[level]
	children := m.use[level-1][v*fan : (v+1)*fan]
	vms := vmsOf(uses, -1)
	for _, c := range children {
		vms = append(vms, vmsOf(c, 1)...)
	}
	f.AddRow("", 0, 0, vms...)
	if !f.ticks.PerPath {
		return
	}
	var loads []milp.Term
	for _, u := range uses {
		load := float64(u.part.Load)
		if u.lane < 0 {
			load = float64(f.ticks.Requests[m.index].VMs)
		}
		loads = append(loads, milp.Term{Var: u.x, Coef: -load})
	}
	for _, c := range children {
		for _, u := range c {
			if u.part.Load > 0 {
				loads = append(loads, milp.Term{Var: u.x, Coef: float64(u.part.Load)})
			}
		}
	}
	f.AddRow("", math.Inf(-1), 0, loads...)
}

// vmsOf returns sign times the VMs that the variables represent.
func vmsOf(uses []use, sign float64) []milp.Term {
	terms := make([]milp.Term, len(uses))
	for k, u := range uses {
		terms[k] = milp.Term{Var: u.x, Coef: sign * float64(u.part.VMs)}
	}
	return terms
}

// tinyShare is the share of a capacity up to which a term is left out of a row. HiGHS takes it for 0 below 1e-9, and
// near that it has called points optimal that aren't. Rows without terms allow more; Exclude takes back the excess.
const tinyShare = 1e-7

// mostShare is the right-hand side of a row of shares. HiGHS has called 4 requests optimal when 5 can be accepted:
// three loads of 0.333333333 sum to just below 1. With some room above 1 it finds them.
const mostShare = 1 + 1e-6

// capacities adds the rows of slots and of lanes, in shares of the rate, for one
// component. What can't be exceeded has no row.
func (f *Formulation) capacities(own []*modelled, instants int) {
	for at := range instants {
		var active []*modelled
		for _, m := range own {
			if m.span.From <= at && at <= m.span.To {
				active = append(active, m)
			}
		}
		for level := range f.tree.Root() {
			for v := range f.ticks.Servers / f.tree.Servers(level) {
				if level == 0 {
					var slots []milp.Term
					for _, m := range active {
						slots = append(slots, vmsOf(m.use[0][v], 1)...)
					}
					f.AddRow("", math.Inf(-1), float64(f.ticks.Slots), slots...)
				}
				for l := range f.tree.Lanes[level] {
					var loads []milp.Term
					most := 0.0
					for _, m := range active {
						b, largest := float64(f.ticks.Requests[m.index].Bandwidth), 0.0
						for _, u := range m.use[level][v] {
							if load := float64(u.part.Load) * b / float64(f.tree.Rate[level]); u.lane == l && load > tinyShare {
								loads = append(loads, milp.Term{Var: u.x, Coef: load})
								largest = max(largest, load)
							}
						}
						most += largest
					}
					if most > 1 {
						f.AddRow("", math.Inf(-1), mostShare, loads...)
					}
				}
			}
		}
	}
}

// cuts adds the rows of the resources except the first, the slots, which the rows of the servers also imply for
// fractions.
func (f *Formulation) cuts(own []*modelled, r *tvcrelax.Relaxation) {
	for _, resource := range r.Resources[1:] {
		for at := range r.Instants {
			var row []milp.Term
			sum := 0.0
			for i, m := range own {
				if d := resource.Demand[i]; d > tinyShare && m.span.From <= at && at <= m.span.To {
					row = append(row, milp.Term{Var: m.accept, Coef: d})
					sum += d
				}
			}
			if sum > 1 {
				f.AddRow("", math.Inf(-1), mostShare, row...)
			}
		}
	}
}
