// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// The performance profile of an algorithm (Dolan, Moré: Benchmarking optimization
// software with performance profiles, 2002) is the share ρ(τ) of problems on which its
// measure is at most τ times the best algorithm's. A problem is an instance with a
// seed that every algorithm of the profile ran on.

// Ratios returns the ratios of each algorithm, ascending, over the problems on which at least one of them has a finite
// measure; +Inf where it has none. n is the number of these problems.
func Ratios[P comparable](algorithms []string, measures map[P]map[string]float64) (ratios [][]float64, n int) {
	ratios = make([][]float64, len(algorithms))
	for _, of := range measures {
		if len(of) < len(algorithms) {
			continue // one didn't run on it
		}
		best := math.Inf(1)
		for _, x := range of {
			best = min(best, x)
		}
		if math.IsInf(best, 0) {
			continue
		}
		n++
		for k, a := range algorithms {
			r := of[a] / best
			if of[a] == best {
				r = 1
			}
			ratios[k] = append(ratios[k], r)
		}
	}
	for k := range ratios {
		slices.Sort(ratios[k])
	}
	return ratios, n
}

// ProfileEnd returns where the axis of profiles ends: a bit beyond the largest finite ratio.
func ProfileEnd(ratios [][]float64) float64 {
	end := 1.1
	for _, all := range ratios {
		for _, r := range all {
			if !math.IsInf(r, 0) {
				end = max(end, 1.05*r)
			}
		}
	}
	return end
}

// Steps returns the distribution of ascending values as a step function from one x to another: y is the share in percent
// of the values up to there. An infinite value counts, and is nowhere.
func Steps(values []float64, from, end float64) (x, y []float64) {
	x, y = []float64{from}, []float64{0}
	for i, r := range values {
		if math.IsInf(r, 0) {
			break
		}
		if r > x[len(x)-1] {
			x, y = append(x, r), append(y, 0)
		}
		y[len(y)-1] = 100 * float64(i+1) / float64(len(values))
	}
	return append(x, end), append(y, y[len(y)-1])
}

// LeastTime is the shortest time that counts, in seconds: below it clocks and caches are measured.
const LeastTime = 1e-3

// TimeTo returns when the run had a solution within a relative tolerance of the best
// one, +Inf if it never had, at least LeastTime.
func (r *Record) TimeTo(tolerance, best float64) float64 {
	for _, m := range r.Moments() {
		if math.Abs(m.Objective-best) <= tolerance*math.Abs(best) {
			return max(m.S, LeastTime)
		}
	}
	return math.Inf(1)
}

// Quality returns how many times worse an objective is than the best: a ratio
// of at least 1. It is +Inf without a solution, or where the two have other signs.
func Quality(sense model.Sense, x, best float64) float64 {
	if sense > 0 {
		x, best = best, x
	}
	switch {
	case math.IsNaN(x) || math.IsNaN(best):
		return math.Inf(1)
	case x == best:
		return 1
	case x > 0 && best > 0:
		return x / best
	case x < 0 && best < 0:
		return best / x
	}
	return math.Inf(1)
}

// members returns the algorithms of a class.
func (t *Results) members(class model.Class) []string {
	return slices.DeleteFunc(slices.Clone(t.Algorithms), func(a string) bool { return t.classes[a] != class })
}

// oneProblem is an instance with a seed.
type oneProblem struct {
	hash string
	seed uint64
}

// measured returns a measure of the runs by problem, of the algorithms of the one class with several. The error wraps
// model.ErrInvalid, for two such classes, too: they don't share a picture that ranks.
func measured(what string, records []Record, o SeriesOptions, of func(Run) (float64, error)) (algorithms []string, measures map[oneProblem]map[string]float64, err error) {
	bad := func(err error) ([]string, map[oneProblem]map[string]float64, error) {
		return nil, nil, fmt.Errorf("%w %s: %w", model.ErrInvalid, what, err)
	}
	t, err := Load(what, records, o.Algorithms)
	if err != nil {
		return nil, nil, err
	}
	if err = t.Where(o.Where); err != nil {
		return bad(err)
	}
	var all []string
	for _, class := range model.Classes() {
		if some := t.members(class); len(some) > 1 {
			algorithms = some
			all = append(all, strings.Join(some, ","))
		}
	}
	if len(all) != 1 {
		return bad(fmt.Errorf("it is of two or more algorithms of one class, online, offline or yardsticks; choose with --algorithms%s",
			strings.TrimSuffix(" "+strings.Join(all, " or "), " ")))
	}
	measures = map[oneProblem]map[string]float64{}
	for _, r := range t.Rows {
		if !slices.Contains(algorithms, r.Algorithm) {
			continue
		}
		k := oneProblem{r.Hash, r.Seed}
		if measures[k] == nil {
			measures[k] = map[string]float64{}
		}
		if measures[k][r.Algorithm], err = of(r); err != nil {
			return bad(err)
		}
	}
	return algorithms, measures, nil
}

