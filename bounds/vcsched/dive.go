// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/covering"
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
			found, _, complete := t.price(ctx, weights, t.class[0], m.load, improving, variety)
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
		chosen := choose(m.Program, len(t.Count), int(math.Ceil(optimum/diveShare)), func(column int) []patternItem { return m.p.pool[m.index[column]].Items })
		for _, column := range chosen {
			for _, it := range m.p.pool[m.index[column]].Items {
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

// choose returns columns to take, as often as they are to be taken: the largest value, all that are whole, and up to the
// given number of likely ones that have no type in common.
func choose(p *covering.Program, types, most int, items func(column int) []patternItem) (chosen []int) {
	type value struct {
		column int
		x      float64
	}
	var all []value
	p.Values(func(column int, x float64) {
		if x > 1e-4 {
			all = append(all, value{column, x})
		}
	})
	slices.SortFunc(all, func(a, b value) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.column, b.column)) })
	met := make([]bool, types)
	for _, v := range all {
		switch {
		case v.x >= certain:
			for range int(v.x + 1 - certain) {
				chosen = append(chosen, v.column)
			}
		case len(chosen) > 0 && (v.x < likely || len(chosen) >= most):
			return chosen
		case slices.ContainsFunc(items(v.column), func(it patternItem) bool { return met[it.Type] }):
			continue
		default:
			chosen = append(chosen, v.column)
		}
		for _, it := range items(v.column) {
			met[it.Type] = true
		}
	}
	return chosen
}

// Dive looks for a placement of at most a load within the migration budget, as Covers.Dive does. What is left is the same
// problem with fewer tasks, hosts and less of the budget.
func (m *Moves) Dive(ctx context.Context, load int64) []int32 {
	if len(m.t.CPU) > mostTypes {
		return nil
	}
	rest, t := *m, *m.t
	t.Count = slices.Clone(t.Count)
	rest.t, rest.hosts = &t, slices.Clone(m.hosts)
	p := rest.master(load)
	place := make([]int32, len(t.units.CPU))
	first := make([]int32, len(t.Count)) // task of each type that is left
	for left := len(place); left > 0; {
		optimum, solved := p.Solve(ctx)
		for turn := 0; solved && optimum > p.nothing; turn++ {
			refuted, found, complete := rest.price(ctx, p.Duals(), load)
			if refuted || !complete || len(found) == 0 || turn == diveTurns {
				return nil
			}
			for _, q := range found {
				p.add(q)
			}
			m.pool = append(m.pool, found...)
			optimum, solved = p.Solve(ctx)
		}
		if !solved {
			return nil
		}
		open := 0
		for _, h := range rest.hosts {
			open += len(h.hosts)
		}
		before := left
		for _, column := range choose(p.Program, len(t.Count), 1+open/diveShare, func(column int) []patternItem { return p.index[column].Items }) {
			q := p.index[column]
			if q.host < 0 || len(rest.hosts[q.host].hosts) == 0 {
				continue
			}
			h := &rest.hosts[q.host]
			for _, it := range q.Items {
				n := min(it.Count, t.Count[it.Type])
				for _, i := range t.Tasks[it.Type][first[it.Type]:][:n] {
					place[i] = h.hosts[0]
				}
				if rest.current(int(it.Type)) >= 0 && !h.own[it.Type] {
					rest.budget -= int64(n) * t.Mem[it.Type]
				}
				first[it.Type] += n
				t.Count[it.Type], left = t.Count[it.Type]-n, left-int(n)
			}
			h.hosts = h.hosts[1:]
		}
		if left == before {
			return nil
		}
		p.Demand(rest.demand())
		kept := p.Drop(func(column int) bool {
			q := p.index[column]
			return len(rest.hosts[q.host].hosts) == 0 || slices.ContainsFunc(q.Items, func(it patternItem) bool { return it.Count > t.Count[it.Type] })
		})
		for k, column := range kept {
			p.index[k] = p.index[column]
		}
		p.index = p.index[:len(kept)]
	}
	return place
}
