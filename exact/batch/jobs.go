// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// jobs holds the jobs of an instance with one tier, in whole units of time and of weight.
type jobs struct {
	in         *model.Batch
	t          *view.Batch
	processors int64
	units      batchbounds.Units
	first      int64 // submission, in ticks; releases count from it
	release    []int64
	length     []int64
	width      []int64
	weight     []int64
}

// newJobs returns the instance's jobs. The error is model.ErrUnsupported for two
// tiers. Sums are right if units.Fit says so.
func newJobs(ctx context.Context, in *model.Batch) (*jobs, error) {
	if in.Tiers != 1 {
		return nil, fmt.Errorf("%w: it proves optima on one tier alone, the instance has %d; take auto or a scheduler", model.ErrUnsupported, in.Tiers)
	}
	t := view.Shared(ctx, in, view.OfBatch)
	n := len(t.Jobs)
	j := &jobs{in: in, t: t, processors: int64(t.Processors), release: make([]int64, n), length: make([]int64, n), width: make([]int64, n), weight: make([]int64, n), units: batchbounds.UnitsOf(t)}
	for k := range t.Jobs {
		x := &t.Jobs[k]
		j.first = t.Jobs[0].Submit
		j.release[k], j.length[k] = (x.Submit-j.first)/j.units.Time, x.Length/j.units.Time
		j.width[k], j.weight[k] = int64(x.Processes), x.Weight/j.units.Weight
	}
	return j, nil
}

// ticks returns starts in ticks.
func (j *jobs) ticks(starts []int64) []int64 {
	all := make([]int64, len(starts))
	for k, s := range starts {
		all[k] = j.first + s*j.units.Time
	}
	return all
}

// mean returns the objective for a weighted sum of responses in units.
func (j *jobs) mean(sum int64) float64 { return j.units.Mean(j.t, sum) }

// total returns the mean in seconds as an approximate weighted sum in units.
func (j *jobs) total(mean float64) float64 {
	weights := 0.0
	for _, w := range j.weight {
		weights += float64(w)
	}
	return mean * weights * 1e6 / float64(j.units.Time)
}

// sum returns the least weighted sum of responses, in units, with a mean in seconds of at least mean. If mean is an
// objective, the sum is the one behind it, unless another sum has the same mean within the precision of a float64.
func (j *jobs) sum(mean float64) int64 {
	low := int64(j.total(mean)*(1-0x1p-48)) - 1
	for j.mean(low) < mean {
		low++
	}
	return low
}

// serial returns the starts and the weighted sum of responses of batchbounds.Serial,
// in units.
func (j *jobs) serial(order []int) (starts []int64, sum int64) {
	starts = batchbounds.Serial(j.t, order)
	sum = j.units.Sum(j.t, starts)
	for k := range starts {
		starts[k] = (starts[k] - j.first) / j.units.Time
	}
	return starts, sum
}
