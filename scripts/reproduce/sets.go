// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
)

// set is a part of the runs in a results file, over a parameter.
type set struct {
	Title, Plan, File string
	By, Pattern       string // parameters on the x axis; a pattern of instances' names, empty: all
	Slug              string // for names of files
	Figure            int    // of the paper; 0: none
}

// sets returns the sets of a name, in their plan's results or in a given file.
func sets(name string, file ...string) []set {
	some := slices.Clone(namedSets[name])
	if some == nil {
		panic(fmt.Errorf("there are no sets %q", name))
	}
	for i := range some {
		some[i].File = cmp.Or(strings.Join(file, ""), "results/"+some[i].Plan+".jsonl")
	}
	return some
}

// At returns the set at one load, over the cost of a migration.
func (s set) At(load float64) set {
	s.Title = fmt.Sprintf("%s at load %g", s.Title, load)
	s.Pattern += fmt.Sprintf(".*-load%s-", regexp.QuoteMeta(fmt.Sprint(load)))
	s.By = "migration_s"
	return s
}

// kept returns the elements of which something is true.
func kept[S ~[]E, E any](all S, is func(E) bool) S {
	return slices.DeleteFunc(slices.Clone(all), func(x E) bool { return !is(x) })
}

// records reads a results file once: a part computes many figures of it.
func (r *runner) records(file string) []runs.Record {
	if r.read[file] == nil {
		r.read[file] = must(runs.ReadRecords(file))
	}
	return r.read[file]
}

// of returns the records of a set.
func (r *runner) of(s set) []runs.Record {
	pattern := must(regexp.Compile(s.Pattern))
	return kept(r.records(s.File), func(x runs.Record) bool { return pattern.MatchString(x.Instance) })
}

// rewrite writes the runs of a file that keep keeps, and may change, to another one and
// returns its name.
func rewrite(file, name string, keep func(*runs.Record) bool) string {
	var some []runs.Record
	for _, r := range must(runs.ReadRecords(file)) {
		if keep(&r) {
			some = append(some, r)
		}
	}
	var text bytes.Buffer
	check(runs.WriteRecords(&text, some))
	name = "results/" + name + ".jsonl"
	check(os.WriteFile(name, text.Bytes(), 0o644))
	return name
}

// pick writes the runs on the instances that a pattern matches to another file.
func pick(file, name, pattern string) string {
	match := must(regexp.Compile(pattern))
	return rewrite(file, name, func(x *runs.Record) bool { return match.MatchString(x.Instance) })
}

// oneTier calls EASY on one tier easy-one-tier in a copy of a results file.
func oneTier(file string) string {
	return rewrite(file, strings.TrimSuffix(filepath.Base(file), ".jsonl")+"-tiers", func(x *runs.Record) bool {
		if x.Params["tiers"] == 1 && x.Algorithm == "easy" {
			x.Algorithm = "easy-one-tier"
		}
		return true
	})
}

// openReading replaces the paper's policies by duration by those with open rectangles.
func openReading(file string) string {
	return rewrite(file, strings.TrimSuffix(filepath.Base(file), ".jsonl")+"-open", func(x *runs.Record) bool {
		open, ok := strings.CutSuffix(x.Algorithm, "-open")
		if ok {
			x.Algorithm = open
		}
		return ok || !slices.Contains([]string{"du-b", "du-w", "pedu-b", "pedu-w"}, x.Algorithm)
	})
}

// series computes curves of a set, or with minus the curves of paired differences.
func (r *runner) series(s set, value, minus string, algorithms ...string) []runs.Line {
	return must(runs.Series(r.of(s), runs.SeriesOptions{X: strings.Split(s.By, ","), Y: value, Algorithms: algorithms, Minus: minus}))
}

// named is the one curve of series under another name.
func (r *runner) named(name string, s set, value, minus, algorithm string) runs.Line {
	return runs.Line{Algorithm: name, Points: r.series(s, value, minus, algorithm)[0].Points}
}

// pivot returns a Markdown table with a row for each value of the parameter and a column
// for each line, under the name of its algorithm; "-" where a line has no point.
func pivot(by string, cell func(runs.SeriesPoint) string, lines []runs.Line) string {
	head, at, cells := "| "+by+" |", []runs.SeriesPoint{}, map[float64][]string{}
	for k, l := range lines {
		head += " " + l.Algorithm + " |"
		for _, p := range l.Points {
			if cells[p.X] == nil {
				at, cells[p.X] = append(at, p), slices.Repeat([]string{"-"}, len(lines))
			}
			cells[p.X][k] = cell(p)
		}
	}
	slices.SortFunc(at, func(a, b runs.SeriesPoint) int { return cmp.Compare(a.X, b.X) })
	text := []string{head, "|---|" + strings.Repeat("---|", len(lines))}
	for _, p := range at {
		text = append(text, fmt.Sprintf("| %s | %s |", cmp.Or(p.Label, fmt.Sprint(p.X)), strings.Join(cells[p.X], " | ")))
	}
	return strings.Join(text, "\n")
}

