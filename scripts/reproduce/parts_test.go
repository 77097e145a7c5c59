// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/test/require"
)

// TestMain runs commands for spent, and stands for the command gapwise where TestParts says so: plans run in small,
// everything else is done by the real one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == spender {
		os.Exit(spend(os.Args[2:]))
	}
	real := os.Getenv("REPRODUCE_GAPWISE")
	if real == "" {
		os.Exit(m.Run())
	}
	subcommands := []string{"table", "compare", "plot", "merge", "findings"}
	if args := os.Args[1:]; args[0] == "bench" && !slices.Contains(subcommands, args[1]) {
		if err := small(args[1], args[slices.Index(args, "-o")+1]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	args := os.Args[1:]
	for i, x := range args {
		if args[0] == "generate" && strings.HasSuffix(x, "00000") {
			args[i] = strings.TrimSuffix(x, "000")
		}
	}
	cmd := exec.Command(real, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run() // its code says it
	os.Exit(cmd.ProcessState.ExitCode())
}

// small runs a plan with few draws of small instances and little time.
func small(name, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	plan, err := benchmarks.LoadPlan(name)
	if err != nil {
		return err
	}
	most := map[string]float64{"jobs": 100, "requests": 100, "tasks": 100}
	if name == "dag-exact" || name == "batch-exact" || name == "reservation-exact" {
		most = map[string]float64{"jobs": 6, "requests": 10, "tasks": 8}
	}
	for i := range plan.Generators {
		g := &plan.Generators[i]
		g.Count = min(g.Count, 2)
		for _, key := range []string{"slack", "cov_cpu", "cov_memory"} {
			if v := g.Values[key]; len(v) > 2 {
				g.Values[key] = v[:2]
			}
		}
		for key, limit := range most {
			var some []string
			for k, v := range g.Values[key] {
				if x, err := strconv.ParseFloat(v, 64); err == nil && x > limit {
					v = strconv.FormatFloat(limit+float64(k), 'f', -1, 64)
				}
				if !slices.Contains(some, v) {
					some = append(some, v)
				}
			}
			if some != nil {
				g.Values[key] = some
			}
		}
	}
	if name == "dag-exact" { // its second sizes are the first now
		plan.Generators = plan.Generators[:1]
	}
	for i := range plan.Algorithms {
		a := &plan.Algorithms[i]
		if a.Only = nil; a.Name == "exact" || a.TimeLimit > 0 {
			a.TimeLimit = 50 * time.Millisecond
		}
	}
	return benchmarks.Run(context.Background(), plan, benchmarks.RunOptions{Results: file, Workers: 2})
}

// Parts are rendered from small runs: nothing in them asks for a function, a column, a
// finding or a figure of a paper that isn't there.
func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and runs plans")
	}
	root := must(filepath.Abs("../.."))
	dir := t.TempDir()
	command := filepath.Join(dir, "gapwise")
	must(output("go", "build", "-o", command, root+"/cmd/gapwise"))
	for _, e := range must(os.ReadDir(root)) {
		if e.Name() != "docs" && e.Name() != "results" {
			check(os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())))
		}
	}
	check(os.CopyFS(filepath.Join(dir, "docs"), os.DirFS(filepath.Join(root, "docs"))))
	t.Chdir(dir)
	check(os.Mkdir("results", 0o777))
	t.Setenv("REPRODUCE_GAPWISE", command)
	r := reader()
	r.gapwise, r.workers, r.runs, r.dirty = must(os.Executable()), "2", 1, true
	documents := parse(r)
	wanted := []string{"vcsched-parallel", "vcsched-small", "batch-statements", "tvc-statements", "dag-exact", "reservation-exact", "reservation-speed", "batch", "batch-exact", "duels", "found", "coverage-batch", "go-bench", "million", "million-dag"}
	seen := 0
	for document, parts := range documents {
		for _, part := range parts {
			if !slices.Contains(wanted, part.Name()) {
				continue
			}
			seen++
			t.Run(part.Name(), func(t *testing.T) {
				if part.Name() == "vcsched-small" {
					require.Tool(t, "glpsol", "glpk-utils")
				}
				var text bytes.Buffer
				if err := part.Execute(&text, nil); err != nil {
					t.Errorf("%s: %v", document, err)
				} else if s := text.String(); strings.Contains(s, "<no value>") || strings.Contains(s, "%!") {
					t.Errorf("%s lacks a value", document)
				}
			})
		}
	}
	if seen < len(wanted) {
		t.Errorf("%d of %d parts are there", seen, len(wanted))
	}
}

// Every file and name that a template links is there, also in parts that need data sets.
func TestLinkedCode(t *testing.T) {
	t.Chdir("../..")
	call, quoted := regexp.MustCompile(`\(?code( "[^"]*")+`), regexp.MustCompile(`"([^"]*)"`)
	for _, f := range templates() {
		text := must(os.ReadFile(f))
		for _, c := range call.FindAllString(string(text), -1) {
			var names []string
			for _, m := range quoted.FindAllStringSubmatch(c, -1) {
				names = append(names, m[1])
			}
			if err := failure(func() { code(names[0], names[1:]...) }); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}
