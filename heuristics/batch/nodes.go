// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
)

// onNodes is FCFS, SJF, EASY and list scheduling on a machine of nodes, where jobs get the nodes that fit best. It
// decides as placed does.
//
// Jobs that wait are kept by their needs, each kind in a treap by the order of backfilling, with the least width and
// estimate of each subtree. For each kind there are two bounds: how many processes fit now, and how many fit now and
// beside the reservation. Both only fall until a job ends, or there is another reservation. So the next job of a kind
// that can start is found as on processors (see waiting.next), and a pass doesn't look at the others.
//
// The nodes at the shadow time are kept from one reservation to the next: jobs that end after it hold them. When it
// moves, only the jobs that end between the old and the new one give their nodes back, or take them.
//
// For m nodes of c classes, q kinds of needs that wait, and r running jobs, a pass takes O(q (c + log w)), and O(m + log
// w) for each job that starts; a reservation takes O(m + c) and O(c) for each end that the shadow time passes; a start or
// an end takes O(processes + classes concerned + r/1000) or so: r for a move in memory.
type onNodes struct {
	*machine
	strict   bool                  // no job passes the head
	length   func(k int32) int64   // as far as is known
	reserves func(head int32) bool // whether the head has a reservation; nil: it has
	heads    heap.Heap[int32]      // jobs that wait, the next to start first, and some that have started
	waits    int                   // jobs that wait
	arrived  []int32               // since the last pass
	lists    [][]int32             // of each job that has started
	stale    bool                  // jobs have ended since, or ends are known otherwise

	queue   *ordered // a tree for each kind of needs
	queued  []bool   // jobs that are in it
	kinds   map[*view.NodeNeeds]int32
	kind    []int32 // of each job
	all     []kindOfNeeds
	active  []int32 // kinds with jobs in queue, and some without
	next    heap.Heap[int32]
	changes int // of state so far
	gives   int // changes that have given nodes back

	state    *nodes.State
	ends     []completion // of the running jobs, by estimate, in order
	passed   int          // so many of them end by at
	at       int64
	then     *nodes.Later // held by jobs that end later than at, and by the reservation
	head     int32        // of the last pass
	shadow   int64        // its shadow time, if it has a reservation; then it is at
	reserved bool         // it has one; false: it wasn't needed
	tight    int32        // a job that fits at at, and not before it, by the ends that are expected; -1: no such one is known
	moments  int          // reservations so far
}

// kindOfNeeds is needs that jobs have.
type kindOfNeeds struct {
	*view.NodeNeeds
	root   int32 // of the tree of queue
	active bool
	// At most room processes fit now, if nothing was given back since gives, and exactly so many if nothing has changed
	// since changes.
	room           int64
	gives, changes int
	both           int64 // at most so many fit now and beside the reservation number moment
	moment         int
}

// newOnNodes returns FCFS, or with backfilling EASY, with the orders of the queue and of backfilling, ties by index; nil:
// by index, and that of the queue.
func newOnNodes(m *machine, before func(a, b int32) int, backfills bool, jump func(a, b int32) int) *onNodes {
	order := func(by func(a, b int32) int) func(a, b int32) bool {
		if by == nil {
			return func(a, b int32) bool { return a < b }
		}
		return func(a, b int32) bool { return cmp.Or(by(a, b), cmp.Compare(a, b)) < 0 }
	}
	s := &onNodes{machine: m, strict: !backfills, length: func(k int32) int64 { return m.jobs[k].estimate },
		kinds: map[*view.NodeNeeds]int32{}, state: nodes.New(m.nodes.Nodes), head: -1, at: -1, tight: -1}
	about := cap(m.jobs)
	s.lists, s.kind, s.queued = make([][]int32, 0, about), make([]int32, 0, about), make([]bool, 0, about)
	s.heads.Less = order(before)
	if jump == nil {
		jump = before
	}
	s.next.Less = order(jump)
	if backfills {
		s.then, s.queue = nodes.NewLater(m.nodes.Nodes), newOrdered(s.next.Less)
		s.queue.nodes = slices.Grow(s.queue.nodes, about+1)
	}
	return s
}

func (s *onNodes) needs(k int32) *view.NodeNeeds { return s.all[s.kind[k]].NodeNeeds }

