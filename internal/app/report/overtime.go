// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// overTime draws gaps over time.
func overTime(all []*part) section {
	s := section{ID: "time", Title: "Gap over time", Text: []string{
		"The primal gap of a run at a time is |best − objective| / max(|best|, |objective|), best being the best solution of any run; 100 % before the first solution (Berthold, Measuring the impact of primal heuristics, 2013). " +
			"The dotted line is what remains open between the best solution and the best bound, in the same measure."}}
	for _, p := range all {
		var end float64
		traced := 0
		for _, r := range p.runs {
			end = max(end, r.ElapsedS)
			if len(r.Trajectory) > 0 {
				traced++
			}
		}
		if traced == 0 || end <= runs.LeastTime {
			continue
		}
		solved := func(r *run) bool { return !math.IsNaN(r.on.Best) }
		const steps = 80
		var times []float64
		for k := range steps + 1 {
			times = append(times, runs.LeastTime/10*math.Pow(10*end/runs.LeastTime, float64(k)/steps))
		}
		open := []float64{}
		for _, i := range p.instances {
			if !math.IsNaN(i.Best) && !math.IsNaN(i.Bound) {
				open = append(open, runs.PrimalGap(i.Best, i.Bound))
			}
		}
		means := &chart{name: "Mean primal gap over time", x: axis{label: "time (s)", log: true}, y: axis{label: "primal gap, mean (%)"}, zero: true}
		geometric := &chart{name: "Shifted geometric mean of the primal gap over time", x: means.x, y: axis{label: "primal gap, shifted geometric mean (%)"}, zero: true}
		single := len(p.instances) == 1
		unit, seconds := words.TimeUnit(end / 30)
		integrals := &table{Caption: fmt.Sprintf("Primal integral up to %s", words.Duration(end)), Plain: len(p.algorithms) < 6, Columns: []column{{Name: "algorithm"}, {Name: "class"}, {"n", "runs on instances with a solution", true},
			{"mean (" + unit + ")", "mean primal integral: the mean primal gap times the time", true}, {"shifted (" + unit + ")", "shifted geometric mean of the primal integrals, shift 10 ms", true},
			{"gap at the end, mean (%)", "mean primal gap at the end", true}, {"first solution, median (" + unit + ")", "median time of the first solution that is known of; without a trajectory, of the end", true}}}
		if single {
			integrals.Columns = []column{{Name: "algorithm"}, {Name: "class"}, {"primal integral (" + unit + ")", "the mean primal gap times the time", true}, {"gap at the end (%)", "primal gap at the end", true},
				{"first solution (" + unit + ")", "when the first solution is known of; without a trajectory, the end", true}}
		}
		for _, a := range p.algorithms {
			var some []*run
			for _, r := range p.runsOf(a) {
				if solved(r) {
					some = append(some, r)
				}
			}
			if len(some) == 0 {
				continue
			}
			m, g := curve{name: a, step: true, hue: p.hue(a)}, curve{name: a, step: true, hue: p.hue(a)}
			for _, t := range times {
				gaps := values(some, func(r *run) float64 { return 100 * r.PrimalGapAt(t, r.on.Best) })
				m.points = append(m.points, point{x: t, y: stats.Mean(gaps)})
				g.points = append(g.points, point{x: t, y: stats.Shifted(gaps, 1)})
			}
			means.curves, geometric.curves = append(means.curves, m), append(geometric.curves, g)
			whole := values(some, func(r *run) float64 { return r.PrimalIntegral(end, r.on.Best) })
			first := values(some, func(r *run) float64 {
				for _, m := range r.Moments() {
					if !math.IsNaN(m.Objective) {
						return m.S
					}
				}
				return math.NaN()
			})
			last := values(some, func(r *run) float64 { return r.PrimalGapAt(math.Inf(1), r.on.Best) })
			long := func(x float64) cell { return number(x, words.Three(x/seconds)) }
			cells := []cell{text(a), text(string(p.class[a])), count(len(some)), long(stats.Mean(whole)), long(stats.Shifted(whole, shift)), number(stats.Mean(last), words.Percent(stats.Mean(last))), long(stats.Median(first))}
			if single {
				cells = []cell{cells[0], cells[1], cells[3], cells[5], cells[6]}
			}
			integrals.Rows = append(integrals.Rows, row{Cells: cells})
		}
		if len(open) > 0 {
			for _, x := range []struct {
				c *chart
				y float64
			}{{means, 100 * stats.Mean(open)}, {geometric, stats.Shifted(scaled(open, 100), 1)}} {
				x.c.curves = append(x.c.curves, curve{name: "left open by the bound", bound: true, points: []point{{x: times[0], y: x.y}, {x: end, y: x.y}}})
			}
		}
		caption := fmt.Sprintf("n = %d instances with a solution; %d of %d runs have a trajectory, the others are known at their end alone.", len(values(p.firsts(), func(r *run) float64 { return r.on.Best })), traced, len(p.runs))
		f := &figures{}
		if single {
			means.y.label = "primal gap (%)"
			f.add(means, fmt.Sprintf("%d of %d runs have a trajectory, the others are known at their end alone.", traced, len(p.runs)))
		} else {
			f.Choices = []choice{{Name: "Mean"}}
			f.add(means, caption, "arithmetic")
			f.add(geometric, caption+" The shift is one percentage point.", "shifted geometric")
		}
		s.Blocks = append(s.Blocks, block{Heading: p.head(all), Figures: f}, block{Table: integrals})
	}
	return s
}

// firsts returns the first run on each instance.
func (p *part) firsts() []*run {
	var all []*run
	for _, i := range p.instances {
		all = append(all, i.runs[0])
	}
	return all
}

func scaled(x []float64, by float64) []float64 {
	all := make([]float64, len(x))
	for i := range x {
		all[i] = by * x[i]
	}
	return all
}
