// SPDX-License-Identifier: MIT

//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

// gapwiseIn starts the command in a folder; a test that waits for it in vain is ended
// by its own deadline.
func gapwiseIn(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "gapwise", args...)
	c.Dir = folder
	return c
}

// TERM on an instance that takes long, for every kind and engine: the best solution is
// written and passes the judge, the exit code is 5.
func TestTerm(t *testing.T) {
	t.Parallel()
	hard := map[string]string{
		"vcsched":       "--hosts 64 --jobs 250 --slack 0.3",
		"vcsched-small": "--hosts 8 --jobs 40 --slack 0.3",
		"dag":           "--kind dag --tasks 120 --machines 8 --seed 3",
		"reservation":   "--kind reservation --requests 400 --pes 64 --umed 5",
		"tvc":           "--kind tvc --k 4 --slots 2 --requests 200 --load 60",
		"batch":         "--kind batch --jobs 60 --processors 16 --tiers 1",
	}
	for _, c := range []struct{ kind, engine string }{
		{"vcsched", "search"}, {"dag", "search"}, {"tvc", "search"}, {"batch", "search"},
		{"vcsched", "kernel"}, {"dag", "kernel"}, {"reservation", "kernel"}, {"tvc", "kernel"}, {"batch", "kernel"},
		{"vcsched-small", "highs"}, {"dag", "highs"}, {"tvc", "highs"}, {"dag", "glpsol"}, {"dag", "cbc"},
	} {
		t.Run(c.kind+"/"+c.engine, func(t *testing.T) {
			if testing.Short() && (c.engine != "search" && c.kind != "reservation" || c.kind == "tvc") {
				t.Skip("one engine will do")
			}
			t.Parallel()
			switch c.engine {
			case "glpsol":
				require.Tool(t, "glpsol", "glpk-utils")
			case "cbc":
				require.Tool(t, "cbc", "coinor-cbc")
			case "highs":
				require.HiGHS(t)
			}
			dir := t.TempDir()
			require.Run(t, gapwiseIn(t, dir,
				append([]string{"generate", "-o", "in.json"}, strings.Fields(hard[c.kind])...)...))
			solve := gapwiseIn(t, dir, "solve", "--verbose", "-a", "exact", "--engine", c.engine, "in.json", "-o", "out.json")
			log := require.Value(solve.StderrPipe())(t)
			require.OK(t, solve.Start())
			found := make(chan bool, 1)   // there is a solution
			ended := make(chan string, 1) // the log
			go func() {
				var all strings.Builder
				for lines := bufio.NewScanner(log); lines.Scan(); {
					all.WriteString(lines.Text() + "\n")
					if w := strings.Fields(lines.Text()); len(w) == 5 && w[0] != "Nodes" && w[2] != "-" {
						select {
						case found <- true:
						default:
						}
					}
				}
				ended <- all.String()
			}()
			// Programs, and HiGHS on large models, don't report the solution that they start from: the signal may come
			// before there is one.
			silent := c.engine != "search" && c.engine != "kernel" && c.kind != "vcsched-small"
			if silent {
				time.Sleep(500 * time.Millisecond)
			} else {
				select {
				case <-found:
				case <-time.After(time.Minute):
					t.Error("there is no solution within a minute")
				}
			}
			require.OK(t, solve.Process.Signal(syscall.SIGTERM))
			said := <-ended
			solve.Wait()
			switch code := solve.ProcessState.ExitCode(); {
			case code == exitUnsolved && silent:
				return
			case code != exitStopped:
				t.Fatalf("exit code %d, want %d\n%s", code, exitStopped, said)
			}
			require.Run(t, gapwiseIn(t, dir, "verify", "in.json", "out.json"))
		})
	}
}

// termAt sends TERM when a command's log has a line that begins so, and returns the log.
func termAt(t *testing.T, c *exec.Cmd, begin string) (said string) {
	t.Helper()
	log := require.Value(c.StderrPipe())(t)
	require.OK(t, c.Start())
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if said += lines.Text() + "\n"; strings.HasPrefix(lines.Text(), begin) {
			require.OK(t, c.Process.Signal(syscall.SIGTERM))
		}
	}
	c.Wait()
	return said
}

