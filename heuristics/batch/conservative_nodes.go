// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
)

// conservativeNodes is conservative backfilling on a machine of nodes, with the rules of Conservative. A reservation is a
// start and nodes, so all are kept at once if jobs end by their estimates.
//
// A job fits from a time on if there are nodes that have room for it until its estimated end, beside the other
// reservations where they are; best fit then chooses. Otherwise, if at each moment until then some nodes have room, the
// nodes of all reservations are chosen anew, in the order of their starts, by best fit: it fits if each starts when it
// did. That is given up for the pass after mostFails failures.
// So no reservation moves to a later time for a later job, and on nodes that hold one process each, where numbers
// decide, jobs start as on processors.
//
// While no job waits there are no steps: nodes that have room now have it as long as no reservation takes them, and
// those that fit best now are the first step's. So such a job costs what it does under EASY.
//
// For q waiting jobs, p steps (at most two for each running and each waiting job), c classes and m nodes, a look at the
// room of one kind of needs takes O(p c) if the steps have changed, and else O(p); a window of s steps O(s (c + m)), and
// new nodes for all O(p (c + m)). Memory is O(p m).
type conservativeNodes struct {
	*machine
	steps   []nodesStep // from now on, in time; none while no job waits
	eager   bool        // there are steps without that, too, for a test
	base    *nodes.State
	ends    []int64 // estimated end of each running job; 0: it isn't running
	lists   [][]int32
	queue   []nodesReservation // in the order of arrivals
	arrived []int32
	running []int32
	kinds   map[*view.NodeNeeds]int
	next    int64 // at or before the earliest reservation; never: there is none
	fails   int   // of anew in this pass
	// freed holds the nodes given back since the last look at a job's reservation, moved those of this round of a
	// compression.
	freed, moved freedNodes
	expiry       heap.Heap[completion]
	states       []*nodes.State // scratch
}

// nodesStep is the nodes from a time on, up to the next step, by the reservations and the estimates.
type nodesStep struct {
	at    int64
	uses  int // starts and ends at it
	state *nodes.State
	room  []int64 // by kind of needs, how many processes fit; -1, or none: it isn't known
}

// nodesReservation is the reservation of a waiting job.
type nodesReservation struct {
	job   int32
	kind  int
	start int64
	list  []int32
}

// mostFails is how often nodes are chosen anew in vain in a pass. The jobs wait for 3840, 3489, 2976, 3140 and 2939 s on
// average with 0, 1, 2, 8 and any number of them, after 1.3, 1.8, 1.2, 1.6 and 1.8 s of CPU (10,000 jobs of
// BenchmarkNodes). Where each node holds one process it is never in vain.
const mostFails = 2

func newConservativeNodes(m *machine) *conservativeNodes {
	groups := len(m.nodes.Nodes.Capacity)
	return &conservativeNodes{machine: m, base: nodes.New(m.nodes.Nodes), kinds: map[*view.NodeNeeds]int{}, next: never,
		expiry: heap.Heap[completion]{Less: completion.before}, freed: newFreedNodes(groups), moved: newFreedNodes(groups)}
}

// freedNodes bounds the spans of time in which nodes of each group have been given back.
type freedNodes struct {
	any      bool
	from, to []int64 // by group
}

func newFreedNodes(groups int) freedNodes {
	f := freedNodes{from: make([]int64, groups), to: make([]int64, groups)}
	f.clear()
	return f
}

func (f *freedNodes) clear() {
	f.any = false
	for g := range f.from {
		f.from[g], f.to[g] = never, 0
	}
}

func (f *freedNodes) add(g int32, from, to int64) {
	f.any, f.from[g], f.to[g] = true, min(f.from[g], from), max(f.to[g], to)
}

// of returns the bounds of the groups that a job may use.
func (f *freedNodes) of(needs *view.NodeNeeds) (from, to int64) {
	from = never
	for _, groups := range needs.Alternatives {
		for _, g := range groups {
			from, to = min(from, f.from[g]), max(to, f.to[g])
		}
	}
	return from, to
}

