// SPDX-License-Identifier: MIT

package dag

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
)

// The kinds of neighbourhoods say which tasks are relaxed.
const (
	byTime     = iota // those that run nearest to a moment
	byMachines        // those of two machines that run nearest to a moment
	byPath            // a piece of a critical path, and others
	byEdges           // those nearest to a critical task by edges
	byChance          // any
	kinds
)

// choose draws a neighbourhood of the given kind and number of tasks.
func (x *neighbourhoods) choose(kind, size int) []int32 {
	distance := make([]float64, x.board.n)
	switch kind {
	case byTime, byMachines:
		x.distanceInTime(distance, kind == byMachines)
	case byPath:
		path := x.board.critical(x.Rand.IntN)
		from := x.Rand.IntN(len(path))
		for t := range distance {
			distance[t] = 1 + x.Rand.Float64()
		}
		for i := range min(len(path), size/2+1) {
			distance[path[(from+i)%len(path)]] = 0
		}
	case byEdges:
		x.distanceByEdges(distance, size)
	case byChance:
		for t := range distance {
			distance[t] = x.Rand.Float64()
		}
	}
	return order.By(order.Of[int32](len(distance)), distance)[:size]
}

// distanceInTime sets the time from a random moment to the middle of each task. If two is set, tasks on other machines
// than two random ones come last.
func (x *neighbourhoods) distanceInTime(distance []float64, two bool) {
	b := x.board
	moment := x.Rand.Float64() * float64(b.makespan)
	one, other := int32(x.Rand.IntN(b.m)), int32(x.Rand.IntN(b.m))
	for t := range distance {
		a := b.plan.Machine[t]
		distance[t] = math.Abs(float64(b.start[t]) + float64(b.Cost(int32(t), int(a)))/2 - moment)
		if two && a != one && a != other {
			distance[t] += float64(b.makespan)
		}
	}
}

// distanceByEdges ranks tasks in the order in which a search in breadth from a critical
// one meets them, the neighbours of each in random order.
func (x *neighbourhoods) distanceByEdges(distance []float64, size int) {
	b := x.board
	path := b.critical(x.Rand.IntN)
	for t := range distance {
		distance[t] = math.Inf(1)
	}
	list := []int32{path[x.Rand.IntN(len(path))]}
	distance[list[0]] = 0
	for i := 0; i < len(list) && len(list) < size; i++ {
		var near []int32
		for _, e := range b.Graph.Pred(list[i]) {
			near = append(near, b.Graph.From[e])
		}
		for _, e := range b.Graph.Succ(list[i]) {
			near = append(near, b.Graph.To[e])
		}
		x.Rand.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
		for _, u := range near {
			if math.IsInf(distance[u], 1) {
				distance[u] = float64(len(list))
				list = append(list, u)
			}
		}
	}
}

// critical returns a critical path, its last task first. If a task waited for several, pick draws one of them.
func (b *board) critical(pick func(n int) int) []int32 {
	end := func(t int32) int64 { return b.start[t] + b.Cost(t, int(b.plan.Machine[t])) }
	before := make([]int32, b.n) // on its machine
	for _, tasks := range b.plan.Order {
		for i, t := range tasks {
			if before[t] = -1; i > 0 {
				before[t] = tasks[i-1]
			}
		}
	}
	t := slices.IndexFunc(b.sequence, func(t int32) bool { return end(t) == b.makespan })
	path := []int32{b.sequence[t]}
	for {
		t := path[len(path)-1]
		var waited []int32
		if f := before[t]; f >= 0 && end(f) == b.start[t] {
			waited = append(waited, f)
		}
		for _, e := range b.Graph.Pred(t) {
			f := b.Graph.From[e]
			if end(f)+b.Length(e, int(b.plan.Machine[f]), int(b.plan.Machine[t])) == b.start[t] {
				waited = append(waited, f)
			}
		}
		if len(waited) == 0 {
			return path
		}
		path = append(path, waited[pick(len(waited))])
	}
}
