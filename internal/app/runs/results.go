// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Results is the one table that figures of runs come from: a row is a run with what all runs say of its instance, a
// column is a measure. Tables, curves, comparisons and findings differ in how they group its rows.
type Results struct {
	Rows       []Run
	Algorithms []string // labels, in the order in which they are shown

	records []Record // merged, those of other algorithms, too
	// instances, if not nil, names the instances in order: then ByInstance is a parameter, and its value the place there.
	instances []string
	classes   map[string]model.Class
}

// Load makes the table of the runs of some algorithms, of all in the plan's order if none is named. Those besides have
// rows as well, and aren't shown. Errors wrap model.ErrInvalid, and name the user.
func Load(user string, records []Record, algorithms []string, besides ...string) (*Results, error) {
	records, _, err := Merge(records)
	if err != nil {
		return nil, err
	}
	t := &Results{records: records, classes: classes(records)}
	if t.Algorithms, err = algorithmsOf(records, algorithms); err == nil {
		_, err = algorithmsOf(records, besides)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", model.ErrInvalid, user, err)
	}
	compared := slices.Concat(t.Algorithms, besides)
	known := Learn(records, compared)
	for i := range records {
		if r := &records[i]; slices.Contains(compared, r.Algorithm) {
			t.Rows = append(t.Rows, Run{r, known[r.Hash]})
		}
	}
	return t, nil
}

// Group is the rows with the same values of some parameters.
type Group struct {
	X    []float64
	Rows []Run
}

// By groups the rows by parameters, in ascending order of their values. Rows are in the order of their instances, as
// sums of floating-point numbers depend on it.
func (t *Results) By(parameters []string) ([]Group, error) {
	groups := map[string]*Group{}
	for _, r := range t.Rows {
		x, err := t.parameters(r.Record, parameters)
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(x)
		if groups[key] == nil {
			groups[key] = &Group{X: x}
		}
		groups[key].Rows = append(groups[key].Rows, r)
	}
	var all []Group
	for _, g := range groups {
		slices.SortFunc(g.Rows, func(a, b Run) int {
			return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Seed, b.Seed))
		})
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group) int { return slices.Compare(a.X, b.X) })
	return all, nil
}

// parameters is Parameters, and knows ByInstance if the table has the names of instances.
func (t *Results) parameters(r *Record, names []string) ([]float64, error) {
	k := slices.Index(names, ByInstance)
	if k < 0 || t.instances == nil {
		return Parameters(r, names)
	}
	place, _ := slices.BinarySearch(t.instances, r.Instance)
	x, err := Parameters(r, slices.Delete(slices.Clone(names), k, k+1))
	return slices.Insert(x, min(k, len(x)), float64(place)), err
}

// Of returns the rows of an algorithm.
func (g Group) Of(algorithm string) (rows []Run) {
	for _, r := range g.Rows {
		if r.Algorithm == algorithm {
			rows = append(rows, r)
		}
	}
	return rows
}

// Where keeps the rows with values of parameters. The error is for no row, and for rows of several kinds or objectives.
func (t *Results) Where(values map[string]float64) error {
	rows := t.Rows
	var conditions []string
	for _, p := range slices.Sorted(maps.Keys(values)) {
		groups, err := t.By([]string{p})
		if err != nil {
			return err
		}
		var there []string
		for _, g := range groups {
			there = append(there, words.Figure(g.X[0]))
		}
		if len(there) > 10 {
			there = append(there[:10], "...")
		}
		conditions = append(conditions, fmt.Sprintf("%s = %s (there is %s)", p, words.Figure(values[p]), strings.Join(there, ", ")))
		rows = slices.DeleteFunc(slices.Clone(rows), func(r Run) bool { x, _ := r.parameter(p); return x != values[p] })
	}
	if len(rows) == 0 {
		return fmt.Errorf("no run has %s", strings.Join(conditions, " and "))
	}
	for _, r := range rows {
		if err := rows[0].Unlike(r.Record); err != nil {
			return err
		}
	}
	t.Rows = rows
	return nil
}

// algorithmsOf returns the labels wanted or, if none is, all: in the order of the plan, if records state it (they do so
// since 0.9.0), the others after them in alphabetical order.
func algorithmsOf(records []Record, wanted []string) ([]string, error) {
	if len(records) == 0 {
		return nil, errors.New("there are no results")
	}
	first := map[string]int{} // number of a label's first run in its plan
	var all []string          // by appearance
	for i := range records {
		r := &records[i]
		n, here := first[r.Algorithm]
		if !here {
			all = append(all, r.Algorithm)
			n = math.MaxInt
		}
		if r.Run > 0 {
			n = min(n, r.Run)
		}
		first[r.Algorithm] = n
	}
	if len(wanted) == 0 {
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(first[a], first[b]), cmp.Compare(a, b)) })
		return all, nil
	}
	for _, a := range wanted {
		if !slices.Contains(all, a) {
			return nil, fmt.Errorf("no run is by %q, there are %s", a, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// classes returns the class of each algorithm; all the same if a name means different algorithms of several problems.
func classes(records []Record) map[string]model.Class {
	all := map[string]model.Class{}
	for i := range records {
		r := &records[i]
		if c, ok := all[r.Algorithm]; ok && c != r.Class() {
			all[r.Algorithm] = model.Offline
		} else {
			all[r.Algorithm] = r.Class()
		}
	}
	return all
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

// parameter returns the value of a parameter: the generator's input takes precedence over a computed one. That has twelve
// digits: rounding errors are no difference, as between instances that were drawn with one ratio.
func (r *Record) parameter(key string) (float64, bool) {
	if x, ok := r.Params[key]; ok {
		return x, true
	}
	x, ok := r.Features[key]
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return x, ok
}

// Parameters returns a run's values of some parameters.
func Parameters(r *Record, names []string) ([]float64, error) {
	var all []float64
	for _, p := range names {
		v, ok := r.parameter(p)
		if !ok {
			keys := slices.AppendSeq(slices.Collect(maps.Keys(r.Features)), maps.Keys(r.Params))
			slices.Sort(keys)
			there := cmp.Or(strings.Join(slices.Compact(keys), ", "), "none")
			return nil, fmt.Errorf("the run on %s has no parameter %q; it has %s", r.Instance, p, there)
		}
		all = append(all, v)
	}
	return all, nil
}
