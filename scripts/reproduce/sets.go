package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/internal/runs"
)

// set is a part of the runs in a results file, over a parameter.
type set struct {
	Title, Plan, File string
	By, Pattern       string // parameters on the x axis; a pattern of instances' names, empty: all
	Slug              string // for names of files
	Figure            int    // of the paper; 0: none
}

// Next returns the figure after the set's.
func (s set) Next() int { return s.Figure + 1 }

// records reads a results file once: a part computes many figures of it.
func (r *runner) records(file string) ([]runs.Record, error) {
	if all, ok := r.read[file]; ok {
		return all, nil
	}
	all, _, err := runs.ReadRecords(file)
	if err == nil && r.read == nil {
		r.read = map[string][]runs.Record{}
	}
	if err == nil {
		r.read[file] = all
	}
	return all, err
}

// of returns the records of a set.
func (r *runner) of(s set) ([]runs.Record, error) {
	all, err := r.records(s.File)
	if err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(s.Pattern)
	return slices.DeleteFunc(slices.Clone(all), func(x runs.Record) bool { return !pattern.MatchString(x.Instance) }), err
}

// rewrite writes the runs of a file that keep keeps, and may change, to another one and
// returns its name.
func rewrite(file, name string, keep func(*runs.Record) bool) (string, error) {
	all, _, err := runs.ReadRecords(file)
	if err != nil {
		return "", err
	}
	var some []runs.Record
	for i := range all {
		if keep(&all[i]) {
			some = append(some, all[i])
		}
	}
	name = "results/" + name + ".jsonl"
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return name, runs.WriteRecords(f, some)
}

// pick writes the runs on the instances that a pattern matches to another file.
func pick(file, name, pattern string) (string, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	return rewrite(file, name, func(x *runs.Record) bool { return match.MatchString(x.Instance) })
}

// oneTier calls EASY on one tier easy-one-tier in a copy of a results file.
func oneTier(file, name string) (string, error) {
	return rewrite(file, name, func(x *runs.Record) bool {
		if x.Params["tiers"] == 1 && x.Algorithm == "easy" {
			x.Algorithm = "easy-one-tier"
		}
		return true
	})
}

// openReading replaces the paper's policies by duration by those with open rectangles.
func openReading(file, name string) (string, error) {
	return rewrite(file, name, func(x *runs.Record) bool {
		open, ok := strings.CutSuffix(x.Algorithm, "-open")
		if !ok {
			return !slices.Contains([]string{"du-b", "du-w", "pedu-b", "pedu-w"}, x.Algorithm)
		}
		x.Algorithm = open
		return true
	})
}

// series computes curves of a set.
func (r *runner) series(s set, value, minus string, algorithms ...string) ([]runs.Line, error) {
	records, err := r.of(s)
	if err != nil {
		return nil, err
	}
	return runs.Series(records, runs.SeriesOptions{X: strings.Split(s.By, ","), Y: value, Algorithms: algorithms, Minus: minus})
}

// pivot returns a Markdown table with a row for each value of the parameter and a column
// for each line, under the name of its algorithm.
func pivot(by string, cell func(runs.SeriesPoint) string, lines []runs.Line) string {
	text := []string{"| " + by + " |", "|---|" + strings.Repeat("---|", len(lines))}
	for _, l := range lines {
		text[0] += " " + l.Algorithm + " |"
	}
	for k, p := range lines[0].Points {
		label := p.Label
		if label == "" {
			label = fmt.Sprint(p.X)
		}
		row := "| " + label + " |"
		for _, l := range lines {
			row += " " + cell(l.Points[k]) + " |"
		}
		text = append(text, row)
	}
	return strings.Join(text, "\n")
}

// meanHalf writes a mean and the half-width of its interval.
func meanHalf(format string) func(runs.SeriesPoint) string {
	return func(p runs.SeriesPoint) string { return fmt.Sprintf(format, p.Mean, p.Half) }
}

// pivot returns a table of a value, a column for each algorithm.
func (r *runner) pivot(s set, value, algorithms string) (string, error) {
	lines, err := r.series(s, value, "", strings.Split(algorithms, ",")...)
	if err != nil {
		return "", err
	}
	return pivot(s.By, meanHalf("%.2f ± %.2f"), lines), nil
}

// pairs returns a table of paired differences, a column for each pair "pe-w du-b".
func (r *runner) pairs(s set, value string, pairs ...string) (string, error) {
	var all []runs.Line
	for _, p := range pairs {
		first, second, _ := strings.Cut(p, " ")
		lines, err := r.series(s, value, second, first)
		if err != nil {
			return "", err
		}
		all = append(all, runs.Line{Algorithm: first + " - " + second, Points: lines[0].Points})
	}
	return pivot(s.By, meanHalf("%+.3f ± %.3f"), all), nil
}

// across returns a table of an algorithm's value, or if minus isn't empty of its paired
// differences from that algorithm: a column for each set.
func (r *runner) across(sets []set, value, algorithm, minus string) (string, error) {
	var all []runs.Line
	for _, x := range sets {
		lines, err := r.series(x, value, minus, algorithm)
		if err != nil {
			return "", err
		}
		all = append(all, runs.Line{Algorithm: x.Title, Points: lines[0].Points})
	}
	format := "%.2f ± %.2f"
	if minus != "" {
		format = "%+.2f ± %.2f"
	}
	return pivot(sets[0].By, meanHalf(format), all), nil
}

