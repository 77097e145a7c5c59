// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// work is a Reservation as its bounds see it: whole numbers from the first ready
// time on, small enough that sums of areas are exact.
type work struct {
	ticks  *view.Reservation
	origin int64 // the first ready time, in ticks
	// Times are in units of 2^shift ticks after the origin: ready times and
	// lengths are rounded down, ends up, so that no area overflows. That only
	// relaxes, as the rounding of ticks does (see view.Reservation).
	shift     uint
	jobs      []workJob          // by ready time, without jobs of a length that rounds to 0
	number    []int32            // of each job, among the jobs of ticks
	in        *model.Reservation // the ids in evidence are its ids; nil: there is none
	free      float64            // the weight of all others, which cost nothing to accept
	total     float64            // the weight of the jobs
	unit      float64            // every weight of a job is a whole multiple of it; 0: not known
	count     bool               // every weight is 1
	resources []resource
	margin    float64 // relative rounding error of a sum over the jobs
}

type workJob struct {
	ready, due, length int64
	weight             float64
}

// resource is a valid way to count PEs: the sizes of jobs that can run at the
// same time sum to at most the capacity. The first resource is the PEs themselves,
// with the largest sum of the jobs' PEs that fits the cluster as its capacity. The
// others are images of it under dual-feasible functions (see
// duals.ThresholdDFF): redundant resources (Carlier, Néron: Computing redundant
// resources for the resource constrained project scheduling problem, 2007).
type resource struct {
	name     string
	capacity int64
	size     []int64             // by job
	function *model.DualFunction // nil: none
}

// maxResources is the number of resources kept, the first included.
const maxResources = 6

func newWork(t *view.Reservation) *work {
	w := &work{ticks: t, free: t.FreeWeight, count: !t.Goal.PESeconds()}
	first, last, length := int64(math.MaxInt64), int64(math.MinInt64), 0.0
	for k := range t.Jobs {
		j := &t.Jobs[k]
		first, last = min(first, j.Ready), max(last, j.Due)
		length += float64(j.Length)
	}
	if len(t.Jobs) == 0 {
		first, last = 0, 0
	}
	w.origin = first
	// No resource has sizes above the first one's capacity. Two bits are spare.
	for size := float64(max(t.PEs, 2)) * max(length, float64(last-first)); size > 1<<60; size /= 2 {
		w.shift++
	}
	ready := make([]int64, len(t.Jobs))
	for k := range ready {
		ready[k] = t.Jobs[k].Ready
	}
	byReady := order.By(order.Of[int32](len(t.Jobs)), ready)
	w.jobs = make([]workJob, 0, len(byReady))
	sizes, weights := make([]int64, 0, len(byReady)), make([]float64, 0, len(byReady))
	round := int64(1)<<w.shift - 1
	for _, k := range byReady {
		j := &t.Jobs[k]
		x := workJob{(j.Ready - first) >> w.shift, (j.Due - first + round) >> w.shift, j.Length >> w.shift, j.Weight}
		if x.length == 0 {
			w.free += x.weight
			continue
		}
		w.jobs, w.number = append(w.jobs, x), append(w.number, k)
		sizes = append(sizes, int64(j.PEs))
		w.total += x.weight
		weights = append(weights, x.weight)
	}
	switch {
	case len(weights) == 0:
		w.unit = 1
	case w.total+w.free < 1<<53: // else sums may be rounded
		w.unit = float64(units.Common(weights, 1<<53))
	}
	w.margin = float64(len(w.jobs)+8) * 0x1p-52
	w.makeResources(sizes, int64(t.PEs))
	return w
}

