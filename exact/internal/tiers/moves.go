// SPDX-License-Identifier: MIT

package tiers

import (
	"fmt"
	"slices"
	"strings"
)

// lift is a job that has left its processors and gets others at the same point.
type lift struct {
	job     int32
	alone   bool    // it shared no processor
	touched []int32 // the processors of its group
	low     bool    // it could be in the background of all those that it shares processors with
	put     bool    // it has got its processors
}

// children returns the possible next events.
func (s *Search) children(n *node) (all []*node) {
	if !s.Unordered && !s.planned(n) {
		return s.plans(n)
	}
	if len(n.lifts) > 0 {
		all = nil
		if !slices.ContainsFunc(n.lifts, func(l lift) bool { return l.put }) {
			all = s.lifts(n, all)
		}
		return s.puts(n, all)
	}
	if n.must == nil {
		for k := range int32(s.n) {
			switch {
			case n.phase[k] != runs:
				continue
			case n.moving[k] >= 0:
				if !s.arrivesNext(n, k) {
					continue
				}
			case !n.next(k) || n.again>>k&1 == 1:
				continue
			}
			c := s.child(n, true)
			c.visited = nil
			if n.moving[k] >= 0 {
				c.events = append(c.events, event{what: arrives, at: c.spans, job: k, since: int(n.moving[k])})
				c.moving[k] = -1
				s.regroup(c, -1)
			} else {
				c.phase[k], c.ended[k] = over, int32(c.spans)
				c.happens()
				c.events = append(c.events, event{what: ends, at: c.spans, job: k})
				s.regroup(c, k)
			}
			all = append(all, c)
		}
		all = s.leaving(n, all)
	}
	for k := range int32(s.n) {
		if n.phase[k] == transit {
			all = s.begins(n, k, all)
		}
		if n.phase[k] == waits && n.next(k+int32(s.n)) {
			all = s.begins(n, k, all)
		}
	}
	return s.lifts(n, all)
}

// arrivesNext reports whether no other job that migrates began before, or at the same point and has a lower number.
//
// All migrations are equally long, so that they end in the order in which they began. If two end at the same instant,
// their order doesn't matter: either order is the same schedule.
func (s *Search) arrivesNext(n *node, k int32) bool {
	if s.AllOrders {
		return true
	}
	for i, m := range n.moving {
		if m >= 0 && (m < n.moving[k] || m == n.moving[k] && int32(i) < k) {
			return false
		}
	}
	return true
}

// leaving adds that a group leaves an orientation for the other one and can't go back: otherwise it would be free.
func (s *Search) leaving(n *node, all []*node) []*node {
	var front, back []hosted
	for k := range int32(s.n) {
		if n.phase[k] != runs {
			continue
		}
		l := &n.lives[n.life[k]]
		if l.free || l.jobs[0] != k {
			continue
		}
		if front == nil {
			front, back = s.hosts(n)
		}
		if s.enters(n, front, back, l.jobs, true) {
			c := s.child(n, true)
			s.turn(c, k)
			c.events = append(c.events, event{what: leaves, at: c.spans, job: k})
			s.regroup(c, -1)
			s.note(c, k)
			all = append(all, c)
		}
	}
	return all
}

