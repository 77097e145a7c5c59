package dag

import (
	"cmp"
	"slices"
)

// spreader shares out independent tasks over machines that are free from given
// times, so that the last one ends as early as possible (R || Cmax with
// release times of machines).
type spreader struct {
	tasks []int32
	rest  [][]int64 // by weights: sum of the least weighted costs from the k-th task on
	loads []int32   // states of one number of tasks, m each
	from  []int32   // state of the level before
	to    []int8    // machine of the task that led here
	at    []int     // where each level begins in from and to
	seen  map[string]struct{}
	key   []byte
}

// spread completes the schedule in x.end and x.on, where the tasks that are left
// wait for nothing but the machines, in the best way, and takes it if that is
// better than x.upper. It returns false if that takes too long.
//
// For one makespan after another it goes through the tasks in a fixed order and
// keeps every distinct vector of loads that the weights' bound leaves: O(tasks
// loads machines) for a makespan. Equal vectors after the same tasks have the same
// continuations, so one is enough; and a vector is dropped only where roomFor
// proves that the tasks left don't fit. The makespan is at least what done tasks
// take and at least the least end of each task by itself.
func (x *expander) spread(done *taskSet, free []int32) bool {
	s, m := &x.spreader, x.m
	s.tasks = s.tasks[:0]
	lowest := x.latest(done) // the makespan already, or of a task by itself
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
	// Tasks that leave the least choice come first.
	regret := func(t int32) int32 {
		least, second := int32(never), int32(never)
		for a, c := range x.cost[int(t)*m:][:m] {
			if x.head[int(t)*m+a] >= never {
				continue
			}
			if c < least {
				least, second = c, least
			} else {
				second = min(second, c)
			}
		}
		return second
	}
	slices.SortFunc(s.tasks, func(a, b int32) int { return cmp.Or(cmp.Compare(regret(b), regret(a)), cmp.Compare(a, b)) })
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
		found, ok := x.spreadWithin(free, middle)
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

// mostLoads is how many vectors of loads spread looks at for one number of
// tasks before it gives up.
const mostLoads = 50_000

// spreadWithin looks for a way to end by the given makespan; ok is false if it
// gave up.
func (x *expander) spreadWithin(free []int32, makespan int32) (found, ok bool) {
	s, m := &x.spreader, x.m
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
			if len(next) >= mostLoads*m {
				break
			}
			load := s.loads[i : i+m]
			for a := range m {
				if x.head[int(t)*m+a] >= never {
					continue
				}
				was := load[a]
				load[a] += x.cost[int(t)*m+a]
				if len(next) < mostLoads*m && load[a] <= makespan && x.roomFor(load, k+1, makespan) && s.fresh(load) {
					next = append(next, load...)
					s.from = append(s.from, int32(i/m))
					s.to = append(s.to, int8(a))
				}
				load[a] = was
			}
		}
		s.loads, next = next, s.loads
		x.nodes += len(s.loads) / m
		switch len(s.loads) / m {
		case 0:
			return false, true
		case mostLoads:
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

// roomFor reports whether the bounds leave room for the tasks from k on: for
// weights w the time that the machines have left, the sum of w max(0, makespan -
// load), holds each task at its least weighted cost.
func (x *expander) roomFor(load []int32, k int, makespan int32) bool {
	if x.off&devIndependentBound != 0 {
		return true
	}
	for i, w := range x.weights {
		room := int64(0)
		for a, v := range load {
			room += int64(w[a]) * int64(max(0, makespan-v))
		}
		if room < x.spreader.rest[i][k] {
			return false
		}
	}
	return true
}

// fresh reports whether the vector hasn't been seen on this level.
func (s *spreader) fresh(load []int32) bool {
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
