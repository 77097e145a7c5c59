// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
)

// head returns the heading of a part's block, "" for the only part.
func (p *part) head(all []*part) string {
	if len(all) < 2 {
		return ""
	}
	return p.title()
}

// shift is the shift of geometric means of times, in seconds.
const shift = 0.01

// gapTables has the table of the algorithms and the table of the algorithms by parameter.
func gapTables(all []*part) section {
	s := section{ID: "gaps", Title: "Gaps", Text: []string{
		"A gap is |objective − bound| / |objective|, the bound being the best that any run proved for the instance. " +
			"n counts runs with a solution and a bound. Click a heading to sort."}}
	for _, p := range all {
		// One unit for all times of a table.
		unit, seconds := words.UnitFor(values(p.runs, func(r *run) float64 { return r.ElapsedS }))
		gaps := gapMeasures(unit, seconds)
		columns := slices.Concat([]measure{byAlgorithm}, p.group(), gaps)
		t := &table{Caption: "By algorithm", Plain: len(p.algorithms) < 6, Columns: columnsOf(columns)}
		for _, a := range p.algorithms {
			t.Rows = append(t.Rows, row{Cells: cellsOf(columns, p.runsOf(a))})
		}
		s.Blocks = append(s.Blocks, block{Heading: p.head(all), Table: t})
		params := p.varying()
		if len(params) == 0 {
			continue
		}
		by := &table{Caption: "By parameter", Choices: []choice{{Name: "Parameter", Index: 0, Values: params, One: true}, {Name: "Algorithm", Index: 1, Values: p.algorithms}},
			Columns: append([]column{{Name: "parameter"}, {Name: "value", Number: true}, {Name: "algorithm"}}, columnsOf(append(p.group(), gaps...))...)}
		for _, key := range params {
			for _, c := range p.classes(key) {
				for _, a := range p.algorithms {
					some := slices.DeleteFunc(p.runsOf(a), func(r *run) bool { return !c.in[r.on] })
					if len(some) > 0 {
						by.Rows = append(by.Rows, row{Cells: append([]cell{text(key), number(c.x, c.label), text(a)}, cellsOf(append(p.group(), gaps...), some)...), Values: []string{key, a}})
					}
				}
			}
		}
		if len(by.Rows) > mostRows {
			by.Note = fmt.Sprintf("%d rows more are left out.", len(by.Rows)-mostRows)
			by.Rows = by.Rows[:mostRows]
		}
		s.Blocks = append(s.Blocks, block{Table: by, Folded: true})
	}
	return s
}

// mostRows bounds the rows of a table.
const mostRows = 3000

// measure is a column with its cell of some runs.
type measure struct {
	column
	cell func([]*run) cell
}

// single is a column of rows that are one run each.
func single(name, help string, number bool, f func(*run) cell) measure {
	return measure{column{name, help, number}, func(some []*run) cell { return f(some[0]) }}
}

func columnsOf(all []measure) (columns []column) {
	for _, m := range all {
		columns = append(columns, m.column)
	}
	return columns
}

func cellsOf(all []measure, some []*run) (cells []cell) {
	for _, m := range all {
		cells = append(cells, m.cell(some))
	}
	return cells
}

// byAlgorithm names the algorithm of some runs.
var byAlgorithm = single("algorithm", "", false, func(r *run) cell { return text(r.Algorithm) })

// share returns a cell in percent.
func share(x float64) cell { return number(x, words.Percent(x)) }

// gapMeasures are the columns of gapTables.
func gapMeasures(unit string, seconds float64) []measure {
	number := func(name, help string, f func([]*run) cell) measure { return measure{column{name, help, true}, f} }
	counted := func(name, help string, is func(*run) bool) measure {
		return number(name, help, func(some []*run) cell {
			return count(len(slices.DeleteFunc(slices.Clone(some), func(r *run) bool { return !is(r) })))
		})
	}
	shared := func(name, help string, f func(*run) float64, of func([]float64) float64) measure {
		return number(name, help, func(some []*run) cell { return share(of(values(some, f))) })
	}
	time := func(name, help string, of func([]float64) float64) measure {
		return number(name+" ("+unit+")", help, func(some []*run) cell {
			x := of(values(some, func(r *run) float64 { return r.ElapsedS }))
			return cell{Text: words.Three(x / seconds), Sort: fmt.Sprintf("%.9g", x)}
		})
	}
	return []measure{
		counted("runs", "number of runs", func(*run) bool { return true }),
		counted("failed", "runs without a solution, of instances not proved infeasible", (*run).failed),
		counted("optimal", "runs whose solution is proved to be within 1e-6 of the best bound, by any run", func(r *run) bool { return r.on.Optimal(r.objective()) }),
		number("n", "runs with a solution and a bound", func(some []*run) cell { return count(len(values(some, (*run).gap))) }),
		shared("gap (%)", "mean gap to the best bound", (*run).gap, stats.Mean),
		shared("median (%)", "median gap", (*run).gap, stats.Median),
		number("worst (%)", "largest gap", func(some []*run) cell {
			if slices.ContainsFunc(some, func(r *run) bool { return math.IsInf(r.gap(), 0) }) {
				return share(math.Inf(1))
			}
			return share(stats.Largest(values(some, (*run).gap)))
		}),
		shared("to best (%)", "mean distance to the best solution of any run, relative to it, of the same class: online, offline or yardstick", (*run).toBest, stats.Mean),
		time("time", "mean time of a run", stats.Mean),
		time("shifted", "shifted geometric mean of the times, shift 10 ms", func(x []float64) float64 { return stats.Shifted(x, shift) }),
		time("longest", "longest time of a run", stats.Largest),
	}
}

// group is the column of the algorithms' classes.
func (p *part) group() []measure {
	return []measure{single("class", "online: decides with what is known at that time; offline: sees the whole instance; yardstick: clairvoyant or exact. They aren't ranked against each other", false, func(r *run) cell {
		return cell{Text: string(p.class[r.Algorithm]), Sort: fmt.Sprint(p.rankOf(r.Algorithm))}
	})}
}

// toBest returns the distance to the best solution of the runs that this one is compared
// with, as a share of it.
func (r *run) toBest() float64 {
	return math.Abs(r.objective()-r.best()) / math.Abs(r.best())
}
