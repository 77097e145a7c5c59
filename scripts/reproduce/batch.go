package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/runs"
)

// batchSettings returns the two workloads in the results of a plan of the paper on
// batch scheduling: FWload is in the given figure, JWload in the next one.
func batchSettings(figure int, file string) []setting {
	return []setting{
		{Title: fmt.Sprintf("FWload (Figure %d)", figure), File: file, By: "load", Pattern: "^batch-feitelson-", Slug: fmt.Sprintf("batch-figure%d", figure)},
		{Title: fmt.Sprintf("JWload (Figure %d)", figure+1), File: file, By: "load", Pattern: "^batch-jann-", Slug: fmt.Sprintf("batch-figure%d", figure+1)},
	}
}

// At returns the setting at one load, over the cost of a migration.
func (x setting) At(load float64) setting {
	x.Title = fmt.Sprintf("%s at load %g", x.Title, load)
	x.Pattern += fmt.Sprintf(".*-load%s-", regexp.QuoteMeta(fmt.Sprint(load)))
	x.By = "migration_s"
	return x
}

var (
	easyRun = regexp.MustCompile(`"algorithm":"easy"`)
	tierOne = regexp.MustCompile(`"tiers":1\b`)
)

// oneTier calls EASY on one tier easy-one-tier in a copy of a results file.
func oneTier(file, name string) (string, error) {
	return rewrite(file, name, func(line string) string {
		if !tierOne.MatchString(line) {
			return line
		}
		return easyRun.ReplaceAllString(line, `"algorithm":"easy-one-tier"`)
	})
}

// batchLoad is a workload of the paper's section 3.1 as printed and as drawn.
type batchLoad struct {
	Name                  string
	Jobs                  int
	Size, Runtime, Serial float64 // printed; serial in percent
	Ours                  [3]float64
}

// batchLoads draws both workloads in the paper's numbers of jobs.
func batchLoads() ([]batchLoad, error) {
	all := []batchLoad{
		{Name: "FWload", Jobs: 200_000, Size: 23.4, Runtime: 2606.6, Serial: 18},
		{Name: "JWload", Jobs: 100_000, Size: 10.5, Runtime: 11267, Serial: 40.8},
	}
	for i, workload := range []string{"feitelson", "jann"} {
		w := &all[i]
		spec := instances.NewBatchSpec()
		spec.Model, spec.Jobs, spec.Seed = workload, w.Jobs, 1
		spec.MeanSize, spec.MeanRuntime, spec.Serial = w.Size, w.Runtime, w.Serial/100
		in, err := spec.Generate()
		if err != nil {
			return nil, err
		}
		n := float64(len(in.Jobs))
		for _, j := range in.Jobs {
			w.Ours[0] += float64(j.Processes) / n
			w.Ours[1] += j.RuntimeS / n
			if j.Processes == 1 {
				w.Ours[2] += 100 / n
			}
		}
	}
	return all, nil
}

// batchImprovements returns a Markdown table: a row for each load, for each workload
// and each EASY by how many percent MEASY's mean of a value is less.
func batchImprovements(settings []setting, value string) (string, error) {
	var all []runs.Line
	for _, x := range settings {
		lines, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: []string{"measy", "easy-one-tier", "easy"}})
		if err != nil {
			return "", err
		}
		name, _, _ := strings.Cut(x.Title, " ")
		for k, against := range []string{"one tier", "two tiers"} {
			l := runs.Line{Algorithm: name + ", EASY on " + against}
			for i, p := range lines[k+1].Points {
				p.Mean = 100 * (1 - lines[0].Points[i].Mean/p.Mean)
				l.Points = append(l.Points, p)
			}
			all = append(all, l)
		}
	}
	return pivot(settings[0].By, func(p runs.SeriesPoint) string { return fmt.Sprintf(" %.1f |", p.Mean) }, all), nil
}

