package dag

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// assigner decides by depth-first search whether a schedule ends by T = upper - 1:
// it assigns the tasks to machines in a fixed order, and orders the tasks of each
// complete assignment by the levels.
//
// Where the machines' time decides (few edges, little communication), the bounds
// leave few assignments, each with many orders: there this is much faster than the
// levels. Elsewhere it stops at a limit of nodes.
//
// An assignment is pruned if no schedule with it ends by T:
//
//   - load of a machine: Σ of its tasks' costs > T;
//   - assignment-load: for some weights w ≥ 0 of the machines,
//     Σ_assigned w_a(t) cost + Σ_open min_a w_a cost_ta > T Σ_a w_a. Each machine has T;
//   - assignment-paths: the longest path, each open task on its best machine, is
//     above T;
//   - one-machine: Jackson's preemptive schedule of a machine's tasks, with heads
//     and tails, ends after T. It is optimal for a relaxation (Carlier 1982);
//   - machine-symmetry: the machine has no task and is identical to an earlier one
//     without tasks. Exchange the two in the schedule: the tasks assigned are on
//     neither. (Counting tasks, not load: a task may cost 0.)
type assigner struct {
	*ticks
	ctx       context.Context
	block     int
	leafWidth int
	upper     int32 // find a makespan below this
	best      []int32
	bestOn    []int8
	nodes     int64
	effort    int64 // nodes, and the work of the levels of leaves (expander)
	open      bool  // stopped at a limit or by ctx: not finding proves nothing

	order       []int32   // tasks in the order of assignment, the largest regret first
	rest        [][]int64 // Σ of the least weighted costs, by weights i, from the k-th task on: [i][k]
	used        []int64   // Σ of the weighted costs of the tasks assigned, by weights
	total       []int64   // Σ of the weights
	load        []int32   // of each machine: Σ of the costs of its tasks
	count       []int32   // of each machine: number of its tasks
	on          []int8    // machine of each task, -1 without
	end         []int32   // scratch: earliest end of task t on machine a at [t*m+a]
	soonest     []int32   // scratch: of each task, the least of these
	start       []int32   // scratch: head of each task
	tails       []int32   // scratch: tail of each task
	tasks, work []int32   // scratch of oneMachine
	left        int64     // nodes left
	pause       func()    // called now and then; may be nil
}

func newAssigner(ctx context.Context, k *ticks, block, leafWidth int) *assigner {
	s := &assigner{ticks: k, ctx: ctx, block: block, leafWidth: leafWidth, used: make([]int64, len(k.weights)), total: make([]int64, len(k.weights)),
		load: make([]int32, k.m), count: make([]int32, k.m), on: make([]int8, k.n), end: make([]int32, k.n*k.m), soonest: make([]int32, k.n), start: make([]int32, k.n), tails: make([]int32, k.n)}
	// The regret of a task is the difference between its two least weighted costs, at
	// the weights that make it largest.
	regret := make([]int64, k.n)
	for t := range k.n {
		s.on[t] = -1
		s.order = append(s.order, int32(t))
		for _, w := range k.weights {
			least, second := int64(1)<<62, int64(1)<<62
			for a := range k.m {
				if c := int64(w[a]) * int64(k.cost[t*k.m+a]); c < least {
					least, second = c, least
				} else {
					second = min(second, c)
				}
			}
			regret[t] = max(regret[t], second-least)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(regret[b], regret[a]) })
	if k.off&devEdgeOrder == 0 {
		s.byEdges(regret)
	}
	for i, w := range k.weights {
		rest := make([]int64, k.n+1)
		for j := k.n - 1; j >= 0; j-- {
			least := int64(1) << 62
			for a := range k.m {
				least = min(least, int64(w[a])*int64(k.cost[int(s.order[j])*k.m+a]))
			}
			rest[j] = rest[j+1] + least
		}
		s.rest = append(s.rest, rest)
		for _, x := range w {
			s.total[i] += int64(x)
		}
	}
	return s
}

