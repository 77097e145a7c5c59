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
	lines, err := series(records, o)
	if err != nil {
		return nil, fmt.Errorf("%w series: %w", model.ErrInvalid, err)
	}
	return lines, nil
}

func series(records []Record, o SeriesOptions) ([]Line, error) {
	y := valueOf(o.Y, records)
	if y == nil {
		var names []string
		for _, m := range measures() {
			names = append(names, m.name)
		}
		return nil, fmt.Errorf("there is no value %q, give one of %s", o.Y, strings.Join(names, ", "))
	}
	if len(o.X) == 0 {
		return nil, errors.New("no parameter is given for x")
	}
	records, _, err := Merge(records)
	if err != nil {
		return nil, err
	}
	order, err := algorithmsOf(records, o.Algorithms)
	if err != nil {
		return nil, err
	}
	for k, a := range order {
		if slices.Contains(order[:k], a) {
			return nil, fmt.Errorf("%q is named twice", a)
		}
	}
	compared := order
	if o.Minus != "" {
		if _, err := algorithmsOf(records, []string{o.Minus}); err != nil {
			return nil, err
		}
		compared = append(slices.Clone(order), o.Minus)
	}
	chosen, err := choose(records, compared, o.Where)
	if err != nil {
		return nil, err
	}
	d := drawing{SeriesOptions: o, y: y, order: order, at: map[string][]float64{}, runs: map[place][]measuredRun{}, limits: map[string]map[string]float64{}}
	if err := d.read(chosen, Learn(records, compared)); err != nil {
		return nil, err
	}
	if len(d.runs) == 0 {
		return nil, fmt.Errorf("none of the %d runs has a value for %q", len(chosen), y.name)
	}
	return d.lines(), nil
}

// drawing holds the data that Series reads of the runs.
type drawing struct {
	SeriesOptions
	y      *measure
	order  []string                      // algorithms
	at     map[string][]float64          // the parameters' values at each x
	runs   map[place][]measuredRun       // with a value
	limits map[string]map[string]float64 // bounds by x and instance
}

type place struct{ algorithm, x string }

// read reads the values of runs.
func (d *drawing) read(chosen []*Record, known map[string]*Known) error {
	type pair struct {
		hash string
		seed uint64
	}
	base := map[pair]float64{}
	for _, r := range chosen {
		if r.Algorithm == d.Minus {
			y, err := d.y.at(Run{r, known[r.Hash]})
			if err != nil {
				return err
			}
			base[pair{r.Hash, r.Seed}] = y
		}
	}
	for _, r := range chosen {
		x, err := Parameters(r, d.X)
		if err != nil {
			return err
		}
		run := Run{r, known[r.Hash]}
		y, err := d.y.at(run)
		if err != nil {
			return err
		}
		if d.Minus != "" {
			other, ok := base[pair{r.Hash, r.Seed}]
			if !ok || !slices.Contains(d.order, r.Algorithm) {
				continue
			}
			y -= other
		}
		key := fmt.Sprint(x)
		d.at[key] = x
		if here := (place{r.Algorithm, key}); !math.IsNaN(y) {
			d.runs[here] = append(d.runs[here], measuredRun{r.Hash, y, run.half(d.y.name)})
		}
		if d.limits[key] == nil {
			d.limits[key] = map[string]float64{}
		}
		if known, ok := d.limits[key][r.Hash]; !ok || math.IsNaN(known) {
			d.limits[key][r.Hash] = limit(run, d.y.name)
		}
	}
	return nil
}

