// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
)

// placement looks for nodes of jobs whose times are given: whole, by a search over the jobs in the order of their
// starts. Nodes of one group that hold the same processes of running jobs are alike, whatever ran there before: they
// are of one cell. A job is put on cells. The first try is best fit: the fullest cells first, as many processes on each
// node as it holds. A state that has failed, the cells at the start of a job, isn't looked at again.
type placement struct {
	ctx        context.Context
	t          *view.Batch
	start, end []int64 // of each job; it runs in [start, end)
	order      []int   // the jobs to place, by start
	failed     map[string]bool
	key        []byte
	deepest    int // most jobs of order that were placed together
	steps      int // of all searches
	left       int // steps that it may still take
	idle       []cell
	lists      [][]int32 // of each job, its nodes
}

// cell is nodes of one group that hold the same.
type cell struct {
	group int32
	held  []share
	nodes []int32
}

// share is the processes of a job on each node of a cell, at least one.
type share struct {
	job, count int32
}

// answer says whether jobs have nodes.
type answer int

const (
	unknown answer = iota // it takes too long
	placed
	crowded // there are no nodes for all
)

// mostPlacing and mostCrowding are how many steps the search for nodes may take, some tenths of a second, and the one
// that looks whether fewer jobs or overlaps are crowded. A test sets the first lower. In a proof it is mostInProof, so
// that the checker's limit, which counts more than these steps, isn't reached.
var mostPlacing = 1 << 20

const (
	mostCrowding = 1 << 14
	mostInProof  = 1 << 18
)

func newPlacement(ctx context.Context, t *view.Batch) *placement {
	p := &placement{ctx: ctx, t: t, lists: make([][]int32, len(t.Jobs))}
	all := order.Of[int32](len(t.Nodes.Group))
	for g := range t.Nodes.Capacity {
		p.idle = append(p.idle, cell{group: int32(g), nodes: all[t.Nodes.First[g]:t.Nodes.First[g+1]]})
	}
	return p
}

// place looks for nodes of some jobs that run in [start, end) each, which isn't empty, in at most so many steps. If they
// are placed, lists has their nodes. It takes exponential time at worst, in the number of jobs that run at one time.
func (p *placement) place(jobs []int, start, end []int64, most int) answer {
	p.start, p.end = start, end
	p.order = append(p.order[:0], jobs...)
	order.Stable(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(start[a], start[b]), cmp.Compare(a, b)) })
	p.failed, p.deepest, p.left = map[string]bool{}, 0, most
	switch {
	case p.next(0, p.idle):
		return placed
	case p.left <= 0:
		return unknown
	}
	return crowded
}

// next places the jobs of order from one on.
func (p *placement) next(at int, cells []cell) bool {
	p.deepest = max(p.deepest, at)
	if at == len(p.order) {
		return true
	}
	k := p.order[at]
	cells = p.running(cells, p.start[k])
	key := p.keyOf(at, cells)
	if p.failed[key] {
		return false
	}
	needs := p.t.Jobs[k].Needs
	for _, groups := range needs.Alternatives {
		f := filling{placement: p, at: at, needs: needs, cells: cells}
		for i := range cells {
			if c := &cells[i]; slices.Contains(groups, int(c.group)) {
				if each := p.room(c, needs, p.t.Jobs[k].Processes); each > 0 {
					f.open = append(f.open, open{cell: i, each: each})
				}
			}
		}
		order.Stable(f.open, func(a, b open) int { return -cmp.Compare(len(cells[a.cell].held), len(cells[b.cell].held)) })
		for i := len(f.open) - 1; i >= 0; i-- {
			f.open[i].rest = f.open[i].each * len(cells[f.open[i].cell].nodes)
			if i+1 < len(f.open) {
				f.open[i].rest += f.open[i+1].rest
			}
		}
		if f.fill(0, 0, 0, p.t.Jobs[k].Processes) {
			return true
		}
		if p.left <= 0 {
			return false
		}
	}
	p.failed[key] = true
	return false
}