// byEdges moves tasks joined by long edges close to each other in the order:
// whether such an edge is within a machine decides much.
func (s *assigner) byEdges(regret []int64) {
	weight := int64(0)
	for _, w := range s.weights {
		for _, x := range w {
			weight = max(weight, int64(x))
		}
	}
	gain := slices.Clone(regret)
	for k := range s.order {
		best := k
		for i := k; i < s.n; i++ {
			if gain[s.order[i]] > gain[s.order[best]] {
				best = i
			}
		}
		t := s.order[best]
		copy(s.order[k+1:best+1], s.order[k:best])
		s.order[k] = t
		for _, arcs := range [][]arc{s.pred[t], s.succ[t]} {
			for i := range arcs {
				x := &arcs[i]
				if s.m > 1 {
					gain[x.to] += weight * int64(min(s.length(x, 0, 1), model.MaxTicks))
				}
			}
		}
	}
}

// within searches at most the given number of partial assignments for a schedule
// that ends before upper. It reports whether one was found (in best and bestOn),
// and if none was, whether it is proved that there is none (complete).
func (s *assigner) within(upper int32, nodes int64) (found, complete bool) {
	s.upper, s.best, s.open, s.left = upper, nil, false, nodes
	s.walk(0)
	return s.best != nil, !s.open
}

// walk assigns the k-th task and all after it.
func (s *assigner) walk(k int) {
	if s.best != nil {
		return
	}
	if s.left--; s.left > 0 && s.left%256 == 0 && s.pause != nil {
		s.pause()
	}
	if s.left < 0 || s.left%256 == 0 && s.ctx.Err() != nil {
		s.open = true
		return
	}
	s.nodes++
	s.effort++
	if k == s.n {
		s.leaf()
		return
	}
	t := int(s.order[k])
	row := s.cost[t*s.m:][:s.m]
	// The machine with the least weighted cost first.
	w := s.weights[len(s.weights)-1]
	var machines [128]int8
	choice := machines[:0]
	for a := range s.m {
		if b := s.twins[a]; b < 0 || s.count[b] > 0 || s.count[a] > 0 || s.off&devSymmetry != 0 {
			choice = append(choice, int8(a))
		}
	}
	slices.SortStableFunc(choice, func(a, b int8) int {
		return cmp.Compare(int64(w[a])*int64(row[a]), int64(w[b])*int64(row[b]))
	})
next:
	for _, a := range choice {
		if s.load[a]+row[a] >= s.upper {
			continue
		}
		for i, w := range s.weights {
			if s.off&devAssignedLoad == 0 && s.used[i]+int64(w[a])*int64(row[a])+s.rest[i][k+1] > s.total[i]*int64(s.upper-1) {
				continue next
			}
		}
		s.on[t] = a
		s.load[a] += row[a]
		s.count[a]++
		if (s.paths() < s.upper || s.off&devAssignedPaths != 0) && s.alone(int(a)) < s.upper {
			for i, w := range s.weights {
				s.used[i] += int64(w[a]) * int64(row[a])
			}
			s.walk(k + 1)
			for i, w := range s.weights {
				s.used[i] -= int64(w[a]) * int64(row[a])
			}
		}
		s.load[a] -= row[a]
		s.count[a]--
		s.on[t] = -1
		if s.open || s.best != nil {
			return
		}
	}
}

// alone returns oneMachine for the tasks assigned to machine a so far, with the
// heads that paths has left and tails that hold for any machines of the others.
func (s *assigner) alone(a int) int32 {
	if s.off&devOneMachine != 0 {
		return 0
	}
	for t := range s.n {
		if int(s.on[t]) == a {
			s.start[t] = s.end[t*s.m+a] - s.cost[t*s.m+a]
			s.tails[t] = s.tail[t*s.m+a]
		}
	}
	return s.oneMachine(a)
}

