// SPDX-License-Identifier: MIT

package runs

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is small enough to compute the tables by hand: three instances with
// the best bounds 0.8, 0.5 and none (i3 is proved infeasible by exact).
//
//	           exact          greedy         random
//	i1 jobs 4  0.8  optimal   0.4            0.5, 0.8 (seeds 1, 2)
//	i2 jobs 8  0.5  optimal   no solution    0.25, no solution
//	i3 jobs 8  infeasible     no solution    no solution, no solution
//
// Gaps: greedy 1 (0.4 to 0.8); random 0.6, 0, 1. Degradations from the best
// (0.8, 0.5): greedy 0.5; random 0.375, 0, 0.5.
func sample() []Record {
	num := func(x float64) *float64 { return &x }
	record := func(instance string, jobs float64, algorithm string, seed uint64, status model.Status, objective, bound, elapsed float64, nodes int64) Record {
		r := Record{Plan: "p", Instance: instance, Hash: "sha256:" + instance, Kind: model.KindVCSched, Params: map[string]float64{"jobs": jobs, "slack": 0.5},
			Algorithm: algorithm, Seed: seed, Status: status, ElapsedS: elapsed, Nodes: nodes, Version: "v", Sealed: true}
		if objective > 0 {
			r.Objective, r.Second, r.Verified = num(objective), num(objective+0.1), true
		}
		if bound > 0 {
			r.Bound = num(bound)
		}
		return r
	}
	return []Record{
		record("i1", 4, "exact", 1, model.StatusOptimal, 0.8, 0.8, 2, 10),
		record("i2", 8, "exact", 1, model.StatusOptimal, 0.5, 0.5, 4, 20),
		record("i3", 8, "exact", 1, model.StatusInfeasible, 0, 0, 0.5, 3),
		record("i1", 4, "greedy", 1, model.StatusFeasible, 0.4, 0.9, 0.001, 0),
		record("i2", 8, "greedy", 1, model.StatusUnknown, 0, 0.9, 0.003, 0),
		record("i3", 8, "greedy", 1, model.StatusUnknown, 0, 1, 0.002, 0),
		record("i1", 4, "random", 1, model.StatusFeasible, 0.5, 0.9, 0.01, 0),
		record("i1", 4, "random", 2, model.StatusOptimal, 0.8, 0.9, 0.01, 0),
		record("i2", 8, "random", 1, model.StatusFeasible, 0.25, 0.9, 0.01, 0),
		record("i2", 8, "random", 2, model.StatusUnknown, 0, 0.9, 0.01, 0),
		record("i3", 8, "random", 1, model.StatusUnknown, 0, 1, 0.01, 0),
		record("i3", 8, "random", 2, model.StatusUnknown, 0, 1, 0.01, 0),
	}
}

