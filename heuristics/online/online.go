// SPDX-License-Identifier: MIT

// Package online runs policies: schedulers that decide as events come, and know nothing of the future.
//
// A simulation owns the time, the platform and the truth: how long jobs really run. It reports events to a Policy when
// they happen, and asks it what to do. It carries out decisions, and stops with a DecisionError at the first impossible
// one. So a policy's result here would have been the same on a machine.
//
// A run is online because the simulation gives a policy no other knowledge. A test checks that: if only the future
// changes, the policy is asked the same until then (wire, TestNoFuture).
package online

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Policy decides as events come. P is the platform, E an event, D a decision of a problem:
// BatchPlatform, BatchEvent and BatchDecision for model.Batch, and so on.
//
// A simulation calls Begin once, before all else. Then it goes from instant to instant; at
// each it calls Event for all that has happened, in the order of time, and then Decide. It
// calls from one goroutine. An error, of a policy that talks to another program say, stops the
// simulation, which returns it wrapped.
type Policy[P, E, D any] interface {
	Begin(P) error
	// Event reports an event to the policy. The event's data belong to the simulation and aren't changed by anybody;
	// the policy may keep them.
	Event(E) error
	// Decide returns what to do at the instant of the last events, carried out in this
	// order. The slice is the policy's. The simulation reads it before it calls the policy
	// again, so the policy may use it again then.
	Decide() ([]D, error)
}

// EventType is the type of an event.
type EventType string

// The events.
const (
	Submitted EventType = "submitted" // there is a job or a request; before, nothing is known of it
	Ended     EventType = "ended"     // it has run to its end, or has left
	Killed    EventType = "killed"    // a decision has ended it before
	Withdrawn EventType = "withdrawn" // its user has cancelled it before its start
	Called    EventType = "called"    // what CallAt asked for
)

// DecisionType says what to do.
type DecisionType string

// The decisions.
const (
	// Start starts what waits.
	Start DecisionType = "start"
	// Accept promises a request that it will run, from a time on.
	Accept DecisionType = "accept"
	// Move changes the place of a running job, or the promise to a request that hasn't started.
	Move DecisionType = "move"
	// Reject turns what waits away: it never runs.
	Reject DecisionType = "reject"
	// Suspend ends what runs for now. Its work is kept.
	Suspend DecisionType = "suspend"
	// Kill ends what runs. Its work is lost.
	Kill DecisionType = "kill"
	// CallAt asks for an event Called, and so for a call of Decide, at a later instant.
	CallAt DecisionType = "call"
	// Busy says that the policy takes until a later instant to decide. Events before then are reported then, with the
	// times when they happened.
	Busy DecisionType = "busy"
)

// DecisionError reports the first decision of a policy that can't be carried out. It wraps
// model.ErrInvalid.
type DecisionError struct {
	AtS    float64 // the instant in seconds
	Turn   int     // which call of Decide, from 1
	What   string  // the decision, and the job: start of job "17"
	Reason string
}

func (e *DecisionError) Error() string {
	return fmt.Sprintf("%v decision at %.9g s (call %d): %s: %s", model.ErrInvalid, e.AtS, e.Turn, e.What, e.Reason)
}

// Unwrap returns model.ErrInvalid.
func (*DecisionError) Unwrap() error { return model.ErrInvalid }
