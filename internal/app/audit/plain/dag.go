// SPDX-License-Identifier: MIT

package plain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// dagSearch first gives every task a machine, in a topological order, and then
// puts the tasks of each machine in order; a task starts as soon as its machine
// and its data allow. Some optimal schedule has this form: tasks that keep
// their machines and orders and start that early end no later.
//
// Two rules avoid equal schedules. Among machines that the instance doesn't distinguish, an empty one is used before
// the empty ones behind it. Among tasks that it doesn't distinguish (twins), an earlier one is on a machine of no
// higher number, and before the later one if they share it. Both hold for the optimal schedule with the
// lexicographically least list of machines, in the order of the tasks: exchanging two such machines or twins would make
// it less. (Exchanging twins on one machine leaves it as it is.)
type dagSearch struct {
	*counter
	dagFigures
	limit      float64        // the makespan to stay below
	best       model.Solution // nil while there is none
	machine    []int          // of each task
	members    [][]int        // tasks of each machine, less the placed ones
	head, tail []float64      // a task starts no earlier, and that much comes after its end
	placed     []bool         // head is the start
	free       []float64      // by machine: when it has done its placed tasks
}

func solveDAG(in *model.DAG, beat float64, c *counter) (model.Solution, error) {
	if t := in.Transfers(); t != model.TransferIdeal && shares(in) {
		return nil, fmt.Errorf("%w: the plain engine knows transfers that share nothing only, not %q on links", model.ErrUnsupported, t)
	}
	n, m := len(in.Tasks), len(in.Machines)
	s := &dagSearch{counter: c, dagFigures: readDAG(in), machine: make([]int, n), members: make([][]int, m),
		head: make([]float64, n), tail: make([]float64, n), placed: make([]bool, n), free: make([]float64, m)}
	s.limit = s.threshold(model.Minimise, beat, s.whole)
	s.assign(0, 0)
	return s.best, nil
}

// assign puts the tasks order[i:] on machines; load is the work of those
// before. All work is at most the number of machines times the makespan.
func (s *dagSearch) assign(i int, load float64) {
	if load+s.rest[i] >= s.limit*float64(len(s.free)) || s.stop() {
		return
	}
	if i == len(s.order) {
		heads, tails := slices.Clone(s.head), s.tail
		s.tail = s.tails(s.machine)
		s.sequence()
		s.head, s.tail = heads, tails
		return
	}
	t := s.order[i]
	empty := func(j int) bool { return len(s.members[j]) == 0 }
	through := func(k int) float64 { return s.arrival(t, k) + s.cost[t][k] + s.ahead[t][k] }
	for _, k := range ascending(len(s.free), through) {
		if w := s.twin[t]; w >= 0 && s.machine[w] > k || empty(k) && slices.ContainsFunc(s.alike[k], empty) {
			continue
		}
		s.machine[t], s.head[t], s.tail[t] = k, s.arrival(t, k), s.ahead[t][k]
		s.members[k] = append(s.members[k], t)
		if s.bound(k) < s.limit {
			s.assign(i+1, load+s.cost[t][k])
		}
		s.members[k] = s.members[k][:len(s.members[k])-1]
	}
}

// arrival returns when the data of all predecessors of t are on machine k, in
// seconds, if each predecessor starts at its head.
func (s *dagSearch) arrival(t, k int) float64 {
	at := 0.0
	for _, e := range s.preds[t] {
		p, j := s.from[e], s.machine[s.from[e]]
		at = max(at, s.head[p]+s.cost[p][j]+s.length(e, j, k))
	}
	return at
}

// bound returns a lower bound on the makespan from the members of machine k: members with a tail of at least q run one
// after another, each from its head on, and at least q follows the last. For a single member it is the longest path
// through it.
func (s *dagSearch) bound(k int) float64 {
	list, most := slices.Clone(s.members[k]), s.free[k]
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(s.head[a], s.head[b]) })
	for _, q := range list {
		end := 0.0
		for _, t := range list {
			if s.tail[t] >= s.tail[q] {
				end = max(end, s.head[t]) + s.cost[t][k]
			}
		}
		most = max(most, end+s.tail[q])
	}
	return most
}

// sequence starts the remaining tasks on their machines (Giffler, Thompson
// 1960). Let v be one of the tasks with placed predecessors that can end first, at c on machine k. Next on k is v or a
// task that can start before c. If a schedule has another one next there, that starts at c or later (its predecessors
// end no earlier than c if they aren't placed). So v can run before it from its head to c, and nothing is delayed.
func (s *dagSearch) sequence() {
	if s.stop() {
		return
	}
	v, c := -1, math.Inf(1)
	for _, t := range s.order {
		if k := s.machine[t]; !s.placed[t] {
			s.head[t] = max(s.free[k], s.arrival(t, k))
			if end := s.head[t] + s.cost[t][k]; end < c && s.eligible(t) {
				v, c = t, end
			}
		}
	}
	for k := range s.members {
		if s.bound(k) >= s.limit {
			return
		}
	}
	if v < 0 {
		s.best = s.schedule(s.machine, s.head)
		s.limit = s.threshold(model.Minimise, slices.Max(s.free), s.whole)
		return
	}
	k := s.machine[v]
	heads, free, members := slices.Clone(s.head), s.free[k], s.members[k]
	for _, t := range members {
		if !s.eligible(t) || heads[t] >= c && t != v {
			continue
		}
		s.placed[t], s.free[k] = true, heads[t]+s.cost[t][k]
		s.members[k] = slices.DeleteFunc(slices.Clone(members), func(u int) bool { return u == t })
		s.sequence()
		copy(s.head, heads)
		s.placed[t], s.free[k], s.members[k] = false, free, members
	}
}

// eligible reports whether all tasks that must precede t are placed.
func (s *dagSearch) eligible(t int) bool {
	w := s.twin[t]
	return (w < 0 || s.placed[w] || s.machine[w] != s.machine[t]) &&
		!slices.ContainsFunc(s.preds[t], func(e int) bool { return !s.placed[s.from[e]] })
}
