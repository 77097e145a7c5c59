// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// decode returns the embeddings that the point's u and y describe.
func (f *Formulation) decode(x []float64) (*model.Embeddings, error) {
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	h := f.ticks.Half
	slices.SortFunc(f.requests, func(a, b *modelled) int { return a.index - b.index })
	for _, m := range f.requests {
		if x[m.accept] < 0.5 {
			continue
		}
		q := &f.ticks.Requests[m.index]
		var place model.Embedding
		for s, uses := range m.use[0] {
			vms := 0
			for _, u := range uses {
				if x[u.x] > 0.5 {
					vms += int(u.part.VMs)
				}
			}
			if vms > 0 {
				place.Servers = append(place.Servers, model.ServerVMs{Server: s, VMs: vms})
			}
		}
		if len(place.Servers) == 0 {
			return nil, fmt.Errorf("%w: request %q is accepted without a server", model.ErrInfeasible, f.in.Requests[m.index].ID)
		}
		lane := 0
		for l, y := range m.route {
			if x[y] > x[m.route[lane]] {
				lane = l
			}
		}
		place.Switch = LowestSwitch(place.Servers, h, lane)
		e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: f.in.Requests[m.index].ID, Segments: []model.Segment[model.Embedding]{
			{StartS: f.ticks.Seconds(q.Arrival), EndS: f.ticks.Seconds(q.Arrival + q.Duration), Place: place}}})
	}
	return e, nil
}

// LowestSwitch returns the lowest switch above some servers, in ascending order,
// that is on the lane; h is half the number of pods.
func LowestSwitch(servers []model.ServerVMs, h, lane int) model.Switch {
	first, last := servers[0].Server, servers[len(servers)-1].Server
	switch {
	case first/h == last/h:
		return model.Switch{Layer: model.LayerEdge, Group: first / (h * h), Index: first / h % h}
	case first/(h*h) == last/(h*h):
		return model.Switch{Layer: model.LayerAggregation, Group: first / (h * h), Index: lane / h}
	}
	return model.Switch{Layer: model.LayerCore, Group: lane / h, Index: lane % h}
}

// encode returns the point of a solution after the permutation that its
// symmetry asks for; nil if it is none.
func (f *Formulation) encode(e *model.Embeddings) []float64 {
	index, err := f.in.Index(e)
	if err != nil {
		return nil
	}
	places := make([]*model.Embedding, len(f.of))
	for i, k := range index {
		if f.of[k] == nil || len(e.Runs[i].Segments) != 1 {
			return nil
		}
		places[k] = &e.Runs[i].Segments[0].Place
		for _, s := range places[k].Servers {
			if s.Server < 0 || s.Server >= f.ticks.Servers {
				return nil
			}
		}
	}
	x := make([]float64, len(f.Vars))
	orders := map[*modelled]*permutation{}
	for k, place := range places {
		if place == nil {
			continue
		}
		m := f.of[k]
		if orders[m.leader] == nil {
			orders[m.leader] = f.permutation(places[m.leader.index])
		}
		if !f.point(x, m, place, orders[m.leader]) {
			return nil
		}
	}
	return x
}

// permutation is an automorphism of the data centre: the new number of each
// server and lane.
type permutation struct{ server, lane []int }

// permutation returns one that puts an embedding's numbers of VMs in descending
// order at all children, and it on the first lane; the identity without one.
func (f *Formulation) permutation(place *model.Embedding) *permutation {
	t := f.tree
	p := &permutation{make([]int, f.ticks.Servers), make([]int, t.Lanes[t.Root()-1])}
	for l := range p.lane {
		p.lane[l] = l
	}
	vms := make([]int, f.ticks.Servers)
	if place != nil {
		for _, s := range place.Servers {
			vms[s.Server] += s.VMs
		}
		// Exchange the groups, then the lanes of the group that is now first.
		if lane := laneOf(place.Switch, f.ticks.Half); lane > 0 && lane < len(p.lane) {
			h := f.ticks.Half
			for l := range p.lane {
				switch l / h {
				case lane / h:
					p.lane[l] = l % h
				case 0:
					p.lane[l] = lane/h*h + l%h
				}
			}
			first := p.lane[lane]
			for l := range p.lane {
				switch p.lane[l] {
				case first:
					p.lane[l] = 0
				case 0:
					p.lane[l] = first
				}
			}
		}
	}
	next := 0
	var visit func(level, node int)
	total := func(level, node int) (sum int) {
		size := t.Servers(level)
		for _, n := range vms[node*size : (node+1)*size] {
			sum += n
		}
		return sum
	}
	visit = func(level, node int) {
		if level == 0 {
			p.server[node] = next
			next++
			return
		}
		children := make([]int, t.Fan[level])
		for c := range children {
			children[c] = node*t.Fan[level] + c
		}
		order.Stable(children, func(a, b int) int { return total(level-1, b) - total(level-1, a) })
		for _, c := range children {
			visit(level-1, c)
		}
	}
	visit(t.Root(), 0)
	return p
}

