package dag

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"golang.org/x/sync/errgroup"
)

// levels is the search behind Search. A state is a partial schedule made by
// appending tasks to machines in the order of their starts: level i holds the
// states of i tasks. From a state, the next task may be any whose
// predecessors are scheduled, on any machine, at its earliest start there; the
// machines then count as busy until that start, since no later task may start
// earlier. Every semi-active schedule is reached, each by one order of starts.
//
// That is valid: order the tasks of a semi-active schedule by start, then end,
// then topologically. Appended in this order, each has its own start, as
// nothing that comes later starts before it.
//
// A state is dropped if a bound shows that it leads to nothing better than the
// best schedule known, or if another state of the same tasks dominates it, see
// keep.
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
func (s *taskSet) len() int       { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

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
