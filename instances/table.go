// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

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
	rows, lines, err := rowsOf(f.data)
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
		return nil, &rowError{err, t.list, lines}
	}
	f.account.Took(float64(len(rows)), "rows")
	model.SetAccount(in, f.account)
	return in, nil
}

// rowError is an error about a row of a table: its text names the line and the column, where the instance made of the
// table has an element of a list.
type rowError struct {
	err   error
	list  string // key of the instance
	lines []int  // of the rows
}

func (e *rowError) Unwrap() error { return e.err }

// What an instance's errors begin with, and how they name an element of a list.
var (
	ofInstance = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^invalid( JSON|( \w+)? instance): line 1: `) })
	ofElement  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)\[(\d+)\](?:\.(\w+))?`) })
)

// Error implements error.
func (e *rowError) Error() string {
	text := ofInstance().ReplaceAllString(e.err.Error(), "invalid table: ")
	return ofElement().ReplaceAllStringFunc(text, func(place string) string {
		m := ofElement().FindStringSubmatch(place)
		k, err := strconv.Atoi(m[2])
		switch {
		case err != nil || m[1] != e.list || k >= len(e.lines):
			return place
		case m[3] == "":
			return fmt.Sprintf("line %d", e.lines[k])
		}
		return fmt.Sprintf("line %d, column %s", e.lines[k], m[3])
	})
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

// rowsOf reads the rows of a table, by the names of their columns, and their lines.
func rowsOf(data []byte) (rows []map[string]any, lines []int, err error) {
	above := len(data) - len(bytes.TrimLeftFunc(data, unicode.IsSpace))
	before := bytes.Count(data[:above], []byte("\n"))
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
	head, err := r.Read()
	if err != nil {
		return nil, nil, err
	}
	for i, c := range head {
		head[i] = tableColumn(c)
	}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, err
		}
		line, _ := r.FieldPos(0)
		lines = append(lines, before+line)
		row := map[string]any{}
		for i, cell := range cells {
			switch cell = strings.TrimSpace(cell); {
			case cell == "" || head[i] == "":
			case head[i] == "id":
				row["id"] = cell
			default:
				row[head[i]] = valueOf(cell, r.Comma != ',')
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, nil, errors.New("there is no row below its first line")
	}
	return rows, lines, nil
}

// valueOf reads a cell: a number, one with a percent sign, or a text. Commas may be decimal points.
func valueOf(cell string, commas bool) any {
	number, percent := strings.CutSuffix(cell, "%")
	if number = strings.TrimSpace(number); commas && strings.Count(number, ",") == 1 {
		number = strings.Replace(number, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return cell
	case percent:
		return x / 100
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return int64(x)
	case json.Valid([]byte(number)):
		return json.Number(number) // an error shows it as it is written
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
	case json.Number:
		y, _ := x.Float64()
		return y
	}
	return 0
}
