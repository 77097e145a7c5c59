// SPDX-License-Identifier: MIT

// Package command makes heuristics of programs: the instance goes in as a file in
// gapwise's format, the solution comes out. It knows no problem.
package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// Prefix begins the name of an algorithm that is a command.
const Prefix = "cmd:"

// Complete reads a solution of an instance that may lack some parts.
type Complete func(ctx context.Context, in model.Instance, data []byte) (model.Solution, error)

// Solver is a heuristic that is a command. It must be made by New.
type Solver struct {
	name     string
	command  process.Command
	complete Complete
}

// New returns the heuristic that "cmd:COMMAND" names, or "LABEL=cmd:COMMAND", whose name is its label. The command is split into words
// as a POSIX shell does, without one. In its words
//
//	{in}          is the file of the instance; without it that is the standard input
//	{out}         is the file for the solution; without it that is the standard output
//	{seed}        is the seed
//	{time_limit}  is the time limit in seconds, 1000000000 without one
//
// Seed and time limit are also in the environment, as GAPWISE_SEED and
// GAPWISE_TIME_LIMIT_S. The error is model.ErrUnsupported if the program isn't there.
func New(name string, complete Complete) (*Solver, error) {
	label, rest := process.Labelled(name)
	c, err := process.ParseCommand(strings.TrimPrefix(rest, Prefix))
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", model.ErrInvalid, name, err)
	}
	if binary := c.Args(nil)[0]; !strings.Contains(binary, "{") {
		if _, err := exec.LookPath(binary); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", model.ErrUnsupported, name, err)
		}
	}
	return &Solver{cmp.Or(label, name), c, complete}, nil
}

// Name returns the label, or else the command with its prefix.
func (s *Solver) Name() string { return s.name }

const (
	noLimit      = 1_000_000_000 // seconds
	solutionSize = 1 << 28       // bytes that are read of a standard output
	reasonSize   = 400           // bytes of a standard error that a reason holds
)

// RefusedError is a solution that can't be read or doesn't fit the instance: a
// mistake of the command's.
type RefusedError struct {
	Name string
	Err  error
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: its solution: %v", e.Name, e.Err) }

// Unwrap returns the cause, and model.ErrInfeasible.
func (e *RefusedError) Unwrap() []error { return []error{e.Err, model.ErrInfeasible} }

// Solve implements model.Solver. A solution that was written counts, however the command has ended; without one the
// status is unknown, and the reason says how it ended. A command is asked to end by TERM when its time is over, and
// killed soon after (process.Late), with all its processes.
func (s *Solver) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.name, set.Seed)
	outer := ctx
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	if outer.Err() != nil {
		r.Reason = "interrupted"
		return r, nil
	}
	folder, err := os.MkdirTemp("", "gapwise-cmd")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	data, err := json.Marshal(in)
	if err != nil {
		return r, err
	}
	limit := float64(noLimit)
	if set.TimeLimit > 0 {
		limit = set.TimeLimit.Seconds()
	}
	seed, seconds := strconv.FormatUint(set.Seed, 10), strconv.FormatFloat(limit, 'f', -1, 64)
	values := map[string]string{"{in}": filepath.Join(folder, "instance.json"), "{out}": filepath.Join(folder, "solution.json"),
		"{seed}": seed, "{time_limit}": seconds}
	stdout := &limited{most: solutionSize}
	run := process.Options{Args: s.command.Args(values), Env: []string{"GAPWISE_SEED=" + seed, "GAPWISE_TIME_LIMIT_S=" + seconds}}
	run.Patience, run.Grace = process.Late(set.TimeLimit)
	if s.command.Has("{in}") {
		if err := os.WriteFile(values["{in}"], append(data, '\n'), 0o600); err != nil {
			return r, err
		}
		run.Stdin = strings.NewReader("")
	} else {
		run.Stdin = bytes.NewReader(append(data, '\n'))
	}
	toFile := s.command.Has("{out}")
	if !toFile {
		run.Stdout = stdout
	}
	start := time.Now()
	ended, err := process.Run(ctx, run)
	r.Elapsed = time.Since(start)
	if err != nil {
		return r, fmt.Errorf("%s: %w: %w", s.name, model.ErrUnsupported, err)
	}
	text := stdout.text
	if toFile {
		if text, err = os.ReadFile(values["{out}"]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	how := manner(ctx, ended)
	if len(bytes.TrimSpace(text)) == 0 {
		if r.Reason = how; how == "" {
			r.Reason = "it ended without a solution" + said(ended)
		}
		return r, nil
	}
	solution, err := s.complete(context.WithoutCancel(ctx), in, text)
	if err == nil {
		_, err = in.Objective(solution)
	}
	r.Reason = how
	switch {
	case err == nil:
		return r, r.SetSolution(in, solution)
	case ended.Stopped && !json.Valid(text):
		r.Reason += " while it wrote its solution"
		return r, nil
	}
	return r, &RefusedError{s.name, err}
}

// manner says how a command ended, "" for one that has ended as it should.
func manner(ctx context.Context, r process.Result) string {
	switch {
	case r.Stopped && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "stopped by the time limit"
	case r.Stopped:
		return "interrupted"
	case r.Code < 0:
		return "it was killed" + said(r)
	case r.Code > 0:
		return fmt.Sprintf("exit code %d", r.Code) + said(r)
	}
	return ""
}

// said returns the last lines of a standard error, after a colon.
func said(r process.Result) string {
	if text := process.LastLines(r.Stderr, 3, reasonSize); text != "" {
		return ": " + text
	}
	return ""
}

// limited keeps the bytes written to it, up to a size.
type limited struct {
	text []byte
	most int // bytes
}

func (l *limited) Write(p []byte) (int, error) {
	if len(l.text)+len(p) > l.most {
		return 0, errors.New("the solution is too large")
	}
	l.text = append(l.text, p...)
	return len(p), nil
}