// record adds nodes given back over [from, to).
func (s *conservativeNodes) record(list []int32, from, to int64) {
	for _, p := range list {
		if g := s.nodes.Nodes.Group[p]; from < to {
			s.freed.add(g, from, to)
			s.moved.add(g, from, to)
		}
	}
}

func (s *conservativeNodes) needs(k int32) *view.NodeNeeds { return s.nodes.Jobs[k].Needs }

func (s *conservativeNodes) arrive(k int32) {
	s.ends, s.lists, s.arrived = append(s.ends, 0), append(s.lists, nil), append(s.arrived, k)
}

func (s *conservativeNodes) end(k int32) {
	s.advance()
	if s.ends[k] > s.now && s.steps != nil {
		s.occupy(k, s.now, s.ends[k], s.lists[k], -1)
		s.uses(s.ends[k], -1)
		s.record(s.lists[k], s.now, s.ends[k])
	}
	s.base.Give(s.needs(k), s.lists[k])
	s.running = slices.DeleteFunc(s.running, func(r int32) bool { return r == k })
	s.ends[k], s.lists[k] = 0, nil
}

func (s *conservativeNodes) wake() int64 {
	at := s.next
	for s.expiry.Len() > 0 {
		if x := s.expiry.Items[0]; s.ends[x.job] == x.at {
			return min(at, x.at)
		}
		s.expiry.Pop()
	}
	return at
}

// advance drops the steps that are over.
func (s *conservativeNodes) advance() {
	if s.steps == nil {
		return
	}
	over := 0
	for over+1 < len(s.steps) && s.steps[over+1].at <= s.now {
		over++
	}
	s.steps = slices.Delete(s.steps, 0, over)
	s.steps[0].at = s.now
}

func (s *conservativeNodes) pass() {
	s.fails = 0
	s.advance()
	s.extend()
	s.compress()
	for _, k := range s.arrived {
		if s.steps == nil && !s.eager {
			if list := s.base.Fit(s.needs(k), int(s.jobs[k].width)); list != nil {
				s.run(k, list)
				continue
			}
		}
		if s.steps == nil {
			s.lay(s.ended())
		}
		kind, ok := s.kinds[s.needs(k)]
		if !ok {
			kind = len(s.kinds)
			s.kinds[s.needs(k)] = kind
		}
		s.queue = append(s.queue, nodesReservation{job: k, kind: kind, start: never})
		s.reserve(&s.queue[len(s.queue)-1], 0, never)
	}
	s.arrived = s.arrived[:0]
	if s.next > s.now {
		return
	}
	rest := s.queue[:0]
	s.next = never
	for _, x := range s.queue {
		if x.start > s.now {
			rest = append(rest, x)
			s.next = min(s.next, x.start)
			continue
		}
		s.run(x.job, x.list)
		s.uses(s.now, -1)
	}
	if s.queue = rest; len(rest) == 0 && !s.eager {
		s.steps = nil
		s.freed.clear()
	}
}

// run starts job k on nodes.
func (s *conservativeNodes) run(k int32, list []int32) {
	s.start(k)
	s.decisions[len(s.decisions)-1].Processors = list
	s.base.Take(s.needs(k), list)
	s.running, s.lists[k], s.ends[k] = append(s.running, k), list, s.estimatedEnd(k)
	s.expiry.Push(completion{at: s.ends[k], job: k})
}

// extend extends the estimates that jobs have overrun, and then makes all reservations anew.
func (s *conservativeNodes) extend() {
	over := s.running[:0:0]
	for s.expiry.Len() > 0 && s.expiry.Items[0].at <= s.now {
		if x := s.expiry.Pop(); s.ends[x.job] == x.at {
			over = append(over, x.job)
		}
	}
	if len(over) == 0 {
		return
	}
	for i := range s.queue {
		s.remove(&s.queue[i])
		s.queue[i].start = never
	}
	for _, k := range over {
		if s.ends[k] = s.now + (s.now - s.starts[k]); s.steps != nil {
			s.split(s.ends[k])
			s.occupy(k, s.now, s.ends[k], s.lists[k], 1)
			s.uses(s.ends[k], 1)
		}
		s.expiry.Push(completion{at: s.ends[k], job: k})
	}
	for i := range s.queue {
		s.reserve(&s.queue[i], 0, never)
	}
	s.freed.clear()
}