// begins adds the starts of a job, at a point that is no sooner than its submission.
//
// A job isn't started at a point in the background of some processors if it can start there for all of the span before
// the point, unless the point is its submission. An earlier start in the background takes nothing from any job, and the
// job has done more by then. If it ends sooner, the jobs that it leaves only get faster. So a start where anything
// could have started in the background is at the submission; one where that has just become so is at this very point. A
// start above a job in the background, which takes from it, may be at any time.
//
// A job that has left a group that could turn (node.parked) comes to no processors at that very instant. Others have
// been tried in puts, from the same state. If its new place is like its own, and its group can turn again, it may as
// well have stayed. Both before and after the group may be in either orientation, the others' rates don't depend on
// whether the job's migration is over, and it does more. If it ends sooner, the jobs that it leaves only get faster.
func (s *Search) begins(n *node, k int32, all []*node) []*node {
	now := s.available(n)
	within := func(list []int32, set []bool) bool {
		return !slices.ContainsFunc(list, func(q int32) bool { return !set[q] })
	}
	begin := func(x place, span, then bool) {
		c := s.child(n, span)
		c.visited = nil
		s.put(c, k, x)
		if !span && !s.AllOrders && n.parked == k && (!s.same(n, k, x.on, n.left) || c.lives[c.life[k]].free) {
			return
		}
		what := moves
		if n.phase[k] == waits {
			what = starts
			c.happens()
			c.points = append(c.points, point{c.spans, s.submit[k], then})
		}
		c.events = append(c.events, event{what: what, at: c.spans, job: k, on: x.on})
		s.note(c, k)
		c.eager, c.taken = k, x.on
		all = s.parts(c, k, all)
	}
	for _, x := range s.places(n, k, nil) {
		if n.must != nil && !touches(x.on, n.must) || s.comesAbove(n, k, &x) {
			continue
		}
		sooner := !s.AllOrders && !x.over && within(x.on, now) // in the background, before the next point
		if sooner && n.phase[k] == waits && n.must == nil {
			begin(x, true, true)
		}
		span := n.must == nil && !sooner
		if !span && !s.AllOrders {
			if sooner && within(x.on, n.before) && (n.phase[k] == transit || n.must == nil) {
				continue
			}
			if n.eager > k && !touches(x.on, n.taken) {
				continue // the other order of the two starts is the same
			}
		}
		begin(x, span, sooner && within(x.on, n.before))
	}
	return all
}

// same reports whether processors are like others, for a job's processes of each use: they have the same content.
func (s *Search) same(n *node, k int32, a, b []int32) bool {
	front, back := s.hosts(n)
	for _, g := range s.groups[k] {
		for _, i := range g.processes {
			like := func(on []int32) (count int) {
				for _, j := range g.processes {
					if front[on[j]] == front[b[i]] && back[on[j]] == back[b[i]] {
						count++
					}
				}
				return count
			}
			if like(a) != like(b) {
				return false
			}
		}
	}
	return true
}

// lifts adds that one more job leaves its processors for others.
//
// A job that shared no processor and migrates alone had no worse place before. So it may as well stay until something
// takes one of the processors that it leaves or comes to: there it does no less than in as much time afterwards, and it
// holds nothing that others use. So this event comes next (node.must), at the same point.
//
// Several jobs move at once only where none can go first: each comes to processors of another's group.
func (s *Search) lifts(n *node, all []*node) []*node {
	last := int32(-1)
	if len(n.lifts) > 0 {
		last = n.lifts[len(n.lifts)-1].job
	}
	for k := last + 1; k < int32(s.n); k++ {
		if n.phase[k] != runs || n.last>>k&1 == 1 {
			continue
		}
		if n.moving[k] >= 0 {
			continue // see begins
		}
		here := len(n.lifts) > 0 || n.must != nil
		if here && int(n.placed[k]) == n.spans {
			continue // it has done nothing here
		}
		l := &n.lives[n.life[k]]
		x := lift{job: k, alone: len(l.jobs) == 1}
		for _, j := range l.jobs {
			x.touched = append(x.touched, n.on[j]...)
		}
		c := s.child(n, !here)
		if here {
			c.must = n.must
		}
		x.low = s.low(n, k)
		c.lifts = append(slices.Clip(n.lifts), x)
		if !l.free {
			c.stuck = append(slices.Clip(n.stuck), l.jobs...)
		}
		c.phase[k], c.moving[k], c.beneath[k] = lifted, -1, 0
		for _, j := range l.jobs {
			if l.free || n.back[j] {
				c.beneath[k] |= 1 << j
			}
		}
		s.regroup(c, -1)
		all = append(all, c)
	}
	return all
}

// low reports whether a job may be in the background of all jobs that share processors with it, if they share none with
// others and lose nothing in the foreground.
func (s *Search) low(n *node, k int32) bool {
	l := &n.lives[n.life[k]]
	if !l.free && !n.back[k] {
		return false
	}
	for _, j := range l.jobs {
		if j == k {
			continue
		}
		if x := &s.t.Jobs[j]; x.Foreground < x.Efficiency {
			return false
		}
		for _, i := range l.jobs {
			if i != j && i != k && touches(n.on[i], n.on[j]) {
				return false
			}
		}
	}
	return true
}