// lines returns the curves, the bound's last.
func (d *drawing) lines() []Line {
	lines := make([]Line, len(d.order))
	for n, a := range d.order {
		lines[n].Algorithm = a
	}
	bound := Line{Algorithm: "bound", Bound: true}
	keys := slices.SortedFunc(maps.Keys(d.at), func(a, b string) int { return slices.Compare(d.at[a], d.at[b]) })
	for k, key := range keys {
		here := make([][]measuredRun, len(d.order))
		for n, a := range d.order {
			here[n] = d.runs[place{a, key}]
		}
		if d.Bound && d.Minus == "" {
			if same, bounds := underBound(here, d.limits[key]); len(bounds) > 0 {
				here = same
				p := d.point(k, key, bounds)
				p.Half = math.NaN()
				bound.Points = append(bound.Points, p)
			}
		}
		for n := range here {
			if len(here[n]) > 0 {
				lines[n].Points = append(lines[n].Points, d.point(k, key, here[n]))
			}
		}
	}
	if len(bound.Points) > 0 {
		lines = append(lines, bound)
	}
	return lines
}

// point returns the mean of some runs at the k-th x.
func (d *drawing) point(k int, key string, runs []measuredRun) SeriesPoint {
	p := SeriesPoint{X: d.at[key][0], Runs: len(runs)}
	if len(d.X) > 1 {
		p.X, p.Label = float64(k), Label(d.at[key])
	}
	var values []float64
	on := map[string]bool{}
	for _, r := range runs {
		values, on[r.hash] = append(values, r.y), true
	}
	p.Instances = len(on)
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

// choose returns the records of the algorithms with parameters that have the values of where. The error is for no
// record, and for records of several kinds or objectives.
func choose(records []Record, algorithms []string, where map[string]float64) ([]*Record, error) {
	var all []*Record
	have := map[string]map[float64]bool{} // values of the parameters
	for i := range records {
		r := &records[i]
		if !slices.Contains(algorithms, r.Algorithm) {
			continue
		}
		fits := true
		for p, want := range where {
			is, err := Parameters(r, []string{p})
			if err != nil {
				return nil, err
			}
			if have[p] == nil {
				have[p] = map[float64]bool{}
			}
			have[p][is[0]] = true
			fits = fits && is[0] == want
		}
		if !fits {
			continue
		}
		if len(all) > 0 {
			if err := all[0].Unlike(r); err != nil {
				return nil, err
			}
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		var conditions []string
		for _, p := range slices.Sorted(maps.Keys(where)) {
			conditions = append(conditions, fmt.Sprintf("%s = %s (there is %s)", p, words.Figure(where[p]), some(have[p])))
		}
		return nil, fmt.Errorf("no run has %s", strings.Join(conditions, " and "))
	}
	return all, nil
}

// Unlike returns an error if two runs can't be compared: they are of two problems, or of
// two objectives.
func (r *Record) Unlike(other *Record) error {
	switch a, b := r.metrics()[0].Name, other.metrics()[0].Name; {
	case r.Kind != other.Kind:
		return fmt.Errorf("there are runs of %s and of %s, give one kind alone", r.Kind, other.Kind)
	case a != b:
		return fmt.Errorf("there are runs whose objective is %s and others of %s, give one goal alone", a, b)
	}
	return nil
}

// some lists the first few values.
func some(values map[float64]bool) string {
	const most = 10
	var all []string
	for k, v := range slices.Sorted(maps.Keys(values)) {
		if k == most {
			all = append(all, "...")
			break
		}
		all = append(all, words.Figure(v))
	}
	return strings.Join(all, ", ")
}

// Parameters returns a run's values of some parameters.
func Parameters(r *Record, names []string) ([]float64, error) {
	var all []float64
	for _, p := range names {
		v, ok := parameter(r.Params, r.Features, p)
		if !ok {
			there := "none"
			if keys := maps.Clone(r.Features); len(keys)+len(r.Params) > 0 {
				if keys == nil {
					keys = map[string]float64{}
				}
				maps.Copy(keys, r.Params)
				there = strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
			}
			return nil, fmt.Errorf("the run on %s has no parameter %q; it has %s", r.Instance, p, there)
		}
		all = append(all, v)
	}
	return all, nil
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
