// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A file of another commit, or of uncommitted changes, isn't gone on with; one that
// is whole may be read by any build.
func TestOtherCommits(t *testing.T) {
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	runPlan(t, p, RunOptions{Results: whole})
	records := require.Value(runs.ReadRecords(whole))(t)
	lines := ""
	for i := range records {
		records[i].Commit = "0123456789"
		lines += string(require.Value(records[i].Encode())(t))
	}
	write(t, whole, lines)
	if err := Run(context.Background(), p, RunOptions{Results: whole}); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	_, rest, _ := strings.Cut(lines, "\n")
	write(t, whole, rest)
	require.Refused(t, "a part of a file", Run(context.Background(), p, RunOptions{Results: whole}), model.ErrInvalid, "whole.jsonl:1 is of commit 0123456789, this is commit unknown")
	if text, err := os.ReadFile(whole); err != nil || string(text) != rest {
		t.Errorf("the file has changed (%v)", err)
	}
	for name, c := range map[string]struct{ is, now, want string }{
		"one commit":         {"a", "a", ""},
		"no commit is known": {"", "", ""},
		"another":            {"a", "b", "is of commit a, this is commit b"},
		"before it was kept": {"", "b", "is of commit unknown, this is commit b"},
		"changes":            {"a", "a+dirty", "is of commit a, this is commit a+dirty"},
		"changes twice":      {"a+dirty", "a+dirty", "of uncommitted changes"},
	} {
		err := goesOn(&runs.Record{Algorithm: "gr", Instance: "i", Commit: c.is}, c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	records[0].Commit = ""
	want := []string{gapwise.Version, gapwise.Version + " (0123456789)"}
	require.Same(t, "builds", want, runs.Builds(records))
}

// Nothing is written to, or cut off, other files than this plan's results.
func TestRunLeavesOtherFilesAlone(t *testing.T) {
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	runPlan(t, p, RunOptions{Results: whole})
	line, _, _ := strings.Cut(string(require.Value(os.ReadFile(whole))(t)), "\n")
	for name, c := range map[string]struct{ text, want string }{
		"notes":                    {"Buy milk.", "line 1"},
		"notes of two lines":       {"Buy milk.\nAnd bread.", "line 1"},
		"JSON of another sort":     {`{"kind":"vcsched"`, "line 1"},
		"a torn run of others":     {`{"plan":"other","instance":"x`, `ends in something else than a run of the plan "quick"`},
		"a run and notes":          {line + "\nBuy milk.", "line 2"},
		"of another version":       {strings.Replace(line, `"version":"`+gapwise.Version+`"`, `"version":"0.1.0"`, 1) + "\n", ":1 is of gapwise 0.1.0, this is " + gapwise.Version},
		"changed by hand":          {strings.Replace(line, `"nodes":`, `"nodes":1`, 1) + "\n", ":1, a run of gr, isn't as gapwise bench has written it"},
		"another plan, not ended":  {strings.Replace(line, `"quick"`, `"other"`, 1), `holds runs of the plan "other"`},
		"a run, and half of notes": {line + "\n{\"note\":", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "notes.txt")
			write(t, file, c.text)
			require.Refused(t, "refusal", Run(context.Background(), p, RunOptions{Results: file}), model.ErrInvalid, c.want)
			if after, err := os.ReadFile(file); err != nil || string(after) != c.text {
				t.Errorf("the file is now %q, error %v", after, err)
			}
		})
	}
	require.Refused(t, "a folder for the results", Run(context.Background(), p, RunOptions{Results: t.TempDir()}), model.ErrInvalid, "")
}

// While one Run writes, another is refused, and the first is whole.
func TestRunLocks(t *testing.T) {
	p := decode(t, quick)
	want := runPlan(t, p, RunOptions{Results: filepath.Join(t.TempDir(), "w.jsonl")})
	file := filepath.Join(t.TempDir(), "r.jsonl")
	refused := 0
	got := runPlan(t, p, RunOptions{Results: file, Workers: 2, Done: func(runs.Record) {
		err := Run(context.Background(), p, RunOptions{Results: file})
		if errors.Is(err, model.ErrInvalid) && strings.Contains(err.Error(), "another gapwise bench is writing "+file) {
			refused++
		}
	}})
	if refused != len(want) {
		t.Errorf("refused %d of %d times", refused, len(want))
	}
	require.Same(t, "runs", want, got)
	if got := runPlan(t, p, RunOptions{Results: file}); len(got) != len(want) {
		t.Errorf("%d runs once more, want %d", len(got), len(want))
	}
}

// A plan's search has a trajectory that ends with the result; a heuristic has none.
func TestRunKeepsTrajectories(t *testing.T) {
	p := decode(t, `
name: moments
generators: [{kind: vcsched, hosts: [4], jobs: [12], slack: [0.3], count: 1, seed: 5}]
algorithms: [{name: gr}, {name: search}]
`)
	file := t.TempDir() + "/r.jsonl"
	require.OK(t, Run(t.Context(), p, RunOptions{Results: file}))
	records := require.Value(runs.ReadRecords(file))(t)
	for _, r := range records {
		if !r.Sealed {
			t.Errorf("%s isn't sealed", r.Algorithm)
		}
		if r.Algorithm == "gr" {
			if r.Trajectory != nil {
				t.Errorf("gr has the trajectory %v", r.Trajectory)
			}
			continue
		}
		n := len(r.Trajectory)
		if n == 0 || r.Trajectory[n-1].Objective != *r.Objective || r.Trajectory[n-1].Bound != *r.Bound {
			t.Errorf("%s: trajectory %v, objective %v, bound %v", r.Algorithm, r.Trajectory, *r.Objective, *r.Bound)
		}
	}
}

