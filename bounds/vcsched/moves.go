// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
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
	lower, _ = raise(ctx, m.t.Unit, lower, upper, 0, func(load int64) (bool, error) { return m.keep(ctx, load), nil })
	return lower
}

// Raise returns a lower bound on L that is at least lower, itself a lower bound, by both kinds of prices at loads up to
// upper, to a relative width.
func (m *Moves) Raise(ctx context.Context, lower, upper int64, width float64) (int64, error) {
	return raise(ctx, m.t.Unit, lower, upper, width, func(load int64) (bool, error) { return m.Refute(ctx, load) })
}

// Refute reports whether no placement has L ≤ load, proved. False means that patterns
// can be mixed to a fractional placement within the budget, or that ctx or maxPricing
// ended the attempt; without HiGHS, that no constant weights prove it.
//
// The master minimises Σ_k cost_k a_k + b: the CPU needs (or larger ones, if some are 0 or there are further resources)
// that patterns leave uncovered, and the memory that moves beyond the budget. It is subject to Σ_q count_qk x_q + a_k ≥
// count_k for each type k, Σ_{q of g} x_q ≤ count_g for each host g and Σ_q kept_q x_q + b ≥ memory(C) - budget. Here
// kept_q is the memory of the host's own tasks in q. Its duals times weightScale, rounded, are w and λ; β is rounded
// up.
func (m *Moves) Refute(ctx context.Context, load int64) (bool, error) {
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
			return true, nil
		}
	}
	if m.keep(ctx, load) {
		return true, nil
	}
	if !highs.Available() {
		return false, nil
	}
	master, _ := m.master(load)
	lp, err := highs.NewLP(master)
	if err != nil {
		return false, fmt.Errorf("moves: %w", err)
	}
	defer lp.Close()
	for ctx.Err() == nil {
		r, err := lp.Solve(ctx, nil, nil)
		if err != nil {
			return false, fmt.Errorf("moves: %w", err)
		}
		// Within HiGHS's tolerances this is a fractional placement.
		if r.Status != milp.Optimal || r.Objective <= 1e-7 {
			return false, nil
		}
		refuted, found, complete := m.price(ctx, r.Duals, load)
		if refuted || !complete || len(found) == 0 {
			return refuted, nil
		}
		m.pool = append(m.pool, found...)
		cols := make([]highs.Column, len(found))
		for i, q := range found {
			cols[i] = m.column(q)
		}
		if err := lp.AddColumns(cols); err != nil {
			return false, fmt.Errorf("moves: %w", err)
		}
	}
	return false, nil
}

// master returns the master over the pool's patterns of at most the given load, which
// have the last variables.
func (m *Moves) master(load int64) (master *milp.Model, patterns []movesPattern) {
	n := len(m.t.CPU)
	scale := float64(m.t.units.Scale)
	var running int64
	for _, g := range m.hosts {
		for k, is := range g.own {
			if is {
				running += m.t.Mem[k] * int64(m.t.Count[k])
			}
		}
	}
	rows := make([]milp.Row, n+len(m.hosts)+1)
	master = &milp.Model{}
	further := len(m.t.Rigid) > 1 || slices.Contains(m.t.CPU, 1)
	for k := range n {
		cost := m.t.CPU[k]
		for _, needs := range m.t.Rigid {
			if further {
				cost = max(cost, needs[k])
			}
		}
		a := master.AddVar(milp.Var{Upper: milp.Inf, Cost: float64(cost) / scale})
		rows[k] = milp.Row{Lower: float64(m.t.Count[k]), Upper: milp.Inf, Terms: []milp.Term{{Var: a, Coef: 1}}}
	}
	for g := range m.hosts {
		rows[n+g] = milp.Row{Lower: math.Inf(-1), Upper: float64(len(m.hosts[g].hosts))}
	}
	b := master.AddVar(milp.Var{Upper: milp.Inf, Cost: 1})
	rows[n+len(m.hosts)] = milp.Row{Lower: float64(running-m.budget) / scale, Upper: milp.Inf, Terms: []milp.Term{{Var: b, Coef: 1}}}
	for _, q := range m.pool {
		if q.Load <= m.hosts[q.host].class.Room(load) {
			patterns = append(patterns, q)
			c := m.column(q)
			x := master.AddVar(milp.Var{Upper: c.Upper})
			for _, t := range c.Terms {
				rows[t.Row].Terms = append(rows[t.Row].Terms, milp.Term{Var: x, Coef: t.Coef})
			}
		}
	}
	master.Rows = rows
	return master, patterns
}

