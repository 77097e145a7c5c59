// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/batch/processors"
)

// neighbours is FCFS, SJF and EASY on a platform where a job holds neighbouring processors
// (model.BatchContiguous). A job fits where as many neighbours are free, and takes the
// lowest such stretch.
//
// The head's shadow time is the earliest at which it fits by the estimated ends of the running jobs; its reservation is
// the lowest stretch that is free then. Another job is backfilled if it ends by the shadow time, by its estimate, and
// fits, or else if it fits outside of the reservation. So no backfilled job holds a processor of the reservation at the
// shadow time, if jobs keep their estimates, and the head starts then at the latest.
//
// A job's fit depends on places, not on numbers, so the trees of easy don't help. A pass takes O(w (log w + p) + r (log
// r + p)) at worst, for w waiting and r running jobs on p processors.
type neighbours struct {
	*machine
	queue     []int32              // jobs that wait, the next to start first
	before    func(a, b int32) int // order of the queue, ties by index; nil: by index
	backfills bool
	jump      func(a, b int32) int // order of backfilling, ties by index; nil: by index
	idle      *processors.Free
	running   []int32
	first     []int32 // lowest processor of each job that has started
	list      []int32 // kept for stretch
}

func newNeighbours(m *machine, before func(a, b int32) int, backfills bool, jump func(a, b int32) int) *neighbours {
	return &neighbours{machine: m, before: before, backfills: backfills, jump: jump, idle: processors.NewFree(int(m.processors))}
}

func (s *neighbours) arrive(k int32) {
	s.first = append(s.first, -1)
	at := len(s.queue)
	if s.before != nil {
		at, _ = slices.BinarySearchFunc(s.queue, k, func(a, b int32) int { return cmp.Or(s.before(a, b), cmp.Compare(a, b)) })
	}
	s.queue = slices.Insert(s.queue, at, k)
}

func (s *neighbours) end(k int32) {
	s.idle.Give(s.stretch(s.first[k], s.jobs[k].width))
	s.running = slices.DeleteFunc(s.running, func(r int32) bool { return r == k })
}

func (s *neighbours) wake() int64 { return never }

// stretch lists neighbouring processors, until it is called again.
func (s *neighbours) stretch(first, width int32) []int32 {
	s.list = s.list[:0]
	for p := first; p < first+width; p++ {
		s.list = append(s.list, p)
	}
	return s.list
}

// begin starts job k on neighbours.
func (s *neighbours) begin(k, first int32) {
	s.first[k] = first
	s.running = append(s.running, k)
	list := slices.Clone(s.stretch(first, s.jobs[k].width))
	s.idle.RemoveAll(list)
	s.start(k)
	s.decisions[len(s.decisions)-1].Processors = list
}

func (s *neighbours) pass() {
	for len(s.queue) > 0 {
		first := s.idle.Neighbours(s.jobs[s.queue[0]].width)
		if first < 0 {
			break
		}
		s.begin(s.queue[0], first)
		s.queue = s.queue[1:]
	}
	if s.backfills && len(s.queue) > 1 && s.free > 0 {
		s.backfill()
	}
}

// backfill starts jobs behind the head.
func (s *neighbours) backfill() {
	head := s.queue[0]
	shadow, reserved := s.reserve(head)
	beside := s.idle.Clone()
	beside.RemoveAll(s.stretch(reserved, s.jobs[head].width))
	others := slices.Clone(s.queue[1:])
	if s.jump != nil {
		slices.SortFunc(others, func(a, b int32) int { return cmp.Or(s.jump(a, b), cmp.Compare(a, b)) })
	}
	for _, k := range others {
		from := s.idle
		if s.jobs[k].estimate > shadow-s.now {
			from = beside
		}
		if first := from.Neighbours(s.jobs[k].width); first >= 0 {
			s.begin(k, first)
			beside.RemoveAll(s.stretch(first, s.jobs[k].width))
		}
	}
	s.queue = slices.DeleteFunc(s.queue, func(k int32) bool { return s.starts[k] >= 0 })
}

// reserve returns the shadow time of job k, which doesn't fit now, and the lowest of its processors then.
func (s *neighbours) reserve(k int32) (shadow int64, first int32) {
	end := func(r int32) int64 { return max(s.now, s.estimatedEnd(r)) }
	slices.SortFunc(s.running, func(a, b int32) int { return cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a, b)) })
	idle := s.idle.Clone()
	for i, r := range s.running {
		idle.Give(s.stretch(s.first[r], s.jobs[r].width))
		if i+1 < len(s.running) && end(s.running[i+1]) == end(r) {
			continue
		}
		if first = idle.Neighbours(s.jobs[k].width); first >= 0 {
			return end(r), first
		}
	}
	return never, 0 // can't be: in the end all processors are free, and there are enough
}