// beside returns, as cells of a Markdown row, the paired differences of algorithms from
// another one at the last value of the parameter.
func (r *runner) beside(s set, value, algorithms, minus string) (row string, err error) {
	lines, err := r.series(s, value, minus, strings.Split(algorithms, ",")...)
	for _, l := range lines {
		p := l.Points[len(l.Points)-1]
		row += fmt.Sprintf(" %+.2f ± %.2f |", p.Mean, p.Half)
	}
	return row, err
}

// verdicts counts comparisons, of findings or of points, by how they come out.
type verdicts struct{ Held, Not, Undecided int }

// All counts them all.
func (v verdicts) All() int { return v.Held + v.Not + v.Undecided }

func (v verdicts) String() string {
	return fmt.Sprintf("%d held, %d not held, %d undecided", v.Held, v.Not, v.Undecided)
}

// add counts a comparison.
func (v *verdicts) add(x papers.Verdict) papers.Verdict {
	switch x {
	case papers.Held:
		v.Held++
	case papers.NotHeld:
		v.Not++
	default:
		v.Undecided++
	}
	return x
}

// verdict says whether a difference is above 0.
func verdict(p runs.SeriesPoint) papers.Verdict {
	switch {
	case p.Mean > p.Half:
		return papers.Held
	case -p.Mean > p.Half:
		return papers.NotHeld
	}
	return papers.Undecided // one of the two isn't a number, too
}

// ahead compares a value of two algorithms at all points of some sets.
func (r *runner) ahead(value string, sets []set, first, second string) (v verdicts, err error) {
	for _, s := range sets {
		lines, err := r.series(s, value, second, first)
		if err != nil {
			return v, err
		}
		for _, p := range lines[0].Points {
			v.add(verdict(p))
		}
	}
	return v, nil
}

// below returns by how many percent of another algorithm's mean on the same instances
// an algorithm's value is less, with intervals of the paired differences.
func (r *runner) below(s set, value, algorithm, other string) ([]runs.SeriesPoint, error) {
	less, err := r.series(s, value, algorithm, other)
	if err != nil {
		return nil, err
	}
	all, err := r.series(s, value, "", other)
	if err != nil {
		return nil, err
	}
	points := less[0].Points
	for k := range points {
		from := all[0].Points[k]
		if from.X != points[k].X || from.Runs != points[k].Runs {
			return nil, fmt.Errorf("%s: there are runs of %s without one of %s", s.File, other, algorithm)
		}
		points[k].Mean *= 100 / from.Mean
		points[k].Half *= 100 / from.Mean
	}
	return points, nil
}

// findings are what a paper says, checked.
type findings []papers.Finding

// findingsOf checks the findings about a set.
func (r *runner) findingsOf(s set) (findings, error) {
	records, err := r.of(s)
	if err != nil {
		return nil, err
	}
	var by []string
	if s.By != "" {
		by = strings.Split(s.By, ",")
	}
	all, err := papers.FindingsOf(records, by)
	return all, err
}

// Count counts the verdicts.
func (all findings) Count() (v verdicts) {
	for _, f := range all {
		v.add(f.Verdict)
	}
	return v
}

// String returns the findings as a Markdown table.
func (all findings) String() string {
	t := runs.Table{Header: []string{"", "finding", "measured"}}
	for _, f := range all {
		t.Rows = append(t.Rows, []string{string(f.Verdict), f.Text, f.Measured})
	}
	var text strings.Builder
	if err := t.Render(&text, "markdown"); err != nil {
		panic(err) // the template reports it
	}
	return strings.TrimRight(text.String(), "\n")
}

// Says returns verdict and figures of the finding of a text.
func (all findings) Says(text string) (string, error) {
	for _, f := range all {
		if f.Text == text {
			return fmt.Sprintf("%s (%s)", f.Verdict, f.Measured), nil
		}
	}
	return "", fmt.Errorf("no finding is %q", text)
}

// about returns the findings whose texts begin with begin.
func (all findings) about(begin string) (some findings) {
	for _, f := range all {
		if strings.HasPrefix(f.Text, begin) {
			some = append(some, f)
		}
	}
	return some
}

// Verdict returns verdict and figures of the one finding whose text begins with begin.
func (all findings) Verdict(begin string) (string, error) {
	found := all.about(begin)
	if len(found) != 1 {
		return "", fmt.Errorf("%d findings begin with %q, not one", len(found), begin)
	}
	return fmt.Sprintf("*%s*: %s", found[0].Verdict, found[0].Measured), nil
}

// Verdicts counts the verdicts of the findings whose texts begin with begin.
func (all findings) Verdicts(begin string) (string, error) {
	found := all.about(begin)
	if len(found) == 0 {
		return "", fmt.Errorf("no finding begins with %q", begin)
	}
	var counts []string
	v := found.Count()
	for k, n := range []int{v.Held, v.Not, v.Undecided} {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d *%s*", n, []papers.Verdict{papers.Held, papers.NotHeld, papers.Undecided}[k]))
		}
	}
	return strings.Join(counts, ", "), nil
}