func TestTabulateByHand(t *testing.T) {
	tests := map[string]struct {
		options TableOptions
		want    [][]string
	}{
		"counts": {TableOptions{Columns: []string{"runs", "infeasible", "failed", "failure %", "optimal", "verified", "gap<=1% %"}}, [][]string{
			{"algorithm", "runs", "infeasible", "failed", "failure %", "optimal", "verified", "gap<=1% %"},
			{"greedy", "3", "1", "1", "50.000", "0", "1", "33.333"},
			{"random", "6", "2", "1", "25.000", "1", "3", "50.000"},
			{"exact", "3", "1", "0", "0.000", "2", "2", "100.000"},
		}},
		"gaps, failures left out": {TableOptions{Columns: []string{"objective", "second", "gap mean %", "gap median %", "gap p95 %", "gap max %"}}, [][]string{
			{"algorithm", "yield", "average yield", "gap mean %", "gap median %", "gap p95 %", "gap max %"},
			{"greedy", "0.4", "0.5", "100.000", "100.000", "100.000", "100.000"},
			{"random", "0.51667", "0.61667", "53.333", "60.000", "96.000", "100.000"},
			{"exact", "0.65", "0.75", "0.000", "0.000", "0.000", "0.000"},
		}},
		"degradation and time": {TableOptions{Columns: []string{"deg. mean %", "deg. max %", "time mean", "time max", "time sum", "nodes mean"}}, [][]string{
			{"algorithm", "deg. mean %", "deg. max %", "time mean", "time max", "time sum", "nodes mean"},
			{"greedy", "50.000", "50.000", "2 ms", "3 ms", "6 ms", "0"},
			{"random", "12.500", "37.500", "10 ms", "10 ms", "60 ms", "0"},
			{"exact", "0.000", "0.000", "2.167 s", "4 s", "6.5 s", "11"},
		}},
		"the best is among the algorithms chosen": {TableOptions{Algorithms: []string{"random", "greedy"}, Columns: []string{"deg. mean %", "gap max %"}}, [][]string{
			{"algorithm", "deg. mean %", "gap max %"},
			{"random", "12.500", "100.000"}, // 0.375, 0 and, best on i2 here, 0
			{"greedy", "50.000", "100.000"},
		}},
		"groups": {TableOptions{By: []string{"jobs", "slack"}, Algorithms: []string{"random"}, Columns: []string{"runs", "failed", "gap mean %"}}, [][]string{
			{"jobs", "slack", "algorithm", "runs", "failed", "gap mean %"},
			{"4", "0.5", "random", "2", "0", "30.000"},
			{"8", "0.5", "random", "4", "1", "100.000"},
		}},
		"nothing to average": {TableOptions{By: []string{"jobs"}, Algorithms: []string{"greedy"}, Columns: []string{"objective", "gap median %", "gap max %", "deg. mean %"}}, [][]string{
			{"jobs", "algorithm", "yield", "gap median %", "gap max %", "deg. mean %"},
			{"4", "greedy", "0.4", "100.000", "100.000", "0.000"},
			{"8", "greedy", "-", "-", "-", "-"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			records := sample()
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			got := require.Value(tabulate(records, tc.options))(t)
			require.Same(t, "table", tc.want, append([][]string{got.Header}, got.Rows...))
		})
	}
}

// Instances of two plans that share a name, not the content, are two.
func TestTabulateTellsInstancesByHash(t *testing.T) {
	records := sample()[:2]
	records[1].Instance = records[0].Instance
	got := require.Value(tabulate(records, TableOptions{Columns: []string{"gap max %", "deg. max %"}}))(t)
	require.Same(t, "rows", [][]string{{"exact", "0.000", "0.000"}}, got.Rows)
}

func TestTabulateRefuses(t *testing.T) {
	tests := map[string]struct {
		records  []Record
		options  TableOptions
		wantPart string
	}{
		"no results":        {nil, TableOptions{}, "no results"},
		"unknown algorithm": {sample(), TableOptions{Algorithms: []string{"mcb9"}}, "mcb9"},
		"unknown parameter": {sample(), TableOptions{By: []string{"colour"}}, "colour"},
		"unknown column":    {sample(), TableOptions{Columns: []string{"gap"}}, "\"gap\""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Refused(t, "refusal", require.Err(tabulate(tc.records, tc.options)), model.ErrInvalid, tc.wantPart)
		})
	}
}

func TestRenderGolden(t *testing.T) {
	files := map[string]string{"text": "table.txt", "markdown": "table.md", "csv": "table.csv", "latex": "table.tex"}
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			table := require.Value(tabulate(sample(), TableOptions{By: []string{"jobs", "slack"}, Plain: format == "csv"}))(t)
			table.Groups = append(table.Groups, "online policies: of a_b")
			table.Rows = append(table.Rows, []string{"8", "0.5", `a_b & 5% {\}`, "1", "0", "-", "-", "2 s"})
			var got bytes.Buffer
			require.OK(t, table.Render(&got, format))
			if format == "text" {
				for line := range strings.Lines(got.String()) {
					if len(line) > 81 || strings.HasSuffix(line, " \n") {
						t.Errorf("line of %d bytes: %q", len(line)-1, line)
					}
				}
			}
			file := filepath.Join("testdata", files[format])
			if *update {
				require.OK(t, os.WriteFile(file, got.Bytes(), 0o644))
			}
			require.Same(t, file, string(require.Value(os.ReadFile(file))(t)), got.String())
		})
	}
	require.Refused(t, "unknown format", (Table{}).Render(&bytes.Buffer{}, "html"), model.ErrInvalid, "")
}

