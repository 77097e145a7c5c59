// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// quick is a plan with runs of microseconds, one of them random.
const quick = `
name: quick
generators: [{kind: vcsched, hosts: [2], jobs: [4, 6], slack: [0.3, 0.6], count: 3, seed: 5}]
algorithms: [{name: gr}, {name: mcb8}, {name: rrnz}]
seeds: [1, 2]
`

// runPlan executes a plan and returns the results file's records, without their
// times and in a fixed order.
func runPlan(t testing.TB, p *Plan, o RunOptions) []runs.Record {
	t.Helper()
	require.OK(t, Run(context.Background(), p, o))
	return timeless(t, o.Results)
}

func timeless(t testing.TB, file string) []runs.Record {
	t.Helper()
	records := require.Value(runs.ReadRecords(file))(t)
	for i := range records {
		if records[i].ElapsedS < 0 {
			t.Errorf("run %d took %v s", i, records[i].ElapsedS)
		}
		if !records[i].Sealed {
			t.Errorf("run %d isn't sealed", i)
		}
		if c := records[i].CPUS; c != nil && *c < 0 {
			t.Errorf("run %d took %v s of CPU time", i, *c)
		}
		records[i].ElapsedS, records[i].CPUS, records[i].Trajectory, records[i].Seal, records[i].Line, records[i].File = 0, nil, nil, "", 0, ""
	}
	slices.SortFunc(records, func(a, b runs.Record) int { return cmp.Compare(a.Key(), b.Key()) })
	return records
}

func TestRunRecords(t *testing.T) {
	p := decode(t, tiny)
	var started [2]int
	var done int
	got := runPlan(t, p, RunOptions{Results: filepath.Join(t.TempDir(), "new", "r.jsonl"),
		Started: func(total, have int) { started = [2]int{total, have} }, Done: func(runs.Record) { done++ }})
	const want = 2 * (3*16 + 8 + 4) // see TestAlgorithmRuns; two seeds
	if len(got) != want || done != want || started != [2]int{want, 0} {
		t.Errorf("%d records, %d calls of Done, Started with %v, want %d runs", len(got), done, started, want)
	}
	solved := 0
	for _, r := range got {
		if r.Verified != (r.Objective != nil) {
			t.Errorf("%s by %s: verified %v, objective %v", r.Instance, r.Algorithm, r.Verified, r.Objective)
		}
		if r.Params["hosts"] < 2 || r.Params["jobs"] < 4 || r.Hash == "" || r.Version == "" || r.Plan != "tiny" {
			t.Errorf("incomplete record %+v", r)
		}
		require.Same(t, fmt.Sprintf("options of %s", r.Algorithm),
			map[bool]string{true: "algorithm=exact"}[r.Algorithm == "search"], r.Options)
		if r.Algorithm == "search" && r.Status != model.StatusInfeasible && r.Status != model.StatusOptimal {
			t.Errorf("%s by search: status %s", r.Instance, r.Status)
		}
		if r.Verified {
			solved++
		}
	}
	if solved < want/2 {
		t.Errorf("only %d of %d runs have a solution: the test says little", solved, want)
	}
}

// A run that was killed anywhere, torn line or not, ends like one that wasn't,
// whatever the number of workers before and after.
func TestRunResumes(t *testing.T) {
	t.Parallel()
	p := decode(t, quick)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	want := runPlan(t, p, RunOptions{Results: whole, Workers: 2})
	data := require.Value(os.ReadFile(whole))(t)
	rapid.Check(t, func(rt *rapid.T) {
		cut := rapid.IntRange(0, len(data)).Draw(rt, "cut")
		file := filepath.Join(dir, "cut.jsonl")
		require.OK(rt, os.WriteFile(file, data[:cut], 0o644))
		left := 0
		lines := bytes.Count(data[:cut], []byte("\n"))
		if cut < len(data) && data[cut] == '\n' {
			lines++ // a run without the end of its line is one
		}
		got := runPlan(t, p, RunOptions{Results: file, Workers: rapid.IntRange(1, 4).Draw(rt, "workers"), Done: func(runs.Record) { left++ }})
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("resumed run (-want,+got):\n%s", diff)
		}
		if left != len(want)-lines {
			rt.Fatalf("%d runs repeated or lost: %d were left, %d done", left-(len(want)-lines), len(want)-lines, left)
		}
	})
}

