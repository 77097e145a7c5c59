package dag

import (
	"cmp"
	"slices"
)

// independentTasks is the scratch of assignIndependent.
type independentTasks struct {
	tasks []int32   // in the order of assignment
	rest  [][]int64 // Σ of the least weighted costs, by weights i, from the k-th task on: [i][k]
	loads []int32   // when machine a is free in state i of the present stage: [i*m+a]
	from  []int32   // of each state of all stages: the state before
	to    []int8    // and the machine of the last task
	at    []int     // where each stage begins in from and to
	seen  map[string]struct{}
	key   []byte
}

// assignIndependent completes the schedule in x.end and x.on optimally, where the
// open tasks wait for machines alone (R||Cmax with release times of machines), and
// keeps it if it ends before x.upper. It returns false if it stopped at its limit
// of states.
//
// It searches for the least makespan by bisection. For each it is a dynamic program
// that assigns the tasks in a fixed order; a state is the vector of the machines'
// loads. Equal vectors after the same tasks have the same completions, so one is
// kept, and a vector is dropped only if roomFor proves that the tasks left don't fit.
// O(tasks states machines) per makespan. The makespan is at least the latest end of
// a scheduled task and the least end of each open task alone.
func (x *expander) assignIndependent(done *taskSet, free []int32) bool {
	s, m := &x.openTasks, x.m
	s.tasks = s.tasks[:0]
	lowest := x.latest(done)
	for t := range x.n {
		if done.has(t) {
			continue
		}
		s.tasks = append(s.tasks, int32(t))
		least := int32(never)
		for a := range m {
			if x.head[t*m+a] < never {
				least = min(least, free[a]+x.cost[t*m+a])
			}
		}
		lowest = max(lowest, least)
	}
	if len(s.tasks) == 0 {
		x.complete()
		return true
	}
	// The task whose second least cost is largest comes first.
	second := func(t int32) int32 {
		least, next := int32(never), int32(never)
		for a, c := range x.cost[int(t)*m:][:m] {
			if x.head[int(t)*m+a] >= never {
				continue
			}
			if c < least {
				least, next = c, least
			} else {
				next = min(next, c)
			}
		}
		return next
	}
	slices.SortFunc(s.tasks, func(a, b int32) int { return cmp.Or(cmp.Compare(second(b), second(a)), cmp.Compare(a, b)) })
	s.rest = s.rest[:0]
	for _, w := range x.weights {
		rest := make([]int64, len(s.tasks)+1)
		for k := len(s.tasks) - 1; k >= 0; k-- {
			least := int64(1) << 62
			for a := range m {
				if t := int(s.tasks[k]); x.head[t*m+a] < never {
					least = min(least, int64(w[a])*int64(x.cost[t*m+a]))
				}
			}
			rest[k] = rest[k+1] + least
		}
		s.rest = append(s.rest, rest)
	}
	// First anything better than what is known, then halving.
	high := x.upper - 1
	for middle := high; lowest <= high; middle = lowest + (high-lowest)/2 {
		found, ok := x.assignWithin(free, middle)
		switch {
		case !ok:
			return false
		case found:
			x.complete()
			high = x.upper - 1
		case middle == high:
			return true
		default:
			lowest = middle + 1
		}
	}
	return true
}

// maxLoads bounds the load vectors of one stage. Above it the dynamic program stops.
const maxLoads = 50_000

// assignWithin searches for an assignment that ends by the given makespan; ok is
// false if it stopped at its limit.
func (x *expander) assignWithin(free []int32, makespan int32) (found, ok bool) {
	s, m := &x.openTasks, x.m
	if !x.roomFor(free, 0, makespan) {
		return false, true
	}
	s.loads = append(s.loads[:0], free...)
	s.from, s.to, s.at = append(s.from[:0], -1), append(s.to[:0], -1), append(s.at[:0], 0)
	var next []int32
	for k, t := range s.tasks {
		next = next[:0]
		s.at = append(s.at, len(s.from))
		s.seen = map[string]struct{}{}
		for i := 0; i < len(s.loads); i += m {
			if len(next) >= maxLoads*m {
				break
			}
			load := s.loads[i : i+m]
			for a := range m {
				if x.head[int(t)*m+a] >= never {
					continue
				}
				was := load[a]
				load[a] += x.cost[int(t)*m+a]
				if len(next) < maxLoads*m && load[a] <= makespan && x.roomFor(load, k+1, makespan) && s.fresh(load) {
					next = append(next, load...)
					s.from = append(s.from, int32(i/m))
					s.to = append(s.to, int8(a))
				}
				load[a] = was
			}
		}
		s.loads, next = next, s.loads
		x.nodes += len(s.loads) / m
		x.work += len(s.loads) / m / 16 // about
		switch len(s.loads) / m {
		case 0:
			return false, true
		case maxLoads:
			return false, false
		}
	}
	// Back from any last state.
	ends := slices.Clone(free)
	state := 0
	for k := len(s.tasks); k > 0; k-- {
		i := s.at[k] + state
		x.on[s.tasks[k-1]] = s.to[i]
		state = int(s.from[i])
	}
	for _, t := range s.tasks {
		a := x.on[t]
		ends[a] += x.cost[int(t)*m+int(a)]
		x.end[t] = ends[a]
	}
	return true, true
}

// roomFor reports whether the load bound leaves room for the tasks from the k-th on:
// Σ_a w_a max(0, makespan - load_a) ≥ Σ_t min_a w_a cost_ta for all weights w.
func (x *expander) roomFor(load []int32, k int, makespan int32) bool {
	if x.off&devIndependentBound != 0 {
		return true
	}
	for i, w := range x.weights {
		room := int64(0)
		for a, v := range load {
			room += int64(w[a]) * int64(max(0, makespan-v))
		}
		if room < x.openTasks.rest[i][k] {
			return false
		}
	}
	return true
}

// fresh reports whether the vector is new at this stage, and notes it.
func (s *independentTasks) fresh(load []int32) bool {
	s.key = s.key[:0]
	for _, v := range load {
		s.key = append(s.key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	if _, ok := s.seen[string(s.key)]; ok {
		return false
	}
	s.seen[string(s.key)] = struct{}{}
	return true
}