// Mix looks for a placement made of the pool's patterns of at most the given load: integers in the master that leave no
// needs uncovered. It returns the hosts of the tasks, [task], or nil, as always without HiGHS; nodes limits the branch
// and bound.
func (m *Moves) Mix(ctx context.Context, load, nodes int64) ([]int32, error) {
	if !highs.Available() {
		return nil, nil
	}
	master, patterns := m.master(load)
	first := len(master.Vars) - len(patterns)
	for v := range first {
		master.Vars[v].Upper = 0
	}
	for v := range patterns {
		master.Vars[first+v].Integer = true
		master.Vars[first+v].Upper = float64(len(m.hosts[patterns[v].host].hosts))
	}
	r, err := highs.Solve(ctx, master, milp.Options{NodeLimit: nodes, Threads: 1})
	if err != nil || !r.Feasible {
		return nil, err
	}
	place := make([]int32, len(m.t.units.CPU))
	left := make([][]int32, len(m.t.Tasks))
	copy(left, m.t.Tasks)
	// A mix may have more tasks of a type than there are: tasks stay if they may.
	for _, stay := range []bool{true, false} {
		used := make([]int, len(m.hosts))
		for v, q := range patterns {
			for range int(math.Round(r.X[first+v])) {
				if used[q.host] == len(m.hosts[q.host].hosts) {
					return nil, nil
				}
				h := m.hosts[q.host].hosts[used[q.host]]
				used[q.host]++
				for _, it := range q.Items {
					if m.hosts[q.host].own[it.Type] == stay {
						n := min(int(it.Count), len(left[it.Type]))
						for _, i := range left[it.Type][:n] {
							place[i] = h
						}
						left[it.Type] = left[it.Type][n:]
					}
				}
			}
		}
	}
	for _, tasks := range left {
		if len(tasks) > 0 {
			return nil, nil
		}
	}
	return place, nil
}

// column returns the column of a pattern.
func (m *Moves) column(q movesPattern) highs.Column {
	n := len(m.t.CPU)
	c := highs.Column{Upper: milp.Inf, Terms: []highs.RowTerm{{Row: n + q.host, Coef: 1}}}
	kept := int64(0)
	for _, it := range q.Items {
		c.Terms = append(c.Terms, highs.RowTerm{Row: int(it.Type), Coef: float64(it.Count)})
		if m.hosts[q.host].own[it.Type] {
			kept += m.t.Mem[it.Type] * int64(it.Count)
		}
	}
	if kept > 0 {
		c.Terms = append(c.Terms, highs.RowTerm{Row: n + len(m.hosts), Coef: float64(kept) / float64(m.t.units.Scale)})
	}
	return c
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
	spare, hosts := right-1, int64(0)
	thresholds := make([]int64, len(m.hosts))
	for g := range m.hosts {
		thresholds[g] = int64(max(0, -duals[n+g]) * weightScale)
		spare -= thresholds[g] * int64(len(m.hosts[g].hosts))
		hosts += int64(len(m.hosts[g].hosts))
	}
	if spare < 0 {
		return false, nil, true // the duals belong to a fractional placement, up to rounding
	}
	left := int64(0)
	gains := make([]int64, n)
	complete = true
	for g := range m.hosts {
		copy(gains, weights)
		for k, is := range m.hosts[g].own {
			if is {
				gains[k] += prices[k]
			}
		}
		best, patterns, whole := m.best(ctx, m.hosts[g].class, gains, load, thresholds[g]+spare/hosts)
		left += best * int64(len(m.hosts[g].hosts))
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
