// SPDX-License-Identifier: MIT

package benchmarks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "3/8": {3, 8}, "8/8": {8, 8}, "0/8": {}, "9/8": {}, "3": {}, "3/": {}, "": {}, "-1/2": {}, "1/2/3": {}, "1/9999999": {}, "a/b": {}} {
		got, err := ParseShard(text)
		if got != want || (err == nil) == (want == Shard{}) || err != nil && !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
	require.Same(t, "the stem of 3/8", "p.3-of-8", (Shard{3, 8}).Stem("p"))
	require.Same(t, "the stem of no shard", "p", (Shard{}).Stem("p"))
}

func FuzzParseShard(f *testing.F) {
	f.Add("3/8")
	f.Add("8/3")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseShard(text); err == nil && (s.Index < 1 || s.Index > s.Of) {
			t.Errorf("%q is %v", text, s)
		}
	})
}

// Every run is in one shard; shards differ by at most one run, and by at most two of
// an algorithm.
func TestShardsAreBalanced(t *testing.T) {
	p := decode(t, tiny)
	cases := require.Value(p.Instances())(t)
	rapid.Check(t, func(rt *rapid.T) {
		of := rapid.IntRange(1, 150).Draw(rt, "of")
		all, by := make([]int, of), map[string][]int{}
		number := 0
		l, err := p.list(cases, p.Algorithms, of, func(l listed) error {
			if number++; l.number != number {
				rt.Fatalf("run %d has the number %d", number, l.number)
			}
			all[l.shard-1]++
			label := l.algorithm.Label
			if by[label] == nil {
				by[label] = make([]int, of)
			}
			by[label][l.shard-1]++
			return nil
		})
		if err != nil || l.runs != number {
			rt.Fatalf("%d runs listed, %d said, error %v", number, l.runs, err)
		}
		if slices.Max(all)-slices.Min(all) > 1 {
			rt.Fatalf("shards have %v runs", all)
		}
		if want := sizes(l.runs, of); !slices.Equal(all, want) {
			rt.Fatalf("shards have %v runs, sizes says %v", all, want)
		}
		for label, n := range by {
			if slices.Max(n)-slices.Min(n) > 2 {
				rt.Fatalf("shards have %v runs of %s", n, label)
			}
		}
	})
}

// Instances that are small and large by turns don't fall on one of two shards each.
func TestShardsHaveNoPeriod(t *testing.T) {
	p := decode(t, "name: w\ngenerators: [{kind: vcsched, hosts: [2, 4, 6, 8, 10, 12, 14, 16], jobs: [20], slack: [0.1, 0.9], count: 8}]\nalgorithms: [{name: gr}]\n")
	cases := require.Value(p.Instances())(t)
	require.Is(t, 128, len(cases), "instances")
	cases = slices.DeleteFunc(cases, func(c instances.Planned) bool { return c.Index > 0 }) // slack is the innermost parameter then
	if len(cases) != 16 || cases[0].Params["slack"] == cases[1].Params["slack"] {
		t.Fatal("the slacks don't come by turns")
	}
	var first []float64
	require.OK(t, require.Err(p.list(cases, p.Algorithms, 2, func(l listed) error {
		if l.shard == 1 {
			first = append(first, l.instance.Params["slack"])
		}
		return nil
	})))
	if len(first) != 8 || !slices.Contains(first, 0.1) || !slices.Contains(first, 0.9) {
		t.Errorf("shard 1 of 2 has the slacks %v", first)
	}
}

// runShards runs a plan in shards, each into a file of its own.
func runShards(t *testing.T, p *Plan, of int) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for k := range of {
		s := Shard{k + 1, of}
		file := filepath.Join(dir, s.Stem(p.Name)+".jsonl")
		runPlan(t, p, RunOptions{Results: file, Shard: s})
		files = append(files, file)
	}
	return files
}

