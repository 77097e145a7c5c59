// SPDX-License-Identifier: MIT

package reservation

// placement is a job started, after another placement of the trace; -1: none.
type placement struct {
	before, job int32
	start       tick
}

// plan yields the job and the start of each placement of the best plan.
func (s *sweep) plan(yield func(j *job, start tick) bool) {
	for at := s.bestAt; at >= 0; at = s.trace[at].before {
		if x := s.trace[at]; !yield(&s.jobs[x.job], x.start) {
			return
		}
	}
}

// shorten removes the placements that lead to no open state and not to the best
// plan.
func (s *sweep) shorten() {
	const gone, kept = -2, -1
	number := make([]int32, len(s.trace))
	for k := range number {
		number[k] = gone
	}
	mark := func(at int32) {
		for ; at >= 0 && number[at] == gone; at = s.trace[at].before {
			number[at] = kept
		}
	}
	mark(s.bestAt)
	for _, x := range s.open.Items {
		mark(x.at)
	}
	n := int32(0)
	for k, x := range s.trace {
		if number[k] == gone {
			continue
		}
		if x.before >= 0 {
			x.before = number[x.before] // before k, so it has its number
		}
		s.trace[n], number[k] = x, n
		n++
	}
	s.trace = s.trace[:n]
	if s.bestAt >= 0 {
		s.bestAt = number[s.bestAt]
	}
	for _, x := range s.open.Items {
		if x.at >= 0 {
			x.at = number[x.at]
		}
	}
	s.mostTrace = max(s.mostTrace, 2*int(n))
}
