package exact

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"golang.org/x/sync/errgroup"
)

// levels is the search behind DAGSearch. A state is a partial schedule made by
// appending tasks to machines in the order of their starts: level i holds the
// states of i tasks. From a state, the next task may be any whose
// predecessors are scheduled, on any machine, at its earliest start there; the
// machines then count as busy until that start, since no later task may start
// earlier. Every semi-active schedule is reached, each by one order of starts.
//
// A state is dropped if a bound shows that it leads to nothing better than the
// best schedule known, or if another state of the same tasks dominates it:
// whatever can follow it can follow the other at the same times. A state's key
// for that is when each machine is free, and when the data of each task that
// has some are there, on each machine, neither earlier than a task may start.
//
// When the tasks that are left have no successors and wait for nothing but the
// machines, the best way to share them out is found at once (spread).
//
// A level that outgrows the memory allowed is cut into blocks, which are
// searched one after the other, the most promising first. With a width set,
// only the best states of each level are kept: then the search is a heuristic,
// and the least bound of what was dropped is a bound for the instance.
type levels struct {
	*ticks
	ctx     context.Context
	workers int
	width   int   // of a beam; 0: exact
	block   int   // most states of a level in memory at once
	upper   int32 // makespan of the best schedule known
	best    []int32
	on      []int8 // of best: machine of each task
	dropped int32  // least bound of what wasn't searched; never if nothing
	nodes   int64
	scratch []*expander
	report  func()
}

// level is states of the same number of tasks, in arrays.
type level struct {
	n, m  int
	bound []int32
	score []int32 // tells promising states of one bound, see load
	done  []taskSet
	free  []int32 // m for each state
	end   []int32 // n: when the task ends, if it is done
	on    []int8  // n: its machine
}

type taskSet [2]uint64

func (s *taskSet) has(t int) bool { return s[t>>6]>>(t&63)&1 != 0 }
func (s *taskSet) add(t int)      { s[t>>6] |= 1 << (t & 63) }

// maxTasks is the number of tasks that the search takes.
const maxTasks = 128

func (v *level) len() int { return len(v.bound) }

func (v *level) take(from *level, i int) {
	v.bound = append(v.bound, from.bound[i])
	v.score = append(v.score, from.score[i])
	v.done = append(v.done, from.done[i])
	v.free = append(v.free, from.free[i*v.m:(i+1)*v.m]...)
	v.end = append(v.end, from.end[i*v.n:(i+1)*v.n]...)
	v.on = append(v.on, from.on[i*v.n:(i+1)*v.n]...)
}

// run searches everything below the states of one level, or gives up when ctx
// ends; the bounds of what it leaves go to dropped.
func (l *levels) run(states *level, tasks int) {
	if tasks == l.n {
		return // complete schedules are taken when they are made
	}
	order := make([]int32, states.len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(states.bound[a], states.bound[b]), cmp.Compare(states.score[a], states.score[b]), cmp.Compare(a, b))
	})
	if l.width > 0 && len(order) > l.width {
		l.dropped = min(l.dropped, states.bound[order[l.width]])
		order = order[:l.width]
	}
	for len(order) > 0 {
		if l.ctx.Err() != nil {
			l.dropped = min(l.dropped, states.bound[order[0]])
			return
		}
		next, used := l.expand(states, order)
		order = order[used:]
		l.run(next, tasks+1)
	}
}

// chunkOf is how many states a worker expands at a time: few of large
// instances, so that the search hears of ctx's end soon.
func (k *ticks) chunkOf() int { return max(4, min(256, 100_000/(k.n*k.m))) }

// batchChunks is how many chunks are expanded before their children are
// entered. It doesn't depend on the number of workers, nor does the result.
const batchChunks = 8

