package dag

import "math/bits"

// heads computes the earliest start of each task that isn't done, on each
// machine, given x.free, x.end and x.on; never where it can't be part of a
// better schedule. It raises x.free to what the tasks can use, and returns a
// lower bound on the makespan.
//
// All of it holds for the schedules below the state that end before x.upper:
// head(t, a) <= start of t in each of them that has t on a. By induction over the
// topological order: t waits for its machine, for the data of done tasks, and
// for an open predecessor f that ends on some b at head(f, b) + cost(f, b) or later,
// so at least for the least of that plus the length from b to a over all b. Where
// head + cost + tail >= upper there is no such schedule, and never is a head, too.
// No open task uses machine a before the least of the heads there, so free(a) may
// be raised to it; to never if there is none.
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
	if x.off&devRelease != 0 {
		return max(bound, x.load(done, head, bound))
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
			if open++; x.off&devHeads != 0 {
				continue
			}
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
	if open > 1 && x.off&devJoin == 0 {
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
//
// If t starts at S >= start, each open predecessor with away > S is on a. Let next
// be the least away above start, and end when those with away > start have run on
// a one after another, each no earlier than its head (in the order of heads that is
// earliest). S < next means that all of these are on a and S >= end. So S >= min(end,
// next), which is the new start.
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
// For each of these tasks ends by T - q, and its cost there, weighted, is at least
// the least over the machines where it is of use. The least T - q that satisfies
// this is what filling.end finds, rounded down to a scoreUnit; T is whole, so up
// to the next tick. If the sum is 0, every T - q does: then there is no bound.
// byTail must be in the order of falling tails.
func (x *expander) load(done *taskSet, head []int32, bound int32) int32 {
	m := x.m
	x.score = 0
	if x.off&devLoadBound != 0 {
		return bound
	}
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
			if work += least; work == 0 {
				continue
			}
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
