// SPDX-License-Identifier: MIT

package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gapwise/gapwise/model"
)

// line is a connection to a scheduler.
type line interface {
	// ask sends a request and returns the answer. It waits as long as the limit, and until
	// ctx ends. After an error nothing more is asked.
	ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error)
	// close ends the connection. It returns in a few words how a program has failed to end, and its last words; "" for
	// none or one that has ended. It is in a hurry if ctx has ended.
	close(ctx context.Context) (how, said string)
}

// errOver is the error of ask when the other side has ended the connection.
var errOver = errors.New("it has ended without an answer")

// session is the talk with a scheduler at the other end of a line, about an instance of any
// problem. Times are ticks of its clock.
type session struct {
	ctx      context.Context // of the run
	line     line
	limit    time.Duration // of an answer
	clock    clock
	shift    int64            // ticks that the scheduler's clock is ahead
	noun     string           // an item: "job" or "request"
	items    map[string]int32 // numbers of those that have been submitted, by their names
	over     int              // jobs that have ended, or are rejected
	now      int64            // time of the last request, or the end of the time in which the scheduler is busy
	requests int
	pending  []event // since the last request
	last     message // the last request
	failed   error   // why the scheduler is asked no more
}

// course is how a session went.
type course struct {
	solution model.Solution // of what the simulation did, also beside an error
	partial  model.Details  // that hold it; nil: nothing was done
	details  model.Details  // beside a solution
	heard    bool           // the scheduler was told of all that happens
	err      error
}

// time returns an instant in seconds of the scheduler's clock.
func (s *session) time(at int64) float64 { return s.clock.seconds(at + s.shift) }

// add notes an event to report.
func (s *session) add(at int64, what string, data any) {
	s.pending = append(s.pending, event{s.time(at), what, data})
}

// begin reports the platform.
func (s *session) begin(platform any) error {
	s.add(0, simulationBegins, platform)
	_, events, err := s.ask(0)
	if err == nil && len(events) > 0 {
		err = fmt.Errorf("its answer to %s holds %s, must hold no events", simulationBegins, events[0].Type)
	}
	return s.fail(err)
}

// end reports that the simulation has ended. A policy that hangs up on that has ended, too.
func (s *session) end() error {
	s.pending = s.pending[:0]
	s.add(s.now, simulationEnds, struct{}{})
	if _, _, err := s.ask(s.now); err != nil && !errors.Is(err, errOver) {
		return s.fail(err)
	}
	return nil
}

// ask sends the pending events as a request of an instant, and reads the answer.
func (s *session) ask(now int64) (busy int64, events []answerEvent, err error) {
	s.requests++
	s.last = message{s.time(now), s.pending}
	text, err := json.Marshal(s.last)
	if err == nil {
		text, err = s.line.ask(s.ctx, text, s.limit)
	}
	if err == nil {
		busy, events, err = s.clock.readAnswer(text, now+s.shift)
	}
	if err == nil {
		s.pending = s.pending[:0]
	}
	return busy - s.shift, events, err
}

// fail notes why the run ends.
func (s *session) fail(err error) error {
	s.failed = err
	return err
}

// named is data about a job or a request.
type named interface{ name() string }

// where names the last request by its events: "request 7 (now 21 s: JOB_COMPLETED of w0!1 and 2 more)".
func (s *session) where() string {
	if s.requests == 0 {
		return "before the first request"
	}
	text := fmt.Sprintf("request %d (now %.9g s", s.requests, s.last.Now)
	if n := len(s.last.Events); n > 0 {
		e := &s.last.Events[0] // still there: nothing is told after a decision that fails
		text += ": " + e.Type
		if d, ok := e.Data.(named); ok {
			text += " of " + d.name()
		}
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return text + ")"
}
