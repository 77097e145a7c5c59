// SPDX-License-Identifier: MIT

package reservation

import "math"

// propagate removes jobs that no longer fit or can't be in a completion that
// reaches the target, advances the state to the next possible start, and
// updates its bound. It reports whether the state stays open; false: prune.
//
// Lagrangian bound: a completion is worth at most
//
//	B = value + Σ_j max(0, p_j) + capacityOf(state),
//
// where p_j is the most reduced profit of job j from its first fit on (see relaxation). If B is below the target by
// more than the rounding of sums, nothing follows.
func (s *sweep) propagate(y *state) bool {
	i := s.findCandidates(y)
	next := tick(math.MaxInt64)
	for _, c := range s.candidates {
		next = min(next, c.start)
	}
	if i < len(s.jobs) {
		next = min(next, s.jobs[i].ready)
	}
	if next == math.MaxInt64 {
		return false
	}
	y.time = next
	for len(y.running) > 0 && y.running[len(y.running)-1].end <= next {
		y.running = y.running[:len(y.running)-1]
	}
	s.reduceCapacity(y)
	if s.relax != nil && s.off&lagrangianBound == 0 {
		b := y.value + s.relax.later[i] + s.relax.capacityOf(y)
		for _, c := range s.candidates {
			b += max(0, s.relax.profitFrom(c.job, c.start))
		}
		if y.bound = min(y.bound, b); y.bound < s.target-s.slack {
			return false
		}
	}
	y.rebase(int32(s.firstAlive(y.time) >> 6))
	return true
}

// findCandidates lists the possible jobs that are ready before all running jobs
// have ended, with their first fits, and drops those that no longer fit. Jobs
// from the returned index on are ready later: they fit at their ready times.
func (s *sweep) findCandidates(y *state) int {
	end := y.lastEnd()
	s.candidates = s.candidates[:0]
	i := int(y.base) << 6
	for ; i < len(s.jobs) && s.jobs[i].ready < end; i++ {
		if !y.may(i) {
			continue
		}
		j := &s.jobs[i]
		start := s.firstFit(y, j)
		if start > j.latest {
			y.drop(i)
		} else {
			s.candidates = append(s.candidates, candidate{i, start})
		}
	}
	return i
}