// paths returns the longest path of the partial assignment, each open task on its
// best machine. It leaves the earliest ends in end.
func (s *assigner) paths() int32 {
	m, bound := s.m, int32(0)
	for t := range s.n {
		best := int32(never)
		s.soonest[t] = never
		for a := range m {
			if s.on[t] >= 0 && int(s.on[t]) != a {
				s.end[t*m+a] = never
				continue
			}
			start := int32(0)
			for i := range s.pred[t] {
				p := &s.pred[t][i]
				f := int(p.to)
				if b := s.on[f]; b >= 0 {
					start = max(start, s.end[f*m+int(b)]+s.length(p, int(b), a))
					continue
				}
				if s.uniform {
					start = max(start, min(s.end[f*m+a], s.soonest[f]+p.away))
					continue
				}
				least := int32(never)
				for b := range m {
					least = min(least, s.end[f*m+b]+s.length(p, b, a))
				}
				start = max(start, least)
			}
			stop := min(start+s.cost[t*m+a], never)
			s.end[t*m+a] = stop
			s.soonest[t] = min(s.soonest[t], stop)
			best = min(best, stop+s.tail[t*m+a])
		}
		if bound = max(bound, best); bound >= s.upper && s.off&devAssignedPaths == 0 {
			return bound
		}
	}
	return bound
}

// leaf finds the best order of a complete assignment.
func (s *assigner) leaf() {
	if s.paths() >= s.upper { // a path of the graph alone is too long
		return
	}
	m := s.m
	for t := range s.n {
		a := int(s.on[t])
		s.start[t] = s.end[t*m+a] - s.cost[t*m+a]
	}
	for t := s.n - 1; t >= 0; t-- {
		s.tails[t] = 0
		for i := range s.succ[t] {
			x := &s.succ[t][i]
			b := int(s.on[x.to])
			s.tails[t] = max(s.tails[t], s.length(x, int(s.on[t]), b)+s.cost[int(x.to)*m+b]+s.tails[x.to])
		}
	}
	for a := range m {
		if s.off&devOneMachine == 0 && s.oneMachine(a) >= s.upper {
			return
		}
	}
	// The levels find the order, with a cost beyond the horizon on all machines but
	// the task's own. What depends on costs is made anew: tails and their order,
	// weights, and that no two machines are identical.
	fixed := *s.ticks
	fixed.cost, fixed.byTail = slices.Clone(s.cost), slices.Clone(s.byTail)
	fixed.twins = slices.Repeat([]int32{-1}, m) // each has its own tasks now
	for t := range s.n {
		for a := range m {
			if int(s.on[t]) != a {
				fixed.cost[t*m+a] = model.BeyondTicks
			}
		}
	}
	fixed.tails()
	fixed.weights = nil
	for a := range m {
		w := make([]int32, m)
		w[a] = 1
		fixed.weights = append(fixed.weights, w)
	}
	slices.SortStableFunc(fixed.byTail, func(a, b int32) int { return cmp.Compare(fixed.least[b], fixed.least[a]) })
	l := &levels{ticks: &fixed, ctx: s.ctx, workers: 1, block: s.block, upper: s.upper, width: s.leafWidth, dropped: never}
	l.run(fixed.root(), 0)
	s.nodes += l.nodes
	s.effort += l.work
	s.left -= l.nodes / 4
	if l.best != nil {
		s.best, s.bestOn, s.upper = l.best, l.on, l.upper
		return
	}
	if l.dropped < s.upper {
		s.open = true
	}
}

// oneMachine returns the makespan of Jackson's preemptive schedule of machine a's
// tasks with heads and tails (1|r_j, q_j, pmtn|Cmax): at any time the available
// task with the longest tail runs.
func (s *assigner) oneMachine(a int) int32 {
	tasks, left := s.tasks[:0], s.work[:0]
	for t := range s.n {
		if int(s.on[t]) == a {
			tasks, left = append(tasks, int32(t)), append(left, s.cost[t*s.m+a])
		}
	}
	s.tasks, s.work = tasks, left
	now, bound := int32(0), int32(0)
	for open := len(tasks); open > 0; {
		// The open task with the longest tail runs until it ends or another comes.
		best, next := -1, int32(never)
		for i, t := range tasks {
			switch {
			case left[i] < 0:
			case s.start[t] > now:
				next = min(next, s.start[t])
			case best < 0 || s.tails[t] > s.tails[tasks[best]]:
				best = i
			}
		}
		if best < 0 {
			now = next
			continue
		}
		run := min(left[best], max(0, next-now))
		now += run
		if left[best] -= run; left[best] == 0 {
			left[best] = -1
			open--
			bound = max(bound, now+s.tails[tasks[best]])
		}
	}
	return bound
}