// stepLines returns a curve of the steps of each algorithm's values.
func stepLines(algorithms []string, values [][]float64, from, end float64) (lines []Line) {
	for k, a := range algorithms {
		lines = append(lines, Line{Algorithm: a})
		x, y := Steps(values[k], from, end)
		for i := range x {
			lines[k].Points = append(lines[k].Points, SeriesPoint{X: x[i], Mean: y[i]})
		}
	}
	return lines
}

// Profiles returns the profiles of the algorithms of one class, as curves of shares in percent over τ, and the number
// of problems: of quality, or of the time to the best solution. Algorithms of other classes are left out, if they are
// alone in theirs. Options other than Algorithms and Where don't count. Errors are those of measured. O(R log R) for R
// records.
func Profiles(records []Record, o SeriesOptions, time bool) (lines []Line, n int, err error) {
	algorithms, measures, err := measured("profile", records, o, func(r Run) (float64, error) {
		if time {
			return r.TimeTo(0, r.best()), nil
		}
		return Quality(r.Known.Sense, r.Value(), r.best()), nil
	})
	if err != nil {
		return nil, 0, err
	}
	ratios, n := Ratios(algorithms, measures)
	if n == 0 {
		return nil, 0, fmt.Errorf("%w profile: there is no instance that all of %s ran on with one seed, and one solved",
			model.ErrInvalid, strings.Join(algorithms, ", "))
	}
	return stepLines(algorithms, ratios, 1, ProfileEnd(ratios)), n, nil
}

// Distributions returns the empirical distributions of the value Y of the algorithms of one class, as curves of shares in
// percent of the problems that all of them ran on and one has the value of, and the number of these. A run without the
// value counts, so that a curve may end below 100. Options are those of Samples, and errors those of measured. O(R log R)
// for R records.
func Distributions(records []Record, o SeriesOptions) (lines []Line, n int, err error) {
	const what = "distribution"
	y := valueOf(o.Y, records)
	if y == nil {
		return nil, 0, fmt.Errorf("%w %s: there is no value %q; see gapwise bench plot --help", model.ErrInvalid, what, o.Y)
	}
	unit := ""
	algorithms, measures, err := measured(what, records, o, func(r Run) (float64, error) {
		is := y.metric(r.Record).String()
		if unit = cmp.Or(unit, is); is != unit {
			return 0, fmt.Errorf("%q is %s in some of these runs and %s in others; choose runs of one problem", y.name, unit, is)
		}
		return y.at(r)
	})
	if err != nil {
		return nil, 0, err
	}
	values, low, high := make([][]float64, len(algorithms)), math.Inf(1), math.Inf(-1)
	for _, of := range measures {
		known := slices.ContainsFunc(algorithms, func(a string) bool { return !math.IsNaN(of[a]) })
		if len(of) < len(algorithms) || !known {
			continue
		}
		n++
		for k, a := range algorithms {
			x := of[a]
			if math.IsNaN(x) {
				x = math.Inf(1)
			} else {
				low, high = min(low, x), max(high, x)
			}
			values[k] = append(values[k], x)
		}
	}
	if low > high {
		return nil, 0, fmt.Errorf("%w %s: there is no instance that all of %s ran on with one seed, and one has a value of %q on",
			model.ErrInvalid, what, strings.Join(algorithms, ", "), y.name)
	}
	for k := range values {
		slices.Sort(values[k])
	}
	return stepLines(algorithms, values, low, high), n, nil
}

// Sample is the values of an algorithm's runs.
type Sample struct {
	Algorithm string
	Class     model.Class
	Values    []float64 // of the runs that have it
	Runs      int
}

// Samples returns the values Y of the runs of each algorithm, by class. Options other than Y, Algorithms and Where
// don't count. The error wraps model.ErrInvalid. O(R log R) for R records.
func Samples(records []Record, o SeriesOptions) (all []Sample, err error) {
	bad := func(err error) ([]Sample, error) { return nil, fmt.Errorf("%w box plot: %w", model.ErrInvalid, err) }
	y := valueOf(o.Y, records)
	if y == nil {
		return bad(fmt.Errorf("there is no value %q; see gapwise bench plot --help", o.Y))
	}
	t, err := Load("box plot", records, o.Algorithms)
	if err != nil {
		return nil, err
	}
	if err := t.Where(o.Where); err != nil {
		return bad(err)
	}
	for _, class := range model.Classes() {
		for _, a := range t.Algorithms {
			s := Sample{Algorithm: a, Class: t.classes[a]}
			for _, r := range (Group{Rows: t.Rows}).Of(a) {
				x, err := y.at(r)
				if err != nil {
					return bad(err)
				}
				if s.Runs++; !math.IsNaN(x) {
					s.Values = append(s.Values, x)
				}
			}
			if s.Class == class && len(s.Values) > 0 {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return bad(fmt.Errorf("none of the %d runs has a value for %q", len(t.Rows), y.name))
	}
	return all, nil
}
