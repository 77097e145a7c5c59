package exact

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// sweepJob is a job of ReservationTicks. PEs are in units of their greatest
// common divisor, weights in grains where there are any (see sweepUnits).
type sweepJob struct {
	ready, latest, length int64
	pes                   int64
	weight                float64
	id                    int32 // in ReservationTicks.Jobs
}

func (j *sweepJob) due() int64 { return j.latest + j.length }

// sweepUnits are the units of sweepJobs.
type sweepUnits struct {
	pes    int64   // of the machine
	weight float64 // what a weight of 1 means
	grain  float64 // all weights are multiples of it; 0 if nothing is known
}

// sweepJobs are the jobs by ready time, then latest start.
func sweepJobs(t *bounds.ReservationTicks) ([]sweepJob, sweepUnits) {
	u := sweepUnits{weight: 1, grain: 1}
	pes := int64(0)
	for i := range t.Jobs {
		pes = gcd(pes, int64(t.Jobs[i].PEs))
	}
	pes = max(pes, 1)
	u.pes = int64(t.PEs) / pes
	if t.Goal == model.GoalPESeconds {
		u.weight, u.grain = weightUnit(t)
	}
	var jobs []sweepJob
	for i := range t.Jobs {
		j := &t.Jobs[i]
		w := j.Weight / u.weight
		if u.grain > 0 {
			w = math.Round(w)
		}
		jobs = append(jobs, sweepJob{j.Ready, j.Latest(), j.Length, int64(j.PEs) / pes, w, int32(i)})
	}
	slices.SortFunc(jobs, func(a, b sweepJob) int {
		return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.latest, b.latest), cmp.Compare(a.id, b.id))
	})
	return jobs, u
}

// weightUnit is the greatest number that all weights are multiples of, and 1,
// or, if they aren't known to be, 1 and 0. Weights are PEs times the ticks reserved, exactly,
// if no time is rounded; in units all sums of them must be below 2^50, so that float64s hold them
// and what a division rounds off is far below a half.
func weightUnit(t *bounds.ReservationTicks) (unit, grain float64) {
	if !t.Times.Exact {
		return 1, 0
	}
	whole, total := int64(0), 0.0
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if float64(j.PEs)*float64(j.Reserved) > 1<<62 {
			return 1, 0
		}
		whole = gcd(whole, int64(j.PEs)*j.Reserved)
		total += float64(j.PEs) * float64(j.Reserved)
	}
	if whole = max(whole, 1); total/float64(whole) > 1<<50 {
		return 1, 0
	}
	return float64(whole) / t.PerSecond, 1
}

// sweepParts cuts jobs, sorted by ready time, where no window goes on: each
// part may be solved alone.
func sweepParts(jobs []sweepJob) [][]sweepJob {
	var parts [][]sweepJob
	end := int64(math.MinInt64)
	first := 0
	for i := range jobs {
		if i > first && jobs[i].ready >= end {
			parts = append(parts, jobs[first:i])
			first = i
		}
		end = max(end, jobs[i].due())
	}
	if first < len(jobs) {
		parts = append(parts, jobs[first:])
	}
	return parts
}

// worth is the jobs' weight.
func worth(jobs []sweepJob) float64 {
	sum := 0.0
	for i := range jobs {
		sum += jobs[i].weight
	}
	return sum
}
