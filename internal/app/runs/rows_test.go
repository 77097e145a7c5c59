// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// A row for each run has the values of the run itself, in one order whatever the records' is.
func TestTabulateRuns(t *testing.T) {
	records := sample()
	records[1].Reason, records[1].Metrics = "why, not", map[string]float64{"moved": 2}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	got := require.Value(TabulateRuns(records, TableOptions{Plain: true}))(t)
	head := strings.Join(got.Header, ",")
	if want := "plan,instance,kind,algorithm,class,seed,status,yield,average yield,bound,best bound,gap %,degradation %,time s,"; !strings.HasPrefix(head, want) || !strings.HasSuffix(head, ",nodes,verified,reason,jobs,slack,version") {
		t.Errorf("the columns are %s", head)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(got.Header)))) != len(got.Header) {
		t.Errorf("a column is there twice: %s", head)
	}
	require.Is(t, len(records), len(got.Rows), "rows")
	row := got.Rows[1]
	require.Same(t, "the second row", []string{"p", "i1", "vcsched", "greedy", "offline", "1", "feasible", "0.4", "0.5", "0.9", "0.8", "100", "50", "0.001"}, row[:14])
	order := ""
	for _, r := range got.Rows {
		order += r[1] + r[3][:1] + r[5] + " "
	}
	require.Is(t, "i1e1 i1g1 i1r1 i1r2 i2e1 i2g1 i2r1 i2r2 i3e1 i3g1 i3r1 i3r2 ", order, "order")
	if k := slices.Index(got.Header, "yield"); got.Rows[5][k] != "" {
		t.Errorf("a run without a solution has the yield %q", got.Rows[4][k])
	}
	few := require.Value(TabulateRuns(sample(), TableOptions{Algorithms: []string{"random"}, Columns: []string{"yield", "time s", "seed"}}))(t)
	require.Same(t, "chosen columns", []string{"yield", "time s", "seed"}, few.Header)
	require.Is(t, 6, len(few.Rows), "rows of one algorithm")
	require.Refused(t, "refusal", require.Err(TabulateRuns(sample(), TableOptions{Columns: []string{"colour"}})), model.ErrInvalid, `no column "colour"`)
}

// A table by instance has the instances by name.
func TestTabulateByInstance(t *testing.T) {
	got := require.Value(tabulate(sample(), TableOptions{By: []string{"instance"}, Algorithms: []string{"exact", "greedy"}, Columns: []string{"runs"}}))(t)
	require.Same(t, "header", []string{"instance", "algorithm", "runs"}, got.Header)
	require.Same(t, "rows", [][]string{{"i1", "greedy", "1"}, {"i2", "greedy", "1"}, {"i3", "greedy", "1"}, {"i1", "exact", "1"}, {"i2", "exact", "1"}, {"i3", "exact", "1"}}, got.Rows)
	got = require.Value(tabulate(sample(), TableOptions{By: []string{"jobs", "instance"}, Algorithms: []string{"exact"}, Columns: []string{"runs"}}))(t)
	require.Same(t, "with a parameter", [][]string{{"4", "i1", "exact", "1"}, {"8", "i2", "exact", "1"}, {"8", "i3", "exact", "1"}}, got.Rows)
	wide := require.Value(tabulate(sample(), TableOptions{By: []string{"instance"}, Wide: true, Columns: []string{"runs"}}))(t)
	require.Is(t, "i2", wide.Rows[1][0], "wide")
}

// Failed runs are counted by reason; one on an instance that is proved infeasible isn't failed.
func TestFailures(t *testing.T) {
	records := sample()
	for k := range records {
		if records[k].Status == model.StatusUnknown {
			records[k].Reason = "by " + records[k].Algorithm
		}
	}
	want := []string{"2 of 12 runs without a solution:", "greedy on i2: by greedy", "random on i2 with seed 2: by random"}
	require.Same(t, "lines", want, Failures(records, 3))
	require.Same(t, "the first of them", append(want[:2:2], "and 1 run for other reasons: gapwise bench table --by run has them all"), Failures(records, 1))
	records[4].Algorithm, records[4].Reason, records[9].Reason = "random", "", ""
	records[4].Seed = 1
	require.Same(t, "of one reason", []string{"2 of 12 runs without a solution:", "random on i2 and 1 more: no reason is known"}, Failures(records, 3))
	require.Same(t, "none", []string(nil), Failures(records[:4], 3))
}

// Of one run by several states of a program the last one counts, and the results of the others aren't contradictions.
func TestCurrent(t *testing.T) {
	records := sample()[:4]
	before := records[3]
	records[3].Program, before.Program = "b", "a"
	before.Objective = Optional(0.3)
	all := append([]Record{before}, records...)
	some, notes := Current(all)
	require.Same(t, "records", records, some)
	require.Same(t, "notes", []string{"1 run of greedy left out: its program has changed since, and ran again"}, notes)
	merged, notes, err := Merge(all)
	require.OK(t, err)
	require.Same(t, "merged", records, merged)
	require.Is(t, 1, len(notes), "notes")
	if some, notes := Current(records); len(some) != len(records) || notes != nil {
		t.Errorf("%d records, %q", len(some), notes)
	}
}

// Captions are in words.
func TestSubject(t *testing.T) {
	f := require.Value(Tabulate(sample(), TableOptions{Columns: []string{"gap mean %", "deg. max %", "time geo.", "gap p95 %", "failed"}, By: []string{"jobs"}}))(t)
	got := f.Table(TableOptions{OneUnit: true}).Subject
	require.Is(t, "Mean gap in %, largest degradation in %, geometric mean of the time in ms, 95th percentile of the gap in % and failed of 3 algorithms on 3 instances of vcsched (p), by jobs", got, "subject")
	records := sample()
	for k := range records {
		records[k].Plan = AdHocPrefix + "some-files+others.json"
	}
	f = require.Value(Tabulate(records, TableOptions{Columns: []string{"runs"}, Algorithms: []string{"exact"}}))(t)
	require.Is(t, "Runs of 1 algorithm on 3 instances of vcsched", f.Table(TableOptions{}).Subject, "subject")
	require.Is(t, 3, len(f.Records()), "records")
}

// Most values of a column decide whether hours stand after seconds.
func TestTimed(t *testing.T) {
	seconds := model.Metric{Name: "response", Unit: "s"}
	for _, c := range []struct {
		metric model.Metric
		column []float64
		want   string
	}{{seconds, []float64{7200, 7200, 60}, "7200 (2 h) 60 -"}, {seconds, []float64{7200, 60, 60}, "7200 60 -"}, {seconds, nil, "7200 60 -"}, {model.Metric{Unit: "%"}, []float64{7200}, "7200 60 -"}} {
		write := Timed(c.metric, c.column, words.Figure)
		require.Is(t, c.want, write(7200)+" "+write(60)+" "+write(math.NaN()), c.column)
	}
}
