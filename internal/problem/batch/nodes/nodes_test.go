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

// each returns how many processes of a job a node has room for.
func (p *plain) each(n *view.NodeNeeds, x int) int64 {
	if p.alone[x] || n.Exclusive && p.jobs[x] > 0 {
		return 0
	}
	return nodes.Each(n, p.free[x], 1000)
}

// fit returns nodes that have room now, and at another moment, unless that is nil.
func (p *plain) fit(n *view.NodeNeeds, processes int, also *plain) []int32 {
	return p.place(n, processes, func(x int) int64 { return p.both(n, x, also) })
}

// best returns nodes that have room at another moment, those that fit best now.
func (p *plain) best(n *view.NodeNeeds, processes int, then *plain) []int32 {
	return p.place(n, processes, func(x int) int64 { return then.each(n, x) })
}

func (p *plain) both(n *view.NodeNeeds, x int, also *plain) int64 {
	if also == nil {
		return p.each(n, x)
	}
	return min(p.each(n, x), also.each(n, x))
}

// most returns how many processes of a job fit, mostBoth how many do at two moments.
func (p *plain) most(n *view.NodeNeeds) int { return p.mostBoth(n, nil) }

func (p *plain) mostBoth(n *view.NodeNeeds, also *plain) (most int) {
	for k := 1; p.fit(n, k, also) != nil; k++ {
		most = k
	}
	return most
}

// place puts processes on nodes with the given room.
func (p *plain) place(n *view.NodeNeeds, processes int, room func(x int) int64) []int32 {
	for _, groups := range n.Alternatives {
		type spot struct {
			node int32
			full float64
		}
		var all []spot
		for x := range p.free {
			g := int(p.m.Group[x])
			if !slices.Contains(groups, g) {
				continue
			}
			r := spot{node: int32(x)}
			for k, c := range p.m.Capacity[g] {
				if c > 0 {
					r.full += float64(p.free[x][k]) / float64(c)
				}
			}
			all = append(all, r)
		}
		// Classes go by what is free, then by group, then by their lowest node.
		lowest := func(r spot) int32 {
			for x := range p.free {
				if p.m.Group[x] == p.m.Group[r.node] && slices.Equal(p.free[x], p.free[r.node]) && p.alone[x] == p.alone[r.node] && (p.jobs[x] > 0) == (p.jobs[r.node] > 0) {
					return int32(x)
				}
			}
			return -1
		}
		slices.SortFunc(all, func(a, b spot) int {
			return cmp.Or(cmp.Compare(a.full, b.full), cmp.Compare(p.m.Group[a.node], p.m.Group[b.node]), cmp.Compare(lowest(a), lowest(b)), cmp.Compare(a.node, b.node))
		})
		var list []int32
		for _, r := range all {
			for range room(int(r.node)) {
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
	fits, both, reserved := 0, 0, 0
	for round := range 300 {
		scale, steps := int64(1), 60
		if round%30 == 0 { // more classes come than are kept
			scale, steps = 50, 500
		}
		m := &view.BatchNodes{Resources: []string{"cpu", "gpu"}, First: []int32{0}}
		for g := range 1 + rng.IntN(3) {
			m.Capacity = append(m.Capacity, []int64{scale * (1 + rng.Int64N(8)), scale * rng.Int64N(3)})
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
		for range steps {
			n := &view.NodeNeeds{Each: []int64{rng.Int64N(3*scale + 1), rng.Int64N(scale + 1)}, Spread: rng.IntN(3) == 0, Exclusive: rng.IntN(4) == 0}
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
				later := nodes.NewLater(m)
				then := &plain{m, nil, slices.Clone(p.jobs), slices.Clone(p.alone)}
				for _, f := range p.free {
					then.free = append(then.free, slices.Clone(f))
				}
				for _, x := range running {
					later.Take(x.needs, x.list)
				}
				// Some jobs have ended, and another one has a reservation, if it fits: on the nodes that fit best now.
				for i := range running {
					if i%3 > 0 {
						later.Give(running[i].needs, running[i].list)
						then.change(running[i].needs, running[i].list, -1)
					}
				}
				head := &view.NodeNeeds{Each: []int64{1 + rng.Int64N(2), rng.Int64N(2)}, Spread: rng.IntN(3) == 0, Exclusive: rng.IntN(3) == 0, Alternatives: n.Alternatives}
				width := 1 + rng.IntN(5)
				list := p.best(head, width, then)
				if later.Reserve(s, head, width) != (list != nil) {
					t.Fatalf("%+v, %d processes, later: %v", head, width, list)
				}
				if list != nil {
					then.change(head, list, 1)
					reserved++
					if room := later.Room(n); room != int64(then.most(n)) {
						t.Fatalf("%+v: %d fit beside the reservation, want %d", n, room, then.most(n))
					}
				}
				want := p.fit(n, processes, then)
				got, room := later.FitBoth(s, n, processes)
				if !slices.Equal(want, got) {
					t.Fatalf("%+v, %d processes, at two moments: %v, want %v", n, processes, got, want)
				}
				if got == nil && room != int64(p.mostBoth(n, then)) {
					t.Fatalf("%+v: %d fit at two moments, want %d", n, room, p.mostBoth(n, then))
				}
				if later.Cancel(); list != nil {
					then.change(head, list, -1)
				}
				if room := later.State.Room(n); room != int64(then.most(n)) {
					t.Fatalf("%+v: %d fit later, want %d", n, room, then.most(n))
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
	if fits < 3000 || both < 1000 || reserved < 1000 {
		t.Errorf("%d jobs fit, %d at two moments, %d have a reservation", fits, both, reserved)
	}
}
