// SPDX-License-Identifier: MIT

package runs

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/model"
)

// Batches is the number of batches of the method of batch means.
const Batches = 20

// fewestSamples is the least number of values for BatchMeans: batches of 50.
const fewestSamples = 1000

// BatchMeans returns the half-width of the 95 % confidence interval of the mean of values that depend on their
// neighbours, such as the response times of jobs in the order of submission. The values are cut into Batches batches of
// equal length, up to one. The interval is the one of the batches' means by Student's t, as if these were independent.
// No batch is dropped: the interval belongs to the mean of all values. It is NaN for fewer than 1,000 values. Law,
// Kelton: Simulation Modeling and Analysis, section 9.5.3.
func BatchMeans(values []float64) float64 {
	n := len(values)
	if n < fewestSamples {
		return math.NaN()
	}
	means := make([]float64, Batches)
	for b := range means {
		means[b] = stat.Mean(values[b*n/Batches:(b+1)*n/Batches], nil)
	}
	_, half := Interval(means)
	return half
}

// Halves returns the half-widths of the 95 % confidence intervals of both objectives of a solution by BatchMeans, if
// these are the mean response time and the mean bounded slowdown. They are NaN otherwise, and so is the first if the
// weights of jobs differ.
func Halves(in model.Instance, s model.Solution) (first, second float64, err error) {
	teller, ok := in.(model.OutcomeTeller)
	if !ok || in.Metrics()[0].Key != "response" {
		return math.NaN(), math.NaN(), nil
	}
	var responses, slowdowns []float64
	if b, ok := in.(*model.Batch); ok {
		responses, slowdowns, err = ofJobs(b, s)
	} else {
		var all []model.Outcome
		all, err = teller.Outcomes(s)
		for i := range all {
			if all[i].Ran {
				responses, slowdowns = append(responses, all[i].Response()), append(slowdowns, all[i].Slowdown())
			}
		}
	}
	if err != nil {
		return 0, 0, err
	}
	first, second = BatchMeans(responses), BatchMeans(slowdowns)
	if b, ok := in.(*model.Batch); ok && b.Weighted() {
		first = math.NaN()
	}
	return first, second, nil
}

// ofJobs returns the responses and slowdowns of all jobs, as in their outcomes, which take ten times the memory.
func ofJobs(b *model.Batch, s model.Solution) (responses, slowdowns []float64, err error) {
	e, ok := s.(*model.Execution)
	if !ok {
		_, err := b.Outcomes(s)
		return nil, nil, err
	}
	index, err := b.Index(e)
	responses, slowdowns = make([]float64, len(b.Jobs)), make([]float64, len(b.Jobs))
	for i, k := range index {
		segments := e.Runs[i].Segments
		o := model.Outcome{SubmitS: b.Jobs[k].SubmitS, WorkS: b.Work(k), EndS: segments[len(segments)-1].EndS}
		responses[k], slowdowns[k] = o.Response(), o.Slowdown()
	}
	return responses, slowdowns, err
}
