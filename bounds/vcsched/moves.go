// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/covering"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Moves tests whether the tasks fit on hosts, which may differ, at a given CPU load, when
// no more memory than the migration budget moves, if there is one. It relaxes a placement to
// patterns, one for each host, that cover all tasks together, and prices moves.
//
// Let w_k ≥ 0 be a weight of each task of type k, a type having equal needs and one present host, and p_k ≥ 0 prices of
// moving such that the possible moves cost at most β. In a placement each task is on one host, and host h has a set S_h
// of tasks of at most the load and one memory. So Σ_h w(S_h) = w(all). Let C_h be the tasks that run on h now and C all
// that run. Then the tasks that move are C less the tasks of all S_h ∩ C_h, and p(C) - Σ_h p(S_h ∩ C_h) ≤ β. Hence
//
//	Σ_h max_S [w(S) + p(S ∩ C_h)] ≥ w(all) + p(C) - β,
//
// and if this is violated, no placement has that load. It is the Lagrangian relaxation of the budget, with p = λ memory
// and β = λ budget, and of placing each task once. The left side is a knapsack of all resources for each host, and one
// for all hosts of a class on which nothing runs; they are solved exactly and in integers, as in Patterns. Without a
// budget nothing has a price, and the rest says that Σ_h max_S w(S) ≥ w(all): it is Patterns for hosts that differ.
//
// Two kinds of prices are tried. With w = 0 and λ = 1 each host keeps as much memory as it can and the rest must move.
// The others are the duals of the linear program over patterns, by column generation. The latter are at least as strong
// as Patterns, which tests λ = 0.
type Moves struct {
	t      *Tasks // types also by the current host
	hosts  []movesHost
	now    []int32 // [task]: its current host; nil: nothing has a price
	budget int64   // in the units of Tasks.Mem
	pool   []movesPattern

	refuted int64   // the load last refuted
	weights []int64 // [type]: by which; nil: none, or all 0
	lambda  float64 // the price of moving the memory of a host
}

// movesHost is a host with running tasks, or all hosts of a class without any.
type movesHost struct {
	class class
	own   []bool  // [type]: its tasks run there
	hosts []int32 // their numbers
}

// movesPattern is a pattern on a host of Moves.hosts.
type movesPattern struct {
	pattern
	host int
}

// NewMoves returns a test for an instance.
func NewMoves(u *view.VCSched) *Moves { return newMoves(newTasks(u, true), u.Current) }

// newMoves returns a test with the types of newTasks and the tasks' current hosts, nil
// without a migration budget.
func newMoves(t *Tasks, current []int32) *Moves {
	u := t.units
	m := &Moves{t: t, now: current, budget: u.Budget}
	n := len(m.t.CPU)
	index := make(map[int32]int) // of a host in m.hosts
	for k := range n {
		if current == nil {
			break
		}
		h := current[m.t.Tasks[k][0]]
		if h < 0 {
			continue
		}
		g, ok := index[h]
		if !ok {
			g = len(m.hosts)
			index[h] = g
			m.hosts = append(m.hosts, movesHost{class: t.class[u.ClassOf(h)], own: make([]bool, n), hosts: []int32{h}})
		}
		m.hosts[g].own[k] = true
	}
	// A host without a task adds nothing to the left side, so no more than the tasks.
	for _, c := range t.class {
		var idle []int32
		for _, h := range c.Hosts {
			if _, busy := index[h]; !busy && len(idle) < len(u.CPU) {
				idle = append(idle, h)
			}
		}
		if len(idle) > 0 {
			m.hosts = append(m.hosts, movesHost{class: c, own: make([]bool, n), hosts: idle})
		}
	}
	return m
}

// current returns the host on which the tasks of type k run now, -1 for none.
func (m *Moves) current(k int) int32 {
	if m.now == nil {
		return -1
	}
	return m.now[m.t.Tasks[k][0]]
}

// Add puts the patterns of a placement's hosts into the pool, for each host on which
// they fit; hosts is [task].
func (m *Moves) Add(hosts []int32) {
	patterns := &Patterns{t: m.t}
	patterns.Add(hosts)
	for _, q := range patterns.pool {
		for g := range m.hosts {
			if len(m.t.class) == 1 || m.fits(q, m.hosts[g].class) {
				m.pool = append(m.pool, movesPattern{q, g})
			}
		}
	}
}

// fits reports whether a pattern fits on a host of a class, at some load.
func (m *Moves) fits(q pattern, c class) bool {
	for r, needs := range m.t.Rigid {
		sum := int64(0)
		for _, it := range q.Items {
			sum += int64(it.Count) * needs[it.Type]
		}
		if sum > c.Cap[r] {
			return false
		}
	}
	return true
}

