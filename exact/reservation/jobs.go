package reservation

import (
	"cmp"
	"math"
	"slices"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/internal/units"
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
func sweepJobs(t *resbounds.Ticks) ([]sweepJob, sweepUnits) {
	u := sweepUnits{weight: 1, grain: 1}
	pes := int64(0)
	for i := range t.Jobs {
		pes = units.GCD(pes, int64(t.Jobs[i].PEs))
	}
	pes = max(pes, 1)
	u.pes = int64(t.PEs) / pes
	weight := func(j *resbounds.Job) float64 { return j.Weight }
	if t.Goal == model.GoalPESeconds {
		if whole := weightUnit(t); whole > 0 {
			u.weight = float64(whole) / t.PerSecond()
			weight = func(j *resbounds.Job) float64 { return float64(int64(j.PEs) * j.Reserved / whole) }
		} else {
			u.grain = 0
			step := weightStep(t)
			weight = func(j *resbounds.Job) float64 { return math.Ceil(j.Weight/step) * step }
		}
	}
	var jobs []sweepJob
	for i := range t.Jobs {
		j := &t.Jobs[i]
		w := weight(j)
		jobs = append(jobs, sweepJob{j.Ready, j.Latest(), j.Length, int64(j.PEs) / pes, w, int32(i)})
	}
	slices.SortFunc(jobs, func(a, b sweepJob) int {
		return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.latest, b.latest), cmp.Compare(a.id, b.id))
	})
	return jobs, u
}

// weightUnit returns the common unit of all weights in PE-ticks, or 0 if there is
// none or a sum of weights, in units, may reach 2^50: below, float64s hold sums
// exactly.
func weightUnit(t *resbounds.Ticks) int64 {
	unit, total := t.WeightUnit(), 0.0
	for i := range t.Jobs {
		total += float64(t.Jobs[i].PEs) * float64(t.Jobs[i].Reserved)
	}
	if unit == 0 || total/float64(unit) > 1<<50 {
		return 0
	}
	return unit
}

// weightStep is the power of two of which weights without a unit are rounded up to multiples: at most
// 2^-49 of their total.
//
// Sums of multiples below 2^53 steps are exact in float64s. So each start raises a plan's value, which the
// proofs of dominates and of the gap rule need: where 2^60 + 1 = 2^60, a child dropped for its
// parent and a gap left for that child would lose all that comes after. Weights only grow by it, so a bound remains one; all of
// them together grow by less than the slack.
func weightStep(t *resbounds.Ticks) float64 {
	total := 0.0
	for i := range t.Jobs {
		total += t.Jobs[i].Weight
	}
	_, e := math.Frexp(total)
	return math.Ldexp(1, e-50)
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
