// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Table holds the cells of a table, as text.
type Table struct {
	Header []string
	Rows   [][]string
	// Groups, if not nil, names the group of each row, and a group's rows are adjacent: a line above the first of each
	// in text, a column in CSV.
	Groups []string
	// Subject says in words that aren't LaTeX what the table is of: a caption where none is given.
	Subject string
	// Over, if not nil, is a heading over each column, "" for none; equal ones side by side are one. Only LaTeX has it.
	Over []string
	// Best, if not nil, marks cells: the figures that are the best of their row and class.
	Best [][]bool
	// Notes help to read the table: lines below it in text and Markdown, comments in LaTeX.
	Notes []string
}

// TableOptions configure a table.
type TableOptions struct {
	By         []string // parameters (Params) to group by, or ByInstance
	Algorithms []string // labels, in this order; empty: all, in the plan's order
	Columns    []string // of ColumnNames; empty: DefaultColumns or GroupedColumns
	Plain      bool     // times are seconds without unit, for programs to read
	OneUnit    bool     // all times of a column have one unit, named in the header, for papers
	Wide       bool     // a column for each algorithm, of the one column of Columns; see Wide
}

// DefaultColumns fit in 80 characters, GroupedColumns with two parameters.
var (
	DefaultColumns = []string{"verified", "failed", "gap mean %", "gap max %", "deg. mean %", "time mean"}
	GroupedColumns = []string{"objective", "failed", "gap mean %", "deg. mean %", "time mean"}
)

// Figures is a table of numbers: a row for each algorithm in each group of instances.
type Figures struct {
	By, Columns []string
	Rows        []Row

	columns   []column
	instances []string         // in order, if they are one of By
	metrics   [2]*model.Metric // the objective and the second one; nil: several
}

// Row is a row of Figures.
type Row struct {
	By        []float64 // values of the parameters
	Algorithm string
	Class     model.Class
	Values    []float64 // of the columns; NaN: unknown
	Runs      []Run
}

// Of returns the row's figure in a column, NaN if there is no such column.
func (f *Figures) Of(r *Row, column string) float64 {
	if k := slices.Index(f.Columns, column); k >= 0 {
		return r.Values[k]
	}
	return math.NaN()
}

// Tabulate computes a table of records. Means are over the runs with a solution, but for
// "deg. all %"; failures have their own columns. The order of the records doesn't matter.
func Tabulate(records []Record, o TableOptions) (*Figures, error) {
	t, err := Load("table", records, o.Algorithms)
	if err != nil {
		return nil, err
	}
	if slices.Contains(o.By, ByInstance) {
		for _, r := range t.Rows {
			t.instances = append(t.instances, r.Instance)
		}
		slices.Sort(t.instances)
		t.instances = slices.Compact(t.instances)
	}
	groups, err := t.By(o.By)
	if err != nil {
		return nil, fmt.Errorf("%w table: %w", model.ErrInvalid, err)
	}
	f := &Figures{By: o.By, Columns: o.Columns, instances: withoutFolder(t.instances), metrics: [2]*model.Metric{metricOf(t.records, 0), metricOf(t.records, 1)}}
	switch {
	case o.Wide && len(f.Columns) > 1:
		return nil, fmt.Errorf("%w table: a wide one shows one column of each algorithm, not %d; give one with --columns, like 'gap mean %%'", model.ErrInvalid, len(f.Columns))
	case len(f.Columns) > 0:
	case o.Wide:
		f.Columns = []string{"gap mean %"}
	case len(o.By) > 0:
		f.Columns = GroupedColumns
	default:
		f.Columns = DefaultColumns
	}
	for _, n := range f.Columns {
		if m := f.metrics[0]; m != nil && m.Key == n {
			n = objectiveKey
		}
		k := slices.IndexFunc(columns(), func(c column) bool { return c.name == n })
		if k < 0 {
			return nil, fmt.Errorf("%w table: there is no column %q; see gapwise bench table --help", model.ErrInvalid, n)
		}
		f.columns = append(f.columns, columns()[k])
	}
	for _, g := range groups {
		for k, a := range t.Algorithms {
			row := Row{By: g.X, Algorithm: a, Class: t.classes[a], Runs: g.Of(a)}
			if len(row.Runs) == 0 || slices.Contains(t.Algorithms[:k], a) {
				continue
			}
			for _, c := range f.columns {
				x := c.of(row.Runs)
				if !row.comparable(c.name) {
					x = math.NaN()
				}
				row.Values = append(row.Values, x)
			}
			f.Rows = append(f.Rows, row)
		}
	}
	slices.SortStableFunc(f.Rows, func(a, b Row) int { return cmp.Compare(a.Class.Rank(), b.Class.Rank()) })
	return f, nil
}

// withoutFolder returns names of instances without the folder that all have: a path of this machine says nothing on a page.
func withoutFolder(names []string) []string {
	if len(names) == 0 {
		return names
	}
	folder := names[0]
	for _, name := range names {
		path, _, _ := strings.Cut(name, " (") // the platform may be a path, too
		for !strings.HasPrefix(path, folder) || !strings.HasSuffix(folder, "/") {
			if folder = folder[:1+strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')]; folder == "" {
				return names
			}
		}
	}
	return each(names, func(name string) string { return name[len(folder):] })
}

