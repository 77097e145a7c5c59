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
// it less. (Exchanging twins on one machine leaves it as it is.) Twins need as much, and such machines have as much, of
// each resource, so that what is exchanged has room.
//
// Of an instance with resources, each machine runs tasks as long as they have room: a task starts no sooner than those
// before it in its machine's order, which is by starts, and as soon as its data are there and those that run leave it
// room. Some optimal schedule has this form, too: put each machine's tasks in the order of their starts, at ties by the
// edges. By induction over all starts, none is later than it was. Its data come no later; and of the tasks before it on
// its machine, each that has ended where it was has ended here.
type dagSearch struct {
	*counter
	dagFigures
	limit      float64        // the makespan to stay below
	best       model.Solution // nil while there is none
	machine    []int          // of each task
	members    [][]int        // tasks of each machine, less the placed ones
	head, tail []float64      // a task starts no earlier, and that much comes after its end
	placed     []bool         // head is the start
	free       []float64      // by machine: no further task starts sooner after its placed tasks
	end        []float64      // by machine: when it has done its placed tasks; without resources that is free
	running    [][]int        // placed tasks of each machine, with resources alone
}

func newDAGSearch(in *model.DAG, c *counter) *dagSearch {
	n, m := len(in.Tasks), len(in.Machines)
	return &dagSearch{counter: c, dagFigures: readDAG(in), machine: make([]int, n), members: make([][]int, m),
		head: make([]float64, n), tail: make([]float64, n), placed: make([]bool, n), free: make([]float64, m),
		end: make([]float64, m), running: make([][]int, m)}
}

func solveDAG(in *model.DAG, beat float64, c *counter) (model.Solution, error) {
	if t := in.Transfers(); t != model.TransferIdeal && shares(in) {
		return nil, fmt.Errorf("%w: the plain engine knows transfers that share nothing only, not %q on links", model.ErrUnsupported, t)
	}
	s := newDAGSearch(in, c)
	s.limit = s.threshold(model.Minimise, beat, s.whole)
	s.assign(0, make([]float64, len(s.takes)))
	return s.best, nil
}

// assign puts the tasks order[i:] on machines; load is the work of those
// before, of each resource. All work is at most the number of machines times the makespan, since tasks that run at a
// time take no more than a machine.
func (s *dagSearch) assign(i int, load []float64) {
	for r, x := range load {
		if s.beyond(x+s.rest[r][i], float64(len(s.free))) {
			return
		}
	}
	if s.stop() {
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
			more := slices.Clone(load)
			for r := range more {
				more[r] += s.takes[r][t][k]
			}
			s.assign(i+1, more)
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

// beyond reports whether work for some machines takes too long on them: the makespan is no less than their mean work.
// With resources the work is of quotients, so it is lowered by more than rounding can add; where all times are whole, so
// is each makespan, and the next one below the limit is the next whole number below it.
func (s *dagSearch) beyond(work, machines float64) bool {
	switch {
	case s.needs == nil:
		return work >= s.limit*machines
	case s.whole:
		return work*(1-1e-12) > (math.Ceil(s.limit)-1)*machines
	}
	return work*(1-1e-12) >= s.limit*machines
}

// bound returns a lower bound on the makespan from the members of machine k: members with a tail of at least q run one
// after another, each from its head on, and at least q follows the last. For a single member it is the longest path
// through it.
//
// With resources they run beside each other. Those with a head of at least h and a tail of at least q take, of each
// resource, no more than the machine has from h to q before the end.
func (s *dagSearch) bound(k int) float64 {
	if s.needs != nil {
		return s.roomBound(k)
	}
	list, most := slices.Clone(s.members[k]), s.end[k]
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

// roomBound is bound with resources. It is the limit where the work is beyond it.
func (s *dagSearch) roomBound(k int) float64 {
	list, most := s.members[k], s.end[k]
	for _, t := range list {
		most = max(most, s.head[t]+s.cost[t][k]+s.tail[t])
	}
	for _, first := range list {
		for _, last := range list {
			h, q := s.head[first], s.tail[last]
			for _, takes := range s.takes {
				work := 0.0
				for _, t := range list {
					if s.head[t] >= h && s.tail[t] >= q {
						work += takes[t][k]
					}
				}
				if work > 0 && s.beyond(h+work+q, 1) {
					return math.Inf(1)
				}
			}
		}
	}
	return most
}

// sequence starts the remaining tasks on their machines (Giffler, Thompson
// 1960). Let v be one of the tasks with placed predecessors that can end first, at c on machine k. Next on k is v or a
// task that can start before c. If a schedule has another one next there, that starts at c or later (its predecessors
// end no earlier than c if they aren't placed). So v can run before it from its head to c, and nothing is delayed.
//
// With resources, next is the task that starts next, and the same holds. Let all others on k start at c or later. Then v
// has room from its head to c beside the placed ones, which is how its head was found, and nothing that starts later is
// delayed when it ends sooner than it did. A task that starts before c has its predecessors placed, and no twin before it on
// k that isn't. It can start at its head: until its start in the schedule only placed ones run with it, and after that as
// much as before. A task that takes no time needs no room, and is no exception.
func (s *dagSearch) sequence() {
	if s.stop() {
		return
	}
	v, c := -1, math.Inf(1)
	for _, t := range s.order {
		if k := s.machine[t]; !s.placed[t] {
			s.head[t] = s.room(t, k, max(s.free[k], s.arrival(t, k)))
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
		s.limit = s.threshold(model.Minimise, slices.Max(s.end), s.whole)
		return
	}
	k := s.machine[v]
	heads, free, end, members := slices.Clone(s.head), s.free[k], s.end[k], s.members[k]
	for _, t := range members {
		if !s.eligible(t) || heads[t] >= c && t != v {
			continue
		}
		s.placed[t], s.end[k] = true, max(end, heads[t]+s.cost[t][k])
		if s.free[k] = s.end[k]; s.needs != nil {
			s.free[k], s.running[k] = heads[t], append(s.running[k], t)
		}
		s.members[k] = slices.DeleteFunc(slices.Clone(members), func(u int) bool { return u == t })
		s.sequence()
		copy(s.head, heads)
		s.placed[t], s.free[k], s.end[k], s.members[k] = false, free, end, members
		if s.needs != nil {
			s.running[k] = s.running[k][:len(s.running[k])-1]
		}
	}
}

// room returns the first time from at on at which the placed tasks of machine k leave room for t; none of them starts
// after at.
func (s *dagSearch) room(t, k int, at float64) float64 {
	if s.needs == nil || s.cost[t][k] == 0 {
		return at
	}
	for {
		next, left := math.Inf(1), slices.Clone(s.in.Machines[k].Capacity)
		for _, u := range s.running[k] {
			if end := s.head[u] + s.cost[u][k]; end > at {
				next = min(next, end)
				for r, need := range s.needs[u][k] {
					left[r] -= need
				}
			}
		}
		fits := true
		for r, need := range s.needs[t][k] {
			fits = fits && need <= left[r]
		}
		if fits {
			return at
		}
		at = next
	}
}

// eligible reports whether all tasks that must precede t are placed.
func (s *dagSearch) eligible(t int) bool {
	w := s.twin[t]
	return (w < 0 || s.placed[w] || s.machine[w] != s.machine[t]) &&
		!slices.ContainsFunc(s.preds[t], func(e int) bool { return !s.placed[s.from[e]] })
}
