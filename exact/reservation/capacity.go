// SPDX-License-Identifier: MIT

package reservation

// reduceCapacity sets the state's blocked PEs. These are the PEs in use and, until the last of them comes free, the PEs
// that no possible jobs can use together (subset-sum capacity reduction). Boschetti and Mingozzi (2003) reduce the bin
// of a packing problem in this way.
//
// While F PEs are free, the jobs that start later and run then use a sum of their PEs. That is at most the largest
// subset sum S ≤ F of the jobs that may run then. So F - S PEs are idle in every completion that only starts possible
// jobs. Between two ends of running jobs these are the jobs with first fit < end and latest + length > beginning.
// Replacing S by the largest so far keeps blocked PEs from rising again, and only weakens the reduction.
func (s *sweep) reduceCapacity(y *state) {
	n := len(y.running)
	y.blocked = append(y.blocked[:0], y.running...)
	if n == 0 || s.off&capacityReduction != 0 {
		return
	}
	inUse := 0
	for _, r := range y.running {
		inUse += r.pes
	}
	from, usable := y.time, 0
	for k := n - 1; k >= 0; k-- {
		end := y.running[k].end
		free := s.pes - inUse
		clear(s.sums)
		s.sums.Add(0, 0)
		for _, c := range s.candidates {
			if j := &s.jobs[c.job]; c.start < end && j.due() > from && j.pes <= free {
				s.sums.OrShift(j.pes)
			}
		}
		most := max(usable, s.sums.AtMost(free))
		if k < n-1 {
			y.blocked[k+1].pes = most - usable
		}
		inUse -= y.running[k].pes
		from, usable = end, most
	}
	y.blocked[0].pes = s.pes - usable
	w := 0
	for _, b := range y.blocked {
		if b.pes > 0 {
			y.blocked[w] = b
			w++
		}
	}
	y.blocked = y.blocked[:w]
}
