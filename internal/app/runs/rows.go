// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// ByRun is the group of tables with a row for each run, ByInstance that of those with a row for each algorithm on each
// instance.
const ByRun, ByInstance = "run", "instance"

// rowColumn is a column of a table of runs.
type rowColumn struct {
	name, unit string // the unit isn't repeated if the name ends with it
	text       func(r Run, plain bool) string
}

func (c rowColumn) header() string {
	if c.unit == "" || strings.HasSuffix(c.name, " "+c.unit) {
		return c.name
	}
	return c.name + " " + c.unit
}

// bestBound is the column of the bound that gaps are measured from: the best that any run has proved.
const bestBound = "best bound"

// fewRowColumns are shown where people read.
var fewRowColumns = []string{"instance", "algorithm", "seed", "status", "objective", bestBound, "gap %", "time", "reason"}

// TabulateRuns returns a table with a row for each run: by instance, then in the order of the algorithms, then by seed.
// Plain figures have all their digits, as programs read them, and all columns that a run has a value in; else the columns
// are those that people look at first. Unknown figures are empty. Errors wrap model.ErrInvalid. O(R log R) for R records.
func TabulateRuns(records []Record, o TableOptions) (Table, error) {
	t, err := Load("table", records, o.Algorithms)
	if err != nil {
		return Table{}, err
	}
	all := t.rowColumns()
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	chosen := o.Columns
	if len(chosen) == 0 && !o.Plain {
		chosen = fewRowColumns
	}
	columns := all
	if len(chosen) > 0 {
		columns = nil
	}
	for _, name := range chosen {
		if m := metricOf(t.records, 0); m != nil && m.Key == name {
			name = objectiveKey
		}
		k := slices.IndexFunc(all, func(c rowColumn) bool { return c.name == name || c.header() == name })
		switch {
		case k >= 0:
			columns = append(columns, all[k])
		case len(o.Columns) > 0:
			return Table{}, fmt.Errorf("%w table: the runs have no column %q; there are %s", model.ErrInvalid, name, strings.Join(names, ", "))
		}
	}
	out := Table{Subject: "Runs"}
	for _, c := range columns {
		name := c
		if m := metricOf(t.records, 0); m != nil && c.name == objectiveKey {
			name.name = m.Key
		} else if m := metricOf(t.records, 1); m != nil && c.name == secondKey {
			name.name = m.Key
		}
		out.Header = append(out.Header, name.header())
	}
	rows := slices.Clone(t.Rows)
	place := func(r Run) int { return slices.Index(t.Algorithms, r.Algorithm) }
	slices.SortStableFunc(rows, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Hash, b.Hash), cmp.Compare(place(a), place(b)), cmp.Compare(a.Seed, b.Seed))
	})
	for _, r := range rows {
		var row []string
		for _, c := range columns {
			row = append(row, c.text(r, o.Plain))
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// rowColumns returns the columns in which a run of the table has a value: names first, then measures, then the
// parameters of the instances.
func (t *Results) rowColumns() []rowColumn {
	text := func(name string, of func(r Run) string) rowColumn {
		return rowColumn{name, "", func(r Run, _ bool) string { return of(r) }}
	}
	all := []rowColumn{
		text("plan", func(r Run) string { return r.Plan }),
		text("instance", func(r Run) string { return r.Instance }),
		text("kind", func(r Run) string { return string(r.Kind) }),
		text("algorithm", func(r Run) string { return r.Algorithm }),
		text("class", func(r Run) string { return string(t.classes[r.Algorithm]) }),
		text("options", func(r Run) string { return r.Options }),
		text("seed", func(r Run) string { return strconv.FormatUint(r.Seed, 10) }),
		text("status", func(r Run) string { return string(r.Status) }),
	}
	// Objectives come first, then what holds for all problems, then the metrics of one.
	of := slices.Clone(measures())
	slices.SortStableFunc(of, func(a, b measure) int { return measureRank(a.name) - measureRank(b.name) })
measures:
	for _, m := range of {
		for place := range 2 {
			if objective := metricOf(t.records, place); objective != nil && objective.Key == m.name {
				continue measures // it is there by that name
			}
		}
		if m.name == "unsolved %" || m.name == "failure %" || m.name == "deg. all %" {
			continue // the status says that
		}
		unit := ""
		for _, r := range t.Rows {
			if !math.IsNaN(m.of(r)) {
				unit = m.metric(r.Record).Unit
				break
			}
		}
		all = append(all, rowColumn{m.name, unit, func(r Run, plain bool) string { return rowFigure(m.of(r), plain) }})
		if m.name == "bound" {
			all = append(all, rowColumn{bestBound, unit, func(r Run, plain bool) string { return rowFigure(r.Known.Bound, plain) }})
		}
	}
	all = append(all,
		rowColumn{"nodes", "", func(r Run, plain bool) string { return strconv.FormatInt(r.Nodes, 10) }},
		text("verified", func(r Run) string { return strconv.FormatBool(r.Verified && r.Sealed) }),
		text("reason", func(r Run) string { return r.Reason }))
	for _, p := range gapwise.Problems() {
		if !slices.ContainsFunc(t.Rows, func(r Run) bool { return r.Kind == p.Kind }) {
			continue
		}
		for _, x := range append(ParamsOf(p), Param{Key: "draw"}) {
			if slices.ContainsFunc(all, func(c rowColumn) bool { return c.name == x.Key }) {
				continue
			}
			all = append(all, rowColumn{x.Key, x.Unit, func(r Run, plain bool) string {
				if v, ok := r.parameter(x.Key); ok {
					return rowFigure(v, plain)
				}
				return ""
			}})
		}
	}
	all = append(all, text("version", func(r Run) string { return r.Version }), text("host", func(r Run) string { return r.Host }))
	return slices.DeleteFunc(all, func(c rowColumn) bool {
		return !slices.ContainsFunc(t.Rows, func(r Run) bool { return c.text(r, true) != "" })
	})
}

// measureRank orders the measures of a row.
func measureRank(name string) int {
	if k := slices.Index([]string{objectiveKey, secondKey, "bound", "gap %", "degradation %", "time", "cpu", "primal integral"}, name); k >= 0 {
		return k
	}
	return math.MaxInt32
}

// rowFigure writes a figure, "" if it isn't known.
func rowFigure(x float64, plain bool) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ""
	case plain:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return words.Figure(x)
}