// puts adds the places of the lifted jobs that have none. A job that moves by itself may also be on its way for some
// time: then it leaves its processors now, and takes others later.
//
// That relaxes what it means to move again before a migration is over. Then the job does no work from when it leaves
// its first place until it has been in the last one for a migration, and it holds some processors in that time; here it
// holds none.
func (s *Search) puts(n *node, all []*node) []*node {
	visited := n.visited
	if s.migration > 0 {
		visited = nil
	}
	for at := range n.lifts {
		x := &n.lifts[at]
		if x.put {
			continue
		}
		for _, to := range s.places(n, x.job, n.on[x.job]) {
			if s.migration > 0 && len(n.lifts) > 1 && !slices.ContainsFunc(n.lifts, func(y lift) bool { return y.job != x.job && touches(to.on, y.touched) }) {
				continue
			}
			if n.must != nil && len(n.lifts) == 1 && !touches(to.on, n.must) {
				continue
			}
			c := s.child(n, false)
			c.must = n.must
			c.lifts = slices.Clone(n.lifts)
			c.lifts[at].put = true
			s.put(c, x.job, to)
			c.events = append(c.events, event{what: moves, at: c.spans, job: x.job, on: to.on})
			s.note(c, x.job)
			if !slices.ContainsFunc(c.lifts, func(l lift) bool { return !l.put }) {
				c.must, c.eager, c.taken = nil, -1, nil
				if len(c.lifts) == 1 && x.alone && !s.AllOrders {
					c.must = slices.Concat(n.on[x.job], to.on)
				}
				c.lifts, c.stuck = nil, nil
				if s.migration == 0 {
					key := s.key(c)
					if slices.Contains(visited, key) {
						continue
					}
					c.visited = append(slices.Clip(visited), key)
				}
			}
			all = s.parts(c, x.job, all)
		}
	}
	if x := &n.lifts[0]; len(n.lifts) == 1 && n.must == nil && s.migration > 0 {
		all = s.parks(n, x, all)
	}
	return all
}

// parks adds that a job that moves by itself is on its way for some time: it leaves its processors now, and gets others
// later.
//
// That relaxes what it means to move again before a migration is over. Then the job does no work from when it leaves
// its first place until it has been in the last one for a migration, and it holds some processors in that time. Here it
// holds none, and the only check is that there are some now. The player puts it there.
//
// A job that shared no processor, or was low, may as well stay in the background, until something comes to a processor
// of its group: there it takes nothing from any job, and does more. If nothing comes before it gets other processors,
// it goes there at once. So this event comes next (node.must), at the same point.
func (s *Search) parks(n *node, x *lift, all []*node) []*node {
	places := s.places(n, x.job, n.on[x.job])
	if len(places) == 0 {
		return all
	}
	there := s.child(n, false)
	s.put(there, x.job, places[0])
	there.events = append(there.events, event{what: parks, at: n.spans, job: x.job, on: places[0].on})
	s.note(there, x.job)
	c := s.child(n, false)
	c.lifts, c.stuck, c.phase[x.job] = nil, nil, transit
	c.events = there.events
	if x.alone && !s.AllOrders {
		c.must = n.on[x.job]
	} else if x.low && !s.AllOrders {
		c.must = x.touched
	}
	if len(n.stuck) == 0 {
		c.parked, c.left = x.job, n.on[x.job]
	}
	return append(all, c)
}

// migrations counts the migrations that have begun, except by parks.
func (n *node) migrations() (count int) {
	for i := range n.events {
		if n.events[i].what == moves {
			count++
		}
	}
	return count
}

// key describes the content of each processor, whatever the processors' numbers are.
func (s *Search) key(n *node) string {
	front, back := s.hosts(n)
	all := make([]string, len(front))
	for q := range all {
		all[q] = fmt.Sprint(front[q], back[q])
	}
	slices.Sort(all)
	return strings.Join(all, ";")
}

// put gives a job its processors.
func (s *Search) put(c *node, k int32, x place) {
	for _, j := range x.turns {
		s.turn(c, j)
	}
	if c.moving[k] = -1; c.phase[k] != waits && s.migration > 0 {
		c.moving[k] = int32(c.spans)
	}
	c.phase[k], c.on[k], c.back[k], c.placed[k] = runs, x.on, x.back, int32(c.spans)
	s.regroup(c, -1)
}

// note stores the tiers of a job's group in the last event.
func (s *Search) note(c *node, k int32) {
	e := &c.events[len(c.events)-1]
	e.jobs = c.lives[c.life[k]].jobs
	for _, j := range e.jobs {
		e.back = append(e.back, c.back[j])
	}
}
