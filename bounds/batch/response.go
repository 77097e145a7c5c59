// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/squashed"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// response returns bounds of the weighted mean response time from below:
//
//   - runtime: the mean of the least times that the jobs take.
//   - srpt, mean-busy-time: of one machine as fast as all processors together, see package squashed. On two tiers they
//     are the bounds for the machine's CPU time. srpt is left out if the weights differ: its order is the best for
//     equal ones alone. Mean busy times go by weight over work.
//   - squashed: the best of these in each busy period of the machine, of the
//     machine itself and of others, at most so many, on which jobs have other
//     demands: see widths and uses.
//
// All hold with suspension, migration and kills. The sum of responses, each times
// its weight over the greatest common divisor of the weights, is a whole number of
// ticks, so that a bound of it is rounded up to one. When ctx ends, the
// machines that are left aren't looked at. O(most · n log n)
func (r *jobs) response(ctx context.Context, t *view.Batch, most int) []bounds.Bound {
	runtime := 0.0
	for k := range r.jobs {
		runtime += float64(least(t, k)) * float64(r.jobs[k].Weight)
	}
	if runtime >= 1<<53 { // n sums and n products have been rounded
		runtime *= 1 - float64(len(r.jobs)+4)*0x1p-52
	}
	all := []bounds.Bound{r.mean(t, "runtime", runtime)}
	all[0].Evidence = &model.Evidence{Type: evidence.Sum, Method: "runtime"}
	if ctx.Err() != nil {
		return all
	}
	machines := machinesOf(t, most)
	plain := machines[0].sums(r)
	best, why := runtime, all[0].Evidence
	if plain.Best > best {
		best, why = plain.Best, &machines[0].why
	}
	for i := range machines[1:] {
		m := &machines[1+i]
		if meter.Stop(ctx, int64(len(t.Jobs)/2)) {
			break
		}
		if x := m.sums(r).Best; x > best {
			best, why = x, &m.why
		}
	}
	add := func(name string, sum float64, why model.Evidence) {
		b := r.mean(t, name, sum)
		why.Method = name
		b.Evidence = &why
		all = append(all, b)
	}
	if !r.weighted() {
		add("srpt", plain.SRPT, machines[0].why)
	}
	add("mean-busy-time", plain.MeanBusy, machines[0].why)
	add("squashed", best, *why)
	return all
}

// The number of machines that are looked at.
const (
	quickFunctions = 2
	allFunctions   = 24
)

// jobs holds an instance's jobs as jobs of a machine.
type jobs struct {
	jobs   []squashed.Job
	skip   []bool         // jobs that aren't on the machine at all
	demand []squashed.Job // scratch of sums
	common int64          // the weights' greatest common divisor, by which the jobs' weights are divided
}

// newJobs returns the jobs with the least durations, rounded down to whole ticks: a job that works at rate R at most,
// in ten-thousandths, takes Length·10^4/R ticks or longer. The bounds need a duration that the job can't beat, and the
// duration times its demand must be at most the job's use of the machine.
func newJobs(t *view.Batch) *jobs {
	r := &jobs{jobs: make([]squashed.Job, len(t.Jobs)), skip: make([]bool, len(t.Jobs)), common: UnitsOf(t).Weight}
	most := int64(1<<61) / int64(max(1, len(t.Jobs))) // what is longer than it runs stays below 2^62
	for k := range t.Jobs {
		j := &t.Jobs[k]
		d := min(j.Work()/fastest(t, k), max(most, j.Length))
		r.jobs[k] = squashed.Job{Release: j.Submit, Duration: d, Per: 1, Weight: j.Weight / r.common}
	}
	return r
}

// weighted reports whether the weights differ.
func (r *jobs) weighted() bool {
	return slices.ContainsFunc(r.jobs, func(j squashed.Job) bool { return j.Weight != 1 })
}

// fastest returns the largest rate that job k can have, in ten-thousandths.
func fastest(t *view.Batch, k int) int64 {
	j := &t.Jobs[k]
	if t.Tiers == 1 {
		return view.FullRate
	}
	return max(j.Foreground, j.Efficiency)
}

// least returns the least ticks that job k takes.
func least(t *view.Batch, k int) int64 {
	rate := fastest(t, k)
	return (t.Jobs[k].Work() + rate - 1) / rate
}

// machine is a resource with a capacity that bounds the demands of all jobs that run at any instant. Each job takes its
// demand while it works at its fastest rate, and in proportion when it is slower. Then the machine of package squashed
// can do in each instant all that a schedule does.
type machine struct {
	demand   func(k int) int
	capacity int
	why      model.Evidence
}

// sums returns bounds of the sum over all jobs but those skipped. A job without demand takes its duration.
func (m machine) sums(r *jobs) squashed.Bounds {
	all := slices.Grow(r.demand[:0], len(r.jobs))
	r.demand = all
	others := 0.0
	for k, j := range r.jobs {
		if r.skip[k] {
			continue
		}
		if j.Slots = m.demand(k); j.Slots > 0 {
			all = append(all, j)
		} else {
			others += float64(j.Duration) * float64(j.Weight) / float64(j.Per)
		}
	}
	others *= 1 - float64(len(r.jobs)+1)*0x1p-52
	b := squashed.Of(all, m.capacity)
	b.Best += others
	b.MeanBusy += others
	if b.SRPT > 0 {
		b.SRPT += others
	}
	return b
}

// mean returns a bound of the mean from a bound of the sum, in ticks by the jobs' weights. The mean is rounded down
// twice, as the objective is rounded twice.
func (r *jobs) mean(t *view.Batch, name string, sum float64) bounds.Bound {
	if len(r.jobs) == 0 {
		return bounds.Bound{Name: name}
	}
	mean := 0.0
	if sum < 1<<53 { // larger ones are whole, and may not fit an int64
		mean = t.Mean(int64(math.Ceil(sum)), r.common)
	} else {
		weights := 0.0
		for k := range r.jobs {
			weights += float64(r.jobs[k].Weight)
		}
		mean = sum / 1e6 / weights
	}
	return bounds.Bound{Name: name, Value: math.Nextafter(math.Nextafter(mean, 0), 0)}
}
