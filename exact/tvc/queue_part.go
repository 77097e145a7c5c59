// SPDX-License-Identifier: MIT

package tvc

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/model"
)

// queuePart is a search for the best schedule of some requests of a queue, as if there were no others.
//
// It is a branch and bound on the whole variables of a queueProgram, the node of the least bound first. If migrations
// cost something, it goes on at points that are whole (see moves).
type queuePart struct {
	*queueRun
	n        int
	requests []int // by position: in the instance, by arrival
	sets     *queueSets
	arrival  []int64 // in ticks after the first one
	length   []int64
	begins   []int64 // of intervals: the instants of arrivals
	base     int64   // the first arrival
	scale    float64 // ticks in the program's unit of time

	value int64         // the sum of the responses of the best schedule known
	best  [][]queueStay // it, by request, if the search has found it
	lower float64       // no schedule has a smaller sum
}

// queuePiece is a span of a schedule in which a set runs.
type queuePiece struct {
	from, to int64 // after the first arrival
	set      uint32
}

// queueStay is a time in which a request runs in one place.
type queueStay struct {
	from, to int64 // after the first arrival
	place    *model.Embedding
}

// queueNode is a node of the search.
type queueNode struct {
	program      *queueProgram
	fixed        []queueFixed
	low, high, x []float64
	bound        float64
	depth        int
}

// queueFixed is a whole variable with a value.
type queueFixed struct {
	queueWhole
	value float64
}

// node returns a node of a program in which variables of this or an earlier one are fixed.
func (p *queueProgram) node(fixed []queueFixed, bound float64) *queueNode {
	n := &queueNode{program: p, fixed: fixed, bound: bound, depth: len(fixed),
		low: make([]float64, len(p.model.Vars)), high: make([]float64, len(p.model.Vars))}
	for _, w := range p.whole {
		n.high[w.x] = 1
	}
	for i := range fixed {
		p.fix(n.low, n.high, &fixed[i].queueWhole, fixed[i].value)
	}
	return n
}

// newPart returns the search for some requests, with the known schedule and bounds.
func (q *queueRun) newPart(requests []int) *queuePart {
	p := &queuePart{queueRun: q, n: len(requests), requests: requests, base: q.t.Requests[requests[0]].Arrival}
	alone := *q.t
	alone.Requests = nil
	sum := int64(0)
	for _, k := range requests {
		r := &q.t.Requests[k]
		alone.Requests = append(alone.Requests, *r)
		p.arrival = append(p.arrival, r.Arrival-p.base)
		p.length = append(p.length, r.Duration)
		p.value += q.end(k) - r.Arrival
		sum += r.Duration
		if x := r.Arrival - p.base; len(p.begins) == 0 || p.begins[len(p.begins)-1] < x {
			p.begins = append(p.begins, x)
		}
	}
	p.scale = float64(p.begins[len(p.begins)-1]+sum) / queueScale
	for _, b := range tvcbounds.Response(q.Ctx, &alone) {
		p.lower = max(p.lower, b.Value*1e6*float64(p.n)*(1-1e-14))
	}
	return p
}

// here returns the requests that have arrived when interval l begins.
func (q *queuePart) here(l int) (s uint32) {
	for j, a := range q.arrival {
		if a <= q.begins[l] {
			s |= 1 << j
		}
	}
	return s
}

// count returns the number of requests that can have ended when interval l begins.
func (p *queueProgram) count(l int) (n int) {
	for j, a := range p.arrival {
		if a+p.length[j] <= p.begins[l] {
			n++
		}
	}
	return n
}

// first reports whether request i ends no later than j in some best schedule. One may replace the other in all sets
// that fit (queueSets.alike), a_i ≤ a_j and p_i ≤ p_j, ties by position.
//
// Say that j ends first. Both run for a time b from a_j to the end of j, i alone for u, and j alone for v. Then b + v =
// p_j, and the work r of i from a_j on satisfies r ≤ p_i ≤ b + v. Now let i have all of b, and r - b of u + v: it ends
// when j did. The rest of u + v, and the r - u - b that i had later, go to j: with b that is b + (u + v - r + b) + (r -
// u - b) = b + v. So j ends when i did, and everything else is as before. Each such exchange brings the order of ends
// nearer to one in which all such pairs are right.
//
// If migrations cost something, such an exchange may be one. Then the rule only applies to requests that differ in
// nothing: their names can be exchanged.
func (q *queuePart) first(i, j int) bool {
	if i == j || q.arrival[i] > q.arrival[j] || q.length[i] > q.length[j] || !q.sets.alike(i, j) {
		return false
	}
	same := q.arrival[i] == q.arrival[j] && q.length[i] == q.length[j]
	if q.t.Migration > 0 {
		a, b := &q.t.Requests[q.requests[i]], &q.t.Requests[q.requests[j]]
		return i < j && same && a.VMs == b.VMs && a.Bandwidth == b.Bandwidth
	}
	return !same || i < j
}

