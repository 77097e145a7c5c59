// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
)

// result is the output of gapwise solve --json.
type result struct{}

// task is a request to solve that has passed every check.
type task struct {
	*pass
	in model.Instance
	o  gapwise.Options
	*ask.Solve
}

// task reads a request to solve. The caller must leave if it gets a task.
func (s *Server) task(w http.ResponseWriter, r *http.Request) (t task, err error) {
	var q SolveRequest
	ctx := r.Context()
	if t.pass, err = s.body(w, r, &q); err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			t.leave()
		}
	}()
	if t.in, err = t.instance(ctx, q.Instance); err != nil {
		return t, err
	}
	if t.o, err = s.options(t.in, q.Options); err != nil {
		return t, failureOf(err, "options")
	}
	if len(q.Start) > 0 {
		err := panics.Call(func() (err error) {
			if t.o.Start, err = ask.StartOf(ctx, t.in, q.Start); err != nil {
				return failureOf(err, "start")
			}
			if t.o.Start, _, err = gapwise.CompleteStart(ctx, t.in, t.o.Start); errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrUnsupported) {
				f := failureOf(err, "start")
				f.Status, f.Remedy = http.StatusUnprocessableEntity, "mend the start, or leave it out"
				return f
			}
			return err
		})
		if err != nil {
			return t, failureOf(err, "start")
		}
	}
	t.Solve = ask.Watch(t.in)
	t.o.Progress = t.Hear
	return t, nil
}

// slack is how long a solver may go on after its time limit until its context ends.
const slack = time.Second

// run solves, when there is a slot. begun is called then.
func (s *Server) run(ctx context.Context, t task, begun func()) (r model.Result, err error) {
	err = s.work(ctx, t.pass, func(ctx context.Context) (err error) {
		begun()
		r, err = s.solved(ctx, t.in, t.o)
		return err
	})
	return r, err
}

// work calls do when there is a slot. The end of the service ends its context.
func (s *Server) work(ctx context.Context, p *pass, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.halted, cancel)()
	free, err := acquire(ctx, p.slots)
	if err != nil {
		return err
	}
	defer free()
	s.figures.running.Add(1)
	defer s.figures.running.Add(-1)
	return panics.Call(func() error { return do(ctx) })
}

// solved solves an instance, within its time limit and some slack.
func (s *Server) solved(ctx context.Context, in model.Instance, o gapwise.Options) (r model.Result, err error) {
	ctx, stop := context.WithTimeout(ctx, o.TimeLimit+o.TimeLimit/10+slack)
	defer stop()
	started := time.Now()
	err = panics.Call(func() (err error) { r, err = gapwise.Solve(ctx, in, o); return err })
	s.figures.solved(in.Kind(), r.Status, err, time.Since(started))
	return r, err
}

// solve answers POST /v1/solve.
func (s *Server) solve(w http.ResponseWriter, r *http.Request) {
	shape, err := shapeOf(r)
	if err != nil {
		s.fail(w, failureOf(err, "query"))
		return
	}
	t, err := s.task(w, r)
	if err != nil {
		s.fail(w, failureOf(err, "body"))
		return
	}
	defer t.leave()
	if shape != nil {
		s.stream(w, r, t, shape)
		return
	}
	res, err := s.run(r.Context(), t, func() {})
	if err != nil {
		s.fail(w, failureOf(err, "instance"))
		return
	}
	s.write(w, http.StatusOK, res)
}

// shape is how a stream is written.
type shape struct {
	contentType, form, rest string // form of a named value; the message that there is nothing new
}

var (
	events = &shape{"text/event-stream", "event: %s\ndata: %s\n\n", ": at work\n\n"}
	lines  = &shape{"application/x-ndjson", "{\"%s\":%s}\n", ""}
)

// shapeOf returns the stream that a request asks for, nil for none.
func shapeOf(r *http.Request) (*shape, error) {
	accepted := accepts(r)
	whole := max(accepted["application/json"], accepted["application/*"], accepted["*/*"])
	wanted := func(s *shape) bool { q := accepted[s.contentType]; return q > 0 && q >= whole }
	switch asked := r.URL.Query().Get("stream"); {
	case asked == "events", asked == "" && wanted(events):
		return events, nil
	case asked == "lines", asked == "" && wanted(lines):
		return lines, nil
	case asked != "":
		return nil, failuref(http.StatusBadRequest, "query stream", "give events or lines", "there is no stream %q", asked)
	}
	return nil, nil
}

// accepts returns the media types of a request's Accept, with their weights.
func accepts(r *http.Request) map[string]float64 {
	weights := map[string]float64{}
	for _, line := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			kind, parameters, err := mime.ParseMediaType(one)
			if err != nil {
				continue
			}
			weight := 1.0
			if q, err := strconv.ParseFloat(parameters["q"], 64); err == nil {
				weight = q
			}
			weights[kind] = max(weights[kind], weight)
		}
	}
	return weights
}

// Times of a stream: between two looks at a solver, between two signs of life, and for a
// client to read.
const (
	between = 100 * time.Millisecond
	silence = 10 * time.Second
	reading = 30 * time.Second
)

// stream solves and sends progress: the newest, when the client has read the one before.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, t task, as *shape) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	to := http.NewResponseController(w)
	say := func(text string) {
		// Without deadlines, as in a test, it is sent all the same.
		_ = to.SetWriteDeadline(time.Now().Add(reading))
		if _, err := io.WriteString(w, text); err != nil || to.Flush() != nil {
			cancel()
		}
	}
	send := func(name string, x any) {
		text, err := s.text(x)
		if err != nil {
			name, text = "error", failureOf(err, "answer").line()
		}
		say(fmt.Sprintf(as.form, name, text))
	}
	var res model.Result
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		res, err = s.run(ctx, t, func() { close(begun) })
		ended <- err
	}()
	select {
	case err := <-ended:
		select {
		case <-begun: // it has begun and ended
			ended <- err
		default:
			s.fail(w, failureOf(err, "instance"))
			return
		}
	case <-begun:
	}
	w.Header().Set("Content-Type", as.contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	tick := time.NewTicker(between)
	defer tick.Stop()
	for said := time.Now(); ; {
		select {
		case err := <-ended:
			select {
			case <-t.News:
				send("progress", t.Look())
			default:
			}
			if err != nil {
				send("error", failureOf(err, "instance"))
			} else {
				send("result", res)
			}
			return
		case <-tick.C:
		}
		select {
		case <-t.News:
			send("progress", t.Look())
			said = time.Now()
		default:
			if time.Since(said) > silence {
				said = time.Now()
				if as.rest == "" {
					send("progress", t.Look())
				} else {
					say(as.rest)
				}
			}
		}
	}
}