// below returns by how many percent of another algorithm's mean on the same instances
// an algorithm's value is less, with intervals of the paired differences.
func (x setting) below(value, algorithm, other string) ([]runs.SeriesPoint, error) {
	less, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: []string{other}, Minus: algorithm})
	if err != nil {
		return nil, err
	}
	all, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: []string{other}})
	if err != nil {
		return nil, err
	}
	points := less[0].Points
	for k := range points {
		if from := all[0].Points[k]; from.X != points[k].X || from.Runs != points[k].Runs {
			return nil, fmt.Errorf("%s: there are runs of %s without one of %s", x.File, other, algorithm)
		}
		points[k].Mean *= 100 / all[0].Points[k].Mean
		points[k].Half *= 100 / all[0].Points[k].Mean
	}
	return points, nil
}

// judged is how many comparisons hold, don't, and are undecided.
type judged struct{ Held, Not, Undecided int }

func (j *judged) add(p runs.SeriesPoint) string {
	switch {
	case p.Mean > p.Half:
		j.Held++
		return "held"
	case -p.Mean > p.Half:
		j.Not++
		return "not held"
	}
	j.Undecided++
	return "undecided"
}

// peasyTable compares PEASY in one value with MEASY and with itself without each
// device.
type peasyTable struct {
	Text        string
	MEASY       judged
	Lift, Short judged // with the device against without it
}

// batchPEASY makes the table of a value: a row for each load, for each workload three
// columns.
func batchPEASY(settings []setting, value string) (t peasyTable, err error) {
	var lines []runs.Line
	for _, x := range settings {
		name, _, _ := strings.Cut(x.Title, " ")
		for _, c := range []struct {
			title, other string
			verdicts     *judged
		}{{"below MEASY", "measy", &t.MEASY}, {"by lifting", "peasy-short", &t.Lift}, {"by short jobs first", "peasy-lift", &t.Short}} {
			points, err := x.below(value, "peasy", c.other)
			if err != nil {
				return t, err
			}
			for k := range points {
				points[k].Label = c.verdicts.add(points[k])
			}
			lines = append(lines, runs.Line{Algorithm: name + ", " + c.title, Points: points})
		}
	}
	t.Text = pivot(settings[0].By, func(p runs.SeriesPoint) string {
		return fmt.Sprintf(" %.2f ± %.2f, %s |", p.Mean, p.Half, p.Label)
	}, lines)
	return t, nil
}

// batchCosts returns a Markdown table: a row for each cost of a migration, a column
// for each load, by how many percent MEASY's value is below KEASY's. The last row is
// the cost from which on it isn't, by a straight line between two means.
func batchCosts(x setting, value string, loads []any) (string, error) {
	var lines []runs.Line
	last := "| no longer below from |"
	for _, load := range loads {
		at, ok := load.(float64)
		if !ok {
			return "", fmt.Errorf("batchCosts: the load %v is no number", load)
		}
		points, err := x.At(at).below(value, "measy", "keasy")
		if err != nil {
			return "", err
		}
		lines = append(lines, runs.Line{Algorithm: fmt.Sprintf("load %v", at), Points: points})
		last += " " + crossing(points) + " |"
	}
	return pivot("migration_s", meanHalf(" %.2f ± %.2f |"), lines) + "\n" + last, nil
}

// crossing returns the first x at which the straight line through points is no longer
// above 0, in words.
func crossing(points []runs.SeriesPoint) string {
	for k, p := range points {
		switch {
		case p.Mean > 0:
		case k == 0:
			return fmt.Sprintf("%v or less", p.X)
		default:
			q := points[k-1]
			return fmt.Sprintf("%.0f", q.X+(p.X-q.X)*q.Mean/(q.Mean-p.Mean))
		}
	}
	return fmt.Sprintf("more than %v", points[len(points)-1].X)
}

// batchReading reads something that the paper doesn't say, or that is lost of it, in
// one way.
type batchReading struct {
	Name   string
	fw, jw string // what instances' names have after the mean runtime; own: the models' own figures
	// Of MEASY against EASY on one tier and on two, in percent: mean and most, of
	// response and slowdown; then the means of the workloads alone.
	Values [8][2]float64
	REASY  [2]float64 // above EASY in JWload, response
}

