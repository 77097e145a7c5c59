// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// problem is an instance with a seed.
type problem struct {
	on   *instance
	seed uint64
}

// measured collects a measure of the runs of some algorithms, by problem.
func (p *part) measured(algorithms []string, f func(*run) float64) map[problem]map[string]float64 {
	all := map[problem]map[string]float64{}
	for _, r := range p.runs {
		if !slices.Contains(algorithms, r.Algorithm) {
			continue
		}
		k := problem{r.on, r.Seed}
		if all[k] == nil {
			all[k] = map[string]float64{}
		}
		all[k][r.Algorithm] = f(r)
	}
	return all
}

// best returns the best objective of the class of the run's algorithm.
func (r *run) best() float64 { return r.on.BestOf(r.Class()) }

// quality returns how many times worse the run's objective is than the best, see runs.Quality.
func (r *run) quality(best float64) float64 { return runs.Quality(r.on.Sense, r.objective(), best) }

// tolerances are the tolerances of time profiles.
var tolerances = []float64{0.01, 0.001, 0}

func profiles(all []*part) section {
	s := section{ID: "profiles", Title: "Performance profiles", Text: []string{
		"Dolan and Moré's profiles: ρ(τ) is the share of problems on which an algorithm needs at most τ times what the best algorithm needs. Left of the chart is who is best how often, right who solves most in the end. " +
			"A problem is an instance with a seed that all algorithms of the chart ran on. Times below 1 ms count as 1 ms. Online policies, offline heuristics and yardsticks have profiles of their own."}}
	for _, p := range all {
		shown, left := p.comparable()
		if len(p.instances) < 2 {
			continue
		}
		f := &figures{Choices: []choice{{Name: "Among"}, {Name: "By", Index: 1}}}
		for _, class := range model.Classes() {
			some := slices.DeleteFunc(slices.Clone(shown), func(a string) bool { return p.class[a] != class })
			if len(some) > 1 {
				p.classProfiles(f, some, left, class.Plural())
			}
		}
		if len(f.Charts) > 0 {
			s.Blocks = append(s.Blocks, block{Heading: p.head(all), Figures: f})
		}
	}
	return s
}

// classProfiles adds the profiles of the algorithms of a class, which its plural names.
func (p *part) classProfiles(f *figures, shown, left []string, plural string) {
	add := func(c *chart, what, caption string, ratios [][]float64) {
		p.profileCurves(c, shown, ratios)
		f.add(c, caption+notShown(left), plural, what)
	}
	for _, tolerance := range tolerances {
		ratios, n := runs.Ratios(shown, p.measured(shown, func(r *run) float64 { return r.TimeTo(tolerance, r.best()) }))
		what := fmt.Sprintf("time to within %s %% of the best", words.Tidy(100*tolerance))
		if tolerance == 0 {
			what = "time to the best"
		}
		if n > 0 {
			add(&chart{name: "Performance profile by " + what, x: axis{label: "τ, times the fastest algorithm's time", log: true}}, what,
				fmt.Sprintf("Time until a solution as good as the best of all %s, tolerance %s %%. n = %d problems.", plural, words.Tidy(100*tolerance), n), ratios)
		}
	}
	if ratios, n := runs.Ratios(shown, p.measured(shown, func(r *run) float64 { return r.quality(r.best()) })); n > 0 {
		add(&chart{name: "Performance profile by quality", x: axis{label: "τ, times worse than the best solution", log: true}}, "quality",
			fmt.Sprintf("Ratio of the objective to the best solution of the problem by one of the %s. n = %d problems.", plural, n), ratios)
	}
}

// profileCurves draws the step functions of some ascending ratios.
func (p *part) profileCurves(c *chart, shown []string, ratios [][]float64) {
	c.y = axis{label: "share of problems ρ(τ) (%)", low: 0, high: 102}
	c.fixed = true
	end := runs.ProfileEnd(ratios)
	for k, a := range shown {
		v := curve{name: a, step: true, hue: p.hue(a)}
		xs, ys := runs.Steps(ratios[k], 1, end)
		for i := range xs {
			v.points = append(v.points, point{x: xs[i], y: ys[i]})
		}
		if len(v.points) > 400 {
			v.points = every(v.points, 400)
		}
		c.curves = append(c.curves, v)
	}
}

// every returns about n of some points, the first and the last among them.
func every(all []point, n int) []point {
	var some []point
	for k := range n {
		some = append(some, all[k*(len(all)-1)/(n-1)])
	}
	return some
}