// A line's claims aren't believed: they count as stated, and the bound and the proof of infeasibility prove nothing to
// others.
func TestStatedIsNotVerified(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.jsonl")
	runPlan(t, decode(t, quick), RunOptions{Results: file})
	lines := strings.SplitAfter(string(require.Value(os.ReadFile(file))(t)), "\n")
	mine := `{"plan":"p","instance":"i","instance_hash":"h","kind":"vcsched","algorithm":"mine","seed":1,"status":"optimal","objective":0.5,"bound":0.5,"gap":0,"elapsed_s":1,"nodes":0,"verified":true,"version":"` + gapwise.Version + `"}` + "\n"
	for name, c := range map[string]struct {
		text             string
		verified, stated int
	}{
		"as it was written":     {lines[0], 1, 0},
		"other order of keys":   {strings.Replace(lines[0], `"plan":"quick",`, "", 1)[:len(lines[0])-len(`"plan":"quick",`)-2] + `,"plan":"quick"}` + "\n", 1, 0},
		"a figure was changed":  {strings.Replace(lines[0], `"objective":0.`, `"objective":0.0`, 1), 0, 1},
		"an algorithm's name":   {strings.Replace(lines[0], `"algorithm":"gr"`, `"algorithm":"g"`, 1), 0, 1},
		"made by hand":          {mine, 0, 1},
		"of another version":    {strings.Replace(mine, gapwise.Version, "0.8.0", 1), 0, 1},
		"with a seal of a sort": {strings.Replace(mine, `"version"`, `"seal":"0123456789abcdef","version"`, 1), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			records, _ := require.Pair(runs.DecodeRecords(strings.NewReader(c.text), "m.jsonl"))(t)
			table := require.Value(runs.Tabulate(records, runs.TableOptions{Columns: []string{"verified", "stated"}}))(t)
			if want := []float64{float64(c.verified), float64(c.stated)}; !cmp.Equal(table.Rows[0].Values, want) {
				t.Errorf("verified and stated are %v, want %v", table.Rows[0].Values, want)
			}
			words := strings.Join(runs.Vouched(records), "; ")
			want := "1 solution verified by gapwise " + gapwise.Version
			if c.stated > 0 {
				want = "1 solutions are stated, not verified: these lines of m.jsonl are not as gapwise bench writes them"
			}
			if name == "of another version" {
				want = "1 solutions are stated, not verified: these lines of m.jsonl (0.8.0) are of another version, and not as gapwise " + gapwise.Version + " writes them"
			}
			require.Same(t, "in words", want, words)
		})
	}
}

// Tables group files by what is computed, and algorithms can be restricted to some
// of them; a generator's number goes first.
func TestParametersOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, jobs := range map[string]string{"one": "", "two": `,{"id":"b","tasks":2,"cpu":0.25,"memory":0.1}`} {
		write(t, filepath.Join(dir, "set", name+".json"), `{"kind":"vcsched","version":1,"name":"`+name+`","hosts":1,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.1}`+jobs+`]}`)
	}
	write(t, filepath.Join(dir, "plan.yaml"), "name: f\nfiles: [set]\ngenerators: [{kind: dag, tasks: [3], count: 1}]\nalgorithms: [{name: gr, only: {hosts: [1]}}, {name: mcb8, only: {tasks: [3], hosts: [1]}}, {name: heft, only: {edges: [2], machines: [3]}}]\n")
	p := require.Value(LoadPlan(filepath.Join(dir, "plan.yaml")))(t)
	records := runPlan(t, p, RunOptions{Results: filepath.Join(dir, "r.jsonl")})
	var got []string
	for _, r := range records {
		got = append(got, r.Algorithm+" "+filepath.Base(r.Instance))
	}
	slices.Sort(got)
	require.Same(t, "the runs",
		[]string{"gr one.json", "gr two.json", "heft T3-f50-d50-r90-j1-m3-c50-b50-uniform-ideal-0",
			"mcb8 two.json"}, got)
	records = slices.DeleteFunc(records, func(r runs.Record) bool { return r.Kind != model.KindVCSched })
	table := require.Value(tabulated(records, runs.TableOptions{By: []string{"tasks", "load"}, Columns: []string{"runs"}}))(t)
	if want := [][]string{{"1", "0.5", "gr", "1"}, {"3", "1", "gr", "1"}, {"3", "1", "mcb8", "1"}}; !slices.EqualFunc(table.Rows, want, slices.Equal) {
		t.Errorf("the table is %v, want %v", table.Rows, want)
	}
	lines, err := runs.Series(records, runs.SeriesOptions{X: []string{"load"}, Y: "objective", Algorithms: []string{"gr"}, Where: map[string]float64{"jobs": 2}})
	if err != nil || len(lines) != 1 || len(lines[0].Points) != 1 || lines[0].Points[0].X != 1 {
		t.Errorf("the curves are %+v, error %v", lines, err)
	}
	records[0].Params = map[string]float64{"load": 7}
	if x, err := runs.Parameters(&records[0], []string{"load", "hosts"}); err != nil || !slices.Equal(x, []float64{7, 1}) {
		t.Errorf("the parameters are %v, error %v", x, err)
	}
	if _, err := tabulated(records, runs.TableOptions{By: []string{"machines"}}); err == nil || !strings.Contains(err.Error(), `no parameter "machines"; it has budget`) && !strings.Contains(err.Error(), `no parameter "machines"; it has cov_cpu`) {
		t.Errorf("error %v", err)
	}
}

// tabulated is runs.Tabulate as text.
func tabulated(records []runs.Record, o runs.TableOptions) (runs.Table, error) {
	f, err := runs.Tabulate(records, o)
	if err != nil {
		return runs.Table{}, err
	}
	return f.Table(o), nil
}
