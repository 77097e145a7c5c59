// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// tableKind describes the columns of a table of jobs or requests, and the capacity that its instance also needs.
type tableKind struct {
	kind           model.Kind
	must           []string // the columns by which it is known
	list, capacity string   // keys of the instance
	what           string   // the capacity, in words
	defaults       map[string]any
	needs          func(row map[string]any) float64 // of the capacity, by one row
}

var tableKinds = []tableKind{
	{model.KindTVC, []string{"vms", "bandwidth_mbps", "duration_s"}, "requests", "slots", "slots of each of 16 servers", map[string]any{"arrival_s": 0.0},
		func(r map[string]any) float64 { return figureOf(r["vms"]) / 16 }},
	{model.KindReservation, []string{"pes", "duration_s", "deadline_s"}, "requests", "pes", "PEs", map[string]any{"arrival_s": 0.0, "ready_s": 0.0},
		func(r map[string]any) float64 { return figureOf(r["pes"]) }},
	{model.KindBatch, []string{"processes", "runtime_s"}, "jobs", "processors", "processors", map[string]any{"submit_s": 0.0},
		func(r map[string]any) float64 { return figureOf(r["processes"]) }},
	{model.KindVCSched, []string{"cpu", "memory"}, "jobs", "hosts", "hosts", map[string]any{"tasks": 1},
		func(r map[string]any) float64 { return figureOf(r["memory"]) * max(1, figureOf(r["tasks"])) }},
}

// tableColumns are other names of columns.
var tableColumns = map[string]string{"name": "id", "job": "id", "vm": "id", "request": "id", "mem": "memory", "ram": "memory", "submit": "submit_s", "runtime": "runtime_s",
	"estimate": "estimate_s", "arrival": "arrival_s", "ready": "ready_s", "duration": "duration_s", "deadline": "deadline_s", "processors": "processes", "cores": "processes",
	"bandwidth": "bandwidth_mbps", "mbps": "bandwidth_mbps"}

// readTable reads a table. Its first line names the columns, as the keys of the instance's jobs or requests do,
// separated by commas, semicolons, bars or tabs. No table states how many hosts, processors, PEs or slots there are: it
// is the capacity of the options, or an assumption.
func readTable(f *File, o Options) (model.Instance, error) {
	if err := errors.Join(f.checkName(), f.noPlatform(o, "a table")); err != nil {
		return nil, err
	}
	rows, err := rowsOf(f.data)
	if err != nil {
		return nil, fmt.Errorf("%w table: %w", model.ErrInvalid, err)
	}
	k := tableKindOf(slices.Collect(maps.Keys(rows[0])))
	if k < 0 {
		return nil, fmt.Errorf("%w table: its first line must name cpu and memory (virtual machines), processes and runtime_s (batch jobs), "+
			"pes, duration_s and deadline_s (reservations), or vms, bandwidth_mbps and duration_s (virtual clusters)", model.ErrInvalid)
	}
	t, capacity := tableKinds[k], o.Capacity
	sum, most := 0.0, 1.0
	for i, r := range rows {
		for c, v := range t.defaults {
			if _, given := r[c]; !given {
				r[c] = v
			}
		}
		if _, given := r["id"]; !given {
			r["id"] = strconv.Itoa(i + 1)
		}
		sum, most = sum+t.needs(r), max(most, t.needs(r))
	}
	if capacity < 1 {
		capacity = int(min(1e6, math.Ceil(most)))
		if t.kind == model.KindVCSched {
			capacity = int(min(1e6, max(1, math.Ceil(1.2*sum))))
		}
		f.account.Assumed.Say("%s %s: the table tells none", words.Thousands(int64(capacity)), t.what)
	}
	whole := map[string]any{"kind": t.kind, "version": 1, "name": f.name, t.list: rows, t.capacity: capacity}
	switch t.kind {
	case model.KindTVC:
		delete(whole, t.capacity)
		whole["fat_tree"], whole["queue"] = map[string]any{"k": 4, "slots": capacity, "link_mbps": 1000}, false
	case model.KindBatch:
		whole["tiers"] = 1
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	in, err := model.DecodeInstance(text)
	if err != nil {
		return nil, err
	}
	f.account.Took(float64(len(rows)), "rows")
	model.SetAccount(in, f.account)
	return in, nil
}

// tableKindOf returns which of tableKinds has all its columns among those of a table, -1 if none has.
func tableKindOf(columns []string) int {
	return slices.IndexFunc(tableKinds, func(t tableKind) bool {
		return !slices.ContainsFunc(t.must, func(c string) bool { return !slices.Contains(columns, c) })
	})
}

// isKnownTable reports whether a file is a table with the columns of a problem.
func isKnownTable(f *File) bool {
	columns := strings.FieldsFunc(f.line(), func(c rune) bool { return strings.ContainsRune(",;|\t", c) })
	for k, c := range columns {
		columns[k] = tableColumn(c)
	}
	return IsTable(f.data) && tableKindOf(columns) >= 0
}

// tableColumn returns the key of a column.
func tableColumn(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	return cmp.Or(tableColumns[name], name)
}

// rowsOf reads the rows of a table, by the names of their columns.
func rowsOf(data []byte) (rows []map[string]any, err error) {
	data = bytes.TrimSpace(data)
	first, _, _ := bytes.Cut(data, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.TrimLeadingSpace, r.Comment = ',', true, '#'
	for _, c := range "\t;|" {
		if bytes.ContainsRune(first, c) {
			r.Comma = c
			break
		}
	}
	if r.Comma == '\t' {
		r.TrimLeadingSpace = false // it would eat empty cells
	}
	all, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("there is no row below its first line")
	}
	head := all[0]
	for i, c := range head {
		head[i] = tableColumn(c)
	}
	for _, cells := range all[1:] {
		row := map[string]any{}
		for i, cell := range cells {
			switch cell = strings.TrimSpace(cell); {
			case cell == "" || head[i] == "":
			case head[i] == "id":
				row["id"] = cell
			default:
				row[head[i]] = valueOf(cell)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// valueOf reads a cell: a number, one with a percent sign, or a text.
func valueOf(cell string) any {
	number, percent := strings.CutSuffix(cell, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return cell
	case percent:
		return x / 100
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return int64(x)
	}
	return x
}

// figureOf returns a value as a number, 0 if it is none.
func figureOf(x any) float64 {
	switch x := x.(type) {
	case int:
		return float64(x)
	case int64:
		return float64(x)
	case float64:
		return x
	}
	return 0
}
