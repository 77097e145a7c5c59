package reservation

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/bitset"
	"github.com/gapwise/gapwise/internal/units"
	"github.com/gapwise/gapwise/model"
)

// reservationWork is a Reservation as its bounds see it: whole numbers from the
// first ready time on, small enough that sums of areas are exact.
type reservationWork struct {
	ticks  *Ticks
	origin int64
	// shift is the number of bits by which times were coarsened, ready times
	// and lengths down and ends up, so that no area overflows. Like the ticks'
	// own rounding that only relaxes.
	shift  uint
	jobs   []workJob // in the order of their ready times; those without length are in free
	free   float64   // the weight that costs nothing
	total  float64   // the weight of the jobs
	unit   float64   // every weight of a job is a multiple of it, exactly; 0: not known
	count  bool      // every weight is 1
	forms  []reservationForm
	margin float64 // relative rounding error of a sum over the jobs
}

type workJob struct {
	ready, due, length int64
	weight             float64
}

// reservationForm is a valid way to count PEs: jobs that can run at the same
// time have sizes that sum to at most the capacity. The first form is the
// jobs' PEs themselves, with the largest sum of them that the cluster
// can have in use; the others are dual-feasible functions (see dualFeasible) of it, as
// redundant resources (Carlier, Néron: Computing redundant resources for the
// resource constrained project scheduling problem, 2007).
type reservationForm struct {
	name     string
	capacity int64
	size     []int64 // of each job
}

// maxForms is the number of forms kept, the first included.
const maxForms = 6

func newReservationWork(t *Ticks) *reservationWork {
	w := &reservationWork{ticks: t, free: t.FreeWeight, count: t.Goal != model.GoalPESeconds}
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
	// No form has larger sizes than the first one's capacity. Two bits are spare.
	for size := float64(max(t.PEs, 2)) * max(length, float64(last-first)); size > 1<<60; size /= 2 {
		w.shift++
	}
	order := make([]int32, len(t.Jobs))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Jobs[a].Ready, t.Jobs[b].Ready), cmp.Compare(a, b))
	})
	w.jobs = make([]workJob, 0, len(order))
	sizes, weights := make([]int64, 0, len(order)), make([]float64, 0, len(order))
	round := int64(1)<<w.shift - 1
	for _, k := range order {
		j := &t.Jobs[k]
		x := workJob{(j.Ready - first) >> w.shift, (j.Due - first + round) >> w.shift, j.Length >> w.shift, j.Weight}
		if x.length == 0 {
			w.free += x.weight
			continue
		}
		w.jobs = append(w.jobs, x)
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
	w.makeForms(sizes, int64(t.PEs))
	return w
}

// makeForms fills w.forms.
func (w *reservationWork) makeForms(sizes []int64, pes int64) {
	distinct := slices.Clone(sizes)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	capacity := usablePEs(sizes, distinct, pes)
	w.forms = []reservationForm{{"", capacity, sizes}}
	if capacity == 0 {
		return
	}
	var half []int64
	for _, x := range distinct {
		if 2*x <= capacity {
			half = append(half, x)
		}
	}
	type form struct {
		name     string
		f        func(x int64) int64
		capacity int64
		score    float64
	}
	candidates := []form{{"halves", func(x int64) int64 {
		switch {
		case 2*x > capacity:
			return 2
		case 2*x == capacity:
			return 1
		}
		return 0
	}, 2, 0}}
	for i := 0; i < len(half); i += max(1, len(half)/16) {
		e := half[i]
		f, bin := bounds.ThresholdDFF(capacity, e)
		candidates = append(candidates, form{"large and small", f, bin, 0})
		if e > 1 {
			f, bin := bounds.PiecesDFF(capacity, e)
			candidates = append(candidates, form{"pieces", f, bin, 0})
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
			continue // the first form knows all that this one knows
		}
		for i, x := range sizes {
			c.score += float64(c.f(x)) / float64(c.capacity) * float64(w.jobs[i].length)
		}
	}
	slices.SortStableFunc(candidates, func(a, b form) int {
		return cmp.Compare(b.score, a.score)
	})
	for _, c := range candidates {
		if c.score == 0 || len(w.forms) == maxForms {
			break
		}
		x := reservationForm{c.name, c.capacity, make([]int64, len(sizes))}
		for i := range sizes {
			x.size[i] = c.f(sizes[i])
		}
		w.forms = append(w.forms, x)
	}
}

// usablePEs is the largest sum of sizes that is at most pes; if that takes
// long, the largest multiple of their common divisor. O(distinct log(n) pes / 64).
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
		// Packages of 1, 2, 4, ... and the rest make every number of times.
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

// down rounds a bound on the accepted weight of some jobs down to what
// weights can add up to, without ever going below the true bound, of which x
// is the rounded figure: at most n + 8 sums and products of figures up to the total
// weight, each off by at most 2^-53 of it. The error is one of the total, not of x, which may be
// a small difference of large figures.
func (w *reservationWork) down(x float64) float64 {
	x += w.total * w.margin
	if w.unit > 0 {
		x = math.Floor(x/w.unit+1e-9) * w.unit
	}
	return x
}

// up rounds a bound on the declined weight up likewise.
func (w *reservationWork) up(x float64) float64 {
	x -= w.total * w.margin
	if w.unit > 0 {
		x = math.Ceil(x/w.unit-1e-9) * w.unit
	}
	return max(0, x)
}

// bound is the Bound for jobs of at most the accepted weight; why says, for
// the goal all, why they aren't all accepted.
func (w *reservationWork) bound(name string, accepted float64, why string) bounds.Bound {
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

// seconds is a time in seconds since the beginning of the instance.
func (w *reservationWork) seconds(at int64) float64 {
	return float64(at<<w.shift+w.origin) / w.ticks.PerSecond()
}

// peSeconds is an area in PE-seconds.
func (w *reservationWork) peSeconds(area int64) float64 {
	return math.Ldexp(float64(area), int(w.shift)) / w.ticks.PerSecond()
}