// comparable reports whether a column's values of the runs can be summed: objectives of two problems can't.
func (r *Row) comparable(column string) bool {
	place := 0
	switch column {
	case objectiveKey, firstHalf, "bound":
	case secondKey, secondHalf:
		place = 1
	default:
		return true
	}
	for _, x := range r.Runs[1:] {
		if x.metrics()[place] != r.Runs[0].metrics()[place] {
			return false
		}
	}
	return true
}

// Table returns the figures as text.
func (f *Figures) Table(o TableOptions) Table {
	names, write := f.written(o)
	if o.Wide {
		return f.wide(names[0], write[0])
	}
	t := Table{Header: slices.Concat(f.By, []string{"algorithm"}, names), Subject: f.subject(names)}
	for _, r := range f.Rows {
		row := append(f.group(r.By), r.Algorithm)
		for k, x := range r.Values {
			row = append(row, write[k](x))
		}
		t.Groups, t.Rows = append(t.Groups, GroupOf(r.Class)), append(t.Rows, row)
	}
	t.Notes = notes(f.Columns)
	return t
}

// group returns the values of the parameters as text.
func (f *Figures) group(x []float64) []string {
	cells := each(x, words.Figure)
	if k := slices.Index(f.By, ByInstance); k >= 0 {
		cells[k] = f.instances[int(x[k])]
	}
	return cells
}

// written returns the headers of the columns, and how figures are written in each.
func (f *Figures) written(o TableOptions) (names []string, write []func(float64) string) {
	write = make([]func(float64) string, len(f.columns))
	for k, c := range f.columns {
		name, unit := c.name, ""
		switch write[k] = c.form.text; {
		case c.form == inTime && o.OneUnit:
			unit, write[k] = f.oneUnit(k)
			name += " (" + unit + ")"
		case c.form == inTime && o.Plain:
			name, write[k] = name+" s", func(x float64) string { return words.Known("%.6g", x) }
		}
		if !o.Plain {
			name = f.named(name)
		}
		if m := f.metricOf(c.name); m != nil && !o.Plain && !o.OneUnit {
			var all []float64
			for _, r := range f.Rows {
				all = append(all, r.Values[k])
			}
			write[k] = Timed(*m, all, write[k])
		}
		names = append(names, name)
	}
	return names, write
}

// metricOf returns the metric whose values a column has, nil if it has others.
func (f *Figures) metricOf(column string) *model.Metric {
	switch column {
	case objectiveKey, "bound":
		return f.metrics[0]
	case secondKey:
		return f.metrics[1]
	}
	for _, m := range metrics() {
		if m.Key == column {
			return &m.Metric
		}
	}
	return nil
}

// Timed returns how the values of a metric in a column are written: long times in hours or days, too, as in reports, if
// most of the column are long: "398955 (4.62 d)".
func Timed(m model.Metric, column []float64, figure func(float64) string) func(float64) string {
	known := slices.DeleteFunc(slices.Clone(column), math.IsNaN)
	if len(known) == 0 || m.Long(stats.Median(known)) == "" {
		return figure
	}
	return func(x float64) string {
		if long := m.Long(x); long != "" {
			return figure(x) + " (" + long + ")"
		}
		return figure(x)
	}
}

// named returns the name of a column: the objectives have their own names, their means with the unit.
func (f *Figures) named(column string) string {
	for k, key := range []string{objectiveKey, secondKey} {
		m, rest := f.metrics[k], strings.TrimPrefix(column, key)
		switch {
		case m == nil || rest == column:
		case rest != "":
			return m.Key + rest
		case m.Unit != "":
			return m.Key + " (" + m.Unit + ")"
		default:
			return m.Key
		}
	}
	return column
}

// text writes a figure of a column.
func (f form) text(x float64) string {
	switch f {
	case whole:
		return strconv.Itoa(int(x))
	case fixed:
		return words.Known("%.2f", x)
	case inShare:
		return words.Known("%.3f", x)
	case inTime:
		switch {
		case x < 1e-3:
			return fmt.Sprintf("%.3g us", x*1e6)
		case x < 1:
			return fmt.Sprintf("%.3g ms", x*1e3)
		}
		return words.Known("%.4g s", x)
	}
	return words.Figure(x)
}

// oneUnit returns the unit that suits the median of a column of times, and how times are
// written in it: with three significant digits of each at least.
func (f *Figures) oneUnit(column int) (name string, write func(float64) string) {
	var all []float64
	for _, r := range f.Rows {
		if x := r.Values[column]; !math.IsNaN(x) {
			all = append(all, x)
		}
	}
	middle, most := stats.Median(all), 1.0
	if middle < 1 {
		most = middle
	}
	name, unit := words.TimeUnit(most)
	return name, func(x float64) string {
		digits := 0
		for _, y := range []float64{middle, x} { // more for values much shorter than the median
			if y > 0 {
				digits = max(digits, 2-int(math.Floor(math.Log10(y/unit))))
			}
		}
		return words.Known(fmt.Sprintf("%%.%df", digits), x/unit)
	}
}

// GroupOf names a class of algorithms as a group of a table's rows, and states its knowledge.
func GroupOf(c model.Class) string { return c.Plural() + ": " + c.Meaning() }
