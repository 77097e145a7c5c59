package reservation

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the
// default first.
var Formulations = []string{"auto", "time-indexed", "events"}

// Build builds a formulation by name:
//
//   - time-indexed: a binary for each job and start; see reservationTimes;
//   - events: continuous starts, binaries for pairs of jobs; see reservationEvents;
//   - auto: time-indexed up to autoPoints possible starts, then events, and
//     time-indexed again for what has too many pairs.
//
// HiGHS 1.10 took these seconds on one thread, two or three instances each (+:
// it was stopped then), on 64 PEs, sizes of 1 to 64 and windows up to three durations.
// Few durations are 1, 5, 15, 30, 60 or 180 ticks, many are 1 to 10,000. Crowded is ten times
// the work that the PEs can do while requests get ready, of which 75 to 80 % could be
// accepted at 30 requests and more, and else it is twice, with 85 to 90 %. Variables are
// those of time-indexed.
//
//	requests             variables         time-indexed        events
//	20 few, crowded      400 to 500        0.0, 0.1, 0.2       0.1, 0.6, 0.8
//	40 few, crowded      1,600 to 2,900    0.6, 0.7, 1.0       2.4, 3.9, 9.9
//	60 few, crowded      2,600 to 3,000    1.7, 1.9, 4.2       13, 15+, 26+
//	20 many, crowded     900 to 4,900      0.2, 0.4, 0.5       5.3, 7+, 11+
//	30 many, crowded     6,600 to 13,700   0.7, 8+, 36+        9+, 16+, 35+
//	40 many, crowded     13,100 to 62,800  3.1, 25+, 29+       21+, 25+, 33+
//	30 many              11,400, 23,600    10+, 10+            3.3, 4.7
//	40 many              39,300, 46,100    10+, 10+            0.7, 10+
//
// So possible starts win for as long as there are few; beyond some 10,000 pairs
// win where windows leave few of them, and else neither ends.
//
// Each maximises the accepted weight; with the goal "all" every job is accepted
// and there is nothing to maximise. Its Scheme is what "auto" chose.
//
// Solutions are start times in ticks, by job, negative for declined. Decode takes
// them from the point's binary decisions and checks them in whole ticks; where they break
// a window or a capacity, and to move all to the left, jobs are placed anew, each as
// early as those that start before it allow. With the goal "all" a job that has no
// place then is model.ErrInfeasible. Encode moves the starts to the left in the same way;
// it is nil if they aren't a solution.
//
// What is too large is model.ErrUnsupported.
func Build(t *Ticks, name string) (*milp.Formulation[[]int64], error) {
	if name == "" {
		name = Formulations[0]
	}
	if !slices.Contains(Formulations, name) {
		return nil, fmt.Errorf("%w formulation: %q is unknown, give one of %q", model.ErrInvalid, name, Formulations)
	}
	if name == "auto" {
		if points, ok := startPoints(t, autoPoints); ok {
			return &reservationTimes(t, points).Formulation, nil
		}
	}
	size := reservationPairTerms(t)
	if name == "events" || name == "auto" && size <= MaxReservationTerms {
		if len(t.Jobs) > maxPairJobs {
			return nil, fmt.Errorf("formulation events: %w: there are %d jobs, it takes at most %d; the native search takes more",
				model.ErrUnsupported, len(t.Jobs), maxPairJobs)
		}
		if size > MaxReservationTerms {
			return nil, fmt.Errorf("formulation events: %w: it would have some %d terms, at most %d are built; the native search needs none",
				model.ErrUnsupported, size, MaxReservationTerms)
		}
		f, err := reservationEvents(t)
		if name == "events" || err == nil {
			return f, err
		}
	}
	points, ok := startPoints(t, MaxReservationPoints)
	if !ok {
		return nil, fmt.Errorf("formulation %s: %w: jobs have more than %d possible starts; the native search needs none",
			name, model.ErrUnsupported, MaxReservationPoints)
	}
	return &reservationTimes(t, points).Formulation, nil
}

// MaxReservationPoints bounds the possible starts of the formulation
// "time-indexed" (of 86,000 HiGHS didn't end the root relaxation in 20 s), MaxReservationTerms the coefficients of "events".
const (
	MaxReservationPoints = 100_000
	MaxReservationTerms  = 5_000_000
)

// autoPoints is how many possible starts "auto" takes for "time-indexed".
const autoPoints = 10_000

// weighted is a formulation with the weights of its jobs.
type weighted struct {
	milp.Formulation[[]int64]
	unit    float64   // the accepted weight is unit times the objective
	weights []float64 // by job, in units
}

// newWeighted returns a formulation without variables.
func newWeighted(t *Ticks, scheme string) *weighted {
	f := &weighted{unit: 1, weights: make([]float64, len(t.Jobs))}
	f.Scheme, f.Maximise, f.Whole = scheme, true, true
	f.weigh(t)
	total := 0.0
	for _, w := range f.weights {
		total += w
	}
	f.Limit, f.Sensitivity = total, total // each acceptance may be off by the tolerance
	switch t.Goal {
	case model.GoalAll:
		all := total*f.unit + t.FreeWeight
		f.Limit, f.Value = 0, func(float64) float64 { return all }
	case model.GoalPESeconds: // with room for the rounding of weights
		f.Value = func(objective float64) float64 { return (objective*f.unit + t.FreeWeight) * (1 + 1e-12) }
	default:
		f.Value = func(objective float64) float64 { return objective*f.unit + t.FreeWeight }
	}
	return f
}

// weigh sets the unit and the weights.
func (f *weighted) weigh(t *Ticks) {
	if t.Goal != model.GoalPESeconds {
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
			f.weights[j] = float64(int64(x.PEs) * x.Reserved / common)
		}
	}
}

// maxWeight is the largest weight that is kept whole: the sum of many has to
// be exact to a unit at HiGHS's tolerances.
const maxWeight = 1e6

// checkPoint tells a point of the wrong length.
func (f *weighted) checkPoint(x []float64) error {
	if len(x) != len(f.Vars) {
		return fmt.Errorf("%s: %w point: it has %d values, the model has %d variables", f.Scheme, model.ErrInvalid, len(x), len(f.Vars))
	}
	return nil
}

// settle makes a solution of decoded starts, moved to the left: they are placed
// anew where they aren't one.
func settle(t *Ticks, starts []int64) ([]int64, error) {
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
