// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// workloadJob is a job as a workload model draws it, in real numbers.
type workloadJob struct {
	submit, runtime float64 // in seconds
	size            int
}

// workload draws the jobs of the model, by submission.
func (s BatchSpec) workload() ([]workloadJob, error) {
	switch s.Model {
	case modelJann:
		return s.jann97()
	case modelLublin:
		return s.lublin(), nil
	}
	return s.feitelson96()
}

// lublin draws the jobs of the Lublin-Feitelson model with the parameters for one
// stream of jobs, column T of the authors' program, by its rules for other
// machines.
func (s BatchSpec) lublin() []workloadJob {
	arrivals := newLublinArrivals(lublinColumnT, stream(s.Seed, uint64(s.Index), streamArrivals))
	all := make([]workloadJob, s.Jobs)
	for k := range all {
		rng := stream(s.Seed, uint64(s.Index), uint64(k))
		size := lublinTasks(rng, s.Processors)
		all[k] = workloadJob{arrivals.Next(), lublinRuntime(lublinColumnT, size, rng), size}
	}
	return all
}

// runtimeRatio returns the ratio that gives runtimes the mean asked for, after they
// are rounded and cut at longest; 1 if none is asked for. By bisection: the mean
// grows with the ratio. The mean is reached up to rounding.
func (s BatchSpec) runtimeRatio(jobs []workloadJob, longest float64) float64 {
	if s.MeanRuntime == 0 {
		return 1
	}
	mean := func(ratio float64) float64 {
		sum := 0.0
		for _, j := range jobs {
			sum += wholeRuntime(ratio*j.runtime, longest)
		}
		return sum / float64(len(jobs))
	}
	return increasing(mean, s.MeanRuntime)
}

// increasing returns an x > 0 at which a function that doesn't decrease reaches a
// value, by bisection.
func increasing(f func(float64) float64, value float64) float64 {
	low, high := 1.0, 1.0
	for f(low) > value && low > 1e-12 {
		low /= 2
	}
	for f(high) < value && high < 1e12 {
		high *= 2
	}
	for range 60 {
		if x := math.Sqrt(low * high); f(x) < value {
			low = x
		} else {
			high = x
		}
	}
	return high
}

// tilt changes the weights of sizes, with the first one 1, so that their distribution has the share of single-process
// jobs Serial and the mean MeanSize. It keeps the model's value of each that is 0. It multiplies the weights of all
// sizes n but the first by n^t, and then by one factor. For F96-R this changes the order of the harmonic distribution
// and nothing else.
func (s BatchSpec) tilt(weights, sizes []float64) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w batch specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	serial := shares(weights)[0]
	if s.Serial != 0 {
		serial = s.Serial
	}
	if s.MeanSize != 0 {
		if len(sizes) < 2 {
			return bad("mean_size is %v, there is one size; give more processors", s.MeanSize)
		}
		mean, least, most := (s.MeanSize-serial)/(1-serial), slices.Min(sizes[1:]), slices.Max(sizes)
		if !(mean > least && mean < most) {
			return bad("mean_size is %v with a share of %.4g single-process jobs: the others would have %.4g processes on average, must be above %g and below %g",
				s.MeanSize, serial, mean, least, most)
		}
		tilted := func(t float64) []float64 {
			all := make([]float64, len(weights)-1)
			for k := range all {
				all[k] = weights[k+1] * math.Pow(sizes[k+1]/most, math.Log(t))
			}
			return all
		}
		copy(weights[1:], tilted(increasing(func(t float64) float64 {
			sum := 0.0
			for k, share := range shares(tilted(t)) {
				sum += share * sizes[k+1]
			}
			return sum
		}, mean)))
	}
	if len(weights) > 1 {
		rest := 0.0
		for _, w := range weights[1:] {
			rest += w
		}
		weights[0] = rest * serial / (1 - serial)
	}
	return nil
}

// shares returns weights divided by their sum.
func shares(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	all := make([]float64, len(weights))
	for k, w := range weights {
		all[k] = w / sum
	}
	return all
}

// cumulative returns the sums of the first weights.
func cumulative(weights []float64) []float64 {
	all, sum := make([]float64, len(weights)), 0.0
	for k, w := range weights {
		sum += w
		all[k] = sum
	}
	return all
}

// place returns the index that a uniform random number u means in cumulative
// weights. O(log n).
func place(cumulative []float64, u float64) int {
	k, _ := slices.BinarySearch(cumulative, u*cumulative[len(cumulative)-1])
	return min(k, len(cumulative)-1)
}
