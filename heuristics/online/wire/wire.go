// SPDX-License-Identifier: MIT

// Package wire runs policies that are other programs, in any language, in the simulation of package online. It speaks
// the simulator's side of Batsim's protocol (versions 3 and 4, and 5 in JSON), for batch with its events, for other problems with
// their own. A request reports what has happened; the answer says what to do. The requests are lines of JSON on a
// program's standard input, with the answers on its standard output, or messages of ZeroMQ. Nothing in them reveals a
// runtime before the job has ended.
package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// The names of such policies begin so.
const (
	onlinePrefix = "online:"
	batsimPrefix = "batsim:"
)

// Options of an address.
const (
	withoutNotify = "notify=no"
	version5      = "version=5"
)

// Known reports whether a name belongs to a policy that is another program.
func Known(name string) bool {
	return strings.HasPrefix(name, onlinePrefix) || strings.HasPrefix(name, batsimPrefix)
}

// kinds are the problems that there are such policies for.
var kinds = []model.Kind{model.KindBatch, model.KindReservation, model.KindTVC}

// New returns the solver of a name: online:COMMAND, a program to start, or batsim:tcp://HOST:PORT, one that waits there
// on a REP socket of ZeroMQ. With ?notify=no after that, it gets no notice that no more jobs come (easyBackfillNotopo
// of pybatsim dies of that). With ?version=5 it speaks Batsim 5's protocol. The command is split into words as a POSIX shell does, without one. Its words {seed}
// become the seed, which is also in the environment as GAPWISE_SEED. The error wraps model.ErrInvalid, or
// model.ErrUnsupported if the program isn't there, or there are no such policies for the problem.
//
// LABEL= before the name makes the solver's name online:LABEL.
func New(kind model.Kind, name string) (model.Solver, error) {
	label, name := process.Labelled(name)
	shown := name
	if label != "" {
		sort, _, _ := strings.Cut(name, ":")
		shown = sort + ":" + label
	}
	switch {
	case !slices.Contains(kinds, kind):
		return nil, fmt.Errorf("%w: %s: policies of other programs are there for %s, this is a %s", model.ErrUnsupported, name, listed(kinds), kind)
	case strings.HasPrefix(name, batsimPrefix) && kind != model.KindBatch:
		return nil, fmt.Errorf("%w: %s: schedulers for Batsim are there for batch, this is a %s; take %sCOMMAND", model.ErrUnsupported, name, kind, onlinePrefix)
	}
	if address, ok := strings.CutPrefix(name, batsimPrefix); ok {
		address, option, _ := strings.Cut(address, "?")
		if !isAddress(address) || option != "" && option != withoutNotify && option != version5 {
			return nil, fmt.Errorf("%w %q: give %stcp://HOST:PORT, such as tcp://127.0.0.1:28000, perhaps with ?%s or ?%s", model.ErrInvalid, name, batsimPrefix, withoutNotify, version5)
		}
		return &solver{name: shown, silent: option == withoutNotify, open: func(ctx context.Context, _ model.Settings, limit time.Duration) (line, error) {
			to, err := dial(ctx, strings.TrimPrefix(address, "tcp://"), limit)
			if err == nil && option == version5 {
				to = &batprotocol{line: to}
			}
			return to, err
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
	return &solver{name: shown, open: func(_ context.Context, set model.Settings, _ time.Duration) (line, error) {
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

// Solve implements model.Solver. A policy that fails, breaks the protocol or makes an impossible decision has no
// solution. The reason says in one line what failed, and at which request, and the details keep the runs until then.
func (s *solver) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.name, set.Seed)
	limit := cmp.Or(set.AnswerLimit, answerLimit)
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	start := time.Now()
	to, err := s.open(ctx, set, limit)
	if err != nil {
		r.Reason, r.Elapsed = err.Error(), time.Since(start)
		return r, nil
	}
	x := &session{ctx: ctx, line: to, limit: limit, items: map[string]int32{}}
	c := x.run(in, set, strings.HasPrefix(s.name, batsimPrefix), s.silent)
	if x.failed == nil && c.heard {
		if failed := x.end(); failed != nil {
			c.err = errors.Join(c.err, failed)
		}
	}
	how, said := to.close(ctx)
	r.Elapsed = time.Since(start)
	var refused *online.DecisionError
	switch {
	case x.failed != nil:
		r.Reason = fmt.Sprintf("%s: %v", x.where(), x.failed)
	case errors.As(c.err, &refused):
		r.Reason = fmt.Sprintf("%s: %s: %s", x.where(), refused.What, refused.Reason)
	case errors.Is(c.err, model.ErrNoSolution):
		r.Reason = fmt.Sprintf("%s: %v", x.where(), c.err)
	case c.err != nil:
		return r, fmt.Errorf("%s: %w", s.name, c.err)
	case !c.heard: // nothing arrives any more in a simulation that is stopped
		r.Reason = fmt.Sprintf("%s: %v", x.where(), stopped(ctx))
	default:
		if how != "" {
			r.Reason = joined(how, said)
		}
		r.Details = c.details
		return r, r.SetSolution(in, c.solution)
	}
	r.Reason, r.Details = joined(r.Reason, how, said), c.partial
	return r, nil
}

// run runs the session on an instance. A scheduler may be one for Batsim. One that is silent
// gets no NOTIFY.
func (s *session) run(in model.Instance, set model.Settings, batsim, silent bool) course {
	switch in := in.(type) {
	case *model.Batch:
		return s.batch(in, set, batsim, silent)
	case *model.Reservation:
		return s.reservation(in)
	case *model.TVC:
		return s.tvc(in)
	}
	return course{err: fmt.Errorf("%w: a policy for a %s", model.ErrUnsupported, in.Kind())}
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
