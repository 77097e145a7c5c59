package papers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/words"
)

// term is a cell that counts with a sign.
type term struct {
	sign float64
	cell
}

// estimate is the mean of a figure and the half-width of its 95 % confidence
// interval, NaN for a single pair.
type estimate struct{ mean, half float64 }

func (x estimate) String() string {
	if math.IsNaN(x.mean) {
		return "no run has a value"
	}
	if math.IsNaN(x.half) {
		return words.Plain(x.mean) + " (one run)"
	}
	return words.Plain(x.mean) + " ± " + words.Plain(x.half)
}

// mean estimates the sum of some terms over the draws that all of them have. In a
// survey those at different points are estimated apart.
func (e *experiment) mean(terms ...term) estimate {
	if e.survey {
		for i := range terms {
			if k := terms[0].point; terms[i].point != k {
				here := func(t term) bool { return t.point == k }
				there := slices.DeleteFunc(slices.Clone(terms), here)
				return sum(e.mean(slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return !here(t) })...), e.mean(there...))
			}
		}
	}
	rows := e.pairs(terms...)
	all := make([]float64, len(rows))
	largest := 0.0
	for i, row := range rows {
		size := 0.0
		for k, y := range row {
			all[i] += terms[k].sign * y
			size += math.Abs(y)
		}
		largest = max(largest, size)
	}
	return estimated(all, largest)
}

// pairs returns the values of some terms, in their order, in each draw that all of
// them have; with units the mean values in each unit.
func (e *experiment) pairs(terms ...term) [][]float64 {
	var all [][]float64
	number := map[string]int{} // of the unit's row
	size := map[string]float64{}
	draws := slices.SortedFunc(maps.Keys(e.runs[terms[0].cell]), func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.hash, b.hash), cmp.Compare(a.seed, b.seed))
	}) // sums of floating-point numbers depend on their order
next:
	for _, d := range draws {
		row := make([]float64, len(terms))
		for i, t := range terms {
			y, ok := e.runs[t.cell][d]
			if !ok {
				continue next
			}
			row[i] = y
		}
		if e.units == nil {
			all = append(all, row)
			continue
		}
		unit := e.units[d.hash]
		if size[unit]++; size[unit] == 1 {
			number[unit] = len(all)
			all = append(all, row)
			continue
		}
		mean := all[number[unit]]
		for i := range row {
			mean[i] += (row[i] - mean[i]) / size[unit]
		}
	}
	return all
}

// estimated estimates the mean of some values that are sums of magnitudes up to
// largest.
func estimated(all []float64, largest float64) (x estimate) {
	x.mean, x.half = runs.Estimate(all, largest)
	return x
}

// sum estimates the sum of two figures that are estimated independently.
func sum(a, b estimate) estimate { return estimate{a.mean + b.mean, math.Hypot(a.half, b.half)} }

// difference estimates the difference of two figures that are estimated
// independently.
func difference(a, b estimate) estimate { return sum(a, estimate{-b.mean, b.half}) }

// change estimates by how many percent the mean of one cell is above that of another
// at the same point, over the draws that both have. A ratio R = mean(y) / mean(x) has
// the interval of the mean of (y - R x) / mean(x), its linear approximation (Cochran:
// Sampling Techniques, section 6.4).
func (e *experiment) change(to, from cell) estimate {
	rows := e.pairs(term{1, to}, term{1, from})
	y, x := 0.0, 0.0
	for _, row := range rows {
		y, x = y+row[0], x+row[1]
	}
	if len(rows) == 0 || x == 0 {
		return estimate{math.NaN(), math.NaN()}
	}
	ratio, n := y/x, float64(len(rows))
	all := make([]float64, len(rows))
	for i, row := range rows {
		all[i] = 100 * (row[0] - ratio*row[1]) / (x / n)
	}
	d := estimated(all, 100*(1+math.Abs(ratio)))
	if math.Abs(ratio-1) < 1e-12 { // rounding errors are no difference
		ratio = 1
	}
	return estimate{100 * (ratio - 1), d.half}
}

// count is a number of runs with some property, of all.
type count struct{ n, of int }

func (c count) String() string {
	if c.of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%s %%)", c.n, c.of, words.Plain(100*float64(c.n)/float64(c.of)))
}

// count counts the runs of a cell whose value has a property.
func (e *experiment) count(of cell, has func(float64) bool) (c count) {
	for _, y := range e.runs[of] {
		c.of++
		if has(y) {
			c.n++
		}
	}
	return c
}

// share estimates the share of runs that a count is a sample of, in percent: the
// interval of Agresti and Coull, which holds for counts near 0 and near all, too. Its
// middle is a little nearer to one half than the share in the sample.
func (c count) share() estimate {
	if c.of == 0 {
		return estimate{math.NaN(), math.NaN()}
	}
	const z = 1.959964 // the normal distribution's 97.5 % quantile
	n := float64(c.of) + z*z
	p := (float64(c.n) + z*z/2) / n
	return estimate{100 * p, 100 * z * math.Sqrt(p*(1-p)/n)}
}
