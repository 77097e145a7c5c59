// SPDX-License-Identifier: MIT

package dag

import (
	"math"

	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// program bounds the makespans of all schedules that begin with a node's events, and returns the lengths of its spans.
// Its times are in units of upper, and each amount is in a unit of its own; it ignores an amount that takes next to no
// time. O(acts · spans) figures.
func (h *heldSearch) program(n *holding) (bound float64, spans []float64, err error) {
	h.programs++
	m := &milp.Model{}
	for range n.spans {
		m.AddVar(milp.Var{Upper: 1})
	}
	end := m.AddVar(milp.Var{Upper: 10, Cost: 1})
	inf := math.Inf(1)
	price := milp.Var{Upper: 2, Cost: 1000} // of a row's violation: above the gain of any makespan
	// later adds that the end is a time after the last event, less the progress that an act made in its spans.
	later := func(a *holdAct, most, rest float64) {
		row := []milp.Term{{Var: end, Coef: 1}}
		for k := range n.spans {
			c := -1.0
			if a != nil && k >= a.from {
				c += a.rates[k-a.from] / most
			}
			if c != 0 {
				row = append(row, milp.Term{Var: k, Coef: c})
			}
		}
		m.AddRow("", rest/h.upper, inf, row...)
	}
	for k := range n.acts {
		a := &n.acts[k]
		most, rest := h.after(a)
		if short := a.amount/most < 1e-9*h.upper; !short && (a.done || len(a.rates) > 0) {
			var got []milp.Term
			for i, r := range a.rates {
				got = append(got, milp.Term{Var: a.from + i, Coef: r * h.upper / a.amount})
			}
			lower := -inf
			if a.done {
				lower, got = 1, append(got, milp.Term{Var: m.AddVar(price), Coef: 1})
			}
			m.AddRow("", lower, 1, append(got, milp.Term{Var: m.AddVar(price), Coef: -1})...)
		}
		if !a.done {
			later(a, most, a.amount/most+rest)
		}
	}
	later(nil, 1, 0)
	for _, e := range h.flows {
		if n.edge[e] == waits {
			later(nil, 1, h.length(e)+h.rest(e))
		}
	}
	if !h.withoutLoads {
		h.loads(m, n, end)
	}
	r, err := highs.Solve(h.ctx, m, milp.Options{Relax: true})
	if err != nil {
		return 0, nil, err
	}
	spans = make([]float64, n.spans)
	if r.Duals == nil || r.X == nil {
		return 0, spans, nil
	}
	for k := range spans {
		spans[k] = r.X[k] * h.upper
	}
	return duals.SafeLower(m, r.Duals) * h.upper, spans, nil
}

// loads adds a row for each link and each length of path after its flows. The end is later than the last event by at
// least the time that the link needs for the rest of the flows with such a path, plus that path.
func (h *heldSearch) loads(m *milp.Model, n *holding, end int) {
	under := map[int32]*holdAct{}
	for k := range n.acts {
		if a := &n.acts[k]; a.what == actFlow && !a.done {
			under[a.id] = a
		}
	}
	for l, flows := range h.onLink {
		capacity := h.capacity(l, len(flows))
		for i, e := range flows { // by falling paths after them
			rest := h.rest(e)
			if n.edge[e] == over || i+1 < len(flows) && h.rest(flows[i+1]) == rest {
				continue
			}
			left := 0.0
			got := make([]float64, n.spans)
			members := 0
			for _, f := range flows[:i+1] {
				if n.edge[f] == over {
					continue
				}
				members++
				left += h.g.Data[f] / capacity
				if a := under[f]; a != nil {
					for k, r := range a.rates {
						got[a.from+k] += r / capacity
					}
				}
			}
			if members < 2 {
				continue
			}
			row := []milp.Term{{Var: end, Coef: 1}}
			for k, x := range got {
				if x != 1 {
					row = append(row, milp.Term{Var: k, Coef: x - 1})
				}
			}
			m.AddRow("", (left+rest)/h.upper, math.Inf(1), row...)
		}
	}
}

// capacity returns the most that so many flows get of a link together.
func (h *heldSearch) capacity(l, flows int) float64 {
	if h.g.Transfer == model.TransferFair {
		return h.g.Links[l]
	}
	return h.g.Links[l] * model.TCPShare(int32(flows))
}

// after returns the most that an act under way gets in a second, and the longest path after it.
func (h *heldSearch) after(a *holdAct) (most, rest float64) {
	if a.what == actTask {
		return 1, h.tail[a.id]
	}
	switch rest = h.rest(a.id); a.what {
	case actStartup:
		return 1, h.g.Data[a.id]/h.most[a.id] + rest
	case actFixed:
		return 1, rest
	}
	return h.most[a.id], rest
}
