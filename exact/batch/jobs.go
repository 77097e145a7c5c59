package batch

import (
	"fmt"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/internal/units"
	"github.com/gapwise/gapwise/model"
)

// jobs are those of an instance with one tier, in whole units of time: the greatest
// common divisor of all lengths and of the times between submissions.
type jobs struct {
	in         *model.Batch
	t          *model.BatchTicks
	processors int64
	unit       int64 // ticks
	first      int64 // submission, in ticks; releases count from it
	release    []int64
	length     []int64
	width      []int64
}

// newJobs returns the instance's jobs. The error is model.ErrUnsupported for two
// tiers.
func newJobs(in *model.Batch) (*jobs, error) {
	if in.Tiers != 1 {
		return nil, fmt.Errorf("%w: it proves optima on one tier alone, the instance has %d; take auto or a scheduler", model.ErrUnsupported, in.Tiers)
	}
	t := in.Ticks()
	n := len(t.Jobs)
	j := &jobs{in: in, t: t, processors: int64(t.Processors), release: make([]int64, n), length: make([]int64, n), width: make([]int64, n)}
	for k := range t.Jobs {
		x := &t.Jobs[k]
		j.release[k], j.length[k], j.width[k] = x.Submit-t.Jobs[0].Submit, x.Length, int64(x.Processes)
		j.unit = units.GCD(units.GCD(j.unit, j.length[k]), j.release[k])
	}
	if n > 0 {
		j.first = t.Jobs[0].Submit
	} else {
		j.unit = 1
	}
	for k := range t.Jobs {
		j.release[k] /= j.unit
		j.length[k] /= j.unit
	}
	return j, nil
}

// ticks returns starts in ticks.
func (j *jobs) ticks(starts []int64) []int64 {
	all := make([]int64, len(starts))
	for k, s := range starts {
		all[k] = j.first + s*j.unit
	}
	return all
}

// mean returns the mean response time in seconds for a sum of responses. It is
// rounded as the objective is.
func (j *jobs) mean(sum int64) float64 {
	if len(j.release) == 0 {
		return 0
	}
	return new(model.BatchTicks).Seconds(sum*j.unit) / float64(len(j.release))
}

// sum returns the least sum of responses, in units, whose mean in seconds is as much or
// more: that of a mean that is an objective, unless another sum has the same mean, as
// far as a float64 can tell.
func (j *jobs) sum(mean float64) int64 {
	low := int64(mean*float64(len(j.release))*1e6/float64(j.unit)*(1-0x1p-48)) - 1
	for j.mean(low) < mean {
		low++
	}
	return low
}

// serial returns the starts and the sum of responses of batchbounds.Serial, in units.
func (j *jobs) serial(order []int) (starts []int64, sum int64) {
	starts, sum = batchbounds.Serial(j.t, order)
	for k := range starts {
		starts[k] = (starts[k] - j.first) / j.unit
	}
	return starts, sum / j.unit
}
