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

// sweepJobs are the jobs that hold PEs for at least a tick, by ready time, then
// latest start. The others fit anywhere.
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
		if j.Length > 0 {
			jobs = append(jobs, sweepJob{j.Ready, j.Latest(), j.Length, int64(j.PEs) / pes, w, int32(i)})
		}
	}
	slices.SortFunc(jobs, func(a, b sweepJob) int {
		return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.latest, b.latest), cmp.Compare(a.id, b.id))
	})
	return jobs, u
}

// weightUnit is the greatest number that all weights are multiples of, and 1,
// or, if their products with the ticks aren't whole, 1 and 0. What isn't quite
// whole is wrong by less than a 10^14th.
func weightUnit(t *bounds.ReservationTicks) (unit, grain float64) {
	whole := int64(0)
	for i := range t.Jobs {
		w := t.Jobs[i].Weight * t.PerSecond
		r := math.Round(w)
		if math.Abs(w-r) > 4e-15*w || r < 1 || r > 1<<44 {
			return 1, 0
		}
		whole = gcd(whole, int64(r))
	}
	return float64(max(whole, 1)) / t.PerSecond, 1
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
