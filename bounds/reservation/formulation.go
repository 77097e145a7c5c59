// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/objective"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
//
// A second one, "events" (continuous starts, a binary for each pair of jobs that says that one ends before the other
// starts), was measured and removed. On the 50 instances of the plan reservation-exact with up to 40 requests, HiGHS on
// one thread proved 46 in 10 s by time-indexed. It proved 36 by events, including one that time-indexed didn't prove;
// 12 weren't possible, since their times differ too much for HiGHS's tolerances. For durations with many values (1 to
// 10,000 ticks, 20 to 40 requests) events proved 4 of 18 instances and time-indexed 2. The native search proved 17 of
// these, each of the four in less than 0.6 s.
var Formulations = []string{"time-indexed"}

// Build builds a formulation by its name, "" for the default:
//
//   - time-indexed: a binary for each job and start (Pritsker, Watters, Wolfe 1969);
//     see buildTimeIndexed
//
// It maximises the accepted weight; with the goal "all" every job is accepted and
// there is nothing to maximise.
//
// Solutions are start times in ticks, by job, negative for declined. Decode takes them from the point's binary
// decisions and checks them in whole ticks. If they break a window or a capacity, and to move all to the left, it
// places jobs again, each as early as the jobs that start before it allow. With the goal "all" a job that then has no
// place is model.ErrInfeasible. Encode moves the starts to the left in the same way; it returns nil if they aren't a
// solution.
//
// The error is model.ErrInvalid for an unknown name, and model.ErrUnsupported for
// more than maxPoints possible starts.
func Build(t *view.Reservation, name string) (*milp.Formulation[[]int64], error) {
	if name != "" && !slices.Contains(Formulations, name) {
		return nil, fmt.Errorf("%w formulation: %q is unknown, give one of %q", model.ErrInvalid, name, Formulations)
	}
	points, ok := startPoints(t, maxPoints)
	if !ok {
		return nil, fmt.Errorf("formulation time-indexed: %w: jobs have more than %d possible starts; the native search needs none",
			model.ErrUnsupported, maxPoints)
	}
	return &buildTimeIndexed(t, points).Formulation, nil
}

// maxPoints is the largest number of possible starts that Build takes. With 86,000, HiGHS didn't end the root
// relaxation in 20 s.
const maxPoints = 100_000

// weighted is a formulation with the weights of its jobs.
type weighted struct {
	milp.Formulation[[]int64]
	unit    float64   // the accepted weight is unit times the objective
	weights []float64 // by job, in units
}

// newWeighted returns a formulation without variables.
func newWeighted(t *view.Reservation, scheme string) *weighted {
	f := &weighted{unit: 1, weights: make([]float64, len(t.Jobs))}
	f.Scheme, f.Maximise, f.Whole = scheme, true, true
	f.weigh(t)
	total := 0.0
	for _, w := range f.weights {
		total += w
	}
	f.Limit = total
	f.Scale = &objective.Scale{Factor: f.unit, Constant: t.FreeWeight}
	if t.Goal == model.GoalAll {
		f.Limit, f.Scale = 0, &objective.Scale{Constant: f.Scale.Value(total)}
	}
	f.Value = f.Scale.Value
	switch t.Goal {
	case model.GoalPESeconds, model.GoalReservedPESeconds: // with room for the rounding of weights
		f.Value = func(objective float64) float64 { return f.Scale.Value(objective) * (1 + 1e-12) }
	}
	return f
}

// weigh sets the unit and the weights. PE-seconds are whole multiples of the jobs'
// common unit if there is one (WeightUnit rounds nothing); then each solution's
// objective is a whole number, and bounds on it may be rounded down.
func (f *weighted) weigh(t *view.Reservation) {
	if !t.Goal.PESeconds() {
		for j := range f.weights {
			f.weights[j] = 1
		}
		return
	}
	most := 0.0
	for j := range t.Jobs {
		most = max(most, t.Jobs[j].Weight)
	}
	if most == 0 {
		return // without jobs
	}
	common := t.WeightUnit()
	if common > 0 {
		f.unit = float64(common) / t.PerSecond()
	}
	f.Whole = common > 0 && most/f.unit <= maxWeight
	if !f.Whole {
		f.unit = most / 1000 // HiGHS's tolerances are for figures around this size
	}
	for j := range t.Jobs {
		x := &t.Jobs[j]
		if f.weights[j] = x.Weight / f.unit; f.Whole {
			f.weights[j] = float64(int64(x.PEs) * x.Counted / common)
		}
	}
}

// maxWeight is the largest weight, in units, that is kept whole: sums of many must be
// exact to a unit at HiGHS's tolerances.
const maxWeight = 1e6

// checkPoint returns an ErrInvalid for a point of the wrong length.
func (f *weighted) checkPoint(x []float64) error {
	if len(x) != len(f.Vars) {
		return fmt.Errorf("%s: %w point: it has %d values, the model has %d variables", f.Scheme, model.ErrInvalid, len(x), len(f.Vars))
	}
	return nil
}

// repair makes a solution of decoded starts, by job: it moves them to the left, and places jobs again if the starts
// aren't a solution. With the goal "all" the error is model.ErrInfeasible if that declines a job; it says what was
// wrong first.
func repair(t *view.Reservation, starts []int64) ([]int64, error) {
	wrong := t.Check(starts)
	starts = t.ShiftLeft(starts)
	if err := t.Check(starts); err != nil {
		if wrong != nil {
			err = wrong
		}
		return nil, err
	}
	return starts, nil
}