// TERM while a plan's second run is at work, by a program: the first is in the file,
// whole, and nothing else.
func TestTermBench(t *testing.T) {
	t.Parallel()
	require.Tool(t, "glpsol", "glpk-utils")
	dir := t.TempDir()
	require.OK(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(`
name: p
generators: [{kind: dag, tasks: [120], machines: [8], count: 1, seed: 3}]
algorithms: [{name: heft}, {name: exact, engine: glpsol}]
`), 0o644))
	c := gapwiseIn(t, dir, "bench", "plan.yaml", "-o", "r.jsonl", "--summary", "s.json")
	said := termAt(t, c, "p: 1 of 2 runs")
	if code := c.ProcessState.ExitCode(); code != exitStopped || !strings.Contains(said, "stopped; the same command goes on from here") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	text, err := os.ReadFile(filepath.Join(dir, "r.jsonl"))
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.HasSuffix(string(text), "\"}\n") {
		t.Errorf("the results are %q, error %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "s.json")); err != nil || !strings.Contains(string(text), `"done":1,"ran":1,"stopped":true`) {
		t.Errorf("the summary is %q, error %v", text, err)
	}
}

// TERM while a command reads a file that doesn't end: the first one ends it.
func TestTermWhileReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Run(t, gapwiseIn(t, dir, "generate", "-o", "in.json"))
	for name, args := range map[string]string{
		"solve": "solve PIPE.json", "bound": "bound PIPE.json", "export": "export PIPE.json", "verify": "verify PIPE.json in.json", "verify 2": "verify in.json PIPE.json",
		"check": "check in.json PIPE.json", "gantt": "gantt PIPE.json -o x.svg", "convert": "convert PIPE.json", "table": "bench table PIPE.json", "merge": "bench merge PIPE.json",
		"plot": "bench plot -x jobs -y gap PIPE.json -o x.svg", "findings": "bench findings PIPE.json", "report": "report PIPE.json -o x.html", "explain": "explain PIPE.json", "bench": "bench PIPE.json",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := strings.ReplaceAll(name, " ", "") + ".json"
			require.OK(t, syscall.Mkfifo(filepath.Join(dir, pipe), 0o644))
			c := gapwiseIn(t, dir, strings.Fields(strings.ReplaceAll(args, "PIPE.json", pipe))...)
			var said strings.Builder
			c.Stdout, c.Stderr = &said, &said
			require.OK(t, c.Start())
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			opened := make(chan *os.File, 1)
			go func() {
				f, err := os.OpenFile(filepath.Join(dir, pipe), os.O_WRONLY, 0) // until it is read
				if err == nil {
					opened <- f
				}
			}()
			select {
			case f := <-opened:
				defer f.Close()
			case err := <-ended:
				t.Fatalf("it doesn't read: %v\n%s", err, said.String())
			}
			require.OK(t, c.Process.Signal(syscall.SIGTERM))
			<-ended
			if code := c.ProcessState.ExitCode(); code != exitUnsolved && (name != "bench" || code != exitStopped) {
				t.Errorf("exit code %d\n%s", code, said.String())
			}
		})
	}
}

// TERM while a report solves: the page holds the results until then. It has as long to be written as the results of
// bench.
func TestTermReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Run(t, gapwiseIn(t, dir, "generate", "--kind", "dag", "--tasks", "90", "--machines", "6", "-o", "in.json"))
	c := gapwiseIn(t, dir, "report", "in.json", "--time-limit", "60s", "-o", "page.html")
	said := termAt(t, c, "8 of ") // a search of the neighbourhood follows
	page, err := os.ReadFile(filepath.Join(dir, "page.html"))
	if code := c.ProcessState.ExitCode(); code != exitStopped || err != nil || !strings.Contains(string(page), "the command was stopped before") {
		t.Errorf("exit code %d, %v\n%s", code, err, said)
	}
	if p := (&program{patience: patience}); p.leave("report") != p.leave("bench") || p.leave("report") <= p.leave("bound") {
		t.Error("report has no time to write its page")
	}
}