// Results of another instance are refused, though they have its name and all runs are there: drawn by another seed, or
// a file that has changed.
func TestRunOtherInstance(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	want := runPlan(t, decode(t, quick), RunOptions{Results: file})
	before := require.Value(os.ReadFile(file))(t)
	other := strings.Replace(quick, "seed: 5", "seed: 6", 1)
	require.Refused(t, "another seed", Run(t.Context(), decode(t, other), RunOptions{Results: file}), model.ErrInvalid, "has changed")
	require.Is(t, string(before), string(require.Value(os.ReadFile(file))(t)))
	if diff := gocmp.Diff(want, runPlan(t, decode(t, quick), RunOptions{Results: file})); diff != "" {
		t.Fatalf("the same plan (-want,+got):\n%s", diff)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "in.json")
	p := "name: p\nfiles: [" + path + "]\nalgorithms: [{name: heft}]\n"
	require.OK(t, os.WriteFile(path, require.Value(os.ReadFile("../docs/examples/six-tasks.json"))(t), 0o666))
	file = filepath.Join(dir, "runs.jsonl")
	runPlan(t, decode(t, p), RunOptions{Results: file})
	require.OK(t, os.WriteFile(path, require.Value(os.ReadFile("../docs/examples/ten-tasks.json"))(t), 0o666))
	require.Refused(t, "another file", Run(t.Context(), decode(t, p), RunOptions{Results: file}), model.ErrInvalid, "has changed")
}

func TestRunStopsWithContext(t *testing.T) {
	p := decode(t, tiny)
	want := runPlan(t, p, RunOptions{Results: filepath.Join(t.TempDir(), "w.jsonl")})
	file := filepath.Join(t.TempDir(), "r.jsonl")
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int32
	err := Run(ctx, p, RunOptions{Results: file, Workers: 2, Done: func(runs.Record) {
		if n.Add(1) == 10 {
			cancel()
		}
	}})
	require.Refused(t, "the error", err, context.Canceled, "")
	if got := timeless(t, file); len(got) < 10 || len(got) >= len(want) {
		t.Errorf("%d of %d runs are in the file after the 10th was the last", len(got), len(want))
	}
	if diff := gocmp.Diff(want, runPlan(t, p, RunOptions{Results: file})); diff != "" {
		t.Errorf("resumed run (-want,+got):\n%s", diff)
	}
}

func TestRunRefuses(t *testing.T) {
	base := "name: tiny\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], slack: [0.6], count: 1, seed: 5}]\n"
	results := func(t *testing.T) string {
		file := filepath.Join(t.TempDir(), "r.jsonl")
		runPlan(t, decode(t, base+"algorithms: [{name: gr}]\n"), RunOptions{Results: file})
		return file
	}
	tests := map[string]struct{ plan, wantPart string }{
		"another plan's results":    {strings.Replace(base, "tiny", "other", 1) + "algorithms: [{name: gr}]\n", "of the plan \"tiny\""},
		"same label, other options": {base + "algorithms: [{name: gr, time_limit: 3s}]\n", "time_limit=3s"},
		"the instance has changed":  {strings.Replace(base, "seed: 5", "seed: 6", 1) + "algorithms: [{name: gr}, {name: sg}]\n", "has changed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := results(t)
			before := require.Value(os.ReadFile(file))(t)
			require.Refused(t, "refusal", Run(context.Background(), decode(t, tc.plan), RunOptions{Results: file}), model.ErrInvalid, tc.wantPart)
			after := require.Value(os.ReadFile(file))(t)
			if !bytes.Equal(before, after) {
				t.Error("the results file was changed")
			}
		})
	}
}

func TestReadRecords(t *testing.T) {
	good := `{"plan":"p","instance":"i","instance_hash":"h","kind":"vcsched","algorithm":"a","seed":1,"status":"unknown","elapsed_s":1,"nodes":0,"verified":false,"version":"v"}` + "\n"
	tests := map[string]struct {
		text      string
		want      int
		wantWhole int
		wantErr   string
	}{
		"empty":           {"", 0, 0, ""},
		"whole lines":     {good + good, 2, 2 * len(good), ""},
		"torn last line":  {good + good[:40], 1, len(good), ""},
		"without its end": {good + good[:len(good)-1], 2, 2*len(good) - 1, ""},
		"no run":          {"Buy milk.", 0, 0, "line 1"},
		"no run at last":  {good + "Buy milk.", 0, 0, "line 2"},
		"two on a line":   {strings.TrimSuffix(good, "\n") + good, 0, 0, "line 1: something follows"},
		"no such kind":    {strings.Replace(good, "vcsched", "knapsack", 1), 0, 0, "knapsack"},
		"not UTF-8":       {strings.Replace(good, `"i"`, "\"\xff\"", 1), 0, 0, "UTF-8"},
		"endless":         {strings.Repeat("\x00", 1<<20+1), 0, 0, "longer than"},
		"torn in between": {good + good[:40] + "\n" + good, 0, 0, "line 2"},
		"unknown key":     {good + strings.Replace(good, `"seed"`, `"sead"`, 1), 0, 0, "line 2"},
		"no such status":  {strings.Replace(good, "unknown", "great", 1), 0, 0, "line 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, whole, err := runs.DecodeRecords(strings.NewReader(tc.text), "r.jsonl")
			if tc.wantErr != "" {
				require.Refused(t, "refusal", err, model.ErrInvalid, tc.wantErr)
				return
			}
			if err != nil || len(got) != tc.want || whole != int64(tc.wantWhole) {
				t.Errorf("%d records, %d bytes, error %v; want %d, %d, nil", len(got), whole, err, tc.want, tc.wantWhole)
			}
		})
	}
}

