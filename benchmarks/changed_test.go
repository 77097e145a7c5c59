// SPDX-License-Identifier: MIT

//go:build unix

package benchmarks

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/test/require"
)

// A run goes on with the results of its program as it is now, in a file and in a folder; the last state counts, also if
// it has been there before.
func TestChangedPrograms(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "mine.sh")
	p := decode(t, fmt.Sprintf("name: c\ngenerators: [{kind: vcsched, hosts: 2, jobs: [4], slack: [0.3], count: 2, seed: 5}]\nalgorithms: [gr, {name: 'cmd:sh %s', label: mine}]\n", program))
	for name, o := range map[string]RunOptions{"file": {Results: filepath.Join(dir, "r.jsonl")}, "folder": {Folder: filepath.Join(dir, "parts")}} {
		seen := map[string]bool{}
		for k, c := range []struct {
			text string
			ran  int
		}{{"exit 1", 4}, {"exit 1", 0}, {"exit 2", 2}, {"exit 2", 0}, {"exit 1", 2}} {
			write(t, program, c.text)
			var said []string
			ran := 0
			o.Said = func(line string) { said = append(said, line) }
			o.Done = func(r runs.Record) {
				if ran++; r.Algorithm == "mine" {
					seen[r.Program] = true
				} else {
					require.Is(t, "", r.Program, "program of gr")
				}
			}
			require.OK(t, Run(t.Context(), p, o))
			require.Is(t, c.ran, ran, fmt.Sprintf("%s: runs of start %d", name, k))
			if again := slices.Contains(said, "mine: 2 runs by another state of sh, "+program+", and will run again"); again != (k > 0 && c.ran > 0) {
				t.Errorf("%s: start %d says %q", name, k, said)
			}
		}
		require.Is(t, 2, len(seen), name+": states")
		files := []string{o.Results}
		if o.Folder != "" {
			files = require.Value(Parts(o.Folder))(t)
		}
		var records []runs.Record
		for _, f := range files {
			records = append(records, require.Value(runs.ReadRecords(f))(t)...)
		}
		c := require.Value(Combine(records, p))(t)
		require.Is(t, 4, len(c.Records), name+": runs")
		for _, r := range c.Records {
			if r.Algorithm == "mine" {
				require.Is(t, "exit code 1", r.Reason, name)
			}
		}
	}
}

// The program of an algorithm is the one that its command names, whatever names the command.
func TestProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "mine.sh", "exit 1")
	want, _ := (&Algorithm{Name: "cmd:sh mine.sh {in}"}).program()
	for _, a := range []Algorithm{{Name: "online:sh mine.sh {in}"}, {Name: "exact", Engine: "search,mps:sh mine.sh {in}"}, {Name: "mps:sh mine.sh {in}"}} {
		if got, files := a.program(); got != want || want == "" || !slices.Equal(files, []string{"sh", "mine.sh"}) {
			t.Errorf("%+v: %q of %q, want %q", a, got, files, want)
		}
	}
	for _, a := range []Algorithm{{Name: "heft"}, {Name: "exact"}, {Name: "exact", Engine: "search,highs"}} {
		if got, _ := a.program(); got != "" {
			t.Errorf("%+v has the program %q", a, got)
		}
	}
}

// A folder's files are in the order in which they were begun.
func TestPartsInOrder(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, n := range []int{1, 2, 9, 10, 11} {
		want = append(want, filepath.Join(dir, fmt.Sprintf("p.%d.jsonl", n)))
		write(t, want[len(want)-1], "")
	}
	require.Same(t, "files", want, require.Value(Parts(dir))(t))
}
