// SPDX-License-Identifier: MIT

package plain

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// reservationSearch starts one job after another, no start before the one
// before it and equal starts in the order of their numbers. PEs need no names: in the order of their starts, jobs find
// enough free PEs if they never use more at a time than there are.
//
// It finds a schedule S of the largest weight and, among these, of the least sum of starts. If two jobs are alike
// (twins), the earlier one is accepted in S if the later one is, and starts no later. Let some jobs of S be placed, in
// its order, the last at time last. What they use only gets less from then on, so a job that fits at a time fits later,
// too.
//   - Its next job j starts at its first time from last on at which it is ready
//     and fits beside the placed ones. At an earlier such time it would meet
//     no others before its start in S, and the sum would be less.
//   - No other job i could end before j starts: started at its first time it
//     would meet none, and the weight would be more or the sum less.
//   - No job that is next has a twin before it that is not placed.
type reservationSearch struct {
	*counter
	reservationFigures
	beat   float64 // the value to pass
	best   []int64 // starts, -1 for declined ones; nil while there is none
	start  []int64 // -1 for jobs that are not placed
	first  []int64 // by job, the first time at which it fits; after its latest start it never does
	weight int64   // of the placed jobs and the ones that need no PEs
}

func solveReservation(in *model.Reservation, beat float64, c *counter) (*model.Bookings, error) {
	f, err := readReservation(in)
	if err != nil {
		return nil, err
	}
	n := len(f.jobs)
	s := &reservationSearch{counter: c, reservationFigures: f, weight: f.given, start: make([]int64, n), first: make([]int64, n)}
	for k := range s.start {
		s.start[k] = -1
	}
	s.beat = s.threshold(model.Maximise, beat, s.whole)
	if in.EffectiveGoal() == model.GoalAll {
		s.beat = max(s.beat, float64(len(in.Requests))-0.5)
	}
	s.next(0, -1)
	if s.best == nil {
		return nil, nil
	}
	return s.bookings(s.best), nil
}

// next places the job after the one of the given number, that starts at last.
func (s *reservationSearch) next(last int64, number int) {
	if s.stop() {
		return
	}
	if v := s.value(s.weight); v > s.beat { // all others are declined
		s.best = slices.Clone(s.start)
		s.beat = s.threshold(model.Maximise, v, s.whole)
	}
	ends := int64(math.MaxInt64) // first end of a job that fits
	for k, j := range s.jobs {
		if s.start[k] >= 0 {
			continue
		}
		if s.first[k] = s.fit(j, last); s.first[k] <= j.latest {
			ends = min(ends, s.first[k]+j.runtime)
		}
	}
	if s.value(s.weight+s.room()) <= s.beat {
		return
	}
	first := slices.Clone(s.first)
	for k, j := range s.jobs {
		at := first[k]
		if s.start[k] >= 0 || at > j.latest || at >= ends || at == last && k < number || j.twin >= 0 && s.start[j.twin] < 0 {
			continue
		}
		s.start[k], s.weight = at, s.weight+j.weight
		s.next(at, k)
		s.start[k], s.weight = -1, s.weight-j.weight
	}
}

// fit returns the first time, in ticks, from last on at which a job is ready and
// has its PEs. All placed jobs start at last or before.
func (s *reservationSearch) fit(j reservationJob, last int64) int64 {
	at := max(last, j.ready)
	for {
		used, end := j.pes, int64(math.MaxInt64) // the next end of a job
		for k, x := range s.jobs {
			if e := s.start[k] + x.runtime; s.start[k] >= 0 && e > at {
				used, end = used+x.pes, min(end, e)
			}
		}
		if used <= s.pes {
			return at
		}
		at = end
	}
}

// room returns an upper bound on the weight of the remaining jobs that fit. Take
// an interval from a first start to a last end. The jobs that must run within it
// share its free PE-ticks. The best choice of fractions of jobs is by weight per
// PE-tick (Dantzig 1957).
func (s *reservationSearch) room() int64 {
	least := int64(math.MaxInt64)
	for a, x := range s.jobs {
		for b, y := range s.jobs {
			from, to := s.first[a], y.latest+y.runtime
			if s.start[a] >= 0 || s.start[b] >= 0 || s.first[a] > x.latest || s.first[b] > y.latest || from >= to {
				continue
			}
			left := s.pes * (to - from)
			for k, z := range s.jobs {
				if s.start[k] >= 0 {
					left -= z.pes * max(0, min(to, s.start[k]+z.runtime)-from)
				}
			}
			sum := int64(0)
			for _, k := range s.dense {
				z := s.jobs[k]
				switch area := z.pes * z.runtime; {
				case s.start[k] >= 0 || s.first[k] > z.latest:
				case s.first[k] < from || z.latest+z.runtime > to:
					sum += z.weight
				case area <= left:
					sum, left = sum+z.weight, left-area
				default:
					high, low := bits.Mul64(uint64(z.weight), uint64(left))
					part, _ := bits.Div64(high, low, uint64(area)) // below the weight, since left < area
					sum, left = sum+int64(part), 0
				}
			}
			least = min(least, sum)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}
