// SPDX-License-Identifier: MIT

// Package process runs programs of others, each in a process group of its own. It asks them to end when their time is
// over, kills them some time later, and keeps the end of their standard error.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// Options say what to run.
type Options struct {
	Args   []string // the program and its arguments
	Env    []string // added to the environment, as NAME=VALUE
	Dir    string   // where it runs; "": here
	Stdin  io.Reader
	Stdout io.Writer // nil: dropped
	// Stderr, if not nil, also gets what goes to Result.Stderr.
	Stderr io.Writer
	// Interrupt says that the program is asked to end by INT, as by Ctrl-C, and not
	// by TERM. (On Windows a program is killed at once.)
	Interrupt bool
	// Patience is how long after ctx's deadline the program is asked to end: it may
	// know the deadline and keep it by itself. A ctx that is cancelled isn't waited
	// for.
	Patience time.Duration
	// Grace is the time between asking and killing.
	Grace time.Duration
}

// Late returns the Patience and the Grace of a program with the given time limit, 0 for none: together a twentieth of
// it and 250 ms. That is less than gapwise.Options.Patience of the command, which would lose what the program has
// written.
func Late(limit time.Duration) (patience, grace time.Duration) {
	return 50*time.Millisecond + limit/20, 200 * time.Millisecond
}

// Result describes how a program ended.
type Result struct {
	Code    int           // its exit code; -1 if a signal ended it
	Stopped bool          // it was asked to end
	CPU     time.Duration // of it and of those of its children that it waited for
	Stderr  string        // the end of its standard error, at most a few kB
}

// runs counts the programs of this process, for their marks.
var runs atomic.Int64

const (
	// Variable is in the environment of the programs that Run runs, with a value of each run.
	Variable = "GAPWISE_RUN"
	// tailSize bounds Result.Stderr in bytes.
	tailSize = 4096
)

// Run runs a program to its end. Processes left in its process group are killed and, on Linux, processes that have left
// the group (setsid), see killFamily. It returns an error for a program that can't be started; one that fails is no
// error.
func Run(ctx context.Context, o Options) (Result, error) {
	if len(o.Args) == 0 {
		return Result{}, errors.New("there is no program to run")
	}
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		patience := time.Duration(0)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			patience = o.Patience
		}
		select {
		case <-time.After(patience):
			stop()
		case <-inner.Done():
		}
	})()
	tail := &Tail{Size: tailSize, Next: o.Stderr}
	cmd := exec.CommandContext(inner, o.Args[0], o.Args[1:]...)
	cmd.Dir = o.Dir
	mark := fmt.Sprintf("%s=%d.%d.", Variable, os.Getpid(), runs.Add(1))
	cmd.Env = append(os.Environ(), append([]string{mark}, o.Env...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, tail
	cmd.WaitDelay = o.Grace
	group(cmd)
	stopped, late := false, (*time.Timer)(nil)
	cmd.Cancel = func() error {
		stopped = true
		late = time.AfterFunc(o.Grace, func() { // before Wait returns, which waits for the pipes
			kill(cmd)
			killFamily(cmd.Process.Pid, mark)
		})
		return ask(cmd, o.Interrupt)
	}
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("can't run %s: %w", o.Args[0], err)
	}
	err := cmd.Wait()
	if late != nil {
		late.Stop()
	}
	kill(cmd)
	killFamily(cmd.Process.Pid, mark)
	state := cmd.ProcessState
	if state == nil {
		return Result{}, err
	}
	return Result{Code: state.ExitCode(), Stopped: stopped, CPU: state.UserTime() + state.SystemTime(), Stderr: tail.String()}, nil
}

// Tail is a Writer that keeps the end of its input.
type Tail struct {
	Size int       // bytes that are kept
	Next io.Writer // gets everything, if it isn't nil
	text []byte
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	if t.Next != nil {
		if n, err := t.Next.Write(p); err != nil {
			return n, err
		}
	}
	t.text = append(t.text, p[max(0, len(p)-t.Size):]...)
	if len(t.text) >= 2*t.Size { // not at each write: that would copy the whole again and again
		t.text = append(t.text[:0], t.text[len(t.text)-t.Size:]...)
	}
	return len(p), nil
}

// String returns the kept text.
func (t *Tail) String() string {
	return strings.ToValidUTF8(string(t.text[max(0, len(t.text)-t.Size):]), "?")
}

// LastLines returns the last lines of a text that aren't blank, joined by "; ", at
// most so many bytes of their end.
func LastLines(text string, lines, bytes int) string {
	var all []string
	for _, l := range strings.Split(text, "\n") {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			all = append(all, l)
		}
	}
	out := strings.Join(all[max(0, len(all)-lines):], "; ")
	if len(out) > bytes {
		out = "..." + strings.ToValidUTF8(out[len(out)-bytes:], "")
	}
	return out
}
