// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// usages returns the usage of each algorithm's solution; empty for problems without requests that run over time.
func (p *part) usages(found *solved) map[string]*model.Usage {
	all := map[string]*model.Usage{}
	for _, r := range p.runs {
		if r.Solution == nil {
			continue
		}
		if u, err := model.UsageOf(found.in, r.Solution); err == nil && len(u.Steps) > 0 {
			all[r.Algorithm] = u
		}
	}
	return all
}

// asking names the parts of an instance that run over time.
func asking(in model.Instance) string {
	if in.Kind() == model.KindBatch {
		return "jobs"
	}
	return "requests"
}

// workOf returns the work that the requests ask for, in unit-seconds; of a batch 0: it
// declines nothing.
func workOf(in model.Instance) (work float64) {
	switch in := in.(type) {
	case *model.Reservation:
		for k := range in.Requests {
			work += float64(in.Requests[k].PEs) * in.Requests[k].Runtime()
		}
	case *model.TVC:
		for k := range in.Requests {
			work += float64(in.Requests[k].VMs) * in.Requests[k].DurationS
		}
	}
	return work
}

// The most points of curves over time, smooth and in detail.
const fewSteps, mostSteps = 80, 500

// steps returns n <= most equal intervals of a length that is easy to name, and that length in seconds, for a span of
// time.
func steps(from, to, most float64) (end float64, n int, length float64) {
	nice := []float64{1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400}
	length = (to - from) / most
	if length > 1 {
		for _, x := range nice {
			if x >= length {
				length = x
				break
			}
		}
	}
	n = max(1, int(math.Ceil((to-from)/length)))
	return from + float64(n)*length, n, length
}

// timeAxis returns the axis of so many seconds, and what they are to be divided by.
func timeAxis(in model.Instance, span float64) (axis, float64) {
	if begin := model.StartTime(in); !begin.IsZero() {
		return axis{begin: &begin}, 1
	}
	unit, scale := words.TimeUnit(span)
	return axis{label: "time (" + unit + ")"}, scale
}

// overLog draws utilisation, queue and declined work over time.
func (p *part) overLog(usages map[string]*model.Usage) section {
	s := section{ID: "usage", Title: "Over time"}
	if len(usages) == 0 {
		return s
	}
	from, to := math.Inf(1), math.Inf(-1)
	unit, background := "", false
	for _, u := range usages {
		a, b := u.Span()
		from, to, unit = min(from, a), max(to, b), u.Unit
		background = background || slices.ContainsFunc(u.Steps, func(s model.UsageStep) bool { return s.Background > 0 })
	}
	if !(from < to) {
		return s
	}
	in := p.runs[0].Instance
	x, scale := timeAxis(in, to-from)
	work := workOf(in)
	type kind struct {
		name  string
		y     axis
		of    func(u *model.Usage, m model.UsageStep) float64
		bound float64 // NaN: none
		said  string
	}
	nan := math.NaN()
	kinds := []kind{
		{"utilisation", axis{label: "utilisation (%)"}, func(u *model.Usage, m model.UsageStep) float64 { return 100 * m.Used / u.Capacity }, 100, fmt.Sprintf("Mean share of %s in use; the dotted line is all of them.", unit)},
		{"queue", axis{label: "waiting " + asking(in)}, func(_ *model.Usage, m model.UsageStep) float64 { return m.Waiting }, nan, "Mean number of " + asking(in) + " that have arrived, are to run and don't: booked ahead, queued or suspended."},
	}
	if background {
		kinds[0].said = fmt.Sprintf("Mean share of %s in use in the foreground; the dotted line is all of them.", unit)
		kinds = append(kinds, kind{"background", axis{label: "background in use (%)"}, func(u *model.Usage, m model.UsageStep) float64 { return 100 * m.Background / u.Capacity }, 100, fmt.Sprintf("Mean share of %s whose background is in use.", unit)})
	}
	if work > 0 {
		kinds = append(kinds, kind{"declined work", axis{label: "declined work (% of all)"}, func(_ *model.Usage, m model.UsageStep) float64 { return 100 * m.Declined / work }, nan, "Work of the requests declined until then, counted at their arrival, as a share of all work asked for."})
	}
	shown := p.few()
	f := &figures{Choices: []choice{{Name: "Show"}, {Name: "Means over", Index: 1}}}
	for _, most := range []float64{fewSteps, mostSteps} {
		end, n, length := steps(from, to, most)
		over := long(length)
		if slices.Contains(f.Choices[1].Values, over) {
			break
		}
		means := map[string][]model.UsageStep{}
		for a, u := range usages {
			means[a] = u.Means(from, end, n)
		}
		for _, k := range kinds {
			c := &chart{name: k.name + " over time", x: x, y: k.y, wide: true, zero: true}
			for _, a := range p.algorithms {
				u := usages[a]
				if u == nil {
					continue
				}
				v := curve{name: a, step: true, hue: p.hue(a), hidden: !slices.Contains(shown, a)}
				for _, m := range means[a] {
					v.points = append(v.points, point{x: m.AtS / scale, y: k.of(u, m)})
				}
				v.points = append(v.points, point{x: end / scale, y: v.points[n-1].y})
				c.curves = append(c.curves, v)
			}
			if !math.IsNaN(k.bound) {
				c.curves = append(c.curves, curve{name: "all " + unit, bound: true, points: []point{{x: from / scale, y: k.bound}, {x: end / scale, y: k.bound}}})
			}
			f.add(c, fmt.Sprintf("%s Means over %s (n = %d intervals). Click a name to show or hide its curve.", k.said, over, n), k.name, over)
		}
	}
	s.Blocks = []block{{Figures: f}}
	return s
}

// few returns some algorithms for the curves shown at first: the log's own, the two best, one in the middle and the last.
// The runs are sorted, the best first.
func (p *part) few() []string {
	runs := slices.DeleteFunc(slices.Clone(p.runs), func(r *run) bool { return r.Objective == nil })
	var all []string
	for k, r := range runs {
		if n := len(runs); n <= 5 || r.Algorithm == gapwise.LogAlgorithm || k == 0 || k == 1 || k == n/2 || k == n-1 {
			all = append(all, r.Algorithm)
		}
	}
	return all
}

// long puts a time of whole units in words.
func long(s float64) string {
	for _, u := range []struct {
		seconds float64
		name    string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}} {
		if n := s / u.seconds; n >= 1 && n == math.Trunc(n) {
			return words.Plural(int(n), u.name)
		}
	}
	return words.Duration(s)
}
