// SPDX-License-Identifier: MIT

package nodes_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
)

// plain is a state without classes.
type plain struct {
	m     *view.BatchNodes
	free  [][]int64
	jobs  []int
	alone []bool
}

func (p *plain) fit(n *view.NodeNeeds, processes int, also *plain) []int32 {
	for _, groups := range n.Alternatives {
		type room struct {
			node       int32
			full       float64
			each, both int64
		}
		var all []room
		left := int64(processes)
		for x := range p.free {
			g := int(p.m.Group[x])
			if !slices.Contains(groups, g) || p.alone[x] || n.Exclusive && p.jobs[x] > 0 {
				continue
			}
			r := room{node: int32(x), each: nodes.Each(n, p.free[x], processes)}
			left -= r.each
			for k, c := range p.m.Capacity[g] {
				if c > 0 {
					r.full += float64(p.free[x][k]) / float64(c)
				}
			}
			if r.both = r.each; also != nil {
				if r.both = min(r.each, nodes.Each(n, also.free[x], processes)); also.alone[x] || n.Exclusive && also.jobs[x] > 0 {
					r.both = 0
				}
			}
			if r.each > 0 {
				all = append(all, r)
			}
		}
		if left > 0 {
			continue
		}
		// Classes go by what is free, then by group, then by their lowest node.
		slices.SortStableFunc(all, func(a, b room) int {
			return cmp.Or(cmp.Compare(a.full, b.full), cmp.Compare(p.m.Group[a.node], p.m.Group[b.node]))
		})
		lowest := func(r room) int32 {
			for _, o := range all {
				if o.full == r.full && p.m.Group[o.node] == p.m.Group[r.node] && slices.Equal(p.free[o.node], p.free[r.node]) && (p.jobs[o.node] > 0) == (p.jobs[r.node] > 0) {
					return o.node
				}
			}
			return -1
		}
		slices.SortStableFunc(all, func(a, b room) int {
			return cmp.Or(cmp.Compare(a.full, b.full), cmp.Compare(p.m.Group[a.node], p.m.Group[b.node]), cmp.Compare(lowest(a), lowest(b)), cmp.Compare(a.node, b.node))
		})
		var list []int32
		for _, r := range all {
			for range r.both {
				if len(list) < processes {
					list = append(list, r.node)
				}
			}
		}
		if len(list) == processes {
			return list
		}
	}
	return nil
}

func (p *plain) change(n *view.NodeNeeds, list []int32, sign int) {
	for k, x := range list {
		for r, need := range n.Each {
			p.free[x][r] -= int64(sign) * need
		}
		if k == 0 || list[k-1] != x {
			p.jobs[x] += sign
			p.alone[x] = n.Exclusive && sign > 0
		}
	}
}

// Classes give the nodes that a look at each node gives, at one moment and at two.
func TestState(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 1))
	fits, both := 0, 0
	for range 300 {
		m := &view.BatchNodes{Resources: []string{"cpu", "gpu"}, First: []int32{0}}
		for g := range 1 + rng.IntN(3) {
			m.Capacity = append(m.Capacity, []int64{1 + rng.Int64N(8), rng.Int64N(3)})
			m.Group = append(m.Group, slices.Repeat([]int32{int32(g)}, 1+rng.IntN(4))...)
			m.First = append(m.First, int32(len(m.Group)))
		}
		s, p := nodes.New(m), &plain{m: m, jobs: make([]int, len(m.Group)), alone: make([]bool, len(m.Group))}
		for _, g := range m.Group {
			p.free = append(p.free, slices.Clone(m.Capacity[g]))
		}
		type job struct {
			needs *view.NodeNeeds
			list  []int32
		}
		var running []job
		for range 60 {
			n := &view.NodeNeeds{Each: []int64{rng.Int64N(4), rng.Int64N(2)}, Spread: rng.IntN(3) == 0, Exclusive: rng.IntN(4) == 0}
			if n.Each[0]+n.Each[1] == 0 {
				n.Each[0] = 1
			}
			for range 1 + rng.IntN(2) {
				groups := []int{rng.IntN(len(m.Capacity))}
				if g := rng.IntN(len(m.Capacity)); g > groups[0] {
					groups = append(groups, g)
				}
				n.Alternatives = append(n.Alternatives, groups)
			}
			processes := 1 + rng.IntN(6)
			want, got := p.fit(n, processes, nil), s.Fit(n, processes)
			if !slices.Equal(want, got) || s.Fits(n, processes) != (want != nil) {
				t.Fatalf("%+v, %d processes: %v, want %v", n, processes, got, want)
			}
			if len(running) > 0 { // another moment: some have ended
				var later nodes.Later
				then := &plain{m, nil, slices.Clone(p.jobs), slices.Clone(p.alone)}
				for _, f := range p.free {
					then.free = append(then.free, slices.Clone(f))
				}
				// Jobs end until another one fits, which takes its nodes.
				head := &view.NodeNeeds{Each: []int64{1 + rng.Int64N(2), 0}, Exclusive: rng.IntN(3) == 0, Alternatives: [][]int{{rng.IntN(len(m.Capacity))}}}
				later.Reset(s)
				ended, took := later.Until(head, 1, len(running), func(i int) (*view.NodeNeeds, []int32, bool) {
					return running[i].needs, running[i].list, i+1 < len(running) && i%3 == 0
				})
				count := 0
				for ; count < len(running); count++ {
					then.change(running[count].needs, running[count].list, -1)
					if count%3 == 0 && count+1 < len(running) {
						continue
					}
					if list := then.fit(head, 1, nil); list != nil {
						count++
						break
					}
				}
				if count != ended {
					t.Fatalf("the head fits after %d ends, want %d", ended, count)
				}
				if list := took; list != nil {
					if why := then.fit(head, 1, nil); why == nil {
						t.Fatalf("the head takes %v", list)
					}
					then.change(head, list, 1)
				}
				want, got := p.fit(n, processes, then), s.FitBoth(&later, n, processes)
				if !slices.Equal(want, got) {
					t.Fatalf("%+v, %d processes, at two moments: %v, want %v", n, processes, got, want)
				}
				if got != nil {
					both++
				}
			}
			if why := s.Refuse(n, got); got != nil && why != "" {
				t.Fatalf("%v is refused: %s", got, why)
			}
			if got != nil && rng.IntN(3) > 0 {
				fits++
				s.Take(n, got)
				p.change(n, got, 1)
				running = append(running, job{n, got})
			} else if len(running) > 0 {
				k := rng.IntN(len(running))
				s.Give(running[k].needs, running[k].list)
				p.change(running[k].needs, running[k].list, -1)
				running = slices.Delete(running, k, k+1)
			}
		}
	}
	if fits < 3000 || both < 1000 {
		t.Errorf("%d jobs fit, %d at two moments", fits, both)
	}
}
