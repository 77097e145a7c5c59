// SPDX-License-Identifier: MIT

package dag

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/problem/dag/dagmodel"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// board is a plan of a contention-free graph in whole ticks, with the parts of its neighbourhoods' models.
type board struct {
	dagmodel.Times
	n, m     int
	machines []int // 0 to m-1
	plan     dagplay.Plan
	sequence []int32 // tasks in a topological order of the edges and the machines' orders
	place    []int32 // of each task in it
	start    []int64 // earliest, of each task
	makespan int64
	most     int // pairs in a model

	// About the current neighbourhood:
	relaxed      []int32 // the tasks that are free
	number       []int32 // of each task in relaxed, or -1
	chains       [][]int32
	index        []int32      // of each fixed task in its machine's chain
	head, tail   []int64      // of task t on machine a at [t*m+a]: least time before its start, and after its end
	from, to     []bitset.Set // of each task: relaxed tasks with a path to it, and from it
	after, ahead []bool       // of each fixed task: it can move by a relaxed one before it, or move one behind it
	ranges       []span       // of relaxed task r on machine a at [r*m+a]
}

// span says where in a machine's chain of fixed tasks a relaxed one may be: behind at
// least low and at most high of them. It is empty if the task can't be there.
type span struct{ low, high int32 }

func (s span) empty() bool { return s.low > s.high }

func newBoard(g *view.Graph, p dagplay.Plan, horizon float64) *board {
	n, m := g.Tasks, g.Machines
	b := &board{Times: dagmodel.Times{Graph: g, Ticks: g.Ticks(horizon)}, n: n, m: m, most: mostPairs, machines: make([]int, m), place: make([]int32, n),
		number: make([]int32, n), chains: make([][]int32, m), index: make([]int32, n), head: make([]int64, n*m), tail: make([]int64, n*m),
		from: make([]bitset.Set, n), to: make([]bitset.Set, n), after: make([]bool, n), ahead: make([]bool, n)}
	for a := range b.machines {
		b.machines[a] = a
	}
	b.adopt(p)
	return b
}

// adopt makes a plan the board's, and reports whether its tasks don't wait for each
// other in a circle, else it isn't taken.
func (b *board) adopt(p dagplay.Plan) bool {
	played, start, makespan := b.Play(p.Machine, p.Order)
	if len(played) < b.n {
		return false
	}
	b.plan, b.sequence, b.start, b.makespan = p, played, start, makespan
	for i, t := range b.sequence {
		b.place[t] = int32(i)
	}
	return true
}

// on returns the machines that a task may be on in the neighbourhood.
func (b *board) on(t int32) []int {
	if b.number[t] >= 0 {
		return b.machines
	}
	a := b.plan.Machine[t]
	return b.machines[a : a+1]
}

// free makes the given tasks free, and prepares the model of the schedules that end by the horizon. All other tasks
// keep their machines and their order on them. It reports whether there may be one.
func (b *board) free(relaxed []int32, horizon int64) bool {
	b.relaxed = relaxed
	for t := range b.number {
		b.number[t] = -1
	}
	for r, t := range relaxed {
		b.number[t] = int32(r)
	}
	for a, order := range b.plan.Order {
		b.chains[a] = b.chains[a][:0]
		for _, t := range order {
			if b.number[t] < 0 {
				b.index[t] = int32(len(b.chains[a]))
				b.chains[a] = append(b.chains[a], t)
			}
		}
	}
	b.tails()
	b.Heads(b.head, b.sequence, b.on, b.fixedBefore)
	for t := range int32(b.n) {
		if b.number[t] < 0 && !b.fits(t, int(b.plan.Machine[t]), horizon) {
			return false
		}
	}
	b.paths()
	if !b.places(horizon) {
		return false
	}
	b.moving()
	return true
}

// fits reports whether a task can be on a machine by its head and tail.
func (b *board) fits(t int32, a int, horizon int64) bool {
	i := int(t)*b.m + a
	return b.head[i]+b.Cost(t, a)+b.tail[i] <= horizon
}