func (s *onNodes) arrive(k int32) {
	needs := s.nodes.Jobs[k].Needs
	i, ok := s.kinds[needs]
	if !ok {
		i = int32(len(s.all))
		s.kinds[needs] = i
		s.all = append(s.all, kindOfNeeds{NodeNeeds: needs, gives: -1, changes: -1, moment: -1})
	}
	s.kind, s.queued, s.lists = append(s.kind, i), append(s.queued, false), append(s.lists, nil)
	s.heads.Push(k)
	s.waits++
	if !s.strict {
		s.arrived = append(s.arrived, k)
	}
}

func (s *onNodes) end(k int32) {
	s.stale = true
	s.state.Give(s.needs(k), s.lists[k])
	s.changes++
	s.gives = s.changes
	if !s.strict {
		s.forget(k, s.starts[k]+s.length(k))
	}
	s.lists[k] = nil
}

// revise implements reviser.
func (s *onNodes) revise(k int32, old int64) {
	s.stale = true
	if !s.strict {
		s.tight = -1
		s.forget(k, old)
		s.expect(k, s.starts[k]+s.length(k))
	}
}

// expect notes when a job that has started ends, by its estimate.
func (s *onNodes) expect(k int32, at int64) {
	x := completion{at, k}
	i, _ := slices.BinarySearchFunc(s.ends, x, completion.compare)
	s.ends = slices.Insert(s.ends, i, x)
	if at <= s.at {
		s.passed++
		return
	}
	s.then.Take(s.needs(k), s.lists[k])
	if !s.reserved {
		s.tight = -1
	}
}

// forget takes back what expect did.
func (s *onNodes) forget(k int32, at int64) {
	i, _ := slices.BinarySearchFunc(s.ends, completion{at, k}, completion.compare)
	s.ends = slices.Delete(s.ends, i, i+1)
	if at >= s.at {
		s.tight = -1
	}
	if at <= s.at {
		s.passed--
	} else {
		s.then.Give(s.needs(k), s.lists[k])
	}
}

// first returns the next job to start; -1: none waits.
func (s *onNodes) first() int32 {
	for s.heads.Len() > 0 {
		if k := s.heads.Items[0]; s.starts[k] < 0 {
			return k
		}
		s.heads.Pop()
	}
	return -1
}

// begin starts job k on nodes.
func (s *onNodes) begin(k int32, list []int32) {
	s.lists[k] = list
	s.state.Take(s.needs(k), list)
	s.changes++
	s.waits--
	if s.queued[k] {
		x := &s.all[s.kind[k]]
		s.queue.root = x.root
		s.queue.remove(k)
		x.root = s.queue.root
	}
	s.start(k)
	if s.decisions[len(s.decisions)-1].Processors = list; !s.strict {
		s.expect(k, s.now+s.length(k))
	}
}

func (s *onNodes) pass() {
	head := s.first()
	for ; head >= 0 && s.fits(head); head = s.first() {
		s.cancel()
		s.begin(head, s.state.Fit(s.needs(head), int(s.jobs[head].width)))
	}
	if !s.strict && s.waits > 1 {
		s.backfill(head)
		s.stale = false
	}
	s.enqueue()
}

// enqueue puts the jobs that have arrived since the last pass, and wait, into the queue.
func (s *onNodes) enqueue() {
	for _, k := range s.arrived {
		if s.starts[k] >= 0 || s.queued[k] {
			continue
		}
		i := s.kind[k]
		x := &s.all[i]
		s.queue.root = x.root
		s.queue.add(k, s.jobs[k].width, s.length(k))
		x.root, s.queued[k] = s.queue.root, true
		if !x.active {
			x.active, s.active = true, append(s.active, i)
		}
	}
	s.arrived = s.arrived[:0]
}

// fits reports whether job k fits now.
func (s *onNodes) fits(k int32) bool {
	x := &s.all[s.kind[k]]
	if x.gives == s.gives && int64(s.jobs[k].width) > x.room {
		return false
	}
	if x.changes != s.changes {
		x.room, x.gives, x.changes = s.state.Room(x.NodeNeeds), s.gives, s.changes
	}
	return int64(s.jobs[k].width) <= x.room
}