func readAll(t *testing.T, files ...string) (all []runs.Record) {
	t.Helper()
	for _, f := range files {
		all = append(all, require.Value(runs.ReadRecords(f))(t)...)
	}
	return all
}

// The shards put together are the file of one run with one worker, in its order, up to
// times; their seals are valid.
func TestCombineShards(t *testing.T) {
	t.Parallel()
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	runPlan(t, p, RunOptions{Results: whole})
	want := readAll(t, whole)
	for _, of := range []int{1, 3, 7, 100} {
		files := runShards(t, p, of)
		slices.Reverse(files)
		for name, plan := range map[string]*Plan{"with the plan": p, "without": nil} {
			c := require.Value(Combine(readAll(t, files...), plan))(t)
			if len(c.Missing)+len(c.Notes) > 0 || c.Runs != len(want) || c.Plan != "quick" {
				t.Errorf("%d shards, %s: %+v", of, name, c)
			}
			file := filepath.Join(t.TempDir(), "all.jsonl")
			out := require.Value(os.Create(file))(t)
			require.OK(t, errors.Join(runs.WriteRecords(out, c.Records), out.Close()))
			got := readAll(t, file)
			for _, all := range [][]runs.Record{want, got} {
				for i := range all {
					if !all[i].Sealed {
						t.Errorf("%d shards: run %d isn't sealed", of, i+1)
					}
					all[i].File, all[i].Shard, all[i].Seal, all[i].ElapsedS, all[i].CPUS = "", "", "", 0, nil
				}
			}
			require.Same(t, name, want, got)
		}
	}
}

func TestCombineNamesWhatIsMissing(t *testing.T) {
	p := decode(t, quick)
	files := runShards(t, p, 4) // of 72 runs
	parts := readAll(t, files...)
	lost := slices.DeleteFunc(slices.Clone(parts), func(r runs.Record) bool { return r.Shard == "3/4" || r.Shard == "2/4" && r.Seed == 2 })
	two := slices.DeleteFunc(slices.Clone(parts), func(r runs.Record) bool { return r.Shard != "2/4" || r.Seed != 2 })
	for name, c := range map[string]struct {
		plan *Plan
		want []string
	}{
		"with the plan": {p, []string{"shard 2 of 4: ", "shard 3 of 4: 18 of 18 runs missing: "}},
		"without":       {nil, []string{"shard 2 of 4: ", "shard 3 of 4: 18 of 18 runs missing", "of 72 runs missing; these are runs "}},
	} {
		got := require.Value(Combine(lost, c.plan))(t)
		if len(got.Missing) != len(c.want) || len(two) == 0 {
			t.Fatalf("%s: %q", name, got.Missing)
		}
		for k, want := range c.want {
			if !strings.Contains(got.Missing[k], want) {
				t.Errorf("%s: %q, want %q", name, got.Missing[k], want)
			}
		}
		if c.plan != nil && !strings.Contains(got.Missing[0], two[0].Algorithm+" on "+two[0].Instance+" with seed 2") {
			t.Errorf("%s: %q doesn't name %s on %s", name, got.Missing[0], two[0].Algorithm, two[0].Instance)
		}
		if len(got.Records) != len(lost) {
			t.Errorf("%s: %d records of %d", name, len(got.Records), len(lost))
		}
	}
	// Parts of other numbers of shards have runs alone in common.
	mixed := append(readAll(t, files[0]), readAll(t, runShards(t, p, 3)[1:]...)...)
	for _, plan := range []*Plan{p, nil} {
		got, err := Combine(mixed, plan)
		if err != nil || len(got.Missing) != 1 || !strings.Contains(got.Missing[0], " of 72 runs missing; these are ") {
			t.Errorf("%q, error %v", got.Missing, err)
		}
	}
}

