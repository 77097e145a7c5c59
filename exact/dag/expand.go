package dag

import "slices"

// expander makes the children of states and prunes them by bounds.
type expander struct {
	*ticks
	upper  int32
	nodes  int
	work   int // calls of heads, each O(edges × machines)
	best   []int32
	bestOn []int8

	children level
	keys     []int32 // of the children, one after the other
	keyAt    []int32 // where each child's key begins in keys

	head      []int32  // of the state expanded: earliest start of open task t on machine a at [t*m+a]
	child     []int32  // the same of a child
	ready     []int32  // the same, by scheduled predecessors alone
	finish    []int32  // scratch: head + cost, or never
	score     int32    // of the last load
	byFree    []int8   // scratch: machines by free
	joining   []joiner // scratch of join
	free      []int32  // of the state or child at hand: see level
	end       []int32
	on        []int8
	openTasks independentTasks
}

func newExpander(k *ticks) *expander {
	x := &expander{ticks: k, children: level{n: k.n, m: k.m}}
	x.head, x.child, x.ready, x.finish = make([]int32, k.n*k.m), make([]int32, k.n*k.m), make([]int32, k.n*k.m), make([]int32, k.n*k.m)
	x.free, x.end, x.on, x.byFree = make([]int32, k.m), make([]int32, k.n), make([]int8, k.n), make([]int8, k.m)
	return x
}

func (x *expander) reset(upper int32) {
	x.upper, x.nodes, x.work = upper, 0, 0
	c := &x.children
	c.bound, c.score, c.done, c.free, c.end, c.on = c.bound[:0], c.score[:0], c.done[:0], c.free[:0], c.end[:0], c.on[:0]
	x.keys, x.keyAt = x.keys[:0], x.keyAt[:0]
}

// expand adds the children of state i that aren't pruned.
func (x *expander) expand(states *level, i int) {
	x.nodes++
	x.work++
	n, m := x.n, x.m
	done := states.done[i]
	free, end, on := states.free[i*m:][:m], states.end[i*n:][:n], states.on[i*n:][:n]
	copy(x.end, end)
	copy(x.on, on)
	copy(x.free, free)
	if states.bound[i] >= x.upper || x.heads(&done, x.head) >= x.upper {
		return
	}
	copy(free, x.free) // which heads may have raised
	if x.off&devIndependent == 0 && x.independent(&done, free) && x.assignIndependent(&done, free) {
		return
	}
	copy(x.end, end)
	copy(x.on, on)
	last := done.len() == n-1
	for t := range n {
		if done.has(t) || !x.eligible(&done, t) {
			continue
		}
		for a := range m {
			start := x.head[t*m+a]
			stop := start + x.cost[t*m+a]
			if start >= never || stop+x.tail[t*m+a] >= x.upper || x.exchangeable(free, end, on, &done, a) {
				continue
			}
			x.end[t], x.on[t] = stop, int8(a)
			if last {
				x.complete()
				continue
			}
			after := done
			after.add(t)
			for b := range m {
				x.free[b] = max(free[b], start)
			}
			x.free[a] = stop
			x.work++
			if bound := x.heads(&after, x.child); bound < x.upper {
				x.keep(&after, max(bound, states.bound[i]))
			}
		}
	}
}

// independent reports whether the open tasks have no successors and can start on
// each machine, where they are of use, as soon as it is free. Their predecessors
// are scheduled then (an open one would have a successor), so the order on a
// machine doesn't matter: it ends after the sum of its tasks' costs.
func (x *expander) independent(done *taskSet, free []int32) bool {
	for t := range x.n {
		if done.has(t) {
			continue
		}
		if len(x.succ[t]) > 0 {
			return false
		}
		for a, f := range free {
			if h := x.head[t*x.m+a]; h < never && h != f {
				return false
			}
		}
	}
	return true
}

// exchangeable reports whether machine a has no task and is identical to an earlier
// machine b without tasks. Then no task needs to go to a: exchange a and b in any
// schedule below this state. Its scheduled tasks are on neither, and all costs and
// lengths stay the same (see same).
func (x *expander) exchangeable(free, end []int32, on []int8, done *taskSet, a int) bool {
	b := int(x.twins[a])
	if b < 0 || x.off&devSymmetry != 0 {
		return false
	}
	for t := range x.n {
		if done.has(t) && (int(on[t]) == a || int(on[t]) == b) {
			return false
		}
	}
	return true
}

// eligible reports whether all predecessors of t are scheduled.
func (x *expander) eligible(done *taskSet, t int) bool {
	for i := range x.pred[t] {
		if !done.has(int(x.pred[t][i].to)) {
			return false
		}
	}
	return true
}

// complete keeps the complete schedule in x.end and x.on if it is the best.
func (x *expander) complete() {
	makespan := slices.Max(x.end)
	if makespan < x.upper {
		x.upper = makespan
		x.best, x.bestOn = append(x.best[:0], x.end...), append(x.bestOn[:0], x.on...)
	}
}

// keep adds the child in x.free, x.end and x.on with its key: the latest end of a
// scheduled task; when each machine is free; and for each open task with a
// scheduled predecessor, when the data of these are there on each machine, no
// earlier than the machine is free.
//
// Dominance: if states A and B have the same tasks and key(A) ≤ key(B) in every
// entry, B can be dropped. Take a schedule below B that ends before upper. Its open
// tasks use no machine that key(B) calls never, so they can start at the same times
// after A's tasks, whose machines are free and whose data are there no later. Its
// makespan is the maximum of the open tasks' ends, which stay, and of the latest
// end, which is no later in A. The latest end must be in the key: free doesn't tell
// it once no open task can use the machine.
func (x *expander) keep(done *taskSet, bound int32) {
	c := &x.children
	c.bound = append(c.bound, bound)
	c.score = append(c.score, x.score)
	c.done = append(c.done, *done)
	c.free = append(c.free, x.free...)
	c.end = append(c.end, x.end...)
	c.on = append(c.on, x.on...)
	x.keyAt = append(x.keyAt, int32(len(x.keys)))
	x.keys = append(x.keys, x.latest(done))
	x.keys = append(x.keys, x.free...)
	m := x.m
	for t := range x.n {
		if done.has(t) {
			continue
		}
		for i := range x.pred[t] {
			if done.has(int(x.pred[t][i].to)) {
				for a := range m {
					v := int32(never) // a start there leads to nothing better
					if x.child[t*m+a] < never {
						v = max(x.ready[t*m+a], x.free[a])
					}
					x.keys = append(x.keys, v)
				}
				break
			}
		}
	}
}
