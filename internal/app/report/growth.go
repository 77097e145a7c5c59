// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// fit is a power law y = exp(intercept) x^exponent, by least squares of the logarithms.
type fit struct {
	exponent, intercept, r2 float64
	n                       int
}

// fitPower fits times to sizes. It needs three different sizes.
func fitPower(sizes, times []float64) (fit, bool) {
	var x, y []float64
	different := map[float64]bool{}
	for k := range sizes {
		if sizes[k] > 0 && times[k] > 0 {
			x, y = append(x, math.Log(sizes[k])), append(y, math.Log(times[k]))
			different[sizes[k]] = true
		}
	}
	if len(different) < 3 {
		return fit{}, false
	}
	f := fit{n: len(x)}
	f.intercept, f.exponent = stat.LinearRegression(x, y, nil, false)
	f.r2 = stat.RSquared(x, y, nil, f.intercept, f.exponent)
	if math.IsNaN(f.r2) { // all times are the same
		f.r2 = 1
	}
	return f, true
}

// sizesOf returns the varying parameters that may be a size: positive and at least
// doubled.
func (p *part) sizesOf() []string {
	return slices.DeleteFunc(p.varying(), func(key string) bool {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range p.instances {
			low, high = min(low, i.params[key]), max(high, i.params[key])
		}
		return low <= 0 || high < 2*low || low < 1
	})
}

// growth draws times against sizes.
func growth(all []*part) section {
	s := section{ID: "growth", Title: "Growth", Text: []string{
		"Time against size, both logarithmic. Points are geometric means; lines are power laws fitted by least squares of the logarithms of all runs, from three different sizes on; runs that a limit stopped or that found nothing are left out. " +
			"Where several parameters vary at once an exponent tells of all of them together."}}
	for _, p := range all {
		f := &figures{Choices: []choice{{Name: "Against"}}}
		t := &table{Caption: "Fitted exponents", Columns: []column{{Name: "algorithm"}, {Name: "class"}, {Name: "against"}, {"exponent", "of the size in the power law", true}, {"R²", "share of the variance of the logarithms that the fit explains", true},
			{"n", "runs that the fit is of", true}, {"left out", "runs that a limit stopped or that found nothing", true}}}
		for _, key := range p.sizesOf() {
			c := &chart{name: "Time against " + key, x: axis{label: p.unitOf(key), log: true}, y: axis{label: "time (s)", log: true}}
			fitted := false
			for _, a := range p.algorithms {
				runs := p.runsOf(a)
				stopped := 0
				var sizes, times []float64
				for _, r := range runs {
					if r.stopped() {
						stopped++
						continue
					}
					if r.ElapsedS > 0 {
						sizes, times = append(sizes, r.on.params[key]), append(times, r.ElapsedS)
					}
				}
				dots := curve{name: a, dots: true, bare: true, hue: p.hue(a)}
				for _, k := range p.classes(key) {
					logs := values(runs, func(r *run) float64 {
						if !k.in[r.on] || r.stopped() || r.ElapsedS <= 0 {
							return math.NaN()
						}
						return math.Log(r.ElapsedS)
					})
					if len(logs) > 0 {
						y := math.Exp(stats.Mean(logs))
						dots.points = append(dots.points, point{k.x, y, fmt.Sprintf("%s at %s %s, n = %d", words.Duration(y), key, k.label, len(logs))})
					}
				}
				if len(dots.points) == 0 {
					continue
				}
				if power, ok := fitPower(sizes, times); ok {
					fitted = true
					for _, x := range []float64{slices.Min(sizes), slices.Max(sizes)} {
						dots.line = append(dots.line, point{x: x, y: math.Exp(power.intercept) * math.Pow(x, power.exponent)})
					}
					dots.name = fmt.Sprintf("%s: exponent %s", a, words.Short(power.exponent, 2))
					t.Rows = append(t.Rows, row{Cells: []cell{text(a), text(string(p.class[a])), text(key), number(power.exponent, words.Short(power.exponent, 2)), number(power.r2, fmt.Sprintf("%.3f", power.r2)), count(power.n), count(stopped)}})
				}
				c.curves = append(c.curves, dots)
			}
			if fitted {
				f.add(c, "Geometric means of the times; n in each point.", key)
			}
		}
		if len(f.Charts) > 0 {
			t.Plain = len(t.Rows) < 6
			s.Blocks = append(s.Blocks, block{Heading: p.head(all), Figures: f}, block{Table: t})
		}
	}
	return s
}
