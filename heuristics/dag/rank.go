// SPDX-License-Identifier: MIT

package dag

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/num/order"
)

// costs are the averages that the list schedulers rank by (Eq. 5 and 7), in seconds. The average of a task's costs is
// over the machines that can run it. Ranks are lengths of paths, of which no two tasks run at once: so they are the same
// on machines that run several tasks at once.
type costs struct {
	g    *view.Graph
	mean []float64 // of each task's cost over the machines
	comm []float64 // of each edge's length over the pairs of machines with a path
	// fixed replaces the length of an edge between any two machines if it
	// isn't NaN: the stretched lengths of the network-aware HEFT. May be nil.
	fixed []float64
}

// newCosts computes the averages. O(V M + M² + E).
func newCosts(g *view.Graph, fixed []float64) *costs {
	c := &costs{g: g, mean: make([]float64, g.Tasks), comm: make([]float64, len(g.Data)), fixed: fixed}
	for t := range c.mean {
		c.mean[t] = c.over(t, g.Cost)
	}
	if g.Machines > 1 {
		rate, startup, paths := 0.0, g.MeanStartup(), 0
		for m := range g.Machines {
			for n := range g.Machines {
				if x := g.Rate[m*g.Machines+n]; m != n && x > 0 {
					rate += x
					paths++
				}
			}
		}
		rate /= float64(max(1, paths))
		for e, data := range g.Data {
			if data > 0 && paths > 0 {
				c.comm[e] = data / rate
			}
			c.comm[e] += startup
		}
	}
	for e, x := range fixed {
		if !math.IsNaN(x) {
			c.comm[e] = x
		}
	}
	return c
}

// over returns the average of a task's figures, by task and machine, over the machines that can run it.
func (c *costs) over(t int, figures []float64) (mean float64) {
	n := 0
	for m := range c.g.Machines {
		if c.g.Runs(int32(t), int32(m)) {
			mean += figures[t*c.g.Machines+m]
			n++
		}
	}
	return mean / float64(n)
}

// between returns the length of edge e from machine m to n.
func (c *costs) between(e, m, n int32) float64 {
	if m != n && c.fixed != nil && !math.IsNaN(c.fixed[e]) {
		return c.fixed[e]
	}
	return c.g.Comm(e, m, n)
}

// upward returns rank_u (Eq. 8 and 9) of each task: the mean length of the longest
// path from its start to an exit.
func (c *costs) upward() []float64 {
	g := c.g
	rank := make([]float64, g.Tasks)
	for k := len(g.Order) - 1; k >= 0; k-- {
		t := g.Order[k]
		for _, e := range g.Succ(t) {
			rank[t] = max(rank[t], c.comm[e]+rank[g.To[e]])
		}
		rank[t] += c.mean[t]
	}
	return rank
}

// downward returns rank_d of each task: the mean length of the longest path from an
// entry to its start.
func (c *costs) downward() []float64 {
	g := c.g
	rank := make([]float64, g.Tasks)
	for _, t := range g.Order {
		for _, e := range g.Pred(t) {
			f := g.From[e]
			rank[t] = max(rank[t], rank[f]+c.mean[f]+c.comm[e])
		}
	}
	return rank
}

// classes numbers the tasks' ranks, the highest first; ranks within tie of the one
// before have its number. O(V log V).
func classes(rank []float64) []int32 {
	byRank := order.Falling(order.Of[int32](len(rank)), rank)
	class := make([]int32, len(rank))
	for k, t := range byRank {
		if k > 0 {
			before := byRank[k-1]
			class[t] = class[before]
			if less(rank[t], rank[before]) {
				class[t]++
			}
		}
	}
	return class
}

// byPriority returns the tasks in a topological order. The task with the highest rank among those with listed
// predecessors is next, ties by number. With positive costs this is the descending order of upward ranks. O((V + E) log
// V).
func byPriority(g *view.Graph, rank []float64) []int32 {
	class := classes(rank)
	// If no task comes before a predecessor in the order of the queue, each is ready when it is next.
	list := order.By(order.Of[int32](g.Tasks), class)
	if topological(g, list) {
		return list
	}
	list = list[:0]
	q := newReady(g, class)
	for q.Len() > 0 {
		t := q.Pop()
		list = append(list, t)
		q.done(t)
	}
	return list
}

// topological reports whether each task is listed after its predecessors. O(V + E).
func topological(g *view.Graph, list []int32) bool {
	listed := make([]bool, g.Tasks)
	for _, t := range list {
		listed[t] = true
		for _, e := range g.Succ(t) {
			if listed[g.To[e]] {
				return false
			}
		}
	}
	return true
}

// ready is a queue of the tasks with finished predecessors, the highest rank first, ties by number.
type ready struct {
	heap.Heap[int32]
	g       *view.Graph
	missing []int32 // predecessors of each task that aren't done
}

// newReady returns the queue by the classes of ranks.
func newReady(g *view.Graph, class []int32) *ready {
	q := &ready{g: g, missing: make([]int32, g.Tasks)}
	q.Less = func(a, b int32) bool { return class[a] < class[b] || class[a] == class[b] && a < b }
	for t := range int32(g.Tasks) {
		if q.missing[t] = int32(len(g.Pred(t))); q.missing[t] == 0 {
			q.Push(t)
		}
	}
	return q
}

// done adds the successors of t that wait for nothing else.
func (q *ready) done(t int32) {
	for _, e := range q.g.Succ(t) {
		s := q.g.To[e]
		if q.missing[s]--; q.missing[s] == 0 {
			q.Push(s)
		}
	}
}