// expand makes the next level of as many states, in their order, as the block
// allows, and tells how many these are.
func (l *levels) expand(states *level, order []int32) (*level, int) {
	next := &level{n: l.n, m: l.m}
	table := newDominance(l, next)
	used, chunk := 0, l.chunkOf()
	for used < len(order) && next.len() < l.block && l.ctx.Err() == nil {
		// The workers make children of some chunks; these are then entered in order.
		batch := min(len(order)-used, chunk*batchChunks)
		chunks := (batch + chunk - 1) / chunk
		for len(l.scratch) < chunks {
			l.scratch = append(l.scratch, newExpander(l.ticks))
		}
		group := errgroup.Group{}
		group.SetLimit(l.workers)
		for c := range chunks {
			part := order[used+c*chunk : used+min(batch, (c+1)*chunk)]
			x := l.scratch[c]
			x.reset(l.upper)
			group.Go(func() error {
				for _, i := range part {
					x.expand(states, int(i))
				}
				return nil
			})
		}
		_ = group.Wait() // the workers return no errors
		for _, x := range l.scratch[:chunks] {
			l.nodes += int64(x.nodes)
			if x.upper < l.upper {
				l.upper = x.upper
				l.best, l.on = slices.Clone(x.best), slices.Clone(x.bestOn)
				if l.report != nil {
					l.report()
				}
			}
			table.enter(x)
		}
		used += batch
	}
	return table.compact(), used
}

// expander makes the children of states and bounds them.
type expander struct {
	*ticks
	upper  int32
	nodes  int
	best   []int32
	bestOn []int8

	children level
	keys     []int32 // of the children, one after the other
	keyAt    []int32 // where each child's key begins

	head     []int32  // of the state at hand: earliest start of each open task on each machine
	child    []int32  // the same of a child
	ready    []int32  // like head, by scheduled predecessors alone
	finish   []int32  // scratch: head and cost, or never
	score    int32    // of the last load
	byFree   []int8   // scratch: machines
	joining  []joiner // scratch
	free     []int32
	end      []int32
	on       []int8
	spreader spreader
}

func newExpander(k *ticks) *expander {
	x := &expander{ticks: k, children: level{n: k.n, m: k.m}}
	x.head, x.child, x.ready, x.finish = make([]int32, k.n*k.m), make([]int32, k.n*k.m), make([]int32, k.n*k.m), make([]int32, k.n*k.m)
	x.free, x.end, x.on, x.byFree = make([]int32, k.m), make([]int32, k.n), make([]int8, k.n), make([]int8, k.m)
	return x
}

func (x *expander) reset(upper int32) {
	x.upper, x.nodes = upper, 0
	c := &x.children
	c.bound, c.score, c.done, c.free, c.end, c.on = c.bound[:0], c.score[:0], c.done[:0], c.free[:0], c.end[:0], c.on[:0]
	x.keys, x.keyAt = x.keys[:0], x.keyAt[:0]
}

// expand adds the children of state i that the bounds leave.
func (x *expander) expand(states *level, i int) {
	x.nodes++
	n, m := x.n, x.m
	done := states.done[i]
	free, end, on := states.free[i*m:][:m], states.end[i*n:][:n], states.on[i*n:][:n]
	copy(x.end, end)
	copy(x.on, on)
	copy(x.free, free)
	if states.bound[i] >= x.upper || x.heads(&done, x.head) >= x.upper {
		return
	}
	copy(free, x.free) // as late as heads found them
	if x.settled(&done, free) && x.spread(&done, free) {
		return
	}
	copy(x.end, end)
	copy(x.on, on)
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
			after := done
			after.add(t)
			for b := range m {
				x.free[b] = max(free[b], start)
			}
			x.free[a] = stop
			if bound := x.heads(&after, x.child); bound < x.upper {
				x.keep(&after, max(bound, states.bound[i]))
			}
		}
	}
}

