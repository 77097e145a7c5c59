// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/internal/num/order"
)

// rule says what happens to a job in the background that is chosen for the foreground if not all of its processors are
// idle there.
type rule int

const (
	killed rule = iota
	pinned
	migrated
	lifted // and migrated, see PEASY
)

// deploy is Algorithm 2: it brings job k, which must fit, to the foreground and reports whether it could. A job in the
// background changes tier on its processors and keeps its work if they are all idle in the foreground. There is nothing
// that could change places with it.
func (s *twoTierScheduler) deploy(k int32) bool {
	if s.inTheWay(k) {
		return false
	}
	s.change(k)
	switch {
	case s.state[k].phase == waits:
		s.shortest.remove(k)
		s.state[k].list = s.dispatch(k, &s.foreIdle)
	case s.state[k].busy == 0:
		s.leaveBackground(k)
		for _, p := range s.state[k].list {
			s.foreIdle.remove(0, p)
		}
	case s.rule == pinned:
		return false
	default:
		s.leaveBackground(k)
		s.state[k].list = s.dispatch(k, &s.foreIdle)
	}
	s.unlist(k)
	s.state[k].phase = inForeground
	s.free, s.starts[k] = s.free-s.jobs[k].width, s.now
	s.ends.add(k, s.estimatedEnd(k), s.jobs[k].width)
	for i, p := range s.state[k].list {
		s.setFore(p, process{k, s.state[k].useOf(i)})
	}
	return true
}

// toBackground starts job k, which waits, in the background.
func (s *twoTierScheduler) toBackground(k int32) {
	s.shortest.remove(k)
	s.change(k)
	s.state[k].list = s.dispatch(k, &s.backIdle)
	s.state[k].phase = inBackground
	for i, p := range s.state[k].list {
		s.setBack(p, process{k, s.state[k].useOf(i)})
	}
	if s.rule == pinned && s.state[k].busy > 0 {
		s.unlist(k)
	}
	s.touch(k)
}

// leaveBackground takes job k out of the background.
func (s *twoTierScheduler) leaveBackground(k int32) {
	for _, p := range s.state[k].list {
		s.clearBack(p)
	}
	s.state[k].busy = 0
	if s.state[k].up {
		s.setUp(k, false)
	}
}

// leaveForeground takes job k out of the foreground.
func (s *twoTierScheduler) leaveForeground(k int32) {
	s.free += s.jobs[k].width
	s.ends.remove(k, s.estimatedEnd(k), s.jobs[k].width)
	for _, p := range s.state[k].list {
		s.clearFore(p)
	}
}

// dispatch is the function of this name in Algorithm 2: it takes processors of the set for the processes of job k, high
// use to low use. The processes go in descending order of their use to the processors in ascending order of the use by
// the other tier, the order of the set. Ties of processes and of processors go by their numbers. So do all if uses are
// unknown.
//
// Dispatch takes time linear in the width of the job, and sorting if its processes
// differ in their uses.
func (s *twoTierScheduler) dispatch(k int32, set *idleSet) []int32 {
	use := s.state[k].use
	list := s.cut(int(s.jobs[k].width))
	set.removeFirst(list)
	if len(use) == 1 || s.unknown {
		return list
	}
	s.places = append(s.places[:0], list...)
	for i, process := range order.Falling(order.Of[int32](len(list)), use) {
		list[process] = s.places[i]
	}
	return list
}

// cut cuts a list of n processors off a larger array.
func (s *twoTierScheduler) cut(n int) []int32 {
	if len(s.array) < n {
		s.array = make([]int32, max(n, 1<<16))
	}
	list := s.array[:n:n]
	s.array = s.array[n:]
	return list
}