// backfill starts jobs behind the head, which doesn't fit, as placed.backfill does.
func (s *onNodes) backfill(head int32) {
	reserved := s.reserves == nil || s.reserves(head)
	if !s.stale && head == s.head && s.reserves == nil && (!s.reserved || s.now <= s.shadow) {
		slices.SortFunc(s.arrived, func(a, b int32) int {
			if s.next.Less(a, b) {
				return -1
			}
			return 1
		})
		for _, k := range s.arrived {
			if k != head && s.starts[k] < 0 {
				s.try(k, reserved)
			}
		}
		return
	}
	s.cancel()
	s.head = head
	s.enqueue()
	s.next.Items = s.next.Items[:0]
	rest := s.active[:0]
	for _, i := range s.active {
		if x := &s.all[i]; x.root == 0 {
			x.active = false
			continue
		}
		rest = append(rest, i)
		s.look(i, -1)
	}
	s.active = rest
	for s.next.Len() > 0 {
		k := s.next.Pop()
		if k != head {
			s.try(k, reserved)
		}
		s.look(s.kind[k], k)
	}
}

// look finds the next job of a kind, after job k (-1: of all), that may start.
func (s *onNodes) look(i, k int32) {
	x := &s.all[i]
	if x.gives != s.gives {
		x.room, x.gives, x.changes = s.state.Room(x.NodeNeeds), s.gives, s.changes
	}
	room, both, slack := int32(min(x.room, math.MaxInt32)), int64(math.MaxInt32), int64(never)
	if s.reserved {
		both, slack = s.beside(x), s.shadow-s.now
	}
	s.queue.root = x.root
	if k = s.queue.next(k, room, int32(min(both, math.MaxInt32)), slack); k >= 0 {
		s.next.Push(k)
	}
}

// beside returns how many processes of a kind fit now and beside the reservation, at most.
func (s *onNodes) beside(x *kindOfNeeds) int64 {
	if x.moment != s.moments {
		x.both, x.moment = s.then.Room(x.NodeNeeds), s.moments
	}
	return x.both
}

// try starts job k if it fits now, and ends by the shadow time or fits beside the reservation.
func (s *onNodes) try(k int32, reserved bool) {
	if !s.fits(k) {
		return
	}
	if reserved && !s.reserved {
		s.reserve(s.head)
	}
	x, width := &s.all[s.kind[k]], int(s.jobs[k].width)
	if !reserved || s.length(k) <= s.shadow-s.now {
		s.begin(k, s.state.Fit(x.NodeNeeds, width))
		return
	}
	if int64(width) > s.beside(x) {
		return
	}
	list, room := s.then.FitBoth(s.state, x.NodeNeeds, width)
	if list == nil {
		x.both = room
		return
	}
	s.begin(k, list)
}

// cancel takes the reservation back.
func (s *onNodes) cancel() {
	if s.reserved {
		s.then.Cancel()
		s.reserved = false
	}
}

// reserve computes the shadow time of job k, which doesn't fit now, and takes nodes for it then. More ends give more
// room: so if the job fits, the ends before are taken back until it doesn't, and else further jobs end until it does.
// Jobs of one instant end together, and jobs that have overrun their estimates end now.
//
// The shadow time stays for the same head if no job has ended that was expected to at it or later: the nodes before it
// are the same but for new jobs, which make room for nothing. Those are beside the reservation or end by it; without a
// reservation they aren't.
func (s *onNodes) reserve(k int32) {
	needs, width := s.needs(k), int(s.jobs[k].width)
	if s.tight != k || s.at < s.now {
		s.seek(needs, width)
	}
	s.shadow, s.tight = s.at, k
	s.reserved = s.then.Reserve(s.state, needs, width)
	s.moments++
}

// seek moves at to the shadow time of a job.
func (s *onNodes) seek(needs *view.NodeNeeds, width int) {
	s.at = max(s.at, s.now)
	for s.passed < len(s.ends) && s.ends[s.passed].at <= s.at {
		s.pastEnd()
	}
	fits := s.then.Fits(needs, width)
	for fits && s.passed > 0 && s.ends[s.passed-1].at > s.now {
		s.at = s.ends[s.passed-1].at
		for s.passed > 0 && s.ends[s.passed-1].at == s.at {
			s.passed--
			r := s.ends[s.passed].job
			s.then.Take(s.needs(r), s.lists[r])
		}
		fits = s.then.Fits(needs, width)
	}
	for !fits && s.passed < len(s.ends) {
		s.at = s.ends[s.passed].at
		for s.passed < len(s.ends) && s.ends[s.passed].at == s.at {
			s.pastEnd()
		}
		fits = s.then.Fits(needs, width)
	}
	s.at = s.now
	if s.passed > 0 {
		s.at = max(s.now, s.ends[s.passed-1].at)
	}
}

// pastEnd has the next job end.
func (s *onNodes) pastEnd() {
	r := s.ends[s.passed].job
	s.then.Give(s.needs(r), s.lists[r])
	s.passed++
}
