// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
)

// tick is a time or a length of time in ticks (see model.ReservationTimes).
type tick int64

// job is a request that needs PEs. It runs over [start, start+length) for a
// start from ready to latest.
type job struct {
	ready, latest, length tick
	pes                   int     // in units of scale.pesUnit
	weight                float64 // in units of scale.weight
	id                    int32   // its index in the Jobs of the ticks
}

func (j *job) due() tick { return j.latest + j.length }

// scale holds the units of the jobs' PEs and weights.
type scale struct {
	pes    int     // of the machine, in units of the greatest common divisor of the jobs' PEs
	weight float64 // objective of a weight of 1
	grain  float64 // 1 if all weights are whole numbers, else 0: nothing is known
}

// newJobs returns the jobs by ready time, then by latest start.
func newJobs(t *view.Reservation) ([]job, scale) {
	u := scale{weight: 1, grain: 1}
	unit := 0
	for i := range t.Jobs {
		unit = units.GCD(unit, t.Jobs[i].PEs)
	}
	unit = max(unit, 1)
	u.pes = t.PEs / unit
	weight := func(j *view.ReservationJob) float64 { return j.Weight }
	if t.Goal.PESeconds() && len(t.Jobs) > 0 {
		if whole := weightUnit(t); whole > 0 {
			u.weight = float64(whole) / t.PerSecond()
			weight = func(j *view.ReservationJob) float64 { return float64(int64(j.PEs) * j.Counted / whole) }
		} else {
			u.grain = 0
			step := weightStep(t)
			weight = func(j *view.ReservationJob) float64 { return math.Ceil(j.Weight/step) * step }
		}
	}
	jobs := make([]job, len(t.Jobs))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		jobs[i] = job{tick(j.Ready), tick(j.Latest()), tick(j.Length), j.PEs / unit, weight(j), int32(i)}
	}
	slices.SortFunc(jobs, byReady)
	return jobs, u
}

func byReady(a, b job) int {
	return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.latest, b.latest), cmp.Compare(a.id, b.id))
}

// weightUnit returns the common unit of all weights in PE-ticks. It returns 0 if there is none or a sum of weights, in
// units, may reach 2^50: below, float64s hold sums exactly.
func weightUnit(t *view.Reservation) int64 {
	unit, total := t.WeightUnit(), 0.0
	for i := range t.Jobs {
		total += float64(t.Jobs[i].PEs) * float64(t.Jobs[i].Counted)
	}
	if unit == 0 || total/float64(unit) > 1<<50 {
		return 0
	}
	return unit
}

// weightStep returns a power of two; weights without a unit are rounded up to its multiples: at most 2^-49 of their
// total.
//
// Sums of multiples below 2^53 steps are exact in float64s, so each start raises a plan's value, as the proofs of
// dominates and expand need. If 2^60 + 1 = 2^60, a child dropped for its parent and a gap left for that child would
// lose all that comes after. Weights only grow by rounding, so a bound remains one; all of them together grow by less
// than the slack.
func weightStep(t *view.Reservation) float64 {
	total := 0.0
	for i := range t.Jobs {
		total += t.Jobs[i].Weight
	}
	_, e := math.Frexp(total)
	return math.Ldexp(1, e-50)
}

// split cuts jobs, sorted by ready time, into groups with windows that don't overlap: each may be solved alone.
func split(jobs []job) [][]job {
	var parts [][]job
	end := tick(math.MinInt64)
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

// totalWeight returns the sum of the jobs' weights.
func totalWeight(jobs []job) float64 {
	sum := 0.0
	for i := range jobs {
		sum += jobs[i].weight
	}
	return sum
}