// fractional returns the whole variable that is furthest from a whole number in a node's point, nil if
// none is.
func (p *queueProgram) fractional(n *queueNode) *queueWhole {
	var at *queueWhole
	most := 1e-7
	for i := range p.whole {
		w := &p.whole[i]
		if f := math.Abs(n.x[w.x] - math.Round(n.x[w.x])); f > most && n.low[w.x] < n.high[w.x] {
			at, most = w, f
		}
	}
	return at
}

type queueHeap []*queueNode

func (h queueHeap) Len() int { return len(h) }
func (h queueHeap) Less(a, b int) bool {
	return h[a].bound < h[b].bound || h[a].bound == h[b].bound && h[a].depth > h[b].depth
}
func (h queueHeap) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *queueHeap) Push(x any)   { *h = append(*h, x.(*queueNode)) }
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// enough reports whether a value no less than a bound needs no search: no better schedule has that many whole ticks, or
// it is better by too little.
func (q *queuePart) enough(bound float64) bool {
	return bound > float64(q.value)-1 || bound >= float64(q.value)*(1-q.close)
}

// search looks for the best schedule until it is found or the run ends.
func (q *queuePart) search(root *queueProgram) error {
	open := &queueHeap{}
	done := math.Inf(1) // the least bound of the nodes that aren't searched further
	// add solves a node's program, and keeps the node if there is something to search.
	add := func(n *queueNode) error {
		q.done++
		p := n.program
		bound, x, err := p.solve(q.Ctx, n.low, n.high)
		if err != nil || q.Ctx.Err() != nil {
			heap.Push(open, n)
			return err
		}
		n.bound, n.x = max(n.bound, bound), x
		if x != nil && !q.enough(n.bound) {
			q.adopt(p.pieces(x))
			if !q.enough(n.bound) && (p.fractional(n) != nil || q.t.Migration > 0) {
				heap.Push(open, n)
				return nil
			}
		}
		done = min(done, n.bound)
		return nil
	}
	defer func() {
		for _, n := range *open {
			done = min(done, n.bound)
		}
		q.lower = max(q.lower, min(done, float64(q.value)))
	}()
	if err := add(root.node(nil, q.lower)); err != nil {
		return err
	}
	for open.Len() > 0 && q.Ctx.Err() == nil {
		n := heap.Pop(open).(*queueNode)
		q.lower = max(q.lower, min(done, n.bound, float64(q.value)))
		if q.raise(); q.enough(n.bound) || n.x == nil {
			done = min(done, n.bound)
			continue
		}
		children, searched := q.children(n)
		if !searched {
			done = min(done, n.bound)
		}
		for _, c := range children {
			if err := add(c); err != nil {
				heap.Push(open, n)
				return err
			}
		}
	}
	return nil
}

// children returns the nodes below one; searched is false if they leave something out.
func (q *queuePart) children(n *queueNode) (all []*queueNode, searched bool) {
	at := n.program.fractional(n)
	if at == nil {
		return q.moves(n)
	}
	for _, value := range []float64{math.Round(n.x[at.x]), 1 - math.Round(n.x[at.x])} {
		all = append(all, n.program.node(append(slices.Clone(n.fixed), queueFixed{*at, value}), n.bound))
	}
	return all, true
}

// adopt keeps the schedule of some pieces if it is the best so far. No request may migrate in it, unless migrations cost
// nothing.
func (q *queuePart) adopt(pieces []queuePiece) {
	if q.responses(pieces) >= q.value {
		return
	}
	var lives []queueLife
	for j := range q.n {
		lives = append(lives, queueLife{request: j})
		for i, x := range pieces {
			if x.set>>j&1 != 0 {
				lives[j].at = append(lives[j].at, i)
			}
		}
	}
	var places []map[int32]*model.Embedding
	if stay, fits := q.together(lives, len(pieces)); fits == yes {
		mine := map[int32]*model.Embedding{}
		for j, e := range stay {
			mine[int32(j)] = e
		}
		for range pieces {
			places = append(places, mine)
		}
	} else if q.t.Migration == 0 {
		places = q.moving(pieces)
	}
	if places == nil {
		return
	}
	runs := make([][]queueStay, q.n)
	for i, x := range pieces {
		for s := x.set; s != 0; s &= s - 1 {
			j := bits.TrailingZeros32(s)
			runs[j] = append(runs[j], queueStay{x.from, x.to, places[i][int32(j)]})
		}
	}
	q.best, q.value = runs, q.responses(pieces)
}

// responses returns the sum of the responses of a schedule.
func (q *queuePart) responses(pieces []queuePiece) (sum int64) {
	end := make([]int64, q.n)
	for _, x := range pieces {
		for s := x.set; s != 0; s &= s - 1 {
			end[bits.TrailingZeros32(s)] = x.to
		}
	}
	for j := range end {
		sum += end[j] - q.arrival[j]
	}
	return sum
}
