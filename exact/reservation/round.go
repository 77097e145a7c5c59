package reservation

import "math/bits"

// round finds the PEs that are of no use to the jobs that may follow, from the
// state's time to the last end, besides those in use: those above the largest sum of PEs, of jobs
// that may run then, that is free. Like those in use they only become fewer.
//
// While F PEs are free, the jobs that start later and run use PEs that are a sum of theirs, so at most the
// largest subset sum S ≤ F; F - S are idle in every plan that follows. Between two ends of runs the sums
// are of those jobs that can run then, first fit < end and latest + length > beginning; the maximum with what was found
// before keeps the PEs in use from rising again.
func (s *sweep) round(y *sweepState) {
	n := len(y.runs)
	y.lost = append(y.lost[:0], y.runs...)
	if n == 0 || s.off&sweepRoundRule != 0 {
		return
	}
	busy := int64(0)
	for _, r := range y.runs {
		busy += r.pes
	}
	from, used := y.time, int64(0)
	for k := n - 1; k >= 0; k-- {
		end := y.runs[k].end
		free := s.pes - busy
		clear(s.sums)
		s.sums[0] = 1
		for _, c := range s.near {
			j := &s.jobs[c.job]
			if c.start < end && j.latest+j.length > from && j.pes <= free {
				orShift(s.sums, int(j.pes))
			}
		}
		use := max(used, top(s.sums, int(free)))
		if k < n-1 {
			y.lost[k+1].pes = use - used
		}
		busy -= y.runs[k].pes
		from, used = end, use
	}
	y.lost[0].pes = s.pes - used
	w := 0
	for _, r := range y.lost {
		if r.pes > 0 {
			y.lost[w] = r
			w++
		}
	}
	y.lost = y.lost[:w]
}

// orShift adds, to the sums in a set, those with x more.
func orShift(set []uint64, x int) {
	w, b := x>>6, uint(x&63)
	for k := len(set) - 1; k >= w; k-- {
		v := set[k-w] << b
		if b > 0 && k-w > 0 {
			v |= set[k-w-1] >> (64 - b)
		}
		set[k] |= v
	}
}

// top is the largest number up to x in a set that has 0.
func top(set []uint64, x int) int64 {
	w := x >> 6
	v := set[w] & (^uint64(0) >> (63 - x&63))
	for v == 0 {
		w--
		v = set[w]
	}
	return int64(w<<6 + 63 - bits.LeadingZeros64(v))
}