// tabulate is Tabulate as text.
func tabulate(records []Record, o TableOptions) (Table, error) {
	f, err := Tabulate(records, o)
	if err != nil {
		return Table{}, err
	}
	return f.Table(o), nil
}

// A run without a solution degrades by 100 % "over all instances"; an instance that
// no algorithm of the table solves isn't counted.
func TestDegradationOfAll(t *testing.T) {
	solved := func(algorithm, instance string, yield float64) Record {
		r := Record{Plan: "p", Instance: instance, Hash: instance, Kind: model.KindVCSched, Algorithm: algorithm, Status: model.StatusUnknown}
		if yield > 0 {
			r.Objective, r.Status, r.Verified = &yield, model.StatusFeasible, true
		}
		return r
	}
	records := []Record{
		solved("a", "1", 0.8), solved("b", "1", 0.76), solved("a", "2", 0.5), solved("b", "2", 0), solved("a", "3", 0), solved("b", "3", 0),
		solved("a", "4", 0.4), solved("b", "4", 0.34), solved("other", "3", 0.9),
	}
	table := require.Value(tabulate(records, TableOptions{Algorithms: []string{"a", "b"}, Columns: []string{"deg. mean %", "deg. all %", "deg. > 3 %", "deg. > 10 %", "unsolved %"}}))(t)
	want := [][]string{{"a", "0.000", "0.000", "0", "0", "25.000"}, {"b", "10.000", "40.000", "2", "1", "50.000"}}
	for i, row := range want {
		for k, cell := range row {
			require.Same(t, fmt.Sprintf("%s of %s", table.Header[k], row[0]), cell, table.Rows[i][k])
		}
	}
	lines, err := Series(withParameter(records), SeriesOptions{X: []string{"slack"}, Y: "deg. all %", Algorithms: []string{"a", "b"}})
	if err != nil || len(lines) != 2 || math.Abs(lines[1].Points[0].Mean-40) > 1e-9 || lines[1].Points[0].Runs != 3 {
		t.Errorf("%+v, %v", lines, err)
	}
}

// withParameter gives all records one slack.
func withParameter(records []Record) []Record {
	for i := range records {
		records[i].Params = map[string]float64{"slack": 0.5}
	}
	return records
}

func TestWithoutFolder(t *testing.T) {
	for _, x := range [][2][]string{
		{{"/a/b/x.json", "/a/b/c/y.json (platform /a/b/p.xml)"}, {"x.json", "c/y.json (platform /a/b/p.xml)"}},
		{{"a/x", "b/x"}, {"a/x", "b/x"}},
		{{"/a", "/b"}, {"a", "b"}},
		{{"dir/one (files each; platform p/q)"}, {"one (files each; platform p/q)"}},
		{{"H4-J10", "x/H4"}, {"H4-J10", "x/H4"}},
		{{"ab/x", "abc/x"}, {"ab/x", "abc/x"}},
		{nil, nil},
	} {
		require.Same(t, "names", x[1], withoutFolder(x[0]))
	}
}

// Objectives of two problems have no mean; what all problems have does.
func TestTwoProblems(t *testing.T) {
	records := sample()
	other := records[0]
	other.Instance, other.Hash, other.Kind, other.Algorithm = "d1", "sha256:d1", model.KindDAG, "exact"
	got := require.Value(Tabulate(append(records, other), TableOptions{Algorithms: []string{"exact", "greedy"}, Columns: []string{"runs", "objective", "bound", "second", "objective ±"}}))(t)
	for k, x := range got.Rows[1].Values { // exact
		if known := !math.IsNaN(x); known != (k == 0) {
			t.Errorf("%s of two problems: %v", got.Columns[k], x)
		}
	}
	require.Is(t, 0.4, got.Of(&got.Rows[0], "objective"), "of one")
}
