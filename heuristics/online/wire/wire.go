// SPDX-License-Identifier: MIT

// Package wire runs policies that are other programs, in any language, in the simulation of
// package online. It speaks the simulator's side of Batsim's protocol (versions 3 and 4): a
// request tells what has happened, the answer says what to do. The requests are lines of JSON
// on a program's standard input, with the answers on its standard output, or messages of
// ZeroMQ. Nothing in them tells a runtime before the job has ended.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/process"
	"github.com/gapwise/gapwise/model"
)

// The names of such policies begin so.
const (
	onlinePrefix = "online:"
	batsimPrefix = "batsim:"
)

const withoutNotify = "notify=no"

// Known reports whether a name is that of a policy that is another program.
func Known(name string) bool {
	return strings.HasPrefix(name, onlinePrefix) || strings.HasPrefix(name, batsimPrefix)
}

// New returns the solver of a name: online:COMMAND, a program to start, or
// batsim:tcp://HOST:PORT, one that waits there on a REP socket of ZeroMQ; with ?notify=no after
// that it isn't told that no more jobs come (easyBackfillNotopo of pybatsim dies of that). The command is split
// into words as a POSIX shell does, without one. In its words {seed} is the seed, as in the
// environment GAPWISE_SEED. The error wraps model.ErrInvalid, or model.ErrUnsupported if the
// program isn't there.
func New(name string) (model.Solver, error) {
	if address, ok := strings.CutPrefix(name, batsimPrefix); ok {
		address, option, _ := strings.Cut(address, "?")
		host, port, err := net.SplitHostPort(strings.TrimPrefix(address, "tcp://"))
		if n, e := strconv.Atoi(port); !strings.HasPrefix(address, "tcp://") || err != nil || e != nil || n < 1 || n > 65535 || option != "" && option != withoutNotify {
			return nil, fmt.Errorf("%w %q: give %stcp://HOST:PORT, such as tcp://127.0.0.1:28000, perhaps with ?%s", model.ErrInvalid, name, batsimPrefix, withoutNotify)
		}
		return &solver{name: name, silent: option != "", open: func(ctx context.Context, _ model.Settings, limit time.Duration) (line, error) {
			return dial(ctx, net.JoinHostPort(host, port), limit)
		}}, nil
	}
	c, err := process.ParseCommand(strings.TrimPrefix(name, onlinePrefix))
	if err == nil && (c.Has("{in}") || c.Has("{out}")) {
		err = errors.New("a policy gets no files, what it knows comes on its standard input: leave {in} and {out} out")
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", model.ErrInvalid, name, err)
	}
	if _, err := exec.LookPath(c.Args(nil)[0]); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", model.ErrUnsupported, name, err)
	}
	return &solver{name: name, open: func(_ context.Context, set model.Settings, _ time.Duration) (line, error) {
		seed := strconv.FormatUint(set.Seed, 10)
		return launch(process.Options{Args: c.Args(map[string]string{"{seed}": seed}), Env: []string{"GAPWISE_SEED=" + seed}})
	}}, nil
}

// solver runs a policy that is another program.
type solver struct {
	name   string
	silent bool // it gets no NOTIFY
	open   func(ctx context.Context, set model.Settings, limit time.Duration) (line, error)
}

// Name implements model.Solver.
func (s *solver) Name() string { return s.name }

// mostProcessors bounds the size of the first request, to about 90 MB.
const mostProcessors = 1_000_000

// answerLimit limits the time of an answer if nothing else is asked for.
const answerLimit = time.Minute

// Solve implements model.Solver. A policy that fails, breaks the protocol or decides what
// can't be done has no solution: the reason says what, and at which request, in one line, and
// the details keep what ran until then.
func (s *solver) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.name, set.Seed)
	b, ok := in.(*model.Batch)
	if !ok {
		return r, fmt.Errorf("%s: %w: policies of other programs are there for batch, this is a %s", s.name, model.ErrUnsupported, in.Kind())
	}
	if b.Processors > mostProcessors {
		return r, fmt.Errorf("%s: %w: the first request lists the processors, %d are too many; the most is %d", s.name, model.ErrUnsupported, b.Processors, mostProcessors)
	}
	o, limit := online.BatchOptions{Transcript: set.Transcript}, answerLimit
	if x, ok := set.Parameters.(*model.BatchParameters); ok && x != nil {
		if o.Order, o.Placement = x.Order, x.Placement; x.AnswerLimit > 0 {
			limit = time.Duration(x.AnswerLimit * float64(time.Second))
		}
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	start := time.Now()
	to, err := s.open(ctx, set, limit)
	if err != nil {
		r.Reason, r.Elapsed = err.Error(), time.Since(start)
		return r, nil
	}
	p := &policy{ctx: ctx, line: to, limit: limit, total: len(b.Jobs)}
	if s.silent {
		p.total = -1
	}
	e, err := online.Batch(ctx, b, p, o)
	if p.failed == nil && p.over == len(b.Jobs) {
		if failed := p.ends(); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	how, said := to.close(ctx)
	r.Elapsed = time.Since(start)
	if err == nil {
		if how != "" {
			r.Reason = joined(how, said)
		}
		return r, r.SetSolution(in, e)
	}
	var refused *online.DecisionError
	switch {
	case p.failed != nil:
		r.Reason = fmt.Sprintf("%s: %v", p.where(), p.failed)
	case errors.As(err, &refused):
		r.Reason = fmt.Sprintf("%s: %s: %s", p.where(), refused.What, refused.Reason)
	case errors.Is(err, model.ErrNoSolution):
		r.Reason = fmt.Sprintf("%s: %v", p.where(), err)
	default:
		return r, fmt.Errorf("%s: %w", s.name, err)
	}
	r.Reason = joined(r.Reason, how, said)
	if e != nil && len(e.Runs) > 0 {
		r.Details = &model.BatchDetails{Partial: e.Runs}
	}
	return r, nil
}

// joined joins what isn't empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// stopped says why a run is stopped.
func stopped(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("stopped by the time limit")
	}
	return errors.New("interrupted")
}

// errLate says that an answer hasn't come.
func errLate(limit time.Duration) error {
	return fmt.Errorf("no answer within %v", limit)
}

// mostAnswer bounds an answer in bytes.
const mostAnswer = 1 << 26

var errLong = fmt.Errorf("its answer is longer than %d MB", mostAnswer>>20)