// settled reports whether the tasks that are left have no successors and can
// start on each machine, where they are of use, as soon as it is free.
func (x *expander) settled(done *taskSet, free []int32) bool {
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

// exchangeable reports whether machine a is empty and the same as an earlier
// one that is empty, too.
func (x *expander) exchangeable(free, end []int32, on []int8, done *taskSet, a int) bool {
	b := int(x.twins[a])
	if b < 0 {
		return false
	}
	for t := range x.n {
		if done.has(t) && (int(on[t]) == a || int(on[t]) == b) {
			return false
		}
	}
	return true
}

func (x *expander) eligible(done *taskSet, t int) bool {
	for i := range x.pred[t] {
		if !done.has(int(x.pred[t][i].to)) {
			return false
		}
	}
	return true
}

// complete takes a whole schedule.
func (x *expander) complete() {
	makespan := slices.Max(x.end)
	if makespan < x.upper {
		x.upper = makespan
		x.best, x.bestOn = append(x.best[:0], x.end...), append(x.bestOn[:0], x.on...)
	}
}

// keep adds the child in x.free, x.end, x.on with its key: when each machine is
// free, and for each open task with a scheduled predecessor when the data of
// these are there on each machine.
func (x *expander) keep(done *taskSet, bound int32) {
	c := &x.children
	c.bound = append(c.bound, bound)
	c.score = append(c.score, x.score)
	c.done = append(c.done, *done)
	c.free = append(c.free, x.free...)
	c.end = append(c.end, x.end...)
	c.on = append(c.on, x.on...)
	x.keyAt = append(x.keyAt, int32(len(x.keys)))
	x.keys = append(x.keys, x.free...)
	m := x.m
	for t := range x.n {
		if done.has(t) {
			continue
		}
		for i := range x.pred[t] {
			if done.has(int(x.pred[t][i].to)) {
				for a := range m {
					v := int32(never) // where it leads to nothing better, it doesn't matter when
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

// heads computes the earliest start of each task that isn't done, on each
// machine, given x.free, x.end and x.on; never where it can't be part of a
// better schedule. It raises x.free to what the tasks can use, and returns a
// lower bound on the makespan.
func (x *expander) heads(done *taskSet, head []int32) int32 {
	m := x.m
	bound := x.latest(done)
	for w := range done {
		for rest := ^done[w]; rest != 0; rest &= rest - 1 {
			t := w<<6 + bits.TrailingZeros64(rest)
			if t >= x.n {
				break
			}
			if b := x.headsOf(done, head, t); b > bound {
				if bound = b; bound >= x.upper {
					return bound
				}
			}
		}
	}
	// No task starts on a machine before the first that can.
	for a := range m {
		first := int32(never)
		for t := range x.n {
			if !done.has(t) {
				first = min(first, head[t*m+a])
			}
		}
		x.free[a] = max(x.free[a], first)
	}
	return max(bound, x.load(done, head, bound))
}

// latest is when the last of the done tasks ends.
func (x *expander) latest(done *taskSet) int32 {
	last := int32(0)
	for t := range x.n {
		if done.has(t) {
			last = max(last, x.end[t])
		}
	}
	return last
}

// headsOf computes the row of one task and returns its part of the bound.
func (x *expander) headsOf(done *taskSet, head []int32, t int) int32 {
	m := x.m
	row, ready, finish := head[t*m:][:m], x.ready[t*m:][:m], x.finish[t*m:][:m]
	copy(row, x.free)
	clear(ready)
	preds := x.pred[t]
	open := 0 // of these not done
	for i := range preds {
		p := &preds[i]
		f := int(p.to)
		if !done.has(f) {
			open++
		} else {
			from := int(x.on[f])
			for a := range m {
				ready[a] = max(ready[a], x.end[f]+x.length(p, from, a))
			}
			continue
		}
		ends := x.finish[f*m:][:m]
		if x.uniform {
			least := int32(never)
			for _, v := range ends {
				least = min(least, v)
			}
			least += p.away
			for a, v := range ends {
				row[a] = max(row[a], min(v, least))
			}
			continue
		}
		for a := range m {
			least := int32(never)
			for b, v := range ends {
				least = min(least, v+x.length(p, b, a))
			}
			row[a] = max(row[a], least)
		}
	}
	if open > 1 {
		for a := range m {
			if v := max(row[a], ready[a]); v < never {
				row[a] = x.join(done, t, a, v)
			}
		}
	}
	bound := int32(never)
	for a := range m {
		row[a] = max(row[a], ready[a])
		stop := row[a] + x.cost[t*m+a]
		all := stop + x.tail[t*m+a]
		if all >= x.upper {
			row[a], finish[a] = never, never
			continue
		}
		finish[a] = stop
		bound = min(bound, all)
	}
	return bound
}

// join raises start, a lower bound on the start of task t on machine a: the
// predecessors whose data can't be there by then from elsewhere must have been
// on a, one after another (the fork of tails the other way round).
func (x *expander) join(done *taskSet, t, a int, start int32) int32 {
	m := x.m
	x.joining = x.joining[:0]
	for i := range x.pred[t] {
		p := &x.pred[t][i]
		f := int(p.to)
		if done.has(f) {
			continue
		}
		away := int32(never)
		for b, v := range x.finish[f*m : (f+1)*m] {
			if b != a && v < away {
				away = min(away, v+x.length(p, b, a))
			}
		}
		if away <= start {
			continue
		}
		here := x.finish[f*m+a]
		q := joiner{away: away, head: here - x.cost[f*m+a], cost: x.cost[f*m+a], never: here >= never}
		k := len(x.joining)
		x.joining = append(x.joining, q)
		for ; k > 0 && x.joining[k-1].head > q.head; k-- { // by head
			x.joining[k] = x.joining[k-1]
		}
		x.joining[k] = q
	}
	for {
		end, next := x.free[a], int32(never)
		for i := range x.joining {
			q := &x.joining[i]
			if q.away <= start {
				continue
			}
			next = min(next, q.away)
			if q.never {
				end = never
			} else if end < never {
				end = max(end, q.head) + q.cost
			}
		}
		if end <= start { // all that must stay has ended
			return start
		}
		if start = min(end, next); start >= never {
			return never
		}
	}
}

// joiner is a predecessor in join.
type joiner struct {
	away       int32 // when its data are there from elsewhere
	head, cost int32 // on the machine at hand
	never      bool  // it can't be there
}

// load is the bound by the machines' time: for weights w of the machines and
// the tasks with tails of at least q, the time that the machines have left
// until T - q, weighted, must hold each task at its least weighted cost: the
// sum of w max(0, T - q - free) is at least the sum over the tasks of min w cost.
func (x *expander) load(done *taskSet, head []int32, bound int32) int32 {
	m := x.m
	x.score = 0
	for a := range x.byFree { // by insertion: there are few machines
		k := a
		for ; k > 0 && x.free[x.byFree[k-1]] > x.free[a]; k-- {
			x.byFree[k] = x.byFree[k-1]
		}
		x.byFree[k] = int8(a)
	}
	for _, w := range x.weights {
		level := filling{w: w, free: x.free, order: x.byFree}
		work, end := int64(0), int64(0)
		for _, t := range x.byTail {
			if done.has(int(t)) {
				continue
			}
			least := int64(1) << 62
			for a := range m {
				if head[int(t)*m+a] < never {
					least = min(least, int64(w[a])*int64(x.cost[int(t)*m+a]))
				}
			}
			work += least
			end = level.end(work)
			if b := int32(min((end+scoreUnit-1)/scoreUnit, never)) + x.least[t]; b > bound {
				if bound = b; bound >= x.upper {
					return bound
				}
			}
		}
		x.score = max(x.score, int32(min(end, never)))
	}
	return bound
}

// scoreUnit is how many times finer than a tick scores are.
const scoreUnit = 8

// filling tells by when machines, free from different times on, can have done
// an amount of work that only grows.
type filling struct {
	w, free []int32
	order   []int8 // machines by free
	used    int    // how many of them
	weight  int64  // of these together
	idle    int64  // their weighted times before they are free
}

// end is the earliest time, in scoreUnits of a tick and rounded down, by which
// the weighted work can be done. Machines that are never free are of no help.
func (f *filling) end(work int64) int64 {
	for {
		if f.weight > 0 {
			end := (f.idle + work) * scoreUnit / f.weight
			if f.used == len(f.order) || end <= int64(f.free[f.order[f.used]])*scoreUnit {
				return end
			}
		} else if f.used == len(f.order) {
			return 0
		}
		a := f.order[f.used]
		if f.free[a] >= never {
			if f.weight == 0 {
				return 0
			}
			return (f.idle + work) * scoreUnit / f.weight
		}
		f.used++
		f.weight += int64(f.w[a])
		f.idle += int64(f.w[a]) * int64(f.free[a])
	}
}