// meanHalf writes a mean and the half-width of its interval.
func meanHalf(format string) func(runs.SeriesPoint) string {
	return func(p runs.SeriesPoint) string { return fmt.Sprintf(format, p.Mean, p.Half) }
}

// pivot returns a table of a value, a column for each algorithm.
func (r *runner) pivot(s set, value, algorithms string) string {
	return pivot(s.By, meanHalf("%.2f ± %.2f"), r.series(s, value, "", strings.Split(algorithms, ",")...))
}

// pairs returns a table of paired differences, a column for each pair "pe-w du-b".
func (r *runner) pairs(s set, value string, pairs ...string) string {
	var all []runs.Line
	for _, p := range pairs {
		first, second, _ := strings.Cut(p, " ")
		all = append(all, r.named(first+" - "+second, s, value, second, first))
	}
	return pivot(s.By, meanHalf("%+.3f ± %.3f"), all)
}

// across returns a table of an algorithm's value, or if minus isn't empty of its paired
// differences from that algorithm: a column for each set.
func (r *runner) across(sets []set, value, algorithm, minus string) string {
	var all []runs.Line
	for _, x := range sets {
		all = append(all, r.named(x.Title, x, value, minus, algorithm))
	}
	format := "%.2f ± %.2f"
	if minus != "" {
		format = "%+.2f ± %.2f"
	}
	return pivot(sets[0].By, meanHalf(format), all)
}

// beside returns, as cells of a Markdown row, the paired differences of algorithms from
// another one at the last value of the parameter.
func (r *runner) beside(s set, value, algorithms, minus string) (row string) {
	for _, l := range r.series(s, value, minus, strings.Split(algorithms, ",")...) {
		row += " " + meanHalf("%+.2f ± %.2f |")(l.Points[len(l.Points)-1])
	}
	return row
}

// ahead compares a value of two algorithms at all points of some sets.
func (r *runner) ahead(value string, sets []set, first, second string) (v verdicts) {
	for _, s := range sets {
		for _, p := range r.series(s, value, second, first)[0].Points {
			v.add(verdict(p))
		}
	}
	return v
}

// below returns by how many percent of another algorithm's mean on the same instances
// an algorithm's value is less, with intervals of the paired differences.
func (r *runner) below(s set, value, algorithm, other string) []runs.SeriesPoint {
	points, all := r.series(s, value, algorithm, other)[0].Points, r.series(s, value, "", other)[0].Points
	for k := range points {
		from := all[k]
		if from.X != points[k].X || from.Runs != points[k].Runs {
			panic(fmt.Errorf("%s: there are runs of %s without one of %s", s.File, other, algorithm))
		}
		points[k].Mean *= 100 / from.Mean
		points[k].Half *= 100 / from.Mean
	}
	return points
}

// curves returns the curves of some algorithms of VCSched, means over the runs that have
// the value; of times medians, as on a busy machine a few runs wait for long, in ms.
// The LP has no solution: its minimum yield is its bound, and its average yield is the
// same, as the CPU is used up unless all yields are 1.
func (r *runner) curves(file, by, value, algorithms string) (all []runs.Line) {
	records := r.records(file)
	for a := range strings.FieldsSeq(algorithms) {
		y := value
		if a == "lp" && (value == "objective" || value == "second") {
			y = "bound"
		}
		l := r.named(a, set{File: file, By: by}, y, "", a)
		for k := range l.Points {
			if p := &l.Points[k]; value == "time" {
				p.Mean = 1000 * stats.Median(times(records, a, by, p.X))
			}
		}
		all = append(all, l)
	}
	return all
}

// curvesTable returns curves as a Markdown table.
func (r *runner) curvesTable(file, by, value, format, algorithms string) string {
	return pivot(by, func(p runs.SeriesPoint) string { return fmt.Sprintf(format, p.Mean) }, r.curves(file, by, value, algorithms))
}

// picture draws curves without intervals, which say nothing about differences of runs on
// the same instances, and returns the Markdown of the picture.
func (r *runner) picture(file, name, title, by, value, unit, algorithms string) string {
	var curves []draw.Curve
	for _, l := range r.curves(file, by, value, algorithms) {
		c := draw.Curve{Label: l.Algorithm}
		for _, p := range l.Points {
			c.Points = append(c.Points, draw.Point{X: p.X, Y: p.Mean})
		}
		curves = append(curves, c)
	}
	var svg bytes.Buffer
	check(draw.Curves(&svg, draw.Style{Format: "svg"}, title, draw.Axis{Label: by}, draw.Axis{Label: unit}, curves))
	check(os.WriteFile("docs/pictures/"+name+".svg", svg.Bytes(), 0o644))
	return fmt.Sprintf("![%s](../pictures/%s.svg)", title, name)
}