// neighbour returns the fixed task next to a fixed one on its machine, -1 without.
func (b *board) neighbour(t int32, step int) int32 {
	c := b.chains[b.plan.Machine[t]]
	if i := int(b.index[t]) + step; i >= 0 && i < len(c) {
		return c[i]
	}
	return -1
}

// fixedBefore returns the fixed task before a fixed one on its machine, -1 without.
func (b *board) fixedBefore(t int32) int32 {
	if b.number[t] >= 0 {
		return -1
	}
	return b.neighbour(t, -1)
}

// tails computes the longest paths of edges and fixed orders from each task, of a relaxed
// task over its best machine, like dagmodel.Times.Heads.
func (b *board) tails() {
	for _, t := range slices.Backward(b.sequence) {
		for _, a := range b.on(t) {
			h := int64(0)
			for _, e := range b.Graph.Succ(t) {
				f, best := b.Graph.To[e], int64(dagmodel.Never)
				for _, c := range b.on(f) {
					best = min(best, b.tail[int(f)*b.m+c]+b.Cost(f, c)+b.Length(e, a, c))
				}
				h = max(h, best)
			}
			if b.number[t] < 0 {
				if f := b.neighbour(t, 1); f >= 0 {
					h = max(h, b.tail[int(f)*b.m+a]+b.Cost(f, a))
				}
			}
			b.tail[int(t)*b.m+a] = h
		}
	}
}

// paths finds between which tasks and relaxed ones there is a path of edges and fixed
// orders.
func (b *board) paths() {
	words := (len(b.relaxed) + 63) / 64
	all := make([]uint64, 2*b.n*words)
	for t := range b.n {
		b.from[t], b.to[t] = all[2*t*words:(2*t+1)*words], all[(2*t+1)*words:(2*t+2)*words]
	}
	visit := func(set []bitset.Set, t, before int32) {
		set[t].Join(set[before])
		if r := b.number[before]; r >= 0 {
			set[t].Add(int(r), int(r))
		}
	}
	for _, t := range b.sequence {
		for _, e := range b.Graph.Pred(t) {
			visit(b.from, t, b.Graph.From[e])
		}
		if b.number[t] < 0 {
			if f := b.neighbour(t, -1); f >= 0 {
				visit(b.from, t, f)
			}
		}
	}
	for _, t := range slices.Backward(b.sequence) {
		for _, e := range b.Graph.Succ(t) {
			visit(b.to, t, b.Graph.To[e])
		}
		if b.number[t] < 0 {
			if f := b.neighbour(t, 1); f >= 0 {
				visit(b.to, t, f)
			}
		}
	}
}

// places finds where each relaxed task may be. It can't be behind a fixed task if it would start too late there, or has
// a path to that task. It can't be before one that would then start too late, or has a path to it. The fixed tasks
// before it come first in a chain. It reports whether each task has a place.
func (b *board) places(horizon int64) bool {
	b.ranges = make([]span, len(b.relaxed)*b.m)
	for r, t := range b.relaxed {
		some := false
		for a := range b.m {
			i := int(t)*b.m + a
			earliest, latest := b.head[i]+b.Cost(t, a), horizon-b.tail[i]-b.Cost(t, a)
			s := span{0, int32(len(b.chains[a]))}
			if earliest > horizon-b.tail[i] {
				b.ranges[r*b.m+a] = span{1, 0}
				continue
			}
			for k, f := range b.chains[a] {
				j := int(f)*b.m + a
				if earliest > horizon-b.tail[j]-b.Cost(f, a) || b.to[f].Has(r) {
					s.low = int32(k) + 1
				}
			}
			for k, f := range slices.Backward(b.chains[a]) {
				j := int(f)*b.m + a
				if b.head[j]+b.Cost(f, a) > latest || b.from[f].Has(r) {
					s.high = int32(k)
				}
			}
			b.ranges[r*b.m+a] = s
			some = some || !s.empty()
		}
		if !some {
			return false
		}
	}
	for reach := b.n; reach > 0 && b.pairs() > b.most; {
		reach /= 2
		b.narrow(int32(reach))
	}
	return true
}

