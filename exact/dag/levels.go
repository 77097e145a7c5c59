package dag

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gapwise/gapwise/internal/caught"
)

// levels is a breadth-first branch and bound over partial schedules, with
// dominance. A state is a partial schedule made by appending tasks to machines
// in the order of their starts; level i holds the states of i tasks. A child
// appends any task whose predecessors are scheduled to any machine, at its
// earliest start S there. All machines then count as busy until S, since no later
// task may start earlier. So every semi-active schedule is reached, by one order
// of starts: sort its tasks by start, then end, then topologically. Appended in
// this order, each task has its own start, as no later one starts before it.
//
// A state is pruned if a bound shows that it leads to nothing better than the
// best schedule known, or if another state of the same tasks dominates it (keep).
// Open tasks without successors that wait for machines alone are completed by a
// dynamic program (assignIndependent).
//
// A level that outgrows the memory allowed is cut into blocks, which are searched
// depth-first, the least bound first. With a width, only the best states of each
// level are kept: then the search is a beam search, and the least bound of the
// states dropped is a bound for the instance.
type levels struct {
	*ticks
	ctx     context.Context
	workers int
	width   int   // of a beam; 0: exact
	block   int   // most states of a level in memory at once
	upper   int32 // makespan of the best schedule known
	best    []int32
	on      []int8 // of best: machine of each task
	dropped int32  // least bound of the states dropped; never if there are none
	nodes   int64
	work    int64 // see expander
	scratch []*expander
	report  func()
	pause   func() // called now and then, where upper and ctx may change; may be nil
}

// level is states of the same number of tasks, in arrays.
type level struct {
	n, m  int
	bound []int32
	score []int32 // breaks ties of the bound, see load
	done  []taskSet
	free  []int32 // when machine a of state i is free: [i*m+a]
	end   []int32 // when task t of state i ends, if it is done: [i*n+t]
	on    []int8  // its machine: [i*n+t]
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

// run searches all descendants of the states of one level. When ctx ends, it
// returns early; the least bound of the states left goes to dropped.
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

// chunkOf returns how many states a worker expands at a time: few of large
// instances, so that the search notices soon when ctx or its turn ends. A state has a
// child for each ready task and machine.
func (v *ticks) chunkOf() int { return max(4, min(256, 200_000/(v.m*v.headsCost()))) }

// headsCost is what expander.heads takes, about, in units of 10 ns.
func (v *ticks) headsCost() int {
	cost := v.n * v.m
	for _, arcs := range v.pred {
		cost += len(arcs) * v.m
	}
	return cost
}

// batchChunks is how many chunks are expanded before their children are
// entered. It doesn't depend on the number of workers, nor does the result.
const batchChunks = 8

// expand makes the children of as many states, in the given order, as the block
// allows, and returns them with the number of states expanded.
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
				return caught.Call(func() error {
					for _, i := range part {
						x.expand(states, int(i))
					}
					return nil
				})
			})
		}
		caught.Pass(group.Wait()) // the workers return no other errors
		for _, x := range l.scratch[:chunks] {
			l.nodes += int64(x.nodes)
			l.work += int64(x.work)
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
		if l.pause != nil {
			l.pause()
		}
	}
	return table.compact(), used
}