// compress moves reservations to earlier times, in rounds, until none moves.
//
// A job is looked at again from times alone at which it would run while nodes of its groups have been given back since
// the last look: while the others run, there are no more free nodes for it than there were. (New nodes for all, chosen
// at such a time in vain before, might be found now; on nodes that hold one process they never are chosen in vain.)
func (s *conservativeNodes) compress() {
	for s.freed.any {
		s.moved.clear()
		for i := range s.queue {
			x := &s.queue[i]
			if from, to := s.freed.of(s.needs(x.job)); x.start > max(s.now, from) {
				s.reserve(x, from, to)
			}
		}
		s.freed, s.moved = s.moved, s.freed
	}
}

// reserve makes the earliest reservation for a job that has none, or moves its own to the earliest time before it: a time
// at which it starts before one moment and ends after another.
func (s *conservativeNodes) reserve(x *nodesReservation, after, before int64) {
	old, length, width := *x, s.jobs[x.job].estimate, int64(s.jobs[x.job].width)
	had, removed := old.start, old.start == never
search:
	for i := 0; i < len(s.steps) && s.steps[i].at < min(had, before); i++ {
		at := s.steps[i].at
		if at+length <= after {
			continue
		}
		for j := i; j < len(s.steps) && (j == i || s.steps[j].at < min(at+length, had)); j++ {
			if s.room(j, x.kind, x.job) < width {
				i = j
				continue search
			}
		}
		if !removed && at+length > had { // its own nodes are free for it
			s.remove(&old)
			removed = true
			i, _ = s.find(at)
		}
		if x.start, x.list = at, s.through(i, at+length, x.job); x.list != nil {
			if !removed {
				s.remove(&old)
			}
			s.put(x)
			if had < never {
				s.record(old.list, had, had+length)
			}
			return
		}
		if s.fails == mostFails {
			continue
		}
		if s.anew(x) {
			if had < never { // all may have other nodes
				for g := range s.nodes.Nodes.Capacity {
					s.freed.add(int32(g), s.now, never)
					s.moved.add(int32(g), s.now, never)
				}
			}
			return
		}
		s.fails++
	}
	if *x = old; removed && had < never {
		s.put(x)
	}
}

// room returns how many processes of a kind, job k's, fit in a step.
func (s *conservativeNodes) room(i, kind int, k int32) int64 {
	x := &s.steps[i]
	for len(x.room) <= kind {
		x.room = append(x.room, -1)
	}
	if x.room[kind] < 0 {
		x.room[kind] = x.state.Room(s.needs(k))
	}
	return x.room[kind]
}

// through returns nodes that have room for job k in all steps from the i-th on that begin before an end.
func (s *conservativeNodes) through(i int, end int64, k int32) []int32 {
	s.states = append(s.states[:0], s.steps[i].state)
	for i++; i < len(s.steps) && s.steps[i].at < end; i++ {
		s.states = append(s.states, s.steps[i].state)
	}
	return nodes.Through(s.states, s.needs(k), int(s.jobs[k].width))
}

// find returns the first step at a time or later, and whether there is one at it.
func (s *conservativeNodes) find(at int64) (i int, found bool) {
	return slices.BinarySearchFunc(s.steps, at, func(x nodesStep, at int64) int { return cmp.Compare(x.at, at) })
}

// split makes a step at a time, if there is none.
func (s *conservativeNodes) split(at int64) {
	if i, found := s.find(at); !found {
		s.steps = slices.Insert(s.steps, i, nodesStep{at: at, state: s.steps[i-1].state.Clone(), room: slices.Clone(s.steps[i-1].room)})
	}
}

