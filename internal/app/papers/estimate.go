// SPDX-License-Identifier: MIT

package papers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
)

// term is a cell that counts with a sign.
type term struct {
	sign float64
	cell
}

// plus and minus are terms of an algorithm's measure at a point.
func plus(measure, algorithm string, k int) term  { return term{1, cell{measure, algorithm, k}} }
func minus(measure, algorithm string, k int) term { return term{-1, cell{measure, algorithm, k}} }

// estimate is the mean of a figure and the half-width of its 95 % confidence
// interval, NaN for a single pair, by Student's t of so many degrees of freedom; 0: the
// normal distribution.
type estimate struct{ mean, half, df float64 }

func (x estimate) String() string {
	if math.IsNaN(x.mean) {
		return "no run has a value"
	}
	if math.IsNaN(x.half) {
		return words.Plain(x.mean) + " (one run)"
	}
	return words.Within(x.mean, x.half)
}

// mean estimates the sum of some terms over the draws that all of them have. Terms at different points are estimated
// apart in a survey.
func (e *experiment) mean(terms ...term) estimate {
	if e.of != nil {
		var x estimate
		for _, t := range terms {
			y := e.of(t.cell)
			x = sum(x, estimate{t.sign * y.mean, t.sign * y.half, y.df})
		}
		return x
	}
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
// them have.
func (e *experiment) pairs(terms ...term) (all [][]float64) {
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
		all = append(all, row)
	}
	return all
}

// estimated estimates the mean of some values that are sums of magnitudes up to
// largest.
func estimated(all []float64, largest float64) (x estimate) {
	x.mean, x.half = runs.Estimate(all, largest)
	x.df = float64(len(all) - 1)
	return x
}

// sum estimates the sum of two figures that are estimated independently, with the fewer
// degrees of freedom of both.
func sum(a, b estimate) estimate {
	x := estimate{a.mean + b.mean, math.Hypot(a.half, b.half), max(a.df, b.df)}
	if a.df > 0 && b.df > 0 {
		x.df = min(a.df, b.df)
	}
	return x
}

// difference estimates the difference of two figures that are estimated
// independently.
func difference(a, b estimate) estimate { return sum(a, estimate{-b.mean, b.half, b.df}) }

// change estimates by how many percent the mean of one cell is above the mean of another at the same point, over the
// draws that both have. A ratio R = mean(y) / mean(x) has the interval of the mean of (y - R x) / mean(x), its linear
// approximation (Cochran: Sampling Techniques, section 6.4).
func (e *experiment) change(to, from cell) estimate {
	rows := e.pairs(term{1, to}, term{1, from})
	y, x := 0.0, 0.0
	for _, row := range rows {
		y, x = y+row[0], x+row[1]
	}
	if len(rows) == 0 || x == 0 {
		return estimate{mean: math.NaN(), half: math.NaN()}
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
	return estimate{100 * (ratio - 1), d.half, d.df}
}

// tally is a number of runs with some property, of all.
type tally struct{ n, of int }

func (c tally) String() string {
	if c.of == 0 {
		return "0 of 0"
	}
	share := words.Plain(100 * float64(c.n) / float64(c.of))
	return fmt.Sprintf("%s of %s (%s %%)", words.Thousands(int64(c.n)), words.Thousands(int64(c.of)), share)
}

// curves estimates by how many percent one curve is above another at one point, each the mean over the instances for
// which its algorithm has a value. Let A be the sum of the values of the first, a their number, and B and b the same of
// the second. R = (A/a) / (B/b) has the interval of the mean of R (A_i/mean(A) - a_i/mean(a) - B_i/mean(B) +
// b_i/mean(b)) over all instances, its linear approximation.
func (e *experiment) curves(to, from cell) estimate {
	drawn := map[drawn]bool{}
	for _, c := range []cell{to, from, {unsolved, to.algorithm, to.point}, {unsolved, from.algorithm, from.point}} {
		for d := range e.runs[c] {
			drawn[d] = true
		}
	}
	n := float64(len(drawn))
	total := func(c cell) (sum, size float64) {
		for d := range drawn {
			if y, ok := e.runs[c][d]; ok {
				sum, size = sum+y/n, size+1/n
			}
		}
		return sum, size
	}
	first, a := total(to)
	second, b := total(from)
	if a == 0 || b == 0 || second == 0 {
		return estimate{mean: math.NaN(), half: math.NaN()}
	}
	ratio := first / a / (second / b)
	var all []float64
	for d := range drawn {
		x := 0.0
		if y, ok := e.runs[to][d]; ok {
			x += y/first - 1/a
		}
		if y, ok := e.runs[from][d]; ok {
			x -= y/second - 1/b
		}
		all = append(all, 100*ratio*x)
	}
	d := estimated(all, 100*ratio)
	return estimate{100 * (ratio - 1), d.half, d.df}
}

// spread returns the sum of squared distances of the points' first parameter from
// its mean.
func (e *experiment) spread() float64 {
	mean, sum := 0.0, 0.0
	for _, p := range e.points {
		mean += p[0] / float64(len(e.points))
	}
	for _, p := range e.points {
		sum += (p[0] - mean) * (p[0] - mean)
	}
	return sum
}

// residual returns by how much an algorithm's measure at point k is above the
// least-squares line over the first parameter, times a sign. With t the parameter
// and n points that is Σ_j (δ_kj - 1/n - (t_k - mean)(t_j - mean)/spread) y_j.
func (e *experiment) residual(measure, algorithm string, k int, sign float64) (all []term) {
	n, mean := float64(len(e.points)), 0.0
	for _, p := range e.points {
		mean += p[0] / n
	}
	for j, p := range e.points {
		c := -1/n - (e.points[k][0]-mean)*(p[0]-mean)/e.spread()
		if j == k {
			c++
		}
		all = append(all, term{sign * c, cell{measure, algorithm, j}})
	}
	return all
}

// offLine estimates a share of the increase of an algorithm's measure from the first
// point to the last, less its distance from its least-squares line at point k.
func (e *experiment) offLine(measure, algorithm string, k int, share float64) estimate {
	last := len(e.points) - 1
	terms := e.residual(measure, algorithm, k, -e.side(measure, algorithm, k))
	return e.mean(append(terms, term{share, cell{measure, algorithm, last}}, term{-share, cell{measure, algorithm, 0}})...)
}

// bend estimates by how much further an algorithm's measure is off its line at one point
// than at another.
func (e *experiment) bend(measure, algorithm string, at, k int) estimate {
	return e.mean(append(e.residual(measure, algorithm, at, e.side(measure, algorithm, at)), e.residual(measure, algorithm, k, -e.side(measure, algorithm, k))...)...)
}

// side returns 1 if a measure is above its line at a point, -1 below.
func (e *experiment) side(measure, algorithm string, k int) float64 {
	if e.mean(e.residual(measure, algorithm, k, 1)...).mean < 0 {
		return -1
	}
	return 1
}