const ownFigures = "own"

var batchReadingList = []batchReading{
	{Name: "as in the other plans"},
	{Name: "mean efficiency 0.40", fw: "-efficiency0.4", jw: "-efficiency0.4"},
	{Name: "mean efficiency 0.56", fw: "-efficiency0.56", jw: "-efficiency0.56"},
	{Name: "a CPU use for each process", fw: "-process", jw: "-process"},
	{Name: "estimates are the runtimes", fw: "-exact", jw: "-exact"},
	{Name: "FWload with long runtimes 7 times the short ones, not 100", fw: "-ratio7"},
	{Name: "JWload with jobs of up to 320 processes, not 100", jw: "-largest320"},
	{Name: "both of these", fw: "-ratio7", jw: "-largest320"},
	{Name: "both, and estimates are the runtimes", fw: "-ratio7-exact", jw: "-largest320-exact"},
	{Name: "the models' own sizes and runtimes", fw: ownFigures, jw: ownFigures},
}

// printedOfMEASY are the paper's figures, in the order of batchReading.Values.
var printedOfMEASY = []float64{23.1, 41.1, 69.3, 82.9}

// batchReadings computes what each reading gives. file has EASY on one tier as
// easy-one-tier.
func batchReadings(file string) (all []batchReading, err error) {
	for _, r := range batchReadingList {
		for e, easy := range []string{"easy-one-tier", "easy"} {
			for v, value := range []string{"objective", "bounded slowdown"} {
				n := 0.0
				for w, of := range []struct{ model, printed, rest string }{{"feitelson", "-serial0.18-size23.4-runtime2606.6", r.fw}, {"jann", "-serial0.408-size10.5-runtime11267", r.jw}} {
					after := of.printed + of.rest
					if of.rest == ownFigures {
						after = ""
					}
					x := setting{File: file, By: "load", Pattern: `^batch-` + of.model + `-p320-t[12]-n\d+-load[0-9.]+` + regexp.QuoteMeta(after) + `-\d+$`}
					lines, err := x.Series(runs.SeriesOptions{Y: value, Algorithms: []string{"measy", easy, "reasy"}})
					if err != nil {
						return nil, fmt.Errorf("%s: %w", r.Name, err)
					}
					loads := float64(len(lines[0].Points))
					for k, p := range lines[0].Points {
						from := lines[1].Points[k].Mean
						less := 100 * (1 - p.Mean/from)
						r.Values[2*v][e] += less
						r.Values[2*v+1][e] = max(r.Values[2*v+1][e], less)
						r.Values[4+2*v+w][e] += less / loads
						if v == 0 && w == 1 {
							r.REASY[e] += 100 * (lines[2].Points[k].Mean/from - 1) / loads
						}
						n++
					}
				}
				r.Values[2*v][e] /= n
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// nearest returns, for each of printedOfMEASY and each EASY, the reading that comes
// nearest to it; then those whose relative distances from all four sum to the least.
func nearest(all []batchReading) (rows [][3]string) {
	names := []string{"response, mean", "response, most", "slowdown, mean", "slowdown, most"}
	least := func(off func(batchReading) float64) batchReading {
		return slices.MinFunc(all, func(a, b batchReading) int { return compare(off(a), off(b)) })
	}
	for i, name := range names {
		row := [3]string{fmt.Sprintf("%s: %v", name, printedOfMEASY[i])}
		for e := range 2 {
			r := least(func(r batchReading) float64 { return math.Abs(r.Values[i][e] - printedOfMEASY[i]) })
			row[1+e] = fmt.Sprintf("%s: %.1f", r.Name, r.Values[i][e])
		}
		rows = append(rows, row)
	}
	row := [3]string{"all four"}
	for e := range 2 {
		row[1+e] = least(func(r batchReading) (sum float64) {
			for i, p := range printedOfMEASY {
				sum += math.Abs(r.Values[i][e]-p) / p
			}
			return sum
		}).Name
	}
	return append(rows, row)
}