// keep is the test with w = 0 and the memory as the price.
func (m *Moves) keep(ctx context.Context, load int64) bool {
	prices := make([]int64, len(m.t.CPU))
	var running, kept int64
	for _, g := range m.hosts {
		own := int64(0)
		for k, is := range g.own {
			if prices[k] = 0; is {
				prices[k] = m.t.Mem[k]
				own += prices[k] * int64(m.t.Count[k])
			}
		}
		running += own
		if best, _, complete := m.best(ctx, g.class, prices, load, 0); complete {
			kept += best
		} else {
			kept += own
		}
	}
	if kept < running-m.budget {
		m.proved(load, nil, float64(m.t.units.Scale))
		return true
	}
	return false
}

// best returns the largest weight of a pattern, at least the threshold, and patterns
// above it, each of more weight than the one before; complete is false if the search
// was cut off.
func (m *Moves) best(ctx context.Context, c class, weights []int64, load, threshold int64) (best int64, found []pattern, complete bool) {
	s := m.t.newPricer(ctx, weights, c, load)
	best = threshold
	nodes := int64(0)
	for k := range s.leads() {
		before := nodes
		nodes = s.searched()
		if meter.Stop(ctx, 1+(nodes-before)/4) {
			return best, found, false
		}
		if w, q, ok := s.lead(k, best); ok {
			best, found = w, append(found, q)
		}
		if s.isCut() {
			return best, found, false
		}
	}
	return best, found, true
}

// Keep returns a lower bound on L that is at least lower, itself a lower bound, by the first kind of prices at loads up
// to upper.
func (m *Moves) Keep(ctx context.Context, lower, upper int64) int64 {
	return raise(ctx, m.t.Unit, lower, upper, 0, func(load int64) bool { return m.keep(ctx, load) })
}

// Raise returns a lower bound on L that is at least lower, itself a lower bound, by both kinds of prices at loads up to
// upper, to a relative width.
func (m *Moves) Raise(ctx context.Context, lower, upper int64, width float64) int64 {
	return raise(ctx, m.t.Unit, lower, upper, width, func(load int64) bool { return m.Refute(ctx, load) })
}

// Refute reports whether no placement has L ≤ load, proved. False means that patterns can be mixed to a fractional
// placement within the budget, or that ctx or maxPricing ended the attempt.
//
// The master minimises Σ_k cost_k a_k + b: the needs that patterns leave uncovered, of each task the largest, and the
// memory that moves beyond the budget. It is subject to Σ_q count_qk x_q + a_k ≥ count_k for each type k, Σ_{q of g}
// x_q ≤ count_g for each host g and Σ_q kept_q x_q + b ≥ memory(C) - budget. Here kept_q is the memory of the host's
// own tasks in q. Its duals times weightScale, rounded, are w and λ; β is rounded up.
func (m *Moves) Refute(ctx context.Context, load int64) bool {
	n := len(m.t.CPU)
	for k := range n {
		room := int64(0)
		for _, c := range m.t.class {
			if m.t.fits(k, c) {
				room = max(room, c.Room(load))
			}
		}
		if m.t.CPU[k] > room {
			one := make([]int64, n)
			one[k] = 1
			m.proved(load, one, 0)
			return true
		}
	}
	if m.keep(ctx, load) {
		return true
	}
	if n > mostTypes {
		return false
	}
	master := m.master(load)
	for ctx.Err() == nil {
		optimum, solved := master.Solve(ctx)
		if !solved || optimum <= master.nothing {
			return false
		}
		refuted, found, complete := m.price(ctx, master.Duals(), load)
		if refuted || !complete || len(found) == 0 {
			return refuted
		}
		for _, q := range found {
			master.add(q)
		}
		m.pool = append(m.pool, found...)
	}
	return false
}

// movesMaster is the linear program over the pool's patterns of at most a load.
type movesMaster struct {
	*covering.Program
	m       *Moves
	index   []movesPattern // [column]
	nothing float64        // above the optimum of a fractional placement
}

