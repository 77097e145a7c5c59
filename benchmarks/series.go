package benchmarks

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/words"
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
	// Half is the half-width of the mean's 95 % confidence interval by Student's t;
	// for a single run that by batch means, NaN where there is none.
	Half float64
	Runs int
	// Instances is how many different ones the runs are on.
	Instances int
}

// SeriesOptions choose what Series computes.
type SeriesOptions struct {
	X          []string           // parameters (Params): one, or several that change together
	Y          string             // of ValueNames
	Algorithms []string           // labels, in this order; empty: all, in the plan's order
	Where      map[string]float64 // values of parameters that runs must have
	// Minus, if not empty, is an algorithm whose value on the same instance with
	// the same seed is subtracted: the curves and their intervals are those of
	// paired differences.
	Minus string
	// Bound adds, for values that the objective bounds (the objective itself, and the
	// acceptance rate where accepted requests are the objective), the mean of the best
	// bound that any sealed run proves as the last line. At each x where that is known it
	// and all curves are means over the same instances: those on which no run lacks the
	// value. So no curve passes the bound. Without such an x there is no such line.
	Bound bool
}

// value describes a figure of a run that a curve can show.
type value struct {
	name, help string
	axis       func(*Record) string // title of an axis
	kinds      []model.Kind         // of the runs that have it; nil: all
	of         func(measured) float64
}

// at returns the value of a run.
func (v *value) at(r measured) (float64, error) {
	if len(v.kinds) > 0 && !slices.Contains(v.kinds, r.Kind) {
		return 0, fmt.Errorf("%q goes with %s, the run on %s is of %s", v.name, joined(v.kinds), r.Instance, r.Kind)
	}
	y := v.of(r)
	if math.IsInf(y, 0) {
		return 0, fmt.Errorf("%q of %s on %s is infinite", v.name, r.Algorithm, r.Instance)
	}
	return y, nil
}

// values returns the metrics of every problem, then the figures of all runs.
var values = sync.OnceValue(func() []value {
	var all []value
	named := func(name string) func(*Record) string { return func(*Record) string { return name } }
	for _, m := range metrics() {
		all = append(all, value{m.Key, fmt.Sprintf("of %s, %s", joined(m.kinds), m.Name), named(m.String()), m.kinds, func(r measured) float64 { return r.figure(m.Key) }})
	}
	return append(all,
		value{"objective", "objective", func(r *Record) string { return r.metrics()[0].String() }, nil, measured.objective},
		value{"second", "second objective", func(r *Record) string { return r.metrics()[1].String() }, nil, measured.second},
		value{"gap %", "gap to the best bound proved by any run", named("gap (%)"), nil, func(r measured) float64 { return 100 * r.gap() }},
		value{"bound", "bound that the run itself has", func(r *Record) string { return "bound of " + r.metrics()[0].String() }, nil, measured.bound},
		value{"unsolved %", "100 for a run without a solution, 0 otherwise", named("runs without a solution (%)"), nil, func(r measured) float64 { return 100 * r.unsolved() }},
		value{"deg. all %", "degradation from the best of the algorithms chosen, 100 without a solution", named("degradation (%)"), nil, func(r measured) float64 { return 100 * r.degradationOfAll() }},
		value{"time", "time of a run", named("time (s)"), nil, measured.elapsed},
		value{"failure %", "100 for a run without a solution, 0 for another; not of instances proved infeasible", named("failures (%)"), nil, measured.failure},
		value{"degradation %", "distance to the best objective of the compared algorithms", named("degradation (%)"), nil, func(r measured) float64 { return 100 * r.degradation() }},
		value{"planned", "of dag, makespan that the first plan promised", named("planned makespan (s)"), []model.Kind{model.KindDAG}, func(r measured) float64 { return r.metric("planned") }},
		value{"rounds", "of dag, round of the best plan", named("round of the best plan"), []model.Kind{model.KindDAG}, func(r measured) float64 { return r.metric("rounds") }},
		value{"preempted", "of tvc, preemptions, those included that go on at once in place", named("preemptions"), []model.Kind{model.KindTVC}, func(r measured) float64 { return r.metric("preempted") }})
})

// kindsMetric is a metric with the problems that have one of this key.
type kindsMetric struct {
	model.Metric
	kinds []model.Kind
}