// Whatever stops a drain, signals, a lost terminal, or a pipe that nobody reads, it opens the nodes that it has cordoned,
// however long that takes, and gives its lease back. Until then neither another drain nor an undo changes anything.
func TestTermDrain(t *testing.T) {
	t.Parallel()
	const kubectl = `#!/bin/sh
case "$3 $5" in
"create "*leases) mkdir lease 2>/dev/null || { echo 'Error from server (AlreadyExists)' >&2 && exit 1; }; cat ;;
"delete "*leases*) rmdir lease ;;
"get "*leases*) echo "{\"metadata\":{\"resourceVersion\":\"$$\"},\"spec\":{\"holderIdentity\":\"the first\"}}" ;; # another one each time
*leases*) exit 1 ;;
esac
case "$3 $9 $5" in
*leases*) ;;
"get "*) if [ -e evicted ]; then cat after.json; else cat before.json; fi ;;
"create "*) touch evicted ;;
"patch "*true*) touch closed ;;
"patch "*) sleep 1 && rm closed ;;
*) exit 1 ;;
esac
`
	node := `{"kind":"Node","metadata":{"name":"%s"},"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"9"}}}`
	pod := `,{"kind":"Pod","metadata":{"namespace":"shop","name":"%s","ownerReferences":[{"kind":"ReplicaSet","name":"web","controller":true}]},"spec":{"nodeName":"%s","containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`
	begin := `{"kind":"List","items":[` + fmt.Sprintf(node, "n1") + "," + fmt.Sprintf(node, "n2") + fmt.Sprintf(pod, "web-1", "n2") + strings.Replace(fmt.Sprintf(pod, "fixed", "n2"), `"controller":true`, `"controller":false`, 1)
	for name, sent := range map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "pipe": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"kubectl": kubectl, "before.json": begin + fmt.Sprintf(pod, "web-0", "n1") + "]}", "after.json": strings.Replace(begin, `"n1"},`, `"n1"},"spec":{"unschedulable":true},`, 1) + fmt.Sprintf(pod, "web-2", "") + "]}"} {
				require.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
			}
			c := gapwiseIn(t, dir, "kubernetes", "drain", "--context", "x", "--execute", "--without", "survive")
			c.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			log := require.Value(c.StderrPipe())(t)
			require.OK(t, c.Start())
			said, seen := "", false
			for lines := bufio.NewScanner(log); lines.Scan(); {
				said += lines.Text() + "\n"
				if sent == nil && strings.HasPrefix(lines.Text(), "plan 1") {
					require.OK(t, log.Close())
				}
				if sent != nil && strings.HasPrefix(lines.Text(), "evict ") {
					_, err := os.Stat(filepath.Join(dir, "closed"))
					seen = err == nil
					for _, flag := range []string{"--execute", "--undo"} {
						second := gapwiseIn(t, dir, "kubernetes", "drain", "--context", "x", flag)
						second.Env = c.Env
						out, err := second.CombinedOutput()
						if text := string(out); err == nil || !strings.Contains(text, "another drain holds the lock: the first; wait for it") || strings.Contains(text, "opened") {
							t.Errorf("beside it, %s: %v, %s", flag, err, text)
						}
					}
					require.OK(t, c.Process.Signal(sent))
				}
			}
			c.Wait()
			if _, err := os.Stat(filepath.Join(dir, "lease")); err == nil {
				t.Error("the lease stays")
			}
			if _, err := os.Stat(filepath.Join(dir, "closed")); err == nil || !seen && sent != nil || sent != nil && !strings.HasSuffix(said, "\nuncordon n1\ngapwise: the drain was stopped (context canceled), and the nodes that it had cordoned are open\n") {
				t.Errorf("cordoned at the signal: %v, at the end: %v\n%s", seen, err == nil, said)
			}
		})
	}
}
