// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// batchLoad is a workload of the paper's section 3.1 as printed and as drawn.
type batchLoad struct {
	Name                  string
	Jobs                  int
	Size, Runtime, Serial float64 // printed; serial in percent
	Ours                  [3]float64
}

// batchLoads draws both workloads in the paper's numbers of jobs.
func batchLoads() []batchLoad {
	var all []batchLoad
	for i, r := range must(papers.Table(model.KindBatch, "workloads")) {
		w := batchLoad{Name: r[0], Jobs: int(number(r[1])), Size: number(r[2]), Runtime: number(r[3]), Serial: number(r[4])}
		spec := instances.NewBatchSpec()
		spec.Model, spec.Jobs, spec.Seed = instances.BatchModels[i], w.Jobs, 1
		spec.MeanSize, spec.MeanRuntime, spec.Serial = w.Size, w.Runtime, w.Serial/100
		in := must(spec.Generate())
		n := float64(len(in.Jobs))
		for _, j := range in.Jobs {
			w.Ours[0] += float64(j.Processes) / n
			w.Ours[1] += j.RuntimeS / n
			if j.Processes == 1 {
				w.Ours[2] += 100 / n
			}
		}
		all = append(all, w)
	}
	return all
}

// less returns by how many percent an algorithm's means of a value are below another's.
func (r *runner) less(x set, value, algorithm, other string) []runs.SeriesPoint {
	lines := r.series(x, value, "", algorithm, other)
	points := lines[1].Points
	for k := range points {
		points[k].Mean = 100 * (1 - lines[0].Points[k].Mean/points[k].Mean)
	}
	return points
}

// easies are EASY on one tier and on two.
var easies = []string{"easy-one-tier", "easy"}

// batchImprovements returns a Markdown table: a row for each load, for each workload
// and each EASY by how many percent MEASY's mean of a value is less.
func (r *runner) batchImprovements(sets []set, value string) string {
	var all []runs.Line
	for _, x := range sets {
		name, _, _ := strings.Cut(x.Title, " ")
		for k, easy := range easies {
			points := r.less(x, value, "measy", easy)
			all = append(all, runs.Line{Algorithm: name + ", EASY on " + []string{"one tier", "two tiers"}[k], Points: points})
		}
	}
	return pivot(sets[0].By, func(p runs.SeriesPoint) string { return fmt.Sprintf("%.1f", p.Mean) }, all)
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
func (r *runner) batchPEASY(sets []set, value string) (t peasyTable) {
	var lines []runs.Line
	for _, x := range sets {
		name, _, _ := strings.Cut(x.Title, " ")
		for _, c := range []struct {
			title, other string
			count        *verdicts
		}{{"below MEASY", "measy", &t.MEASY}, {"by lifting", "peasy-short", &t.Lift}, {"by short jobs first", "peasy-lift", &t.Short}} {
			points := r.below(x, value, "peasy", c.other)
			for k := range points {
				c.count.add(verdict(points[k]))
			}
			lines = append(lines, runs.Line{Algorithm: name + ", " + c.title, Points: points})
		}
	}
	t.Text = pivot(sets[0].By, func(p runs.SeriesPoint) string {
		return fmt.Sprintf("%.2f ± %.2f, %s", p.Mean, p.Half, verdict(p))
	}, lines)
	return t
}

// batchCosts returns a Markdown table: a row for each cost of a migration, a column
// for each load, by how many percent MEASY's value is below KEASY's. The last row is
// the cost from which on it isn't, by a straight line between two means.
func (r *runner) batchCosts(x set, value string, loads ...float64) string {
	var lines []runs.Line
	last := "| no longer below from |"
	for _, load := range loads {
		points := r.below(x.At(load), value, "measy", "keasy")
		lines = append(lines, runs.Line{Algorithm: fmt.Sprintf("load %v", load), Points: points})
		last += " " + crossing(points) + " |"
	}
	return pivot("migration_s", meanHalf("%.2f ± %.2f"), lines) + "\n" + last
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

// batchReading reads in one way something that the paper doesn't say, or that is lost of it.
type batchReading struct {
	Name   string
	FW, JW string // ends of instances' names after the mean runtime; "own": the models' own sizes and runtimes
	// Of MEASY against EASY on one tier and on two, in percent: mean and most, of
	// response and slowdown; then the means of the workloads alone.
	Values [8][2]float64
	REASY  [2]float64 // above EASY in JWload, response
}

// printedOfMEASY are the paper's figures, in the order of batchReading.Values.
var printedOfMEASY = []string{"response mean", "response most", "bounded slowdown mean", "bounded slowdown most"}

// batchReadings computes the figures of each reading. file has EASY on one tier as
// easy-one-tier.
func (r *runner) batchReadings(file string) []batchReading {
	all := slices.Clone(readingsOfBatch)
	for i := range all {
		r.batchReading(file, &all[i])
	}
	return all
}

func (r *runner) batchReading(file string, x *batchReading) {
	defer within(x.Name)
	for w, after := range []string{"-serial0.18-size23.4-runtime2606.6" + x.FW, "-serial0.408-size10.5-runtime11267" + x.JW} {
		if strings.HasSuffix(after, "own") {
			after = ""
		}
		s := set{File: file, By: "load", Pattern: `^batch-` + instances.BatchModels[w] + `-p320-t[12]-n\d+-load[0-9.]+` + regexp.QuoteMeta(after) + `-\d+$`}
		for e, easy := range easies {
			for v, value := range []string{"objective", "bounded slowdown"} {
				points := r.less(s, value, "measy", easy)
				for _, p := range points {
					x.Values[2*v+1][e] = max(x.Values[2*v+1][e], p.Mean)
					x.Values[4+2*v+w][e] += p.Mean / float64(len(points))
				}
				x.Values[2*v][e] += x.Values[4+2*v+w][e] / 2 // both have the same loads
			}
			if w == 1 {
				points := r.less(s, "objective", "reasy", easy)
				for _, p := range points {
					x.REASY[e] -= p.Mean / float64(len(points))
				}
			}
		}
	}
}

// nearest returns, for each of printedOfMEASY and each EASY, the reading that comes
// nearest to it; then those whose relative distances from all four sum to the least.
func nearest(all []batchReading) (rows [][3]string) {
	least := func(off func(batchReading) float64) batchReading {
		return slices.MinFunc(all, func(a, b batchReading) int { return cmp.Compare(off(a), off(b)) })
	}
	var printed []float64
	last := [3]string{"all four"}
	for i, name := range printedOfMEASY {
		f := must(papers.Printed(model.KindBatch, name))
		printed = append(printed, f.Value)
		row := [3]string{fmt.Sprintf("%s: %v", []string{"response, mean", "response, most", "slowdown, mean", "slowdown, most"}[i], f.Value)}
		for e := range easies {
			r := least(func(r batchReading) float64 { return math.Abs(r.Values[i][e] - f.Value) })
			row[1+e] = fmt.Sprintf("%s: %.1f", r.Name, r.Values[i][e])
		}
		rows = append(rows, row)
	}
	for e := range easies {
		last[1+e] = least(func(r batchReading) (sum float64) {
			for i, p := range printed {
				sum += math.Abs(r.Values[i][e]-p) / p
			}
			return sum
		}).Name
	}
	return append(rows, last)
}