func (m *Moves) master(load int64) *movesMaster {
	n, scale := len(m.t.CPU), float64(m.t.units.Scale)
	demand := m.demand()
	price := make([]float64, len(demand))
	for k, cost := range m.t.CPU {
		for _, needs := range m.t.Rigid {
			cost = max(cost, needs[k])
		}
		price[k] = float64(cost) / scale
	}
	for g := range m.hosts {
		most := m.hosts[g].class.Room(load) // no pattern is worth more
		for _, c := range m.hosts[g].class.Cap {
			most += c
		}
		price[n+g] = 1 + float64(most)/scale
	}
	price[n+len(m.hosts)] = 1
	p := &movesMaster{Program: covering.New(demand, price), m: m, index: make([]movesPattern, len(demand))}
	for k := range demand {
		p.index[k].host = -1
		p.nothing += 2e-6 * math.Abs(demand[k]) * price[k]
	}
	for _, q := range m.pool {
		if q.Load <= m.hosts[q.host].class.Room(load) {
			p.add(q)
		}
	}
	return p
}

// demand returns the demands of the master: tasks of each type, hosts, and the memory to keep.
func (m *Moves) demand() []float64 {
	demand, running := make([]float64, len(m.t.CPU)+len(m.hosts)+1), int64(0)
	for k, n := range m.t.Count {
		demand[k] = float64(n)
	}
	for g, h := range m.hosts {
		demand[len(m.t.CPU)+g] = -float64(len(h.hosts))
		for k, is := range h.own {
			if is {
				running += m.t.Mem[k] * int64(m.t.Count[k])
			}
		}
	}
	demand[len(demand)-1] = max(0, float64(running-m.budget)/float64(m.t.units.Scale))
	return demand
}

// add takes a pattern as a column.
func (p *movesMaster) add(q movesPattern) {
	m := p.m
	n := len(m.t.CPU)
	column, kept := []covering.Entry{{Row: int32(n + q.host), Coef: -1}}, int64(0)
	for _, it := range q.Items {
		column = append(column, covering.Entry{Row: it.Type, Coef: float64(it.Count)})
		if m.hosts[q.host].own[it.Type] {
			kept += m.t.Mem[it.Type] * int64(it.Count)
		}
	}
	if kept > 0 {
		column = append(column, covering.Entry{Row: int32(n + len(m.hosts)), Coef: float64(kept) / float64(m.t.units.Scale)})
	}
	p.Add(column, 0)
	p.index = append(p.index, q)
}

// price tests the inequality with the duals of the master, and returns patterns that
// gain more than the dual of their host.
func (m *Moves) price(ctx context.Context, duals []float64, load int64) (refuted bool, found []movesPattern, complete bool) {
	n := len(m.t.CPU)
	whole := func(x float64) int64 { return int64(min(max(x, 0), 1) * weightScale) }
	// A price is ⌊λ memory⌋ less 1, for products below 2^52 are rounded by at most
	// 1/2; likewise β is ⌊λ budget⌋ and more than that.
	lambda := min(max(duals[n+len(m.hosts)], 0), 1) * weightScale / float64(m.t.units.Scale)
	right := -int64(lambda*float64(m.budget)) - 4
	weights, prices := make([]int64, n), make([]int64, n)
	for k := range n {
		weights[k] = whole(duals[k])
		right += weights[k] * int64(m.t.Count[k])
		if m.current(k) >= 0 {
			prices[k] = max(0, int64(lambda*float64(m.t.Mem[k]))-1)
			right += prices[k] * int64(m.t.Count[k])
		}
	}
	// Patterns that are worth more than the threshold of their host spoil the inequality. The hosts share what the duals
	// leave, by their room.
	spare, room := right-1, 0.0
	thresholds := make([]int64, len(m.hosts))
	for g, h := range m.hosts {
		thresholds[g] = int64(max(0, duals[n+g]) * weightScale)
		spare -= thresholds[g] * int64(len(h.hosts))
		room += float64(h.class.Room(load)) * float64(len(h.hosts))
	}
	if spare < 0 {
		return false, nil, true // the duals belong to a fractional placement, up to rounding
	}
	for g, h := range m.hosts {
		thresholds[g] += int64(float64(spare) / room * float64(h.class.Room(load)) * (1 - roundingShare))
	}
	left := int64(0)
	gains := make([]int64, n)
	complete = true
	for g := range m.hosts {
		if len(m.hosts[g].hosts) == 0 {
			continue
		}
		copy(gains, weights)
		for k, is := range m.hosts[g].own {
			if is {
				gains[k] += prices[k]
			}
		}
		patterns, heaviest, whole := m.t.price(ctx, gains, m.hosts[g].class, load, thresholds[g], variety)
		left += max(thresholds[g], heaviest) * int64(len(m.hosts[g].hosts))
		complete = complete && whole
		for _, q := range patterns {
			found = append(found, movesPattern{q, g})
		}
	}
	if refuted = complete && left < right; refuted {
		m.proved(load, weights, lambda*float64(m.t.units.Scale))
	}
	return refuted, found, complete
}
