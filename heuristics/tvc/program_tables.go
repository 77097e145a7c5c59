// SPDX-License-Identifier: MIT

package tvc

import (
	"slices"

	"github.com/gapwise/gapwise/internal/num/spans"
)

// pool lends slices and takes them back all at once.
type pool[T any] struct {
	slices [][]T
	used   int
}

func (p *pool[T]) next() *[]T {
	if p.used == len(p.slices) {
		p.slices = append(p.slices, nil)
	}
	p.used++
	return &p.slices[p.used-1]
}

// costTable holds the least cost of each number of VMs below a link or switch,
// never if it isn't possible: [0] without the big server, [1] with it.
type costTable [2][]int64

// costTables makes costTable.
type costTables struct {
	*problem
	weights
	cells pool[int64]
}

func (c *costTables) reset(p *problem, w weights) { c.problem, c.weights, c.cells.used = p, w, 0 }

// nevers returns the table of n impossible counts.
func (c *costTables) nevers(n int) []int64 {
	x := c.cells.next()
	*x = slices.Grow((*x)[:0], n)[:n]
	for m := range *x {
		(*x)[m] = never
	}
	return *x
}

func (c *costTables) none() costTable { return costTable{{0}} }

func (c *costTables) server(s int) (t costTable) {
	free, room, opened := min(int(c.d.Free[s]), c.n), c.room(c.d.Server[s], c.d.ServerRate), int64(0)
	if int(c.d.Free[s]) == c.d.Slots {
		opened = c.opened
	}
	set := func(x []int64, m int) {
		if load := min(m, c.n-m); load <= room {
			x[m] = c.reserved*int64(load) + opened
		}
	}
	small := free
	if c.d.PerPath {
		small = min(free, c.n/2)
	}
	t[0] = c.nevers(small + 1)
	t[0][0] = 0
	for m := 1; m <= small; m++ {
		set(t[0], m)
	}
	if c.big > 0 && c.big <= free {
		t[1] = c.nevers(c.big + 1)
		set(t[1], c.big)
	}
	return t
}

func (c *costTables) link(t costTable, room int) (u costTable) {
	for big, costs := range t {
		u[big] = c.nevers(len(costs))
		for m, cost := range costs {
			if load := c.load(m, big == 1); cost < never && load <= room {
				u[big][m] = cost + c.reserved*int64(load)
			}
		}
	}
	return u
}

func (c *costTables) join(t, u costTable, low int) (sum costTable) {
	for big, terms := range sums {
		for _, x := range terms {
			c.add(&sum[big], t[x[0]], u[x[1]], low)
		}
	}
	return sum
}

// sums lists the sums that make a joined table without the big server and with it.
var sums = [2][][2]int{{{0, 0}}, {{0, 1}, {1, 0}}}

// add lowers the costs in sum to the costs of the sums of both tables' counts, from low on.
func (c *costTables) add(sum *[]int64, t, u []int64, low int) {
	if len(t) == 0 || len(u) == 0 {
		return
	}
	top := min(len(t)+len(u)-2, c.n)
	if have := len(*sum); have <= top {
		longer := c.nevers(top + 1)
		copy(longer, *sum)
		*sum = longer
	}
	for i, a := range t {
		if a == never {
			continue
		}
		first := max(0, low-i)
		if first >= len(u) || i > top {
			continue
		}
		costs := (*sum)[i+first : min(i+len(u), top+1)]
		for j, b := range u[first:][:len(costs)] {
			costs[j] = min(costs[j], a+b)
		}
	}
}

func (c *costTables) all(t costTable) int64 {
	x := t[0]
	if c.big > 0 {
		x = t[1]
	}
	if len(x) <= c.n {
		return never
	}
	return x[c.n]
}

// setTable holds the possible numbers of VMs below a link or switch: [0] without the
// big server, [1] with it.
type setTable [2]spans.Set

// setTables makes setTable.
type setTables struct {
	*problem
	cells pool[spans.Span]
}

func (c *setTables) reset(p *problem, _ weights) { c.problem, c.cells.used = p, 0 }

func (c *setTables) none() setTable { return setTable{{{}}} }

func (c *setTables) server(s int) (t setTable) {
	free, room := min(int(c.d.Free[s]), c.n), c.room(c.d.Server[s], c.d.ServerRate)
	set := func(from, to int) spans.Set {
		x := c.cells.next()
		*x = spans.Set{{From: from, To: to}}.Ends(*x, c.n, room)
		return *x
	}
	small := free
	if c.d.PerPath {
		small = min(free, c.n/2)
	}
	t[0] = set(0, small)
	if c.big > 0 && c.big <= free {
		t[1] = set(c.big, c.big)
	}
	return t
}

func (c *setTables) link(t setTable, room int) (u setTable) {
	for big, counts := range t {
		x := c.cells.next()
		if c.d.PerPath {
			*x = counts.Sums(*x, zero, 0, room-c.load(0, big == 1))
		} else {
			*x = counts.Ends(*x, c.n, room)
		}
		u[big] = *x
	}
	return u
}

// zero is the set of 0 alone.
var zero = spans.Set{{}}

func (c *setTables) join(t, u setTable, low int) (sum setTable) {
	for big, terms := range sums {
		for _, x := range terms {
			y := c.cells.next()
			*y = t[x[0]].Sums(*y, u[x[1]], low, c.n)
			if len(sum[big]) > 0 {
				*y = spans.Set(*y).Union(sum[big])
			}
			sum[big] = *y
		}
	}
	return sum
}

func (c *setTables) all(t setTable) int64 {
	x := t[0]
	if c.big > 0 {
		x = t[1]
	}
	if x.Has(c.n) {
		return 0
	}
	return never
}
