// SPDX-License-Identifier: MIT

//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r, err := Run(t.Context(), Options{Args: sh(`cat; echo $NAME; echo one >&2; echo two >&2; exit 3`), Env: []string{"NAME=x"}, Stdin: strings.NewReader("in\n"), Stdout: &out})
	if err != nil || r.Code != 3 || r.Stopped || out.String() != "in\nx\n" || r.Stderr != "one\ntwo\n" {
		t.Errorf("%+v, %v, output %q", r, err, out.String())
	}
	require.Refused(t, "a missing program",
		require.Err(Run(t.Context(), Options{Args: []string{"there-is-no-such-program"}})), exec.ErrNotFound, "")
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("no program is no error")
	}
}

// Only the end of the standard error is kept.
func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	r, err := Run(t.Context(), Options{Args: sh(`i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done`), Stderr: &all})
	if err != nil || len(r.Stderr) != tailSize || !strings.HasSuffix(r.Stderr, "line 2999\n") || all.Len() < 20000 {
		t.Errorf("%d bytes kept of %d, %v", len(r.Stderr), all.Len(), err)
	}
}

// A program that is asked to end may write something first. If it doesn't end it is killed, with all its processes.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script    string
		interrupt bool
		want      string
	}{
		"term":    {`trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done`, false, "asked"},
		"int":     {`trap 'echo asked; exit 0' INT; echo ready; while :; do sleep 0.01; done`, true, "asked"},
		"ignored": {`trap '' TERM; echo ready; while :; do sleep 0.01; done`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ready := &watched{when: "ready", do: cancel}
			r, err := Run(ctx, Options{Args: sh(c.script), Stdout: ready, Interrupt: c.interrupt, Grace: 200 * time.Millisecond})
			if err != nil || !r.Stopped || !strings.Contains(ready.text.String(), c.want) {
				t.Errorf("%+v, %v, output %q", r, err, ready.text.String())
			}
			require.Same(t, fmt.Sprintf("no exit (code %d)", r.Code), r.Code == -1, c.want == "")
		})
	}
}

// watched does something when a text is written to it.
type watched struct {
	text bytes.Buffer
	when string
	do   func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.text.Write(p)
	if strings.Contains(w.text.String(), w.when) {
		w.do()
	}
	return len(p), nil
}

// A child that outlives its parent is killed with the group.
func TestChildrenAreKilled(t *testing.T) {
	t.Parallel()
	dies(t, t.Context(), `sleep 60 >/dev/null 2>&1 & echo $! >$FILE`)
}

// dies runs a script that writes the process id of a child to $FILE, and waits until that
// child is dead.
func dies(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	require.OK(t,
		require.Err(Run(ctx, Options{Args: sh(script), Env: []string{"FILE=" + file}, Grace: 100 * time.Millisecond})))
	text := require.Value(os.ReadFile(file))(t)
	pid := require.Value(strconv.Atoi(strings.TrimSpace(string(text))))(t)
	for range 500 { // until init has reaped it
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d lives on", pid)
}

// zombie reports whether a process has ended and no parent has waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// A deadline that the program knows is waited for a while longer.
func TestPatience(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	r, err := Run(ctx, Options{Args: sh("sleep 0.1; exit 4"), Patience: time.Minute})
	if err != nil || r.Stopped || r.Code != 4 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		lines, bytes int
		want         string
	}{{"a\n\n b  c \n", 2, 100, "a; b c"}, {"a\nb\nc", 2, 100, "b; c"}, {"abcdef", 1, 3, "...def"}, {"", 3, 10, ""}} {
		require.Same(t, c.text, c.want, LastLines(c.text, c.lines, c.bytes))
	}
}
