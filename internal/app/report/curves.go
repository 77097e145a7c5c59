// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// comparable returns the algorithms that ran on at least half of the instances, and
// those that didn't.
func (p *part) comparable() (yes, no []string) {
	for _, a := range p.algorithms {
		on := map[*instance]bool{}
		for _, r := range p.runsOf(a) {
			on[r.on] = true
		}
		if 2*len(on) >= len(p.instances) {
			yes = append(yes, a)
		} else {
			no = append(no, a)
		}
	}
	return yes, no
}

// notShown names the algorithms that aren't comparable.
func notShown(left []string) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf(" Not shown, as they ran on fewer than half of the instances: %s.", words.And(left))
}

// hue returns the number of an algorithm's colour, the same in all charts.
func (p *part) hue(algorithm string) int { return slices.Index(p.algorithms, algorithm) }

// parameterCurves draws objective, gap and failures against each parameter that
// varies.
func parameterCurves(all []*part) section {
	s := section{ID: "curves", Title: "Curves", Text: []string{
		"Means over instances and seeds. Objective and bound at a point are means over the same instances: those that every algorithm of the chart solved and that have a bound, so that no curve can pass the bound. " +
			"Each point says its n when the mouse rests on it."}}
	for _, p := range all {
		params := p.varying()
		shown, left := p.comparable()
		f := &figures{Choices: []choice{{Name: "Against", Values: params}, {Name: "Show", Index: 1}}}
		for _, key := range params {
			classes := p.classes(key)
			x := axis{label: p.unitOf(key)}
			if low, high := classes[0].x, classes[len(classes)-1].x; low > 0 && high/low >= 20 {
				x.log = true
			}
			for _, c := range []*chart{p.objectives(shown, classes, x), p.gaps(shown, classes, x), p.failures(shown, classes, x)} {
				if c.empty() {
					continue
				}
				caption := words.Upper(c.name) + "." + notShown(left)
				c.name += " against " + key
				f.add(c, caption, key, c.y.label)
			}
		}
		if len(f.Charts) > 0 {
			s.Blocks = append(s.Blocks, block{Heading: p.head(all), Figures: f})
		}
	}
	return s
}

func (p *part) objectives(shown []string, classes []class, x axis) *chart {
	c := &chart{name: p.first.Name + ", with the best bound", x: x, y: axis{label: p.first.String()}}
	for _, a := range shown {
		c.curves = append(c.curves, curve{name: a, dots: true, hue: p.hue(a)})
	}
	bound := curve{name: "bound", dots: true, bound: true}
	for _, k := range classes {
		// The instances that all solved.
		solved := map[*instance]map[string][]float64{}
		for _, r := range p.runs {
			if !k.in[r.on] || r.Objective == nil || math.IsNaN(r.on.Bound) || math.IsInf(*r.Objective, 0) {
				continue
			}
			if solved[r.on] == nil {
				solved[r.on] = map[string][]float64{}
			}
			solved[r.on][r.Algorithm] = append(solved[r.on][r.Algorithm], *r.Objective)
		}
		var bounds []float64
		objectives := make([][]float64, len(shown))
	next:
		for _, i := range p.instances {
			for _, a := range shown {
				if len(solved[i][a]) == 0 {
					continue next
				}
			}
			bounds = append(bounds, i.Bound)
			for n, a := range shown {
				objectives[n] = append(objectives[n], stats.Mean(solved[i][a]))
			}
		}
		title := func(y float64) string {
			return fmt.Sprintf("%s at %s %s, n = %d of %d instances", words.Tidy(y), x.label, k.label, len(bounds), len(k.in))
		}
		for n := range shown {
			y := stats.Mean(objectives[n])
			c.curves[n].points = append(c.curves[n].points, point{k.x, y, title(y)})
		}
		y := stats.Mean(bounds)
		bound.points = append(bound.points, point{k.x, y, title(y)})
	}
	c.curves = append(c.curves, bound)
	return c
}

// byClass draws the mean of a figure of the runs in each class.
func (p *part) byClass(c *chart, shown []string, classes []class, text func(float64) string, f func(*run) float64) {
	for _, a := range shown {
		v := curve{name: a, dots: true, hue: p.hue(a)}
		runs := p.runsOf(a)
		for _, k := range classes {
			some := values(slices.DeleteFunc(slices.Clone(runs), func(r *run) bool { return !k.in[r.on] }), f)
			y := stats.Mean(some)
			v.points = append(v.points, point{k.x, y, fmt.Sprintf("%s at %s %s, n = %d runs", text(y), c.x.label, k.label, len(some))})
		}
		c.curves = append(c.curves, v)
	}
}

func (p *part) gaps(shown []string, classes []class, x axis) *chart {
	c := &chart{name: "Mean gap to the best bound; the bound itself is the line at 0", x: x, y: axis{label: "gap (%)"}, zero: true}
	p.byClass(c, shown, classes, func(y float64) string { return words.Tidy(y) + " %" }, func(r *run) float64 { return 100 * r.gap() })
	if c.empty() {
		return c
	}
	var zero curve
	for _, k := range classes {
		zero.points = append(zero.points, point{x: k.x})
	}
	zero.name, zero.bound = "bound", true
	c.curves = append(c.curves, zero)
	return c
}

// failures is empty if there are none.
func (p *part) failures(shown []string, classes []class, x axis) *chart {
	c := &chart{name: "Runs without a solution, of instances not proved infeasible", x: x, y: axis{label: "failures (%)"}, zero: true}
	if !slices.ContainsFunc(p.runs, (*run).failed) {
		return c
	}
	p.byClass(c, shown, classes, func(y float64) string { return words.Tidy(y) + " %" }, func(r *run) float64 {
		switch {
		case r.on.Infeasible:
			return math.NaN()
		case r.failed():
			return 100
		}
		return 0
	})
	return c
}
