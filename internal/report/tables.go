package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/stats"
	"github.com/gapwise/gapwise/internal/words"
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

// gapTables has the table of the algorithms and that of the algorithms by parameter.
func gapTables(all []*part) section {
	s := section{ID: "gaps", Title: "Gaps", Text: []string{
		"A gap is |objective − bound| / |objective|, the bound being the best that any run proved for the instance. " +
			"n counts runs with a solution and a bound. Click a heading to sort."}}
	for _, p := range all {
		// One unit for all times of a table.
		unit, seconds := words.UnitFor(values(p.runs, func(r *run) float64 { return r.ElapsedS }))
		t := &table{Caption: "By algorithm", Plain: len(p.algorithms) < 6, Columns: append(append([]column{{Name: "algorithm"}}, p.groupColumns()...), gapColumns(unit)...)}
		for _, a := range p.algorithms {
			t.Rows = append(t.Rows, row{Cells: append(append([]cell{text(a)}, p.groupCells(a)...), gapCells(p.of(a), seconds)...)})
		}
		s.Blocks = append(s.Blocks, block{Heading: p.head(all), Table: t})
		params := p.varying()
		if len(params) == 0 {
			continue
		}
		by := &table{Caption: "By parameter", Choices: []choice{{Name: "Parameter", Index: 0, Values: params, One: true}, {Name: "Algorithm", Index: 1, Values: p.algorithms}},
			Columns: append([]column{{Name: "parameter"}, {Name: "value", Number: true}, {Name: "algorithm"}}, gapColumns(unit)...)}
		for _, key := range params {
			for _, c := range p.classes(key) {
				for _, a := range p.algorithms {
					some := slices.DeleteFunc(p.of(a), func(r *run) bool { return !c.in[r.on] })
					if len(some) > 0 {
						by.Rows = append(by.Rows, row{Cells: append([]cell{text(key), number(c.x, c.label), text(a)}, gapCells(some, seconds)...), Values: []string{key, a}})
					}
				}
			}
		}
		if len(by.Rows) > mostRows {
			by.Note = fmt.Sprintf("%d rows more are left out.", len(by.Rows)-mostRows)
			by.Rows = by.Rows[:mostRows]
		}
		s.Blocks = append(s.Blocks, block{Table: by})
	}
	return s
}

// mostRows bounds the rows of a table.
const mostRows = 3000

func gapColumns(unit string) []column {
	return []column{
		{"runs", "number of runs", true},
		{"failed", "runs without a solution, of instances not proved infeasible", true},
		{"optimal", "runs whose solution is proved to be within 1e-6 of the best bound, by any run", true},
		{"n", "runs with a solution and a bound", true},
		{"gap (%)", "mean gap to the best bound", true},
		{"median (%)", "median gap", true},
		{"worst (%)", "largest gap", true},
		{"to best (%)", "mean distance to the best solution of any run, relative to it; online policies among themselves", true},
		{"time (" + unit + ")", "mean time of a run", true},
		{"shifted (" + unit + ")", "shifted geometric mean of the times, shift 10 ms", true},
		{"longest (" + unit + ")", "longest time of a run", true},
	}
}

func gapCells(runs []*run, seconds float64) []cell {
	failed, optimal := 0, 0
	for _, r := range runs {
		if r.failed() {
			failed++
		}
		if r.on.Optimal(r.objective()) {
			optimal++
		}
	}
	gaps := values(runs, (*run).gap)
	infinite := slices.ContainsFunc(runs, func(r *run) bool { return math.IsInf(r.gap(), 0) })
	worst := stats.Largest(gaps)
	if infinite {
		worst = math.Inf(1)
	}
	best := values(runs, func(r *run) float64 { return r.toBest() })
	times := values(runs, func(r *run) float64 { return r.ElapsedS })
	share := func(x float64) cell { return number(x, words.Percent(x)) }
	long := func(x float64) cell { return number(x, words.Three(x/seconds)) }
	return []cell{count(len(runs)), count(failed), count(optimal), count(len(gaps)), share(stats.Mean(gaps)), share(stats.Median(gaps)), share(worst), share(stats.Mean(best)),
		long(stats.Mean(times)), long(stats.Shifted(times, shift)), long(stats.Largest(times))}
}

// groupColumns returns the column of the algorithms' groups, nothing if all are of one.
func (p *part) groupColumns() []column {
	if !p.mixed() {
		return nil
	}
	return []column{{Name: "group", Help: "online: decides with what is known at that time; offline: sees the instance whole; yardstick: clairvoyant or exact. They aren't ranked against each other"}}
}

// groupCells returns the cells of groupColumns.
func (p *part) groupCells(algorithm string) []cell {
	if !p.mixed() {
		return nil
	}
	return []cell{{Text: string(p.class[algorithm]), Sort: fmt.Sprint(p.rankOf(algorithm))}}
}

// toBest returns the distance to the best solution of the runs that this one is compared
// with, as a share of it.
func (r *run) toBest() float64 {
	best := r.on.BestOf(r.Class())
	return math.Abs(r.objective()-best) / math.Abs(best)
}
