package dag

import "math/bits"

// heads propagates earliest starts: it computes head[t*m+a] for each open task t and
// machine a, given x.free, x.end and x.on, raises x.free, and returns a lower bound
// on the makespan.
//
// For each schedule below the state that ends before x.upper and has t on a,
// head_ta ≤ start of t, by induction over the topological order: t waits for its
// machine, for the data of scheduled predecessors, and for each open predecessor f,
// so for min_b (head_fb + cost_fb + length(b, a)). If head + cost + tail ≥ upper,
// there is no such schedule, and the head is never. No open task uses machine a
// before min_t head_ta, so free_a is raised to that: to never if no task can.
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

// latest returns the latest end of the scheduled tasks.
func (x *expander) latest(done *taskSet) int32 {
	last := int32(0)
	for t := range x.n {
		if done.has(t) {
			last = max(last, x.end[t])
		}
	}
	return last
}

// headsOf computes the heads of one task and returns its part of the bound:
// min_a head + cost + tail.
func (x *expander) headsOf(done *taskSet, head []int32, t int) int32 {
	m := x.m
	row, ready, finish := head[t*m:][:m], x.ready[t*m:][:m], x.finish[t*m:][:m]
	copy(row, x.free)
	clear(ready)
	preds := x.pred[t]
	open := 0 // predecessors
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

// join raises start, a lower bound on the start S of task t on machine a, by the
// predecessors whose data can't arrive in time from another machine (the fork bound
// of tails, reversed).
//
// Let away_f be when the data of open predecessor f arrive at the earliest from a
// machine other than a. Each f with away_f > S is on a. Let next be the least
// away_f > start, and end when the f with away_f > start have run on a one after
// another, each no earlier than its head: in the order of heads that is earliest.
// If S < next, all of these are on a, and S ≥ end. So S ≥ min(end, next), which is
// the new start; and so on until it doesn't rise.
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
		if end <= start {
			return start
		}
		if start = min(end, next); start >= never {
			return never
		}
	}
}

// joiner is an open predecessor in join.
type joiner struct {
	away       int32 // when its data arrive from another machine
	head, cost int32 // on the task's machine
	never      bool  // it can't be on that machine
}

// load returns the load bound: for weights w ≥ 0 of the machines and any q, a
// schedule of makespan T below this state satisfies
//
//	Σ_a w_a max(0, T - q - free_a) ≥ Σ_t min_a w_a cost_ta
//
// over the open tasks t of tail at least q and the machines a where t is of use. For
// each of these tasks ends by T - q, and its weighted cost is at least the minimum.
// capacity.end finds the least T - q that satisfies this, rounded down to 1/8 of a
// tick; T is whole, so it is rounded up to the next tick. If the right side is 0,
// every T - q does, and there is no bound. With the duals of findWeights as w this
// is the bound of R|pmtn|Cmax. byTail must be in the order of falling tails.
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
		room := capacity{w: w, free: x.free, order: x.byFree}
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
			end = room.end(work)
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

// scoreUnit is how many units of a score make a tick.
const scoreUnit = 8

// capacity is Σ_a w_a max(0, t - free_a) as a function of time, for work that only
// grows.
type capacity struct {
	w, free []int32 // of each machine
	order   []int8  // machines by free
	used    int     // the first so many of order are free by the last end
	weight  int64   // Σ w of these
	idle    int64   // Σ w free of these
}

// end returns the earliest time at which the capacity is at least the work, in
// 1/scoreUnit ticks and rounded down. Machines that are never free don't count.
func (f *capacity) end(work int64) int64 {
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
