// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Covers looks for covers of the tasks by few patterns of at most a load.
type Covers struct {
	m *master // nil if there are too many types
}

// Covers returns a search for covers by patterns of any load.
func (p *Patterns) Covers() *Covers { return p.coversAt(p.t.TotalLoad()) }

func (p *Patterns) coversAt(load int64) *Covers {
	if len(p.t.CPU) > mostTypes {
		return &Covers{}
	}
	return &Covers{p.master(load)}
}

// Count raises a lower bound on the number of hosts that the tasks need, until enough are proved or the linear program
// proves no more, and tells each better one.
func (c *Covers) Count(ctx context.Context, lower, enough int64, tell func(hosts int64)) {
	for c.m != nil && lower < enough {
		hosts, _ := c.m.generate(ctx, lower, lower+1)
		if hosts == lower {
			return
		}
		lower = hosts
		tell(lower)
	}
}

// Dive looks for a placement on the hosts of at most a load, made of patterns.
func (p *Patterns) Dive(ctx context.Context, load int64) []int32 {
	return p.coversAt(load).Dive(ctx, p.t.Hosts)
}

// The choices of a dive.
const (
	certain   = 1 - 1e-5 // the value of a pattern that is taken whatever the others are
	likely    = 0.7      // the value of one that is taken beside a larger one, if they have no type in common
	diveShare = 16       // of the patterns that are left to take, at least one of so many is taken at once
	diveTurns = 4        // pricing after each choice
)

// Dive looks for a placement on at most so many hosts, whose patterns have at most the load, and returns it by task,
// nil if it finds none. It solves the linear program, takes patterns of large value, and goes on with the tasks that are
// left, for which it generates further patterns (Sadykov, Vanderbeck et al.: Primal heuristics for branch and price,
// 2019). A pattern leaves out the tasks of its types beyond those left.
func (c *Covers) Dive(ctx context.Context, most int64) []int32 {
	if c.m == nil {
		return nil
	}
	m := *c.m
	m.Program, m.index = c.m.Clone(), slices.Clone(c.m.index)
	t := *m.t
	t.Count = slices.Clone(t.Count)
	m.t = &t
	place, used := make([]int32, len(t.units.CPU)), int64(0)
	next := make([]int, len(t.Count)) // task of each type
	left := len(place)
	for left > 0 {
		optimum, solved := m.Solve(ctx)
		for turn := 0; solved && turn < diveTurns; turn++ {
			weights, _ := m.weights()
			found, _, complete := t.price(ctx, weights, m.load, improving, variety)
			if !complete || !m.take(found) {
				break
			}
			before := optimum
			if optimum, solved = m.Solve(ctx); optimum > before-1e-3 {
				break
			}
		}
		if !solved || used+int64(math.Ceil(optimum-1e-3)) > most {
			return nil
		}
		chosen := m.choose(int(math.Ceil(optimum / diveShare)))
		for _, q := range chosen {
			for _, it := range m.p.pool[q].Items {
				n := min(int(it.Count), int(t.Count[it.Type]))
				for _, i := range t.Tasks[it.Type][next[it.Type] : next[it.Type]+n] {
					place[i] = int32(used)
				}
				next[it.Type] += n
				t.Count[it.Type], left = t.Count[it.Type]-int32(n), left-n
			}
			used++
		}
		if len(chosen) == 0 || used > most {
			return nil
		}
		m.Demand(m.demand())
		// Patterns of more tasks than are left cost as much as their parts.
		kept := m.Drop(func(column int) bool {
			return slices.ContainsFunc(m.p.pool[m.index[column]].Items, func(it patternItem) bool { return it.Count > t.Count[it.Type] })
		})
		index := make([]int, len(kept))
		for k, column := range kept {
			index[k] = m.index[column]
		}
		m.index = index
	}
	return place
}

// choose returns patterns of the pool to take, as often as they are to be taken: the largest value, all that are whole,
// and up to the given number of likely ones that have no type in common.
func (m *master) choose(most int) (chosen []int) {
	type value struct {
		pattern int
		x       float64
	}
	var all []value
	m.Values(func(column int, x float64) {
		if x > 1e-4 {
			all = append(all, value{m.index[column], x})
		}
	})
	slices.SortFunc(all, func(a, b value) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.pattern, b.pattern)) })
	met := make([]bool, len(m.t.CPU))
	for _, v := range all {
		items := m.p.pool[v.pattern].Items
		switch {
		case v.x >= certain:
			for range int(v.x + 1 - certain) {
				chosen = append(chosen, v.pattern)
			}
		case len(chosen) > 0 && (v.x < likely || len(chosen) >= most):
			return chosen
		case slices.ContainsFunc(items, func(it patternItem) bool { return met[it.Type] }):
			continue
		default:
			chosen = append(chosen, v.pattern)
		}
		for _, it := range items {
			met[it.Type] = true
		}
	}
	return chosen
}
