// SPDX-License-Identifier: MIT

package nodes

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// Later is what is free on the nodes at a later moment, after some jobs have ended.
type Later struct {
	s    *State
	free []int64 // of each node, by resource
	jobs []int32 // as in State
	room []int64 // of each way to choose groups of the job that is looked at, how many processes fit
	each []int64 // of each node, how many processes of it fit
}

// Reset makes the moment the present one. O(nodes)
func (l *Later) Reset(s *State) {
	r := len(s.nodes.Resources)
	l.s, l.jobs = s, append(l.jobs[:0], s.jobs...)
	l.free = slices.Grow(l.free[:0], len(s.class)*r)[:len(s.class)*r]
	for p, c := range s.class {
		copy(l.free[p*r:p*r+r], s.classes[c].free)
	}
}

// Until lets jobs end, one after the other, until another one fits, and gives that its nodes. It returns how many have
// ended then, and the nodes, nil if it never fits. The job gets the nodes that have the least free now, so that most is
// left for jobs that run now and then. Jobs of one instant end together: more says that others follow.
// O(nodes + classes log classes + processes that end)
func (l *Later) Until(needs *view.NodeNeeds, processes, count int, end func(i int) (needs *view.NodeNeeds, list []int32, more bool)) (n int, on []int32) {
	l.each = slices.Grow(l.each[:0], len(l.jobs))[:len(l.jobs)]
	l.room = slices.Grow(l.room[:0], len(needs.Alternatives))[:len(needs.Alternatives)]
	clear(l.room)
	for c := range l.s.classes {
		x, fit := &l.s.classes[c], int64(0)
		if x.state.open(needs) && len(x.nodes) > 0 {
			fit = Each(needs, x.free, processes)
		}
		for _, p := range x.nodes {
			l.each[p] = fit
		}
		l.count(needs, x.group, fit*int64(len(x.nodes)))
	}
	for i := range count {
		ended, list, more := end(i)
		l.change(ended, list, -1)
		for k, p := range list {
			if k == 0 || list[k-1] != p {
				l.look(needs, processes, p)
			}
		}
		if more {
			continue
		}
		for k, groups := range needs.Alternatives {
			if l.room[k] >= int64(processes) {
				on = l.best(groups, processes)
				l.Take(needs, on)
				return i + 1, on
			}
		}
	}
	return count, nil
}

// look counts anew how many processes of the job that is looked at fit on a node.
func (l *Later) look(needs *view.NodeNeeds, processes int, p int32) {
	r, fit := len(needs.Each), int64(0)
	if occupancyOf(l.jobs[p]).open(needs) {
		fit = Each(needs, l.free[int(p)*r:int(p)*r+r], processes)
	}
	more := fit - l.each[p]
	if more == 0 {
		return
	}
	l.each[p] = fit
	l.count(needs, l.s.nodes.Group[p], more)
}

// count adds to the processes that fit on a group's nodes.
func (l *Later) count(needs *view.NodeNeeds, group int32, more int64) {
	for k, groups := range needs.Alternatives {
		if slices.Contains(groups, int(group)) {
			l.room[k] += more
		}
	}
}

// best returns nodes of some groups for the job that is looked at: classes by what is free now, of each the lowest.
func (l *Later) best(groups []int, processes int) []int32 {
	s := l.s
	s.found = s.found[:0]
	for c := range s.classes {
		if x := &s.classes[c]; !x.unused && slices.Contains(groups, int(x.group)) {
			s.found = append(s.found, found{class: int32(c)})
		}
	}
	return s.fill(processes, func(_ found, p int32) int64 { return l.each[p] })
}

// Take gives a job the nodes of its processes.
func (l *Later) Take(needs *view.NodeNeeds, list []int32) { l.change(needs, list, 1) }

func (l *Later) change(needs *view.NodeNeeds, list []int32, sign int64) {
	r := len(needs.Each)
	for k, p := range list {
		for x, need := range needs.Each {
			l.free[int(p)*r+x] -= sign * need
		}
		if k == 0 || list[k-1] != p {
			l.jobs[p] = held(l.jobs[p], needs, sign)
		}
	}
}
