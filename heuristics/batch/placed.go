// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/batch/processors"
)

// placed is FCFS, SJF and EASY on neighbouring processors (model.BatchContiguous).
//
// The head's shadow time is the earliest at which it fits by the estimated ends of the running jobs; its reservation is
// the places that it would get then. Another job is backfilled if it ends by the shadow time, by its estimate, and
// fits, or else if it fits on places that are free at the shadow time, too, beside the reservation. So no backfilled
// job holds a place of the reservation at the shadow time, if jobs keep their estimates, and the head starts then at
// the latest.
//
// A job's fit depends on places, so the trees of easy don't help. A pass takes O(w (log w + f) + r (log r + f)) at
// worst, for w waiting and r running jobs, and f to look for the places of one.
type placed struct {
	*machine
	queue   []int32              // jobs that wait, the next to start first
	before  func(a, b int32) int // order of the queue, ties by index; nil: by index
	strict  bool                 // no job passes the head
	jump    func(a, b int32) int // order of backfilling, ties by index; nil: of the queue
	free    stretches
	running []int32
	lists   [][]int32  // of each job that has started
	arrived []int32    // since the last pass
	stale   bool       // jobs have ended since
	head    int32      // of the last pass
	shadow  int64      // its shadow time
	then    *stretches // and what is free beside it then; nil: it wasn't needed
}

// newPlaced returns FCFS, or with backfilling EASY.
func newPlaced(m *machine, before func(a, b int32) int, backfills bool, jump func(a, b int32) int) *placed {
	return &placed{machine: m, before: before, strict: !backfills, jump: jump, head: -1,
		free: stretches{m, processors.NewFree(int(m.processors))}}
}

func (s *placed) arrive(k int32) {
	for len(s.lists) <= int(k) {
		s.lists = append(s.lists, nil)
	}
	at := len(s.queue)
	if s.before != nil {
		at, _ = slices.BinarySearchFunc(s.queue, k, func(a, b int32) int { return cmp.Or(s.before(a, b), cmp.Compare(a, b)) })
	}
	s.queue, s.arrived = slices.Insert(s.queue, at, k), append(s.arrived, k)
}

func (s *placed) end(k int32) {
	s.stale = true
	s.free.idle.Give(s.lists[k])
	s.running = slices.DeleteFunc(s.running, func(r int32) bool { return r == k })
}

// begin starts job k on places.
func (s *placed) begin(k int32, list []int32) {
	s.lists[k] = list
	s.running = append(s.running, k)
	s.free.take(list)
	s.start(k)
	s.decisions[len(s.decisions)-1].Processors = list
}

func (s *placed) pass() {
	for len(s.queue) > 0 {
		list := s.free.fit(s.queue[0], nil)
		if list == nil {
			break
		}
		s.begin(s.queue[0], list)
		s.queue = s.queue[1:]
	}
	if !s.strict && len(s.queue) > 1 {
		s.backfill()
		s.stale = false
	}
	s.arrived = s.arrived[:0]
}

// backfill starts jobs behind the head. A job that doesn't fit now needs no reservation of the head to be passed over.
//
// The reservation is kept until a job has ended, there is another head, or the shadow time has passed. Until then a pass
// looks at new jobs alone: places that are free now and beside the reservation have only become fewer, and the time up
// to the shadow time shorter. So jobs that were passed over would be again.
func (s *placed) backfill() {
	head := s.queue[0]
	others := s.queue[1:]
	if s.stale || head != s.head || s.then != nil && s.now > s.shadow {
		s.head, s.then, s.shadow = head, nil, never
	} else {
		others = s.arrived
	}
	if s.jump != nil {
		others = slices.Clone(others)
		slices.SortFunc(others, func(a, b int32) int { return cmp.Or(s.jump(a, b), cmp.Compare(a, b)) })
	}
	any := false
	for _, k := range others {
		if k == head || s.starts[k] >= 0 {
			continue
		}
		list := s.free.fit(k, nil)
		if list == nil {
			continue
		}
		if s.then == nil {
			s.reserve(head)
		}
		if s.jobs[k].estimate > s.shadow-s.now {
			if list = s.free.fit(k, s.then); list == nil {
				continue
			}
			s.then.take(list)
		}
		any = true
		s.begin(k, list)
	}
	if any {
		s.queue = slices.DeleteFunc(s.queue, func(k int32) bool { return s.starts[k] >= 0 })
	}
}

// reserve computes the shadow time of job k, which doesn't fit now, and what is free beside it then.
func (s *placed) reserve(k int32) {
	end := func(r int32) int64 { return max(s.now, s.estimatedEnd(r)) }
	slices.SortFunc(s.running, func(a, b int32) int { return cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a, b)) })
	n, then := s.free.reserve(k, len(s.running), func(i int) ([]int32, bool) {
		r := s.running[i]
		return s.lists[r], i+1 < len(s.running) && end(s.running[i+1]) == end(r)
	})
	s.shadow, s.then = end(s.running[n-1]), then
}

// stretches are neighbouring processors: a job gets the lowest that are free.
type stretches struct {
	*machine
	idle *processors.Free
}

// fit returns places of job k, nil if it doesn't fit. At another moment, if it isn't nil, they must be free, too.
func (p *stretches) fit(k int32, then *stretches) []int32 {
	idle := p.idle
	if then != nil {
		idle = idle.Clone()
		idle.Keep(then.idle)
	}
	first, width := idle.Neighbours(p.jobs[k].width), p.jobs[k].width
	if first < 0 {
		return nil
	}
	list := make([]int32, width)
	for i := range list {
		list[i] = first + int32(i)
	}
	return list
}

// reserve lets jobs end, one after the other, until job k fits, which gets places then; it returns how many have ended.
// Jobs of one instant end together: more reports that others follow.
func (p *stretches) reserve(k int32, count int, end func(i int) (list []int32, more bool)) (int, *stretches) {
	then := &stretches{p.machine, p.idle.Clone()}
	for i := range count {
		list, more := end(i)
		if then.idle.Give(list); more {
			continue
		}
		if list := then.fit(k, nil); list != nil {
			then.take(list)
			return i + 1, then
		}
	}
	return count, then // can't be: in the end all processors are free, and there are enough
}

func (p *stretches) take(list []int32) { p.idle.RemoveAll(list) }
