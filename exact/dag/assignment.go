package dag

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// assigner looks for a schedule that ends by a given time, machines first: it
// goes through the tasks in a fixed order, puts each on a machine, and keeps
// what the bounds by the machines' time and by paths leave. For each whole
// assignment it finds the best order by bounds, list scheduling and, where
// these don't settle it, the levels.
//
// Where the machines' time decides (few edges, little communication) hardly any
// assignment is left, while the orders of its tasks are many: there this is far
// faster than the search by order of starts. Elsewhere it gives up after
// the given number of nodes.
//
// A machine for a task is left out if no schedule that ends by T = upper - 1 has
// the machines chosen so far:
//
//   - load: the costs of a machine's tasks are above T;
//   - share: for some weights w the weighted costs of the tasks assigned, and the
//     least ones of the others, are above T times the sum of w. Each machine has T;
//   - paths: the longest path, each open task on its best machine, is above T;
//   - alone: Jackson's preemptive schedule of the machine's tasks, with heads and
//     tails, ends after T; it is optimal for a relaxation (Carlier 1982);
//   - twins: the machine has no task and is the same as an earlier one without
//     tasks. Exchange the two in the schedule: tasks assigned are on neither. A
//     machine of load 0 may have tasks, of cost 0.
type assigner struct {
	*ticks
	ctx       context.Context
	block     int
	leafWidth int
	upper     int32 // look for less than this
	best      []int32
	bestOn    []int8
	nodes     int64
	open      bool // gave up somewhere

	order       []int32   // tasks, those with the least choice first
	rest        [][]int64 // by weights: sum of the least weighted costs from the k-th task on
	used        []int64   // by weights: weighted costs of the tasks assigned
	total       []int64   // by weights: of the machines
	load        []int32   // of each machine: costs and number of the tasks assigned
	count       []int32
	on          []int8  // -1: not yet
	end         []int32 // scratch: earliest end of each task on each machine
	soonest     []int32 // scratch: of these, the least
	start       []int32 // scratch: heads
	tails       []int32 // scratch
	tasks, work []int32 // scratch of oneMachine
	left        int64   // nodes left
}

func newAssigner(ctx context.Context, k *ticks, block, leafWidth int) *assigner {
	s := &assigner{ticks: k, ctx: ctx, block: block, leafWidth: leafWidth, used: make([]int64, len(k.weights)), total: make([]int64, len(k.weights)),
		load: make([]int32, k.m), count: make([]int32, k.m), on: make([]int8, k.n), end: make([]int32, k.n*k.m), soonest: make([]int32, k.n), start: make([]int32, k.n), tails: make([]int32, k.n)}
	// The regret of a task is what its second choice costs more, at the best weights.
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

// byEdges changes the order so that tasks joined by long edges come close to
// each other: whether such an edge is within a machine decides much.
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

// within looks for a schedule that ends before upper, looking at so many
// partial assignments at most. It tells whether one was found (in best and
// bestOn), and, if none was, whether it is proved that there is none (whole).
func (s *assigner) within(upper int32, nodes int64) (found, whole bool) {
	s.upper, s.best, s.open, s.left = upper, nil, false, nodes
	s.walk(0)
	return s.best != nil, !s.open
}

func (s *assigner) walk(k int) {
	if s.best != nil {
		return
	}
	if s.left--; s.left < 0 || s.left%256 == 0 && s.ctx.Err() != nil {
		s.open = true
		return
	}
	s.nodes++
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

// alone is oneMachine for the tasks assigned to machine a so far, after paths,
// with tails that hold for any machines of the others.
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

// paths is the longest path of the partial assignment, each other task on its
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

// leaf finds the best order of a whole assignment.
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
	if s.off&devListOrder == 0 && s.list() {
		return
	}
	// The orders, by the levels, with every task kept to its machine: it costs
	// too much elsewhere. What the levels then know of costs is made anew: tails,
	// weights, the order of tails, and that no two machines are the same.
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
	s.left -= l.nodes / 4
	if l.best != nil {
		s.best, s.bestOn, s.upper = l.best, l.on, l.upper
		return
	}
	if l.dropped < s.upper {
		s.open = true
	}
}

// oneMachine is Jackson's preemptive bound for machine a: its tasks, each with
// its head and tail, the longest tail first.
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

// list schedules the assignment: whenever a machine is free, of its tasks that
// are ready the one with the longest tail starts. It takes the schedule if it
// ends before upper.
func (s *assigner) list() bool {
	end, placed := make([]int32, s.n), make([]bool, s.n)
	free := make([]int32, s.m)
	makespan := int32(0)
	for range s.n {
		best, from := -1, int32(0)
		for t := range s.n {
			if placed[t] {
				continue
			}
			a := int(s.on[t])
			start, ready := free[a], true
			for i := range s.pred[t] {
				p := &s.pred[t][i]
				if ready = placed[p.to]; !ready {
					break
				}
				start = max(start, end[p.to]+s.length(p, int(s.on[p.to]), a))
			}
			if ready && (best < 0 || start < from || start == from && s.tails[t] > s.tails[best]) {
				best, from = t, start
			}
		}
		a := int(s.on[best])
		placed[best], end[best] = true, from+s.cost[best*s.m+a]
		free[a] = end[best]
		if makespan = max(makespan, end[best]); makespan >= s.upper {
			return false
		}
	}
	s.best, s.bestOn, s.upper = end, slices.Clone(s.on), makespan
	return true
}