func FuzzDecodeRecords(f *testing.F) {
	f.Add([]byte(`{"plan":"p","instance":"i","instance_hash":"h","kind":"vcsched","algorithm":"a","seed":1,"status":"optimal","objective":0.5,"bound":0.5,"gap":0,"elapsed_s":1,"nodes":0,"verified":true,"version":"v"}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte("{\"pl"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, whole, err := runs.DecodeRecords(bytes.NewReader(data), "r")
		if err != nil {
			require.Refused(t, "error", err, model.ErrInvalid, "")
			return
		}
		if whole > int64(len(data)) || len(records) != len(bytes.SplitAfter(bytes.TrimSuffix(data[:whole], []byte("\n")), []byte("\n"))) && whole > 0 || bytes.Contains(data[whole:], []byte("\n")) {
			t.Errorf("%d records in %d of %d bytes", len(records), whole, len(data))
		}
		// Records that were read can be tabulated, unless they contradict each other.
		if _, err := runs.Tabulate(records, runs.TableOptions{}); err != nil && len(records) > 0 && !errors.Is(err, model.ErrInvalid) {
			t.Errorf("what was read can't be tabulated: %v", err)
		}
	})
}

// An algorithm that doesn't take an instance has a run without a solution, and
// the plan goes on.
func TestRunUnsupported(t *testing.T) {
	p := decode(t, `
name: contended
generators: [{kind: dag, tasks: [4], machines: [2], platform: uniform, transfers: fair, fat: [0.5], density: [0.5], jump: [1], regular: [0.5], max_cost: [5], max_data: [5], count: 1, seed: 5}]
algorithms: [{name: highs}, {name: heft}]
`)
	got := runPlan(t, p, RunOptions{Results: filepath.Join(t.TempDir(), "r.jsonl")})
	require.Is(t, 2, len(got), "runs")
	for _, r := range got {
		if unsupported := r.Algorithm == "highs"; unsupported != (r.Status == model.StatusUnknown) || unsupported != (r.Reason != "") || r.Hash == "" || r.Version == "" {
			t.Errorf("%+v", r)
		}
	}
}

// Devices are switched off in the native search alone, one or each in turn; a plan
// without it is refused, and so is a name that no search has.
func TestPlanWithout(t *testing.T) {
	dir := t.TempDir()
	p := decode(t, "name: w\ngenerators: [{kind: vcsched, hosts: [3], jobs: [9], slack: [0.1], count: 2}]\nalgorithms: [{name: search}, {name: gr}]\n")
	problem := require.Value(gapwise.ProblemOf(model.KindVCSched))(t)
	want := map[string]map[string]string{"local-search": {"search": "without=local-search", "gr": ""}, Each: {"search": "", "gr": ""}}
	for _, d := range problem.Search.Devices() {
		label := WithoutLabel("search", d.Name)
		want[Each][label] = "algorithm=search without=" + d.Name
	}
	for device, options := range want {
		q := require.Value(p.Without([]string{device}))(t)
		file := filepath.Join(dir, device+".jsonl")
		require.OK(t, Run(t.Context(), q, RunOptions{Results: file}))
		records, err := runs.ReadRecords(file)
		if err != nil || len(records) != 2*len(options) {
			t.Fatalf("%d records, error %v", len(records), err)
		}
		for _, r := range records {
			if want, ok := options[r.Algorithm]; !ok || r.Options != want {
				t.Errorf("%s has the options %q, want %q", r.Algorithm, r.Options, want)
			}
		}
	}
	lucky := require.Value(p.Without([]string{"luck"}))(t)
	if err := Run(t.Context(), lucky, RunOptions{Results: filepath.Join(dir, "x.jsonl")}); err == nil || !strings.Contains(err.Error(), `no device "luck"`) {
		t.Errorf("error %v", err)
	}
	require.Refused(t, "two problems", require.Err(decode(t, "name: two\ngenerators: [{kind: vcsched, hosts: [3], jobs: [9], count: 1}, {kind: dag, tasks: [3], count: 1}]\nalgorithms: [{name: search}]\n").Without([]string{Each})), model.ErrInvalid, "")
	p.Algorithms = p.Algorithms[1:]
	require.Refused(t, "no such device", require.Err(p.Without([]string{"local-search"})), model.ErrInvalid, "")
}