func TestCombineRefuses(t *testing.T) {
	p := decode(t, quick)
	parts := readAll(t, runShards(t, p, 2)...)
	extended := decode(t, strings.Replace(quick, "{name: gr}", "{name: gr}, {name: sg}", 1))
	for name, c := range map[string]struct {
		change string // of a run that is there again, on line 9 of b
		plan   *Plan
		want   string // "": not refused
	}{
		"twice":              {"", nil, ""},
		"another result":     {"Objective=0.001", nil, "and b:9 contradict each other: both are gr on "},
		"another plan":       {"Plan=q", nil, `b:9 is a run of the plan "q", not of "quick"`},
		"another plan given": {"", decode(t, strings.Replace(quick, "quick", "q", 1)), `is a run of the plan "quick", not of "q"`},
		"another instance":   {"Hash=other", nil, "which isn't the same in both"},
		"another state":      {"PlanDigest=x", nil, "are of two states of the plan quick"},
		"its plan helps":     {"PlanDigest=x", p, ""},
		"before numbers":     {"Run=0; Runs=0", nil, "b:9 doesn't say which of its plan's runs it is"},
		"before, with plan":  {"Run=0; Runs=0", p, ""},
		"a number twice":     {"Seed=7", nil, "are both run "},
		"not of the plan":    {"Seed=7", p, "with seed 7, which the plan quick hasn't"},
		"other options":      {"", decode(t, strings.Replace(quick, "{name: gr}", "{name: gr, time_limit: 3s}", 1)), "the plan says \"time_limit=3s\""},
	} {
		t.Run(name, func(t *testing.T) {
			again := parts[slices.IndexFunc(parts, func(r runs.Record) bool { return r.Algorithm == "gr" })]
			again.File, again.Line = "b", 9
			require.Set(t, &again, c.change)
			_, err := Combine(append(slices.Clone(parts), again), c.plan)
			if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	require.Refused(t, "nothing", require.Err(Combine(nil, nil)), model.ErrInvalid, "there are no runs")
	require.OK(t, require.Err(Combine(parts, extended)))
}

// Each start has a file of its own in a folder and goes on from all that are there, one
// that is just being written among them.
func TestRunInAFolder(t *testing.T) {
	p := decode(t, quick)
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	want := runPlan(t, p, RunOptions{Results: whole})
	folder := filepath.Join(t.TempDir(), "parts")
	require.OK(t, os.Mkdir(folder, 0o755))
	lines := strings.SplitAfter(string(require.Value(os.ReadFile(whole))(t)), "\n")
	write(t, filepath.Join(folder, "quick.1.jsonl"), strings.Join(lines[:5], "")+lines[5][:30])
	ran := 0
	for range 2 {
		require.OK(t, Run(t.Context(), p, RunOptions{Folder: folder, Workers: 2, Done: func(runs.Record) { ran++ }}))
	}
	files, err := Parts(folder)
	if err != nil || len(files) != 2 || filepath.Base(files[1]) != "quick.2.jsonl" { // the second start had nothing to do
		t.Errorf("files %v, error %v", files, err)
	}
	require.Same(t, "runs", len(want)-5, ran)
	c, err := Combine(readAll(t, files...), p)
	if err != nil || len(c.Missing) > 0 || len(c.Records) != len(want) {
		t.Errorf("%d records, missing %q, error %v", len(c.Records), c.Missing, err)
	}
	require.Refused(t, "no folder", require.Err(Parts(filepath.Join(folder, "none"))), model.ErrInvalid, "")
}

func TestRecordsNameTheMachine(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	r := runPlan(t, decode(t, quick), RunOptions{Results: filepath.Join(t.TempDir(), "r.jsonl")})
	for i := range r {
		if r[i].Host != host || r[i].CPU == "" {
			t.Fatalf("host %q, CPU %q", r[i].Host, r[i].CPU)
		}
	}
	r[0].CPU = "another"
	if got := runs.Processors(r); len(got) != 2 || got[0] != "another" {
		t.Errorf("processors %q", got)
	}
}