// laneOf returns the lane of a request that a switch hosts: for an aggregation switch the lane of the group's first
// core switch, for an edge switch 0.
func laneOf(s model.Switch, h int) int {
	switch s.Layer {
	case model.LayerCore:
		return s.Group*h + s.Index
	case model.LayerAggregation:
		return s.Index * h
	}
	return 0
}

// point sets the variables of one request; false if its embedding has no point.
func (f *Formulation) point(x []float64, m *modelled, place *model.Embedding, p *permutation) bool {
	n := f.ticks.Requests[m.index].VMs
	lane := 0
	if len(p.lane) > 1 {
		if lane = laneOf(place.Switch, f.ticks.Half); lane < 0 || lane >= len(p.lane) {
			return false
		}
	}
	lane = p.lane[lane]
	x[m.accept], x[m.route[lane]] = 1, 1
	type node struct{ level, node int }
	parts := map[node]tvcrelax.Part{}
	for _, s := range place.Servers {
		for level := range f.tree.Root() {
			v := node{level, p.server[s.Server] / f.tree.Servers(level)}
			y := parts[v]
			y.VMs += int32(s.VMs)
			y.Load += int32(min(s.VMs, n-s.VMs))
			parts[v] = y
		}
	}
	for v, part := range parts {
		lanes := f.tree.Lanes[v.level]
		on := lane / (len(p.lane) / lanes)
		switch {
		case int(part.VMs) == n:
			part.Load, on = 0, -1
		case !f.ticks.PerPath:
			part.Load = min(part.VMs, int32(n)-part.VMs)
		}
		uses := m.use[v.level][v.node]
		k := slices.IndexFunc(uses, func(u use) bool { return u.part == part && u.lane == on })
		if k < 0 {
			return false
		}
		x[uses[k].x] = 1
	}
	return true
}

// Exclude adds rows that every solution satisfies and the embeddings don't, if
// they exceed the rate of a link, be it by one bit per second, which is less than a
// solver's tolerance. The parts of the active requests on the lane are a cover: not
// all of them fit on any lane of any node of the level. It returns false if
// no rate is exceeded.
func (f *Formulation) Exclude(e *model.Embeddings) bool {
	x := f.encode(e)
	if x == nil {
		return false
	}
	type part struct {
		m *modelled
		tvcrelax.Part
	}
	rows := len(f.Rows)
	instants := 0
	for _, m := range f.requests {
		instants = max(instants, m.span.To+1)
	}
	for level := range f.tree.Root() {
		for v := range f.ticks.Servers / f.tree.Servers(level) {
			for l := range f.tree.Lanes[level] {
				for at := range instants {
					cover, sum := map[*modelled][]part{}, map[*modelled]int64{} // by leader
					for _, m := range f.requests {
						if at < m.span.From || at > m.span.To {
							continue
						}
						for _, u := range m.use[level][v] {
							if u.lane == l && x[u.x] == 1 {
								cover[m.leader] = append(cover[m.leader], part{m, u.part})
								sum[m.leader] += int64(u.part.Load) * f.ticks.Requests[m.index].Bandwidth
							}
						}
					}
					for _, m := range f.requests {
						if m != m.leader || sum[m] <= f.tree.Rate[level] {
							continue
						}
						for node := range m.use[level] {
							for lane := range f.tree.Lanes[level] {
								var row []milp.Term
								for _, p := range cover[m] {
									for _, u := range p.m.use[level][node] {
										if u.lane == lane && u.part == p.Part {
											row = append(row, milp.Term{Var: u.x, Coef: 1})
										}
									}
								}
								f.AddRow("", math.Inf(-1), float64(len(row)-1), row...)
							}
						}
					}
				}
			}
		}
	}
	return len(f.Rows) > rows
}
