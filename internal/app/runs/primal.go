// SPDX-License-Identifier: MIT

package runs

import "math"

// PrimalGap is Berthold's (Measuring the impact of primal heuristics, 2013): 0 for an
// optimal solution, at most 1; 1 without a solution, or of another sign than the best.
func PrimalGap(objective, best float64) float64 {
	switch {
	case math.IsNaN(objective):
		return 1
	case objective == best:
		return 0
	case objective*best < 0:
		return 1
	}
	return math.Abs(best-objective) / max(math.Abs(best), math.Abs(objective))
}

// Moments returns the run's trajectory; without one, its end.
func (r *Record) Moments() []Moment {
	if len(r.Trajectory) > 0 {
		return r.Trajectory
	}
	return []Moment{{S: r.ElapsedS, Objective: Number(r.Objective), Bound: Number(r.Bound)}}
}

// PrimalGapAt returns the primal gap of the run at a time in seconds, to the best solution
// known.
func (r *Record) PrimalGapAt(s, best float64) float64 {
	objective := math.NaN()
	for _, m := range r.Moments() {
		if m.S > s {
			break
		}
		objective = m.Objective
	}
	return PrimalGap(objective, best)
}

// PrimalIntegral is the integral of the primal gap from 0 to an end, in seconds
// (Berthold 2013). It may be compared between runs up to the same end.
func (r *Record) PrimalIntegral(end, best float64) float64 {
	sum, since, gap := 0.0, 0.0, 1.0
	for _, m := range r.Moments() {
		at := min(m.S, end)
		sum += gap * (at - since)
		since, gap = at, PrimalGap(m.Objective, best)
	}
	return sum + gap*(end-since)
}

// primalIntegral is that up to the end of the longest run on the instance; NaN where
// nothing has a solution.
func (r Run) primalIntegral() float64 {
	if math.IsNaN(r.Known.Best) {
		return math.NaN()
	}
	return r.PrimalIntegral(r.Known.longest, r.Known.Best)
}