// metrics returns the metrics of all problems, by any reading of their instances,
// each key once, but for what is optimised by default: that depends on the
// instance's goal, it is "objective".
func metrics() (all []*kindsMetric) {
	for _, p := range gapwise.Problems() {
		readings := []model.Instance{p.Kind.New()}
		for _, v := range p.Variants {
			for _, value := range v.Values {
				readings = append(readings, v.With(p.Kind.New(), value))
			}
		}
		for _, in := range readings {
			for _, m := range in.Metrics() {
				k := slices.IndexFunc(all, func(o *kindsMetric) bool { return o.Key == m.Key })
				switch {
				case m.Key == p.Kind.New().Metrics()[0].Key:
				case k < 0:
					all = append(all, &kindsMetric{m, []model.Kind{p.Kind}})
				case !slices.Contains(all[k].kinds, p.Kind):
					all[k].kinds = append(all[k].kinds, p.Kind)
				}
			}
		}
	}
	return all
}

// joined lists kinds in words.
func joined(kinds []model.Kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, " and ")
}

// ValueNames returns the values of Series, each with its description.
func ValueNames() [][2]string {
	var all [][2]string
	for _, v := range values() {
		all = append(all, [2]string{v.name, v.help})
	}
	return all
}

// ValueName returns the value of ValueNames that a name means: itself, or the one
// in percent ("acceptance" for "acceptance %").
func ValueName(name string) string {
	is := func(name string) bool {
		return slices.ContainsFunc(values(), func(v value) bool { return v.name == name })
	}
	if !is(name) && is(name+" %") {
		return name + " %"
	}
	return name
}

// ValueNotNegative reports whether a value is never below 0, so that no interval
// of it is: times, counts, shares.
func ValueNotNegative(name string) bool {
	return ValueName(name) != "objective" && ValueName(name) != "bound"
}

// ValueAxis returns the title of an axis with one of ValueNames, for runs like r.
func ValueAxis(name string, r *Record) string {
	name = ValueName(name)
	for _, v := range values() {
		if v.name == name {
			return v.axis(r)
		}
	}
	return name
}

// Series computes, for each algorithm, the mean of a value at each x with its
// 95 % confidence interval, over all runs there: instances and seeds. Each run
// counts as an independent draw, so an algorithm that draws nothing should run
// with one seed. Runs without the value (no solution, no bound) are left out,
// and so is an x at which all are. The result doesn't depend on the records'
// order.
//
// The error wraps model.ErrInvalid and names what is missing or ambiguous: an
// algorithm, a value, a parameter of a run, any run that fits; runs of several
// kinds; a run that is there twice; a value that is infinite. O(R log R) for R
// records.
func Series(records []Record, o SeriesOptions) ([]Line, error) {
	lines, err := series(records, o)
	if err != nil {
		return nil, fmt.Errorf("%w series: %w", model.ErrInvalid, err)
	}
	return lines, nil
}