// uses counts a start or an end at a time, or takes it back. A step with none, but the first, is the one before it.
func (s *conservativeNodes) uses(at int64, count int) {
	i, _ := s.find(at)
	if s.steps[i].uses += count; s.steps[i].uses <= 0 && i > 0 {
		s.steps = slices.Delete(s.steps, i, i+1)
	}
}

// occupy gives job k nodes in the steps of [from, to), or takes them back if sign is -1.
func (s *conservativeNodes) occupy(k int32, from, to int64, list []int32, sign int) {
	for i, _ := s.find(from); i < len(s.steps) && s.steps[i].at < to; i++ {
		x := &s.steps[i]
		x.room = x.room[:0]
		if sign > 0 {
			x.state.Take(s.needs(k), list)
		} else {
			x.state.Give(s.needs(k), list)
		}
	}
}

// put adds a reservation to the steps.
func (s *conservativeNodes) put(x *nodesReservation) {
	end := x.start + s.jobs[x.job].estimate
	s.split(x.start)
	s.split(end)
	s.occupy(x.job, x.start, end, x.list, 1)
	s.uses(x.start, 1)
	s.uses(end, 1)
	s.next = min(s.next, x.start)
}

// remove removes a reservation from the steps.
func (s *conservativeNodes) remove(x *nodesReservation) {
	end := x.start + s.jobs[x.job].estimate
	s.occupy(x.job, x.start, end, x.list, -1)
	s.uses(x.start, -1)
	s.uses(end, -1)
}

// nodesEvent is a start or an end of a job that runs or has a reservation.
type nodesEvent struct {
	completion
	list  *[]int32
	begin bool
}

// ended returns the ends of the running jobs, in time.
func (s *conservativeNodes) ended() (all []nodesEvent) {
	for _, k := range s.running {
		all = append(all, nodesEvent{completion{s.ends[k], k}, &s.lists[k], false})
	}
	slices.SortFunc(all, func(a, b nodesEvent) int { return a.compare(b.completion) })
	return all
}

// anew chooses the nodes of all reservations, x among them, in the order of their starts. If not all fit, it reports
// that and changes nothing.
func (s *conservativeNodes) anew(x *nodesReservation) bool {
	all := s.ended()
	lists := make([][]int32, len(s.queue))
	for i := range s.queue {
		if r := &s.queue[i]; r.start < never {
			all = append(all, nodesEvent{completion{r.start, r.job}, &lists[i], true}, nodesEvent{completion{r.start + s.jobs[r.job].estimate, r.job}, &lists[i], false})
		}
	}
	slices.SortFunc(all, func(a, b nodesEvent) int {
		if a.at == b.at && a.begin != b.begin {
			if b.begin {
				return -1
			}
			return 1
		}
		return a.compare(b.completion)
	})
	state := s.base.Clone()
	for _, e := range all {
		if !e.begin {
			state.Give(s.needs(e.job), *e.list)
			continue
		}
		if *e.list = state.Fit(s.needs(e.job), int(s.jobs[e.job].width)); *e.list == nil {
			return false
		}
		state.Take(s.needs(e.job), *e.list)
	}
	for i := range s.queue {
		if lists[i] != nil {
			s.queue[i].list = lists[i]
		}
	}
	s.next = min(s.next, x.start)
	s.lay(all)
	return true
}

// lay makes the steps of events in time.
func (s *conservativeNodes) lay(all []nodesEvent) {
	s.steps = append(s.steps[:0], nodesStep{at: s.now, state: s.base.Clone()})
	for _, e := range all {
		s.split(max(s.now, e.at))
		last := &s.steps[len(s.steps)-1]
		last.uses++
		if last.room = last.room[:0]; e.begin {
			last.state.Take(s.needs(e.job), *e.list)
		} else {
			last.state.Give(s.needs(e.job), *e.list)
		}
	}
}
