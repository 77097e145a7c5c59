// SPDX-License-Identifier: MIT

package runs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Line is the curve of one algorithm.
type Line struct {
	Algorithm string
	Points    []SeriesPoint // by ascending X
	Bound     bool          // it is the bound's, no algorithm's
}

// SeriesPoint is the mean of the runs at one x.
type SeriesPoint struct {
	X     float64 // value of the parameter; for several parameters the index of their values
	Label string  // for several parameters: "{1,3}"; otherwise ""
	Mean  float64
	// Half is the half-width of the mean's 95 % confidence interval by Student's t; for a single run it is by batch
	// means, NaN without one.
	Half float64
	Runs int
	// Instances is how many different ones the runs are on.
	Instances int
}

// SeriesOptions configure Series.
type SeriesOptions struct {
	X          []string           // parameters (Params): one, or several that change together
	Y          string             // of ValueNames
	Algorithms []string           // labels, in this order; empty: all, in the plan's order
	Where      map[string]float64 // values of parameters that runs must have
	// Minus, if not empty, is an algorithm to subtract: its value on the same instance with the same seed. The curves
	// and their intervals then show paired differences.
	Minus string
	// Bound adds, as the last line, the mean of the best bound that any sealed run proves. It does so for values that
	// the objective bounds: the objective itself, and the acceptance rate if accepted requests are the objective. At
	// each x with a known bound, it and all curves are means over the same instances, on which no run lacks the value.
	// So no curve passes the bound. Without such an x there is no such line.
	Bound bool
}

// ValueAxis returns the title of an axis with a measure of ValueNames, for runs like the first one. It also returns
// whether the measure is never below 0, so that no interval of it is: times, counts, shares.
func ValueAxis(name string, records []Record) (title string, notNegative bool) {
	m := valueOf(name, records)
	if m == nil {
		return name, true
	}
	return m.metric(&records[0]).String(), m.name != objectiveKey && m.name != "bound"
}

// Series computes, for each algorithm, the mean of a value at each x with its
// 95 % confidence interval, over all runs there: instances and seeds. Each run
// counts as an independent draw, so an algorithm that draws nothing should run
// with one seed. Runs without the value (no solution, no bound) are left out,
// and so is an x at which all are. The result doesn't depend on the records'
// order.
//
// The error wraps model.ErrInvalid and names the missing or ambiguous part: an algorithm, a value, a parameter of a
// run, any run that fits; runs of several kinds; a run that is there twice; a value that is infinite. O(R log R) for R
// records.
func Series(records []Record, o SeriesOptions) ([]Line, error) {
	bad := func(err error) ([]Line, error) { return nil, fmt.Errorf("%w series: %w", model.ErrInvalid, err) }
	y := valueOf(o.Y, records)
	if y == nil {
		var names []string
		for _, m := range measures() {
			names = append(names, m.name)
		}
		return bad(fmt.Errorf("there is no value %q, give one of %s", o.Y, strings.Join(names, ", ")))
	}
	if len(o.X) == 0 {
		return bad(errors.New("no parameter is given for x"))
	}
	t, err := Load("series", records, o.Algorithms, slices.DeleteFunc([]string{o.Minus}, func(a string) bool { return a == "" })...)
	if err != nil {
		return nil, err
	}
	for k, a := range t.Algorithms {
		if slices.Contains(t.Algorithms[:k], a) {
			return bad(fmt.Errorf("%q is named twice", a))
		}
	}
	if err := t.Where(o.Where); err != nil {
		return bad(err)
	}
	groups, err := t.By(o.X)
	if err != nil {
		return bad(err)
	}
	lines, bound := make([]Line, len(t.Algorithms)), Line{Algorithm: "bound", Bound: true}
	for n, a := range t.Algorithms {
		lines[n].Algorithm = a
	}
	at := 0 // of the x that have runs
	for _, g := range groups {
		here, limits, err := t.measured(g, y, o.Minus)
		if err != nil {
			return bad(err)
		}
		if len(limits) == 0 {
			continue
		}
		point := SeriesPoint{X: g.X[0]}
		if len(o.X) > 1 {
			point = SeriesPoint{X: float64(at), Label: Label(g.X)}
		}
		at++
		if o.Bound && o.Minus == "" {
			if same, bounds := underBound(here, limits); len(bounds) > 0 {
				here = same
				p := point.mean(bounds)
				p.Half = math.NaN()
				bound.Points = append(bound.Points, p)
			}
		}
		for n := range here {
			if len(here[n]) > 0 {
				lines[n].Points = append(lines[n].Points, point.mean(here[n]))
			}
		}
	}
	if !slices.ContainsFunc(lines, func(l Line) bool { return len(l.Points) > 0 }) {
		return bad(fmt.Errorf("none of the %d runs has a value for %q", len(t.Rows), y.name))
	}
	if len(bound.Points) > 0 {
		lines = append(lines, bound)
	}
	return lines, nil
}