func series(records []Record, o SeriesOptions) ([]Line, error) {
	all := values()
	o.Y = ValueName(ValueFor(o.Y, records))
	which := slices.IndexFunc(all, func(v value) bool { return v.name == o.Y })
	if which < 0 {
		var names []string
		for _, v := range values() {
			names = append(names, v.name)
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
	instances := Learn(records, compared)
	type pair struct {
		hash string
		seed uint64
	}
	base := map[pair]float64{}
	for _, r := range chosen {
		if r.Algorithm == o.Minus {
			if base[pair{r.Hash, r.Seed}], err = all[which].at(measured{r, instances[r.Hash]}); err != nil {
				return nil, err
			}
		}
	}
	type place struct{ algorithm, x string }
	at := map[string][]float64{} // the parameters' values at each x
	runs := map[place][]measuredRun{}
	half := map[place]float64{}               // of the last run
	limits := map[string]map[string]float64{} // bounds by x and instance
	for _, r := range chosen {
		x, err := parameters(r, o.X)
		if err != nil {
			return nil, err
		}
		y, err := all[which].at(measured{r, instances[r.Hash]})
		if err != nil {
			return nil, err
		}
		if o.Minus != "" {
			other, ok := base[pair{r.Hash, r.Seed}]
			if !ok || !slices.Contains(order, r.Algorithm) {
				continue
			}
			y -= other
		}
		key := fmt.Sprint(x)
		at[key] = x
		if !math.IsNaN(y) {
			here := place{r.Algorithm, key}
			runs[here], half[here] = append(runs[here], measuredRun{r.Hash, y}), measured{Record: r}.half(o.Y)
		}
		if limits[key] == nil {
			limits[key] = map[string]float64{}
		}
		if known, ok := limits[key][r.Hash]; !ok || math.IsNaN(known) {
			limits[key][r.Hash] = limit(measured{r, instances[r.Hash]}, o.Y)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("none of the %d runs has a value for %q", len(chosen), o.Y)
	}
	keys := slices.SortedFunc(maps.Keys(at), func(a, b string) int { return slices.Compare(at[a], at[b]) })
	lines := make([]Line, len(order))
	bound := Line{Algorithm: "bound", Bound: true}
	for n, a := range order {
		lines[n].Algorithm = a
	}
	for k, key := range keys {
		point := func(values []float64, instances int) SeriesPoint {
			p := SeriesPoint{X: at[key][0], Runs: len(values), Instances: instances}
			if len(o.X) > 1 {
				p.X, p.Label = float64(k), label(at[key])
			}
			p.Mean, p.Half = interval(values)
			return p
		}
		here := make([][]measuredRun, len(order))
		for n, a := range order {
			here[n] = runs[place{a, key}]
		}
		if o.Bound && o.Minus == "" {
			if same, bounds := underBound(here, limits[key]); len(bounds) > 0 {
				here = same
				p := point(bounds, len(bounds))
				p.Half = math.NaN()
				bound.Points = append(bound.Points, p)
			}
		}
		for n, a := range order {
			if len(here[n]) == 0 {
				continue
			}
			var values []float64
			on := map[string]bool{}
			for _, r := range here[n] {
				values, on[r.hash] = append(values, r.y), true
			}
			p := point(values, len(on))
			if len(values) == 1 {
				p.Half = half[place{a, key}]
			}
			lines[n].Points = append(lines[n].Points, p)
		}
	}
	if len(bound.Points) > 0 {
		lines = append(lines, bound)
	}
	return lines, nil
}

// measuredRun is the value of a run on an instance.
type measuredRun struct {
	hash string
	y    float64
}

// limit returns what no algorithm's value passes on the instance of a run, NaN if that
// isn't known.
func limit(r measured, value string) float64 {
	if r.known.Stated {
		return math.NaN()
	}
	switch {
	case value == "objective":
		return r.known.Bound
	case value != "acceptance %" || r.metrics()[0].Key != "accepted" || r.Objective == nil || *r.Objective <= 0:
		return math.NaN() // the rate of none tells nothing about how many there are
	}
	// The same share of it as of the objective.
	return min(r.known.Bound*r.figure(value) / *r.Objective, 100)
}

// underBound returns, of the runs of some algorithms, those on the instances on which each
// algorithm with runs has as many as on any other, and the limits of these instances;
// no limits if there is no such instance or one of them has none. All means then weigh
// the instances alike.
func underBound(runs [][]measuredRun, limits map[string]float64) (same [][]measuredRun, bounds []float64) {
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
		bounds = append(bounds, common[hash])
	}
	for _, all := range runs {
		same = append(same, slices.DeleteFunc(slices.Clone(all), func(r measuredRun) bool { _, ok := common[r.hash]; return !ok }))
	}
	return same, bounds
}

// PointsApart reports whether nothing is between the points of some lines, so that they
// aren't to be joined: x is computed of the instances, not what a generator was told, and
// most values of it have one instance.
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
			return words // they say the key
		}
		return words + ": " + key
	}
	return key
}

// label returns the text on an axis for values of several parameters.
func label(x []float64) string {
	var all []string
	for _, v := range x {
		all = append(all, words.Figure(v))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// choose returns the records of the algorithms whose parameters have the values
// of where. The error is for no record, and for records of several kinds or
// objectives.
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
			is, err := parameters(r, []string{p})
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
		switch {
		case len(all) > 0 && r.Kind != all[0].Kind:
			return nil, fmt.Errorf("there are runs of %s and of %s, give one kind alone", all[0].Kind, r.Kind)
		case len(all) > 0 && measure(r) != measure(all[0]):
			return nil, fmt.Errorf("there are runs whose objective is %s and others of %s, give one goal alone", measure(all[0]), measure(r))
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

// measure returns the name of the run's objective.
func measure(r *Record) string { return r.metrics()[0].Name }

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

// parameters returns a run's values of some parameters.
func parameters(r *Record, names []string) ([]float64, error) {
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

// interval returns the mean of n >= 1 values and the half-width of its 95 %
// confidence interval: t(0.975, n-1) s / sqrt(n), NaN for n = 1. It sorts x, as
// sums of floating-point numbers depend on their order.
func interval(x []float64) (mean, half float64) {
	slices.Sort(x)
	if len(x) == 1 {
		return x[0], math.NaN()
	}
	n := float64(len(x))
	mean, deviation := stat.MeanStdDev(x, nil)
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
}
