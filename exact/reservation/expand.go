package reservation

import (
	"container/heap"
	"math"
)

// expand makes the children of a state. Let T be the least start + length of the jobs that may be
// started, and i the job of it. A child that starts at T or later is left out (Giffler and Thompson 1960): nothing
// starts before it, so in any plan that follows i is declined or later, and may be moved to end by T, where
// it fits; the value is no less, and the plan follows the child that starts i. Of two
// jobs q and j of equal PEs, length and weight that can start at one moment with latest(q) ≤ latest(j), j first is left
// out: if q is declined it can take j's place, and if it starts later, at s ≤ latest(q) ≤ latest(j), they
// can change places.
func (s *sweep) expand(x *sweepState) {
	s.chosen = s.chosen[:0]
	until := int64(math.MaxInt64)
	for i := int(x.base) << 6; i < len(s.jobs) && s.jobs[i].ready < until; i++ {
		if !x.can(x.usable, i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(x, j.pes, max(x.time, j.ready))
		if start > j.latest {
			continue
		}
		if s.off&sweepGapRule == 0 {
			until = min(until, start+j.length)
		}
		if x.can(x.wanted, i) {
			s.chosen = append(s.chosen, sweepChild{i, start})
		}
	}
next:
	for c, k := range s.chosen {
		if k.start >= until {
			continue
		}
		j := &s.jobs[k.job]
		for d, o := range s.chosen {
			q := &s.jobs[o.job]
			if s.off&sweepTwinsRule == 0 && o.start == k.start && q.pes == j.pes && q.length == j.length && q.weight == j.weight &&
				(q.latest < j.latest || q.latest == j.latest && d < c) {
				continue next
			}
		}
		s.start(x, k)
	}
}

// start makes the child that starts a job.
func (s *sweep) start(x *sweepState, c sweepChild) {
	j := &s.jobs[c.job]
	y := &s.child
	y.time, y.value, y.bound, y.at, y.base = c.start, x.value+j.weight, x.bound, x.at, x.base
	y.runs = y.runs[:0]
	end, put := c.start+j.length, false
	for _, r := range x.runs {
		if r.end <= c.start {
			break
		}
		if !put && r.end <= end {
			put = true
			if r.end == end {
				y.runs = append(y.runs, sweepRun{end, j.pes + r.pes})
				continue
			}
			y.runs = append(y.runs, sweepRun{end, j.pes})
		}
		y.runs = append(y.runs, r)
	}
	if !put {
		y.runs = append(y.runs, sweepRun{end, j.pes})
	}
	y.usable, y.wanted = append(y.usable[:0], x.usable...), append(y.wanted[:0], x.wanted...)
	y.drop(y.usable, c.job)
	y.drop(y.wanted, c.job)
	if base := int32(s.firstAlive(y.time) >> 6); base > y.base {
		y.rebase(base)
	}
	live := s.settle(y)
	better := y.value > s.best
	if !better && !live {
		return
	}
	s.trace = append(s.trace, sweepStart{x.at, int32(c.job), c.start})
	y.at = int32(len(s.trace) - 1)
	if better {
		s.best, s.bestAt = y.value, y.at
		s.target = max(s.target, s.best+s.step)
	}
	if live {
		s.seq++
		z := s.fresh()
		y.copyTo(z)
		z.seq = s.seq
		heap.Push(&s.open, z)
	}
}

// settle finds what can't be started any more, or only in plans worth less than
// those looked for, the time at which the next job may start, and the bound. It reports
// whether anything may follow.
//
// A plan that follows is worth at most value + Σ max(0, gain) + what the owner of the PEs earns from the state's
// time on (see prices), where a job gains from its first fit on at most. If that is below the target
// less what sums may be rounded by, nothing follows. A plan that starts job k has gain_k in place of max(0, gain_k):
// if bound + min(0, gain_k) is below it, no plan looked for starts k. It stays usable, as another state
// must be able to do all that this one can to dominate it.
func (s *sweep) settle(y *sweepState) bool {
	y.epoch = s.epoch
	horizon := y.time
	if len(y.runs) > 0 {
		horizon = y.runs[0].end
	}
	s.near = s.near[:0]
	i := int(y.base) << 6
	for ; i < len(s.jobs) && s.jobs[i].ready < horizon; i++ {
		if !y.can(y.usable, i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(y, j.pes, max(y.time, j.ready))
		if start > j.latest {
			y.drop(y.usable, i)
			y.drop(y.wanted, i)
		} else if y.can(y.wanted, i) {
			s.near = append(s.near, sweepChild{i, start})
		}
	}
	for again := true; again; {
		again = false
		next := int64(math.MaxInt64)
		for _, c := range s.near {
			next = min(next, c.start)
		}
		if i < len(s.jobs) {
			next = min(next, s.jobs[i].ready)
		}
		if next == math.MaxInt64 {
			return false
		}
		y.time = next
		for len(y.runs) > 0 && y.runs[len(y.runs)-1].end <= next {
			y.runs = y.runs[:len(y.runs)-1]
		}
		s.round(y)
		for _, p := range s.prices {
			b := y.value + p.later[i] + p.beside(y)
			low := false
			s.gains = s.gains[:0]
			for _, c := range s.near {
				g := p.gainFrom(c.job, c.start)
				s.gains = append(s.gains, g)
				low = low || g < 0
				b += max(0, g)
			}
			if s.off&sweepPricesRule != 0 {
				continue
			}
			if y.bound = min(y.bound, b); y.bound < s.target-s.slack {
				return false
			}
			if !low || s.off&sweepWantedRule != 0 {
				continue
			}
			// Who starts these falls short.
			w := 0
			for k, c := range s.near {
				if b+min(0, s.gains[k]) < s.target-s.slack {
					y.drop(y.wanted, c.job)
					again = true
					continue
				}
				s.near[w] = c
				w++
			}
			s.near = s.near[:w]
		}
	}
	if base := int32(s.firstAlive(y.time) >> 6); base > y.base {
		y.rebase(base)
	}
	return true
}
