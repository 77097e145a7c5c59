// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Records returns the records of the rows.
func (f *Figures) Records() (all []Record) {
	for _, r := range f.Rows {
		for _, x := range r.Runs {
			all = append(all, *x.Record)
		}
	}
	return all
}

// inWords returns the name of a column as a caption has it: "mean gap in %" for "gap mean %".
func inWords(column string) string {
	column, unit, _ := strings.Cut(column, " (")
	unit = strings.TrimSuffix(unit, ")")
	if name, ok := strings.CutSuffix(column, " %"); ok {
		column, unit = name, "%"
	}
	if unit != "" {
		unit = " in " + unit
	}
	column = strings.Replace(column, "deg.", "degradation", 1)
	for end, begin := range map[string]string{" mean": "mean ", " max": "largest ", " median": "median ", " p95": "95th percentile of the ", " geo.": "geometric mean of the ", " sum": "total ", " all": "mean "} {
		if stem, ok := strings.CutSuffix(column, end); ok {
			return begin + stem + unit
		}
	}
	return column + unit
}

// subject puts in words of what a table is: the columns, how many algorithms, how many instances of which problem, and the
// parameters. It names plans that people have named.
func (f *Figures) subject(columns []string) string {
	plans, on, kinds, algorithms := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range f.Rows {
		algorithms[r.Algorithm] = true
		for _, x := range r.Runs {
			plans[x.Plan], on[x.Hash], kinds[string(x.Kind)] = true, true, true
		}
	}
	maps.DeleteFunc(plans, func(name string, _ bool) bool { return name == "" || strings.HasPrefix(name, AdHocPrefix) })
	text := words.Upper(words.And(each(columns, inWords))) + " of " + words.Plural(len(algorithms), "algorithm") + " on " + words.Plural(len(on), "instance")
	if len(kinds) > 0 {
		text += " of " + words.And(slices.Sorted(maps.Keys(kinds)))
	}
	if len(plans) > 0 {
		text += " (" + words.And(slices.Sorted(maps.Keys(plans))) + ")"
	}
	if len(f.By) > 0 {
		text += ", by " + words.And(f.By)
	}
	return text
}

// wide returns the table of the only column: a row for each group of instances, a column for each algorithm, those of a
// class side by side. The best figures of each row and class are marked, as many as are written alike.
func (f *Figures) wide(name string, write func(float64) string) Table {
	t := Table{Header: slices.Clone(f.By), Over: make([]string, len(f.By)), Subject: f.subject([]string{name}), Notes: notes(f.Columns)}
	var algorithms []string
	var classes []model.Class
	var groups [][]float64
	for _, r := range f.Rows {
		if !slices.Contains(algorithms, r.Algorithm) {
			algorithms, classes = append(algorithms, r.Algorithm), append(classes, r.Class)
			t.Over = append(t.Over, r.Class.Plural())
		}
		if !slices.ContainsFunc(groups, func(x []float64) bool { return slices.Equal(x, r.By) }) {
			groups = append(groups, r.By)
		}
	}
	slices.SortFunc(groups, slices.Compare) // a class may lack some
	t.Header = append(t.Header, algorithms...)
	for _, g := range groups {
		row, best := f.group(g), make([]bool, len(t.Header))
		here := make([]*Row, len(algorithms))
		for k := range f.Rows {
			if r := &f.Rows[k]; slices.Equal(r.By, g) {
				here[slices.Index(algorithms, r.Algorithm)] = r
			}
		}
		for _, r := range here {
			x := math.NaN()
			if r != nil {
				x = r.Values[0]
			}
			if row = append(row, "-"); !math.IsNaN(x) {
				row[len(row)-1] = write(x)
			}
		}
		for _, class := range model.Classes() {
			for _, k := range f.best(here, func(k int) bool { return classes[k] == class }, row[len(g):]) {
				best[len(g)+k] = true
			}
		}
		t.Rows, t.Best = append(t.Rows, row), append(t.Best, best)
	}
	for _, class := range model.Classes() {
		var of []string
		for k, a := range algorithms {
			if classes[k] == class {
				of = append(of, a)
			}
		}
		if len(of) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", class.Plural(), strings.Join(of, ", ")))
		}
	}
	note := name
	if slices.ContainsFunc(t.Best, func(row []bool) bool { return slices.Contains(row, true) }) {
		note += "; marked: the best of its class, among those that solved all that any of the class did"
	}
	t.Notes = append(t.Notes, note)
	return t
}

// best returns the rows of a class with the best figure, as it is written. There is none in a column that ranks
// nothing, and if fewer than two algorithms stand there. An algorithm that lacks a run which another one has isn't
// ranked, nor is a mean over fewer solved instances: it may be better only because the hard ones are missing.
func (f *Figures) best(rows []*Row, of func(int) bool, cells []string) (best []int) {
	sense, counts := f.sense(0), f.columns[0].ofAll()
	on := func(r *Row) (instances map[string]bool, runs int) {
		instances = map[string]bool{}
		unsolved := map[string]bool{}
		for _, x := range r.Runs {
			instances[x.Hash] = true
			unsolved[x.Hash] = unsolved[x.Hash] || x.Objective == nil && !counts
		}
		maps.DeleteFunc(instances, func(hash string, _ bool) bool { return unsolved[hash] })
		return instances, len(r.Runs)
	}
	all, most, ranked := map[string]bool{}, 0, 0
	for k, r := range rows {
		if r != nil && of(k) {
			instances, runs := on(r)
			maps.Copy(all, instances)
			most, ranked = max(most, runs), ranked+1
		}
	}
	if sense == 0 || ranked < 2 {
		return nil
	}
	first := -1
	var fit []int
	for k, r := range rows {
		if r == nil || !of(k) || math.IsNaN(r.Values[0]) {
			continue
		}
		if instances, runs := on(r); len(instances) < len(all) || f.columns[0].form == whole && runs < most {
			continue
		}
		if fit = append(fit, k); first < 0 || sense.Better(r.Values[0], rows[first].Values[0]) {
			first = k
		}
	}
	return slices.DeleteFunc(fit, func(k int) bool { return cells[k] != cells[first] })
}

// ofAll reports whether the column is of all runs, not of the solved ones alone.
func (c *column) ofAll() bool {
	return c.form == whole && !strings.HasPrefix(c.name, "deg.") || slices.Contains([]string{"unsolved %", "failure %", "deg. all %", "gap<=1% %"}, c.name)
}

// sense returns the direction in which a column improves, 0 if its figures rank nothing.
func (f *Figures) sense(column int) model.Sense {
	name := f.columns[column].name
	for k, key := range []string{objectiveKey, secondKey} {
		if m := f.metrics[k]; name == key && m != nil {
			return m.Sense
		}
	}
	switch name {
	case objectiveKey, secondKey, "runs", "infeasible", "stated", "planned", "rounds":
		return 0
	case "bound":
		if m := f.metrics[0]; m != nil {
			return -m.Sense
		}
		return 0
	case "verified", "optimal", "best", "gap<=1% %":
		return model.Maximise
	}
	if strings.HasSuffix(name, "±") {
		return 0
	}
	for _, m := range metrics() {
		if m.Key == name {
			return m.Sense
		}
	}
	for _, j := range jobFigures() {
		if j.key == name {
			return j.sense
		}
	}
	return model.Minimise
}
