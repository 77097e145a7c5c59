package dag

import (
	"github.com/gapwise/gapwise/model"
)

// ticks is a contention-free DAG in whole numbers of a unit of time, its tasks
// renumbered in topological order, with what the search precomputes.
//
// Ticks are a relaxation (see model.DAGTicks), so what is proved for them holds
// for the instance.
type ticks struct {
	n, m    int
	off     deviceSet
	unit    float64
	whole   bool      // nothing was rounded: makespans are multiples of the unit
	task    []int32   // number in the instance
	cost    []int32   // of task t on machine k at [t*m+k]
	pred    [][]arc   // edges into each task
	succ    [][]arc   // edges out of it
	tail    []int32   // after task t on machine k at [t*m+k], see tails
	least   []int32   // min over k of tail
	byTail  []int32   // tasks by descending least
	weights [][]int32 // of machines, for the load bound
	uniform bool      // comm doesn't depend on the machines but for being the same
	twins   []int32   // the last machine before this one that is the same, -1 without
}

// arc is an edge seen from one of its tasks.
type arc struct {
	to   int32   // the other task
	away int32   // uniform: length between different machines
	comm []int32 // otherwise: length from machine a to b at [a*m+b]
}

// never is later than every time that matters. A time that isn't later plus a
// cost and a length is below 2^31.
const never = 1 << 29

// newTicks makes the ticks for schedules that end by the horizon (seconds), at
// least the optimum.
func newTicks(g *model.Graph, horizon float64, off deviceSet) *ticks {
	n, m, view := g.Tasks, g.Machines, g.Ticks(horizon)
	k := &ticks{n: n, m: m, off: off, unit: view.Unit, whole: view.Whole, task: g.Order, uniform: g.Uniform || m == 1,
		cost: make([]int32, n*m), pred: make([][]arc, n), succ: make([][]arc, n)}
	number := make([]int32, n)
	for i, t := range k.task {
		number[t] = int32(i)
		copy(k.cost[i*m:][:m], view.Cost[int(t)*m:])
	}
	for e := range g.Data {
		a := arc{}
		if k.uniform {
			a.away = view.Comm[e]
		} else {
			a.comm = view.Comm[e*m*m:][:m*m]
		}
		f, t := number[g.From[e]], number[g.To[e]]
		a.to = f
		k.pred[t] = append(k.pred[t], a)
		a.to = t
		k.succ[f] = append(k.succ[f], a)
	}
	k.tails()
	k.findTwins()
	return k
}

// length of an arc from machine a to b.
func (k *ticks) length(x *arc, a, b int) int32 {
	switch {
	case a == b:
		return 0
	case k.uniform:
		return x.away
	}
	return x.comm[a*k.m+b]
}

// findTwins finds machines that can be exchanged: the same costs, and the same
// lengths of edges to and from all others, and to each other. To be the same is
// transitive, so one of each class has no twin before it.
func (k *ticks) findTwins() {
	k.twins = make([]int32, k.m)
	for b := range k.m {
		k.twins[b] = -1
		for a := b - 1; a >= 0 && k.twins[b] < 0; a-- {
			if k.same(a, b) {
				k.twins[b] = int32(a)
			}
		}
	}
}

func (k *ticks) same(a, b int) bool {
	for t := range k.n {
		if k.cost[t*k.m+a] != k.cost[t*k.m+b] {
			return false
		}
		for i := range k.succ[t] {
			x := &k.succ[t][i]
			if k.length(x, a, b) != k.length(x, b, a) {
				return false
			}
			for c := range k.m {
				if c != a && c != b && (k.length(x, a, c) != k.length(x, b, c) || k.length(x, c, a) != k.length(x, c, b)) {
					return false
				}
			}
		}
	}
	return true
}

// tails computes a lower bound on the time from the end of each task, on each
// machine, to the end of the schedule. Two are joined:
//
//   - the longest path, each successor on its best machine (PEFT's optimistic
//     cost table, with the true lengths of edges), and
//   - the fork: for a time T after the task's end, the successors that can't
//     be done by T elsewhere must stay on its machine, one after another.
//
// The fork is valid as the time R from the task's end to the schedule's is at
// least away of each successor that isn't on its machine. So those with away > R
// are on it and R >= stay(R), their costs one after another with a tail at the end,
// least in the order of falling tails. As R grows stay falls, by steps at the
// values of away; so the least R with R >= stay(R) is the least of max(L, stay(L))
// over L = 0 and these values. Sums that overflow wrap to less: the bound gets
// weaker, not wrong.
//
// O(E M² + sum of successors² M).
func (k *ticks) tails() {
	m := k.m
	k.tail, k.least = make([]int32, k.n*m), make([]int32, k.n)
	type child struct{ away, stay, tail int32 }
	var children []child
	for t := k.n - 1; t >= 0; t-- {
		k.least[t] = never
		for a := range m {
			path := int32(0)
			children = children[:0]
			for i := range k.succ[t] {
				x := &k.succ[t][i]
				s := int(x.to)
				away := int32(never)
				for b := range m {
					if b != a {
						away = min(away, k.length(x, a, b)+k.cost[s*m+b]+k.tail[s*m+b])
					}
				}
				c := child{away, k.cost[s*m+a], k.tail[s*m+a]}
				path = max(path, min(away, c.stay+c.tail))
				children = append(children, c)
			}
			// The least T so that those that can't be away by T fit on a.
			// The load of those that stay grows as T falls, by steps.
			best := int32(never)
			try := func(limit int32) { // all with away > limit stay
				load := int32(0)
				stay := int32(0)
				// In the order of falling tails (Jackson) the latest end is least.
				for done := int32(never); ; {
					next := int32(-1)
					for _, c := range children {
						if c.away > limit && c.tail < done {
							next = max(next, c.tail)
						}
					}
					if next < 0 {
						break
					}
					for _, c := range children {
						if c.away > limit && c.tail == next {
							load += c.stay
						}
					}
					stay = max(stay, load+next)
					done = next
				}
				best = min(best, max(limit, stay))
			}
			try(0)
			for _, c := range children {
				if c.away < never {
					try(c.away)
				}
			}
			switch {
			case k.off&devTails != 0:
				path, best = 0, 0
			case k.off&devFork != 0:
				best = 0
			}
			k.tail[t*m+a] = min(max(path, best), never)
			k.least[t] = min(k.least[t], k.tail[t*m+a])
		}
	}
}

// fit is the makespan, and the end of each task, when the tasks run in the
// given order on the given machines.
func (k *ticks) fit(on []int8, order [][]int32) (int32, []int32) {
	end := make([]int32, k.n)
	at := make([]int, k.m)
	placed := make([]bool, k.n)
	makespan := int32(0)
	for left := k.n; left > 0; {
		for a := range k.m {
		next:
			for at[a] < len(order[a]) {
				t := order[a][at[a]]
				start := int32(0)
				if at[a] > 0 {
					start = end[order[a][at[a]-1]]
				}
				for i := range k.pred[t] {
					p := &k.pred[t][i]
					if !placed[p.to] {
						break next
					}
					start = max(start, end[p.to]+k.length(p, int(on[p.to]), a))
				}
				end[t], placed[t] = start+k.cost[int(t)*k.m+a], true
				makespan = max(makespan, end[t])
				at[a]++
				left--
			}
		}
	}
	return makespan, end
}
