// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/model"
)

// degradation is a table of the paper's degradations and ours, in percent. The paper's
// first four algorithms sort in descending order, the others in ascending order.
type degradation struct {
	Rows []degraded
}

// degraded holds the means of an algorithm's degradation over all instances, a
// failure counting as 100 %, and over those that it solves, and the largest one.
type degraded struct {
	Algorithm, PaperMean, PaperMax string
	Mean, Solved, Max              float64
}

// degradations compares a table of the paper with the runs in a file.
func (r *runner) degradations(table, file string) (d degradation) {
	records := r.records(file)
	printed := must(papers.Table(model.KindVCSched, table))
	var names []string
	for _, p := range printed {
		names = append(names, p[0])
	}
	t := must(runs.Tabulate(records, runs.TableOptions{Algorithms: names, Columns: []string{"deg. all %", "deg. mean %", "deg. max %"}}))
	for _, p := range printed {
		x := t.Rows[slices.IndexFunc(t.Rows, func(row runs.Row) bool { return row.Algorithm == p[0] })].Values
		d.Rows = append(d.Rows, degraded{p[0], p[1], p[2], x[0], x[1], x[2]})
	}
	return d
}

func byMean(a, b degraded) int { return cmp.Compare(a.Mean, b.Mean) }

// Best returns the algorithm with the least mean degradation.
func (d degradation) Best() string { return slices.MinFunc(d.Rows, byMean).Algorithm }

// DescendingFirst reports whether every descending sort beats every ascending
// one.
func (d degradation) DescendingFirst() bool {
	return slices.MaxFunc(d.Rows[:4], byMean).Mean < slices.MinFunc(d.Rows[4:], byMean).Mean
}

// Ratios returns the smallest and the largest ratio of our mean, over all instances
// or those solved, to the paper's.
func (d degradation) Ratios(solved bool) string {
	least, most := math.Inf(1), 0.0
	for _, row := range d.Rows {
		x := row.Mean
		if solved {
			x = row.Solved
		}
		x /= number(row.PaperMean)
		least, most = min(least, x), max(most, x)
	}
	return fmt.Sprintf("%.2f to %.2f", least, most)
}

// SameOrder reports whether all means are in the paper's order.
func (d degradation) SameOrder() bool { return slices.IsSortedFunc(d.Rows, byMean) }

// printed is a figure of the paper on VCSched, how it is computed of runs, and its values by the readings of the
// memory needs.
type printed struct {
	Figure, Text, Format string
	Of                   string  // an algorithm and a column
	Less                 string  // another: by how many percent Of is less
	Above                string  // an algorithm: by how many percent the yield of Of is above its
	Slack                float64 // of the runs; 0: of all
	Per                  float64 // of a count: among so many runs; 0: no count

	Paper float64
	Ours  []float64 // by reading, as the columns of a table
	Cells []string
}

// value computes the figure.
func (p *printed) value(all []runs.Record) float64 {
	if p.Slack > 0 {
		all = kept(all, func(x runs.Record) bool { return x.Params["slack"] == p.Slack })
	}
	if p.Above != "" {
		return aboveIn(all, p.Of, p.Above)
	}
	x := cellOf(all, p.Of)
	switch {
	case p.Per > 0:
		algorithm, _, _ := strings.Cut(p.Of, " ")
		return x * p.Per / cellOf(all, algorithm+" runs")
	case p.Less != "":
		return 100 * (1 - x/cellOf(all, p.Less))
	}
	return x
}

// cellOf returns the cell "ALGORITHM COLUMN" of a table; degradations are from the best
// MCB.
func cellOf(all []runs.Record, cell string) float64 {
	algorithm, column, _ := strings.Cut(cell, " ")
	algorithms := []string{algorithm}
	if strings.HasPrefix(algorithm, "mcb") {
		algorithms = strings.Fields("mcb8 mcb5 mcb6 mcb7 mcb3 mcb2 mcb1 mcb4")
	}
	t := must(runs.Tabulate(all, runs.TableOptions{Algorithms: algorithms, Columns: []string{column}, Plain: true}))
	return t.Rows[slices.IndexFunc(t.Rows, func(row runs.Row) bool { return row.Algorithm == algorithm })].Values[0]
}

// readings compares the readings of the memory needs with what the paper says of the
// small or the large set. Each file holds the runs by one of them.
func (r *runner) readings(set string, files ...string) []printed {
	all := slices.Clone(figuresOfVCSched[set])
	for i := range all {
		p := &all[i]
		is := must(papers.Printed(model.KindVCSched, p.Figure))
		p.Text, p.Paper = cmp.Or(p.Text, is.What), is.Value
		for _, file := range files {
			x := p.value(r.records(file))
			p.Ours, p.Cells = append(p.Ours, x), append(p.Cells, fmt.Sprintf(p.Format, x))
		}
	}
	return all
}

// timesClosest counts the figures that a reading, by its number, is nearest to, and no
// other one as near.
func timesClosest(all []printed, reading int) (n int) {
	for _, p := range all {
		off := func(k int) float64 { return math.Abs(p.Ours[k] - p.Paper) }
		closest := true
		for k := range p.Ours {
			closest = closest && (k == reading || off(reading) < off(k) || math.IsNaN(off(k)))
		}
		if closest {
			n++
		}
	}
	return n
}

// above is aboveIn a results file.
func (r *runner) above(file, first, second string) float64 {
	records := r.records(file)
	return aboveIn(records, first, second)
}

// aboveIn returns by how many percent the mean minimum yield of one algorithm is above
// another's on the instances of which both have one. That of the LP is its bound.
func aboveIn(records []runs.Record, first, second string) float64 {
	known := map[string]float64{}
	a, b := 0.0, 0.0
	for _, algorithm := range []string{first, second} {
		for i := range records {
			r := &records[i]
			if r.Algorithm != algorithm {
				continue
			}
			y := runs.Number(r.Objective)
			if algorithm == "lp" {
				y = runs.Number(r.Bound)
			}
			if algorithm == first {
				known[r.Hash] = y
			} else if x, ok := known[r.Hash]; ok && !math.IsNaN(x+y) {
				a, b = a+x, b+y
			}
		}
	}
	if b == 0 {
		panic(fmt.Errorf("no instance has runs of %s and %s", first, second))
	}
	return 100 * (a/b - 1)
}

// times returns the times of an algorithm's runs with a value of a parameter, of all its
// runs if the parameter is empty.
func times(records []runs.Record, algorithm, parameter string, value float64) (all []float64) {
	for i := range records {
		if x := &records[i]; x.Algorithm == algorithm && (parameter == "" || x.Params[parameter] == value) {
			all = append(all, x.ElapsedS)
		}
	}
	return all
}

// timed is a time that the paper prints beside ours.
type timed struct {
	Text, Algorithm string
	By              string // a parameter that the runs have a value of; empty: all
	Value           float64
	Mean            bool    // ours is the mean, not the median
	Paper, Ours     float64 // seconds
}

// Ratio returns how many times as long the paper's was.
func (x timed) Ratio() float64 { return x.Paper / x.Ours }

// timesBeside compares times of runs with the paper's for a set.
func (r *runner) timesBeside(set, file string) []timed {
	all := slices.Clone(timesOfVCSched[set])
	for i := range all {
		x := &all[i]
		of := times(r.records(file), x.Algorithm, x.By, x.Value)
		if x.Ours = stats.Median(of); x.Mean {
			x.Ours = stats.Mean(of)
		}
		if len(of) == 0 {
			panic(fmt.Errorf("%s: no run is by %s with %s %g", file, x.Algorithm, x.By, x.Value))
		}
	}
	return all
}