// makeResources fills w.resources.
func (w *work) makeResources(sizes []int64, pes int64) {
	distinct := slices.Clone(sizes)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	capacity := usablePEs(sizes, distinct, pes)
	w.resources = []resource{{capacity: capacity, size: sizes}}
	if capacity == 0 {
		return
	}
	var half []int64
	for _, x := range distinct {
		if 2*x <= capacity {
			half = append(half, x)
		}
	}
	type candidate struct {
		name     string
		f        func(x int64) int64
		capacity int64
		score    float64
		by       model.DualFunction
	}
	candidates := []candidate{{"halves", func(x int64) int64 {
		switch {
		case 2*x > capacity:
			return 2
		case 2*x == capacity:
			return 1
		}
		return 0
	}, 2, 0, model.DualFunction{Name: "halves"}}}
	for i := 0; i < len(half); i += max(1, len(half)/16) {
		e := half[i]
		f, bin := duals.ThresholdDFF(capacity, e)
		candidates = append(candidates, candidate{"large and small", f, bin, 0, model.DualFunction{Name: "threshold", Parameter: e}})
		if e > 1 {
			f, bin := duals.PiecesDFF(capacity, e)
			candidates = append(candidates, candidate{"pieces", f, bin, 0, model.DualFunction{Name: "pieces", Parameter: e}})
		}
	}
	for k := range candidates {
		c := &candidates[k]
		better := false
		for _, x := range distinct {
			// Both products are below 2^50: PEs are at most 10 million.
			better = better || c.f(x)*capacity > x*c.capacity
		}
		if !better {
			continue // it implies nothing that the first one doesn't
		}
		for i, x := range sizes {
			c.score += float64(c.f(x)) / float64(c.capacity) * float64(w.jobs[i].length)
		}
	}
	order.Stable(candidates, func(a, b candidate) int {
		return cmp.Compare(b.score, a.score)
	})
	for _, c := range candidates {
		if c.score == 0 || len(w.resources) == maxResources {
			break
		}
		x := resource{c.name, c.capacity, make([]int64, len(sizes)), &c.by}
		for i := range sizes {
			x.size[i] = c.f(sizes[i])
		}
		w.resources = append(w.resources, x)
	}
}

// usablePEs returns the largest sum of some of the sizes that is at most pes; if
// that takes long, the largest multiple of their greatest common divisor. distinct
// are the sizes without repetitions. O(distinct log(n) pes / 64).
func usablePEs(sizes, distinct []int64, pes int64) int64 {
	sum, divisor := int64(0), int64(0)
	for _, x := range sizes {
		sum += x
	}
	if sum <= pes {
		return sum
	}
	for _, x := range distinct {
		divisor = units.GCD(divisor, x)
	}
	if divisor == 0 {
		return 0
	}
	most := pes / divisor // in multiples of the divisor
	words := most/64 + 1
	if words*int64(len(distinct)) > 100_000 {
		return most * divisor
	}
	times := map[int64]int64{}
	for _, x := range sizes {
		times[x]++
	}
	can := bitset.New(int(most) + 1) // the sums of some sizes
	can.Add(0, 0)
	for _, x := range distinct {
		// Packages of 1, 2, 4, ... and the rest add up to every number of times.
		rest := min(times[x], pes/x)
		for part := int64(1); rest > 0; part *= 2 {
			part = min(part, rest)
			rest -= part
			can.OrShift(int(part * (x / divisor)))
		}
		if can.Has(int(most)) {
			return most * divisor
		}
	}
	return int64(can.AtMost(int(most))) * divisor
}

// down rounds a bound x on the accepted weight of some jobs down to a possible sum of weights, and never below the true
// bound. x is a float64 of a sum of at most n + 8 terms and products of figures up to the total weight, each wrong by
// at most 2^-53 of it. So the error is relative to the total, not to x, which may be a small difference of large
// figures. With unit u > 0 all sums of weights are multiples of u below 2^53 (units.Common rounds nothing), so u⌊x/u⌋
// is still a bound.
func (w *work) down(x float64) float64 {
	x += w.total * w.margin
	if w.unit > 0 {
		x = math.Floor(x/w.unit+1e-9) * w.unit
	}
	return x
}

// up rounds a bound on the declined weight up in the same way.
func (w *work) up(x float64) float64 {
	x -= w.total * w.margin
	if w.unit > 0 {
		x = math.Ceil(x/w.unit-1e-9) * w.unit
	}
	return max(0, x)
}

// bound returns a Bound: at most the given weight of the jobs can be accepted. For the goal all, why says why that
// isn't all of it.
func (w *work) bound(name string, accepted float64, why string) bounds.Bound {
	accepted = min(accepted, w.total)
	b := bounds.Bound{Name: name, Value: accepted + w.free}
	switch {
	case w.ticks.Goal == model.GoalAll && accepted < w.total:
		b.Infeasible, b.Reason = true, why
	case w.unit == 0 || w.free != math.Trunc(w.free):
		b.Value += b.Value * w.margin
	}
	return b
}

// seconds returns a time in seconds since the beginning of the instance.
func (w *work) seconds(at int64) float64 {
	return float64(at<<w.shift+w.origin) / w.ticks.PerSecond()
}

// peSeconds returns an area in PE-seconds.
func (w *work) peSeconds(area int64) float64 {
	return math.Ldexp(float64(area), int(w.shift)) / w.ticks.PerSecond()
}