// measured returns the values of a measure in a group, by algorithm, less that of one on the same instance with the
// same seed; and limits of them by instance.
func (t *Results) measured(g Group, y *measure, minus string) (values [][]measuredRun, limits map[string]float64, err error) {
	type pair struct {
		hash string
		seed uint64
	}
	base := map[pair]float64{}
	for _, r := range g.Of(minus) {
		if base[pair{r.Hash, r.Seed}], err = y.at(r); err != nil {
			return nil, nil, err
		}
	}
	values, limits = make([][]measuredRun, len(t.Algorithms)), map[string]float64{}
	for _, r := range g.Rows {
		n := slices.Index(t.Algorithms, r.Algorithm)
		other, paired := base[pair{r.Hash, r.Seed}]
		if n < 0 || minus != "" && !paired {
			continue
		}
		x, err := y.at(r)
		if err != nil {
			return nil, nil, err
		}
		if x -= other; !math.IsNaN(x) {
			values[n] = append(values[n], measuredRun{r.Hash, x, r.half(y.name)})
		}
		if known, ok := limits[r.Hash]; !ok || math.IsNaN(known) {
			limits[r.Hash] = limit(r, y.name)
		}
	}
	return values, limits, nil
}

// mean returns the point with the mean of some runs.
func (p SeriesPoint) mean(runs []measuredRun) SeriesPoint {
	var values []float64
	on := map[string]bool{}
	for _, r := range runs {
		values, on[r.hash] = append(values, r.y), true
	}
	p.Runs, p.Instances = len(runs), len(on)
	if p.Mean, p.Half = Interval(values); len(runs) == 1 {
		p.Half = runs[0].half
	}
	return p
}

// measuredRun is the value of a run on an instance.
type measuredRun struct {
	hash string
	y    float64
	half float64 // of the confidence interval that the run itself has
}

// limit returns a limit that no algorithm's value passes on the instance of a run, NaN if it isn't known.
func limit(r Run, value string) float64 {
	if r.Known.Stated {
		return math.NaN()
	}
	switch {
	case value == objectiveKey:
		return r.Known.Bound
	case value != "acceptance %" || r.metrics()[0].Key != "accepted" || r.Objective == nil || *r.Objective <= 0:
		return math.NaN() // the rate of none doesn't show how many there are
	}
	// The same share of it as of the objective.
	return min(r.Known.Bound*r.metric(value) / *r.Objective, 100)
}

// underBound returns some of the runs of some algorithms: the runs on the instances on which each algorithm with runs
// has as many as on any other. It also returns the limits of these instances; no limits if there is no such instance or
// one of them has none. All means then weigh the instances alike.
func underBound(runs [][]measuredRun, limits map[string]float64) (same [][]measuredRun, bounds []measuredRun) {
	common := maps.Clone(limits)
	for _, all := range runs {
		count, most := map[string]int{}, 0
		for _, r := range all {
			count[r.hash]++
			most = max(most, count[r.hash])
		}
		maps.DeleteFunc(common, func(hash string, _ float64) bool { return count[hash] < most })
	}
	for _, hash := range slices.Sorted(maps.Keys(common)) {
		if math.IsNaN(common[hash]) {
			return nil, nil
		}
		bounds = append(bounds, measuredRun{hash: hash, y: common[hash]})
	}
	for _, all := range runs {
		same = append(same, slices.DeleteFunc(slices.Clone(all), func(r measuredRun) bool { _, ok := common[r.hash]; return !ok }))
	}
	return same, bounds
}

// PointsApart reports whether nothing is between the points of some lines, so that they aren't to be joined: x is
// computed of the instances, not a generator's input, and most values of it have one instance.
func PointsApart(records []Record, x []string, lines []Line) bool {
	for i := range records {
		for _, key := range x {
			if _, told := records[i].Params[key]; told {
				return false
			}
		}
	}
	single, points := 0, 0
	for _, l := range lines {
		for _, p := range l.Points {
			points++
			if p.Instances < 2 {
				single++
			}
		}
	}
	return 2*single > points
}

// ParameterAxis returns the title of an axis with a parameter of runs like r: its
// words and unit, then its key.
func ParameterAxis(key string, r *Record) string {
	p, err := gapwise.ProblemOf(r.Kind)
	if err != nil {
		return key
	}
	for _, x := range ParamsOf(p) {
		if x.Key != key {
			continue
		}
		words, _, _ := strings.Cut(x.Help, ";")
		if words = strings.TrimSpace(words); words == "" || words == key {
			words = key
		}
		if x.Unit != "" {
			words += " (" + x.Unit + ")"
		}
		if strings.EqualFold(words, key) || strings.EqualFold(words, "number of "+key) {
			return words // they include the key
		}
		return words + ": " + key
	}
	return key
}

// Label returns the text on an axis for values of several parameters.
func Label(x []float64) string {
	var all []string
	for _, v := range x {
		all = append(all, words.Figure(v))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// Interval returns the mean of n >= 1 values and the half-width of its 95 %
// confidence interval: t(0.975, n-1) s / sqrt(n), NaN for n = 1. It sorts x, as
// sums of floating-point numbers depend on their order.
func Interval(x []float64) (mean, half float64) {
	slices.Sort(x)
	if len(x) == 1 {
		return x[0], math.NaN()
	}
	n := float64(len(x))
	mean, deviation := stat.MeanStdDev(x, nil)
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
}

// Estimate returns the Interval of some values, which it sorts, that are sums of
// magnitudes up to largest: rounding errors are no difference. NaN without values.
func Estimate(all []float64, largest float64) (mean, half float64) {
	if len(all) == 0 {
		return math.NaN(), math.NaN()
	}
	mean, half = Interval(all)
	for _, x := range []*float64{&mean, &half} {
		if math.Abs(*x) < 1e-12*largest {
			*x = 0
		}
	}
	return mean, half
}
