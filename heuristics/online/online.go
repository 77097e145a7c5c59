// SPDX-License-Identifier: MIT

// Package online runs policies: schedulers that decide as events come, and know of the
// future nothing.
//
// A simulation owns the time, the platform and the truth: how long jobs really run. It
// tells a Policy what happens when it happens, and asks it what to do. It carries out what
// can be done, and stops at the first decision that can't be with a DecisionError. So what
// a policy reaches here it would have reached on a machine.
//
// A simulation can write a transcript: what was told when, and what was decided when
// (docs/reference/formats.md). verify.Online replays it beside the solution.
package online

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Policy decides as events come. P is the platform, E an event, D a decision of a problem:
// BatchPlatform, BatchEvent and BatchDecision for model.Batch.
//
// A simulation calls Begin once, before all else. Then it goes from instant to instant; at
// each it calls Event for all that has happened, in the order of time, and then Decide. It
// calls from one goroutine. An error, of a policy that talks to another program say, stops the
// simulation, which returns it wrapped.
type Policy[P, E, D any] interface {
	Begin(P) error
	// Event tells what has happened. What the event points to is the simulation's and
	// isn't changed by anybody; the policy may keep it.
	Event(E) error
	// Decide returns what to do at the instant of the last events, carried out in this
	// order. The slice is the policy's. The simulation reads it before it calls the policy
	// again, so the policy may use it again then.
	Decide() ([]D, error)
}

// DecisionError reports the first decision of a policy that can't be carried out. It wraps
// model.ErrInvalid.
type DecisionError struct {
	At     int64  // the instant in ticks (microseconds)
	Turn   int    // which call of Decide, from 1
	What   string // the decision, and the job: start of job "17"
	Reason string
}

func (e *DecisionError) Error() string {
	return fmt.Sprintf("%v decision at %.9g s (call %d): %s: %s", model.ErrInvalid, float64(e.At)/1e6, e.Turn, e.What, e.Reason)
}

// Unwrap returns model.ErrInvalid.
func (*DecisionError) Unwrap() error { return model.ErrInvalid }
