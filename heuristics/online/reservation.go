// SPDX-License-Identifier: MIT

package online

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// ReservationPolicy is a policy for model.Reservation. Times are ticks, whole numbers from
// the instance's second 0 on (see ReservationPlatform.TicksPerSecond).
type ReservationPolicy = Policy[ReservationPlatform, ReservationEvent, ReservationDecision]

// ReservationPlatform is a policy's knowledge before the first request.
type ReservationPlatform struct {
	PEs            int        // how many, numbered from 0
	Goal           model.Goal // what is maximised, never empty
	TicksPerSecond float64    // a power of 10
}

// ReservationRequest is a policy's knowledge of a request from its arrival on.
type ReservationRequest struct {
	ID     string
	Number int32 // requests have the numbers 0, 1, ... in the order of their arrivals
	PEs    int
	// It starts at Ready or later, holds its PEs for Duration, and is over by Deadline.
	Arrival, Ready, Duration, Deadline int64
}

// ReservationEvent is an event: Submitted, Ended, Withdrawn or Called. Ended reports that a request has ended before
// its duration was over. A request that takes its whole duration ends without an event.
type ReservationEvent struct {
	Type    EventType
	At      int64               // now
	Request *ReservationRequest // nil for Called
	// Start and PEs belong to the booking, with Ended and Withdrawn. It holds nothing from now on. PEs are nil if a
	// request is withdrawn that had none yet.
	Start int64
	PEs   model.PEList
}

// ReservationDecision is a decision: Accept, Reject, Move or CallAt. Each request is accepted or rejected in the call
// of Decide after the event that reported it, before anything else happens. Move changes a booking that hasn't started.
type ReservationDecision struct {
	Type    DecisionType
	Request int32 // its number, but with CallAt
	At      int64 // the start, with Accept and Move; an instant later than now, with CallAt
	// PEs, with Accept and Move, are as many as the request asks for. They are its own from the start on for its
	// duration, until it ends or is withdrawn. If nil, it gets the lowest at its start that are no one else's until its
	// end: there must be enough then.
	PEs model.PEList
}

// Reservation runs a policy on an instance, which must be valid. It returns the bookings of the accepted requests, in
// the order of their arrival. They claim to be online (see model.Bookings.Online) if all had their PEs at once and none
// was moved. When ctx ends, nothing arrives any more: requests from there on aren't accepted.
//
// The error is a *DecisionError for an impossible decision. Otherwise it wraps the policy's. With an error, they are
// the ones made until then.
//
// O(log n + v) per request, plus the PEs that change hands, with v bookings that may overlap it in time.
func Reservation(ctx context.Context, in *model.Reservation, p ReservationPolicy) (*model.Bookings, error) {
	r := newReservationRun(in, view.Shared(ctx, in, view.OfReservation), p)
	err := r.run(ctx, ReservationPlatform{r.t.PEs, r.t.Goal, r.t.PerSecond()})
	return r.bookings(in.Goal), err
}
