// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// fullDisk takes some bytes and no more.
type fullDisk struct{ left int }

func (w *fullDisk) Write(data []byte) (int, error) {
	n := min(len(data), w.left)
	if w.left -= n; n < len(data) {
		return n, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	}
	return n, nil
}

// A command with output that can't be written, from its first byte or from a later one, reports it in a line and ends
// with 1, as does its help. The test runs each command of the table and the commands below it.
func TestFullDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	stdin := os.Stdin
	t.Cleanup(func() { os.Stdin = stdin })
	for name, text := range map[string]string{"in.json": `{"kind":"vcsched","version":1,"name":"in","hosts":2,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.3},{"id":"b","tasks":1,"cpu":0.7,"memory":0.3}]}`,
		"plan.yaml":     "name: p\ngenerators: [{kind: vcsched, hosts: [2], jobs: [4], slack: [0.6], count: 2, seed: 4}]\nalgorithms: [{name: mcb8}, {name: gr}]\n",
		"clusters.yaml": "name: c\ngenerators: [{kind: tvc, k: [4], requests: [9], bandwidth: [100, 600], load: [0.9], count: 2, seed: 1}]\nalgorithms: [{name: adaba}, {name: best-fit}]\n",
		"vms.vbp":       "1\n10\n2\n5 1\n4 1\n",
		"cluster.json": `{"kind":"List","items":[{"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}},
			{"kind":"Pod","metadata":{"namespace":"a","name":"p"},"spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"1"}}}]}}]}`} {
		require.OK(t, os.WriteFile(name, []byte(text), 0o644))
	}
	run := func(left int, args ...string) (int, int, string) {
		in := require.Value(os.Open("in.json"))(t)
		defer in.Close()
		os.Stdin = in
		out, said := &fullDisk{left}, &bytes.Buffer{}
		code := (&program{out: out, err: said, patience: patience}).run(t.Context(), append([]string{"gapwise"}, args...))
		return code, left - out.left, said.String()
	}
	for _, args := range [][]string{{"solve", "--proof", "in.proof", "-o", "r.json", "in.json"}, {"bench", "plan.yaml", "-o", "runs.jsonl"}, {"bench", "clusters.yaml", "-o", "clusters.jsonl"}} {
		if code, _, said := run(1<<30, args...); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, said)
		}
	}
	// plot draws into a file, and web prints its address on standard error.
	commands := map[string][]string{
		"generate": {"generate --kind dag"}, "solve": {"solve in.json", "solve --least-hosts vms.vbp"},
		"kubernetes": {"kubernetes plan cluster.json", "kubernetes plan --commands cluster.json", "kubernetes plan --json cluster.json", "kubernetes explain cluster.json", "kubernetes bound cluster.json",
			"kubernetes report -o - cluster.json", "kubernetes drain cluster.json", "kubernetes convert cluster.json"},
		"verify": {"verify in.json r.json"}, "check": {"check in.json in.proof"}, "bound": {"bound in.json"}, "explain": {"explain in.json"},
		"bench": {"bench --list", "bench plan.yaml --kubernetes 2 --image x"}, "bench merge": {"bench merge runs.jsonl -o -"}, "bench table": {"bench table runs.jsonl"},
		"bench compare": {"bench compare runs.jsonl"}, "bench plot": nil, "bench findings": {"bench findings clusters.jsonl"}, "export": {"export in.json"},
		"convert": {"convert in.json"}, "gantt": {"gantt in.json r.json"}, "report": {"report in.json r.json -o -"},
		"algorithms": {"algorithms"}, "policy": {"policy init --language python -o -"}, "session": {"session"}, "serve": {"serve --openapi"}, "web": nil,
		"version": {"version"}, "audit": {"audit --instances 1 --kind vcsched"}, "help": {"help"},
	}
	for _, name := range commandNames() {
		lines, there := commands[name]
		if !there {
			t.Errorf("%s isn't among those tried", name)
		}
		for _, line := range append(lines, name+" --help") {
			whole, n, said := run(1<<30, strings.Fields(line)...)
			if n < 2 {
				t.Errorf("%s prints %d bytes, exit code %d: %s", line, n, whole, said)
				continue
			}
			for _, left := range []int{0, n / 2} {
				code, _, said := run(left, strings.Fields(line)...)
				said = strings.TrimSpace(said)
				if last := said[strings.LastIndex(said, "\n")+1:]; code != exitInternal || !strings.HasPrefix(last, "gapwise: can't write standard output: ") || strings.Count(said, "gapwise: ") != 1 {
					t.Errorf("%s, %d of %d bytes are taken: exit code %d: %s", line, left, n, code, said)
				}
			}
		}
	}
}