// running returns the cells without jobs that have ended at a time. Cells that hold the same become one.
func (p *placement) running(cells []cell, now int64) []cell {
	all := make([]cell, 0, len(cells))
	for _, c := range cells {
		if slices.ContainsFunc(c.held, func(s share) bool { return p.end[s.job] <= now }) {
			c.held = slices.DeleteFunc(slices.Clone(c.held), func(s share) bool { return p.end[s.job] <= now })
		}
		all = append(all, c)
	}
	order.Stable(all, compareCells)
	merged := all[:0]
	for _, c := range all {
		if n := len(merged); n > 0 && compareCells(merged[n-1], c) == 0 {
			merged[n-1].nodes = slices.Concat(merged[n-1].nodes, c.nodes)
		} else {
			merged = append(merged, c)
		}
	}
	return merged
}

func compareCells(a, b cell) int {
	return cmp.Or(cmp.Compare(a.group, b.group), slices.CompareFunc(a.held, b.held, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.count, b.count))
	}))
}

// keyOf describes a state.
func (p *placement) keyOf(at int, cells []cell) string {
	p.key = binary.AppendUvarint(p.key[:0], uint64(at))
	for _, c := range cells {
		p.key = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(p.key, uint64(c.group)), uint64(len(c.nodes))), uint64(len(c.held)))
		for _, s := range c.held {
			p.key = binary.AppendUvarint(binary.AppendUvarint(p.key, uint64(s.job)), uint64(s.count))
		}
	}
	return string(p.key)
}

// room returns how many of so many processes a node of a cell takes.
func (p *placement) room(c *cell, needs *view.NodeNeeds, processes int) int {
	if needs.Exclusive && len(c.held) > 0 {
		return 0
	}
	free := slices.Clone(p.t.Nodes.Capacity[c.group])
	for _, s := range c.held {
		by := p.t.Jobs[s.job].Needs
		if by.Exclusive {
			return 0
		}
		for r, need := range by.Each {
			free[r] -= int64(s.count) * need
		}
	}
	return int(nodes.Each(needs, free, int64(processes)))
}

// filling is the ways to put the processes of one job on cells.
type filling struct {
	*placement
	at    int
	needs *view.NodeNeeds
	cells []cell
	open  []open
	taken []taken
}

// open is a cell with room for so many processes on each node; rest counts those on it and all behind it.
type open struct{ cell, each, rest int }

// taken is some nodes of a cell, the first that are left, with so many processes each.
type taken struct{ open, nodes, each int }

// fill puts processes on nodes of the open cells from one on, fewer than below on each of its nodes that isn't used yet
// (0: as many as it takes), and goes on to the next job.
func (f *filling) fill(i, below, used, processes int) bool {
	p := f.placement
	p.steps++
	if p.left--; p.left <= 0 || p.steps%4096 == 0 && p.ctx.Err() != nil {
		p.left = 0
		return false
	}
	if processes == 0 {
		return p.next(f.at+1, f.put())
	}
	if i == len(f.open) {
		return false
	}
	c := &f.open[i]
	each, left, behind := c.each, len(f.cells[c.cell].nodes)-used, 0
	if below > 0 {
		each = below - 1
	}
	if i+1 < len(f.open) {
		behind = f.open[i+1].rest
	}
	if each*left+behind < processes {
		return false
	}
	if each == 0 || left == 0 {
		return f.fill(i+1, 0, 0, processes)
	}
	each = min(each, processes)
	for n := min(left, processes/each); n >= 0; n-- {
		f.taken = append(f.taken, taken{i, n, each})
		if f.fill(i, each, used+n, processes-n*each) {
			return true
		}
		f.taken = f.taken[:len(f.taken)-1]
		if p.left <= 0 {
			return false
		}
	}
	return false
}

// put returns the cells with the job's processes where they are taken, and notes its nodes.
func (f *filling) put() []cell {
	k := int32(f.order[f.at])
	var list []int32
	cells := slices.Clone(f.cells)
	for _, x := range f.taken {
		c := &cells[f.open[x.open].cell]
		if x.nodes == 0 {
			continue
		}
		for _, p := range c.nodes[:x.nodes] {
			list = append(list, slices.Repeat([]int32{p}, x.each)...)
		}
		at, _ := slices.BinarySearchFunc(c.held, k, func(s share, k int32) int { return cmp.Compare(s.job, k) })
		held := slices.Insert(slices.Clone(c.held), at, share{k, int32(x.each)})
		cells = append(cells, cell{c.group, held, c.nodes[:x.nodes]})
		c = &cells[f.open[x.open].cell]
		c.nodes = c.nodes[x.nodes:]
	}
	f.lists[k] = list
	return slices.DeleteFunc(cells, func(c cell) bool { return len(c.nodes) == 0 })
}
