// SPDX-License-Identifier: MIT

package benchmarks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A command is one algorithm, with any text in it.
func TestSplitAlgorithms(t *testing.T) {
	got := SplitAlgorithms([]string{"heft, peft", "cmd:python3 mine.py --order up,down {in} {out}", "", "all,,gr", "x,mine=cmd:a,b"})
	require.Same(t, "the algorithms",
		[]string{"heft", "peft", "cmd:python3 mine.py --order up,down {in} {out}", "all", "gr", "x", "mine=cmd:a,b"}, got)
}

// Vector packing counts bins for commands, beside algorithms that do so, too.
func TestCountBins(t *testing.T) {
	for want, all := range map[bool][][]string{true: {{"cmd:x"}, {"auto", "mine=cmd:x"}, {"kernel", "cmd:x", "exact"}}, false: {{}, {"auto"}, {"all", "cmd:x"}, {"mcb8", "cmd:x"}, {"online:x"}}} {
		for _, names := range all {
			require.Is(t, want, runs.CountBins(names), names)
		}
	}
}

func TestAdHocNames(t *testing.T) {
	for want, paths := range map[string][]string{
		"bench-set":                  {"a/set/", "b/set"},
		"bench-a.json+b.json":        {"x/a.json", "b.json"},
		"bench-a+b+c+2":              {"a", "b", "c", "d", "e"},
		"bench-my_graphs__":          {"my graphs é"},
		"bench-benchmarks":           {"."},
		"bench-" + repeated("x", 40): {repeated("x", 300)},
	} {
		var files []File
		for _, p := range paths {
			files = append(files, File{Path: p})
		}
		p, err := AdHoc(files, []string{"heft"}, Algorithm{}, nil)
		if err != nil || p.Name != want || len(p.Seeds) != 1 {
			t.Errorf("%q: %+v, error %v, want the name %q", paths, p, err, want)
		}
	}
}

func repeated(s string, n int) string { return strings.Repeat(s, n) }

// Every run's file has a safe name of its own.
func TestSolutionFiles(t *testing.T) {
	safe := regexp.MustCompile(`^[A-Za-z0-9._=-]{1,160}$`)
	seen := map[string]bool{}
	for _, in := range []string{"a", "x/a", "a b", "a_b", "../..", "é\xff\n", repeated("long", 100)} {
		for _, a := range []string{"gr", "cmd:rm -rf / {in}", "cmd:rm -rf / {out}"} {
			for seed := range uint64(2) {
				r := runs.Record{Instance: in, Algorithm: a, Seed: seed}
				name := solutionFile(&r)
				if !safe.MatchString(name) || seen[name] || !utf8.ValidString(name) || strings.HasPrefix(name, "..") && !strings.HasSuffix(name, ".json") {
					t.Errorf("%q by %q is in %q", in, a, name)
				}
				seen[name] = true
			}
		}
	}
}

// Kept results are the solutions of the runs, pass the judge, and are named as seen from the results; runs without a
// solution keep none.
func TestSolutionsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := decode(t, "name: k\ngenerators: [{kind: vcsched, hosts: 2, jobs: [4, 60], slack: [0.3], count: 2, seed: 5}]\nalgorithms: [gr, mcb8]\nseeds: [3]\n")
	cases := require.Value(p.Instances())(t)
	found := map[string]model.Instance{}
	for _, c := range cases {
		found[c.Name] = require.Value(c.Load())(t)
	}
	kept := 0
	for _, r := range runPlan(t, p, RunOptions{Results: filepath.Join(dir, "results", "r.jsonl"), Solutions: filepath.Join(dir, "kept"), Workers: 2}) {
		require.Same(t,
			fmt.Sprintf("%s by %s: objective %v and file %q are both", r.Instance, r.Algorithm, r.Objective, r.SolutionFile),
			r.Objective != nil, r.SolutionFile != "")
		if r.SolutionFile == "" {
			continue
		}
		kept++
		data := require.Value(os.ReadFile(filepath.Join(dir, "results", r.SolutionFile)))(t)
		if !json.Valid(data) {
			t.Fatalf("%s isn't JSON", r.SolutionFile)
		}
		res := require.Value(model.DecodeResult(data))(t)
		report, err := verify.Result(t.Context(), found[r.Instance], res, verify.Options{})
		if err != nil || !report.Feasible() || res.Objective != *r.Objective || res.Seed != 3 {
			t.Errorf("%s: %+v, %v", r.SolutionFile, report, err)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "kept"))
	if err != nil || len(files) != kept || kept < 2 {
		t.Errorf("%d solutions, %d files, error %v", kept, len(files), err)
	}
}
