// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"
)

// rule is what becomes of a job in the background that is chosen for the foreground
// if not all of its processors are idle there.
type rule int

const (
	killed rule = iota
	pinned
	migrated
	lifted // and migrated, see PEASY
)

// deploy is Algorithm 2: it brings job k, which must fit, to the foreground and
// reports whether it could. A job in the background whose processors are all idle in
// the foreground changes tier on them and keeps its work. There is nothing that
// could change places with it.
func (s *twoTierSimulation) deploy(k int32) bool {
	if s.inTheWay(k) {
		return false
	}
	begin, delay := s.now, int64(0)
	from, old := s.phases[k], s.lists[k]
	switch {
	case s.phases[k] == waits:
		s.shortest.remove(s.rank[k])
		s.lists[k] = s.dispatch(k, &s.foreIdle)
	case s.busy[k] == 0:
		up := s.up[k]
		s.leaveBackground(k, false)
		if up { // it stays where it is
			begin = s.entered[k]
			s.stays = s.stays[:len(s.stays)-1]
		}
		for _, p := range s.lists[k] {
			s.foreIdle.remove(0, p)
		}
	case s.rule == pinned:
		return false
	default:
		s.leaveBackground(k, s.rule == killed)
		if s.rule != killed {
			delay = s.ticks.Migration
		}
		s.lists[k] = s.dispatch(k, &s.foreIdle)
	}
	s.list.remove(s.position(k))
	s.phases[k], s.entered[k] = inForeground, begin
	s.free, s.starts[k] = s.free-s.jobs[k].width, s.now
	s.toldUp(k, from, old, delay)
	s.ends.add(k, s.estimatedEnd(k), s.jobs[k].width)
	j := &s.ticks.Jobs[k]
	for i, p := range s.lists[k] {
		s.setFore(p, process{k, int32(j.CPU(i))})
	}
	s.since[k], s.rates[k] = s.now+delay, j.Foreground
	s.complete(k)
	return true
}

// toBackground starts job k, which waits, in the background. Its rate is computed at
// the end of the instant, see refresh.
func (s *twoTierSimulation) toBackground(k int32) {
	s.shortest.remove(s.rank[k])
	j := &s.ticks.Jobs[k]
	s.lists[k] = s.dispatch(k, &s.backIdle)
	s.phases[k], s.entered[k], s.since[k], s.rates[k] = inBackground, s.now, s.now, 0
	for i, p := range s.lists[k] {
		s.setBack(p, process{k, int32(j.CPU(i))})
	}
	if s.rule == pinned && s.busy[k] > 0 {
		s.list.remove(s.position(k))
	}
	s.toldDown(k)
	s.touch(k)
}

// leaveBackground takes job k out of the background, with the work that it has done
// or, if that is lost, without.
func (s *twoTierSimulation) leaveBackground(k int32, lost bool) {
	s.settle(k)
	if lost {
		s.left[k] = s.ticks.Jobs[k].Work()
	}
	s.stays = append(s.stays, stay{k, s.tier(k), lost, s.entered[k], s.now, s.lists[k]})
	for _, p := range s.lists[k] {
		s.clearBack(p)
	}
	s.busy[k] = 0
	if s.up[k] {
		s.setUp(k, false)
	}
}

// leaveForeground takes job k out of the foreground.
func (s *twoTierSimulation) leaveForeground(k int32) {
	s.settle(k)
	s.stays = append(s.stays, stay{k, inForeground, false, s.entered[k], s.now, s.lists[k]})
	s.free += s.jobs[k].width
	s.ends.remove(k, s.estimatedEnd(k), s.jobs[k].width)
	for _, p := range s.lists[k] {
		s.clearFore(p)
	}
}

// dispatch is the function of this name in Algorithm 2: it takes processors of the
// set for the processes of job k, high use to low use. The processes go in
// descending order of their use to the processors in ascending order of the use by
// the other tier, which is what the set is ordered by. Ties of processes and of
// processors go by their numbers. So do all if uses are unknown.
//
// Dispatch takes time linear in the width of the job, and sorting if its processes
// differ in their uses.
func (s *twoTierSimulation) dispatch(k int32, set *idleSet) []int32 {
	j := &s.ticks.Jobs[k]
	list := s.cut(j.Processes)
	set.take(list)
	if len(j.Use) == 1 || s.unknown {
		return list
	}
	order := s.order[:0]
	for i := range j.Processes {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(j.Use[b], j.Use[a]), cmp.Compare(a, b)) })
	places := append(s.places[:0], list...)
	for i, process := range order {
		list[process] = places[i]
	}
	s.order, s.places = order, places
	return list
}

// cut cuts a list of n processors off a larger array.
func (s *twoTierSimulation) cut(n int) []int32 {
	if len(s.array) < n {
		s.array = make([]int32, max(n, 1<<16))
	}
	list := s.array[:n:n]
	s.array = s.array[n:]
	return list
}
