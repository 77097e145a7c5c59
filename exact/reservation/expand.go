// SPDX-License-Identifier: MIT

package reservation

import "math"

// candidate is a possible job and the earliest start at which it fits.
type candidate struct {
	job   int
	start tick
}

// expand makes the children of a state: each starts one more possible job, as
// early as it fits.
//
// Active schedules (Giffler and Thompson 1960): let T be the least start + length of the jobs that may be started, and
// i the job of it. A child that starts at T or later is left out. Nothing starts before it, so any completion declines
// i or starts it later, and i may be moved to end by T, where it fits. The value is no less, and the plan follows the
// child that starts i.
//
// Identical jobs: of two jobs q and j of equal PEs, length and weight that can
// start at one moment, with latest(q) ≤ latest(j), j first is left out. If q is
// declined it can take j's place, and if it starts later, at s ≤ latest(q) ≤
// latest(j), they can change places.
func (s *sweep) expand(x *state) {
	s.children = s.children[:0]
	until := tick(math.MaxInt64)
	for i := int(x.base) << 6; i < len(s.jobs) && s.jobs[i].ready < until; i++ {
		if !x.may(i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(x, j)
		if start > j.latest {
			continue
		}
		if s.off&activeSchedules == 0 {
			until = min(until, start+j.length)
		}
		s.children = append(s.children, candidate{i, start})
	}
	for c := range s.children {
		if s.children[c].start < until && !s.hasTwinBefore(c) {
			s.start(x, s.children[c])
		}
	}
}

// hasTwinBefore reports whether another child, which has precedence, starts an identical job at the same time.
func (s *sweep) hasTwinBefore(c int) bool {
	if s.off&identicalJobs != 0 {
		return false
	}
	k := s.children[c]
	j := &s.jobs[k.job]
	for d, o := range s.children {
		q := &s.jobs[o.job]
		if o.start == k.start && q.pes == j.pes && q.length == j.length && q.weight == j.weight &&
			(q.latest < j.latest || q.latest == j.latest && d < c) {
			return true
		}
	}
	return false
}

// start makes the child of x that starts a job, and opens it if it may lead to
// the target.
func (s *sweep) start(x *state, c candidate) {
	j := &s.jobs[c.job]
	y := &s.child
	y.time, y.value, y.bound, y.at, y.base = c.start, x.value+j.weight, x.bound, x.at, x.base
	y.running = y.running[:0]
	end, put := c.start+j.length, false
	for _, r := range x.running {
		if r.end <= c.start {
			break
		}
		if !put && r.end <= end {
			put = true
			if r.end == end {
				y.running = append(y.running, busy{end, j.pes + r.pes})
				continue
			}
			y.running = append(y.running, busy{end, j.pes})
		}
		y.running = append(y.running, r)
	}
	if !put {
		y.running = append(y.running, busy{end, j.pes})
	}
	y.possible = append(y.possible[:0], x.possible...)
	y.drop(c.job)
	y.rebase(int32(s.firstAlive(y.time) >> 6))
	open := s.propagate(y)
	better := y.value > s.best
	if !better && !open {
		return
	}
	s.trace = append(s.trace, placement{x.at, int32(c.job), c.start})
	y.at = int32(len(s.trace) - 1)
	if better {
		s.best, s.bestAt = y.value, y.at
		s.target = max(s.target, s.best+s.step)
	}
	if open {
		s.made++
		z := s.fresh()
		y.copyTo(z)
		z.seq = s.made
		s.open.Push(z)
	}
}

// firstFit returns the earliest start of a job after the state's last one,
// which may be later than its latest.
func (s *sweep) firstFit(x *state, j *job) tick {
	room := s.pes - j.pes
	inUse := 0
	start := max(x.time, j.ready)
	for _, r := range x.running {
		if inUse += r.pes; inUse > room {
			return max(start, r.end)
		}
	}
	return start
}
