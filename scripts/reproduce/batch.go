package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/model"
)

// batchSets returns the two workloads in the results of a plan of the paper on batch
// scheduling: FWload is in the given figure, JWload in the next one.
func batchSets(figure int, file string) []set {
	return []set{
		{Title: fmt.Sprintf("FWload (Figure %d)", figure), File: file, By: "load", Pattern: "^batch-feitelson-", Slug: fmt.Sprintf("batch-figure%d", figure)},
		{Title: fmt.Sprintf("JWload (Figure %d)", figure+1), File: file, By: "load", Pattern: "^batch-jann-", Slug: fmt.Sprintf("batch-figure%d", figure+1)},
	}
}

// At returns the set at one load, over the cost of a migration.
func (s set) At(load float64) set {
	s.Title = fmt.Sprintf("%s at load %g", s.Title, load)
	s.Pattern += fmt.Sprintf(".*-load%s-", regexp.QuoteMeta(fmt.Sprint(load)))
	s.By = "migration_s"
	return s
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
	printed, err := printedTable("batch", "workloads")
	if err != nil {
		return nil, err
	}
	var all []batchLoad
	for _, r := range printed {
		all = append(all, batchLoad{Name: r[0], Jobs: int(number(r[1])), Size: number(r[2]), Runtime: number(r[3]), Serial: number(r[4])})
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
func (r *runner) batchImprovements(sets []set, value string) (string, error) {
	var all []runs.Line
	for _, x := range sets {
		lines, err := r.series(x, value, "", "measy", "easy-one-tier", "easy")
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
	return pivot(sets[0].By, func(p runs.SeriesPoint) string { return fmt.Sprintf("%.1f", p.Mean) }, all), nil
}

// peasyTable compares PEASY in one value with MEASY and with itself without each
// device.
type peasyTable struct {
	Text        string
	MEASY       verdicts
	Lift, Short verdicts // with the device against without it
}

// batchPEASY makes the table of a value: a row for each load, for each workload three
// columns.
func (r *runner) batchPEASY(sets []set, value string) (t peasyTable, err error) {
	var lines []runs.Line
	for _, x := range sets {
		name, _, _ := strings.Cut(x.Title, " ")
		for _, c := range []struct {
			title, other string
			count        *verdicts
		}{{"below MEASY", "measy", &t.MEASY}, {"by lifting", "peasy-short", &t.Lift}, {"by short jobs first", "peasy-lift", &t.Short}} {
			points, err := r.below(x, value, "peasy", c.other)
			if err != nil {
				return t, err
			}
			for k := range points {
				c.count.add(verdict(points[k]))
			}
			lines = append(lines, runs.Line{Algorithm: name + ", " + c.title, Points: points})
		}
	}
	t.Text = pivot(sets[0].By, func(p runs.SeriesPoint) string {
		return fmt.Sprintf("%.2f ± %.2f, %s", p.Mean, p.Half, verdict(p))
	}, lines)
	return t, nil
}

// batchCosts returns a Markdown table: a row for each cost of a migration, a column
// for each load, by how many percent MEASY's value is below KEASY's. The last row is
// the cost from which on it isn't, by a straight line between two means.
func (r *runner) batchCosts(x set, value string, loads []any) (string, error) {
	var lines []runs.Line
	last := "| no longer below from |"
	for _, load := range loads {
		at, ok := load.(float64)
		if !ok {
			return "", fmt.Errorf("batchCosts: the load %v is no number", load)
		}
		points, err := r.below(x.At(at), value, "measy", "keasy")
		if err != nil {
			return "", err
		}
		lines = append(lines, runs.Line{Algorithm: fmt.Sprintf("load %v", at), Points: points})
		last += " " + crossing(points) + " |"
	}
	return pivot("migration_s", meanHalf("%.2f ± %.2f"), lines) + "\n" + last, nil
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
var printedOfMEASY = []string{"response mean", "response most", "bounded slowdown mean", "bounded slowdown most"}

// batchReadings computes what each reading gives. file has EASY on one tier as
// easy-one-tier.
func (r *runner) batchReadings(file string) (all []batchReading, err error) {
	for _, x := range batchReadingList {
		for e, easy := range []string{"easy-one-tier", "easy"} {
			for v, value := range []string{"objective", "bounded slowdown"} {
				n := 0.0
				for w, of := range []struct{ model, printed, rest string }{{"feitelson", "-serial0.18-size23.4-runtime2606.6", x.fw}, {"jann", "-serial0.408-size10.5-runtime11267", x.jw}} {
					after := of.printed + of.rest
					if of.rest == ownFigures {
						after = ""
					}
					s := set{File: file, By: "load", Pattern: `^batch-` + of.model + `-p320-t[12]-n\d+-load[0-9.]+` + regexp.QuoteMeta(after) + `-\d+$`}
					lines, err := r.series(s, value, "", "measy", easy, "reasy")
					if err != nil {
						return nil, fmt.Errorf("%s: %w", x.Name, err)
					}
					loads := float64(len(lines[0].Points))
					for k, p := range lines[0].Points {
						from := lines[1].Points[k].Mean
						less := 100 * (1 - p.Mean/from)
						x.Values[2*v][e] += less
						x.Values[2*v+1][e] = max(x.Values[2*v+1][e], less)
						x.Values[4+2*v+w][e] += less / loads
						if v == 0 && w == 1 {
							x.REASY[e] += 100 * (lines[2].Points[k].Mean/from - 1) / loads
						}
						n++
					}
				}
				x.Values[2*v][e] /= n
			}
		}
		all = append(all, x)
	}
	return all, nil
}

// nearest returns, for each of printedOfMEASY and each EASY, the reading that comes
// nearest to it; then those whose relative distances from all four sum to the least.
func nearest(all []batchReading) (rows [][3]string, err error) {
	least := func(off func(batchReading) float64) batchReading {
		return slices.MinFunc(all, func(a, b batchReading) int { return cmp.Compare(off(a), off(b)) })
	}
	var printed []float64
	for i, name := range printedOfMEASY {
		f, err := papers.Printed(model.KindBatch, name)
		if err != nil {
			return nil, err
		}
		printed = append(printed, f.Value)
		row := [3]string{fmt.Sprintf("%s: %v", []string{"response, mean", "response, most", "slowdown, mean", "slowdown, most"}[i], f.Value)}
		for e := range 2 {
			r := least(func(r batchReading) float64 { return math.Abs(r.Values[i][e] - f.Value) })
			row[1+e] = fmt.Sprintf("%s: %.1f", r.Name, r.Values[i][e])
		}
		rows = append(rows, row)
	}
	row := [3]string{"all four"}
	for e := range 2 {
		row[1+e] = least(func(r batchReading) (sum float64) {
			for i, p := range printed {
				sum += math.Abs(r.Values[i][e]-p) / p
			}
			return sum
		}).Name
	}
	return append(rows, row), nil
}