// mostPairs bounds the pairs of tasks that the model of a neighbourhood orders, so that it is made in
// some 10 ms: where edges say little, a task could be anywhere among thousands.
const mostPairs = 1 << 17

// pairs bounds from above the pairs that the model orders: on each machine, of the relaxed tasks that may be there and
// of the fixed ones next to which one may be.
func (b *board) pairs() int {
	sum := 0
	for a, c := range b.chains {
		depth := make([]int, len(c)+1) // how many ranges begin less those that end, at a place
		k := 0
		for r := range b.relaxed {
			if s := b.ranges[r*b.m+a]; !s.empty() {
				k++
				depth[max(0, s.low-1)]++
				depth[min(int32(len(c)), s.high+1)]--
			}
		}
		open := 0
		for _, d := range depth[:len(c)] {
			if open += d; open > 0 {
				k++
			}
		}
		sum += k * k / 2
	}
	return sum
}

// narrow keeps only places of relaxed tasks at most reach fixed ones away from their place in the plan or, on another
// machine, from the tasks that start about then. The plan's own place stays.
func (b *board) narrow(reach int32) {
	for r, t := range b.relaxed {
		for a, c := range b.chains {
			s := &b.ranges[r*b.m+a]
			if s.empty() {
				continue
			}
			at, _ := slices.BinarySearchFunc(c, b.place[t], func(f, place int32) int { return int(b.place[f] - place) })
			k := min(max(int32(at), s.low), s.high)
			s.low, s.high = max(s.low, k-reach), min(s.high, k+reach)
		}
	}
}

// moving finds the fixed tasks that a relaxed one may move, being before them, and the ones that matter to one. It
// takes the constant ones into the heads and tails of the relaxed.
func (b *board) moving() {
	clear(b.after)
	clear(b.ahead)
	for r, t := range b.relaxed {
		for _, e := range b.Graph.Succ(t) {
			b.after[b.Graph.To[e]] = true
		}
		for _, e := range b.Graph.Pred(t) {
			b.ahead[b.Graph.From[e]] = true
		}
		for a := range b.m {
			if s := b.ranges[r*b.m+a]; !s.empty() {
				c := b.chains[a]
				if int(s.low) < len(c) {
					b.after[c[s.low]] = true // and all behind it
				}
				if s.high > 0 {
					b.ahead[c[s.high-1]] = true
				}
			}
		}
	}
	for _, t := range b.sequence {
		if b.number[t] < 0 && b.after[t] {
			for _, e := range b.Graph.Succ(t) {
				b.after[b.Graph.To[e]] = true
			}
			if f := b.neighbour(t, 1); f >= 0 {
				b.after[f] = true
			}
		}
	}
	for _, t := range slices.Backward(b.sequence) {
		if b.number[t] < 0 && b.ahead[t] {
			for _, e := range b.Graph.Pred(t) {
				b.ahead[b.Graph.From[e]] = true
			}
			if f := b.neighbour(t, -1); f >= 0 {
				b.ahead[f] = true
			}
		}
	}
	for r, t := range b.relaxed {
		for a := range b.m {
			s, i := b.ranges[r*b.m+a], int(t)*b.m+a
			if s.empty() {
				continue
			}
			if s.low > 0 {
				if f := b.chains[a][s.low-1]; !b.after[f] {
					b.head[i] = max(b.head[i], b.head[int(f)*b.m+a]+b.Cost(f, a))
				}
			}
			if int(s.high) < len(b.chains[a]) {
				if f := b.chains[a][s.high]; !b.ahead[f] {
					b.tail[i] = max(b.tail[i], b.tail[int(f)*b.m+a]+b.Cost(f, a))
				}
			}
		}
	}
}

// moves reports whether a fixed task's start is a variable.
func (b *board) moves(t int32) bool { return b.after[t] && b.ahead[t] }
