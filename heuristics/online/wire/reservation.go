// SPDX-License-Identifier: MIT

package wire

import (
	"errors"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// These types of events are reservation's own.
const (
	requestWithdrawn = "REQUEST_WITHDRAWN"
	acceptRequest    = "ACCEPT_REQUEST"
	moveRequest      = "MOVE_REQUEST"
)

type reservationBegins struct {
	Kind           model.Kind `json:"kind"`
	PEs            int        `json:"pes"`
	Goal           model.Goal `json:"goal"`
	TicksPerSecond float64    `json:"ticks_per_second"`
}

// reservationSubmitted has the keys of an instance, except those that reveal the future.
type reservationSubmitted struct {
	requestName
	Request struct {
		ArrivalS  float64 `json:"arrival_s"`
		ReadyS    float64 `json:"ready_s"`
		DurationS float64 `json:"duration_s"`
		DeadlineS float64 `json:"deadline_s"`
		PEs       int     `json:"pes"`
	} `json:"request"`
}

// booked is a booking, which is made or is over.
type booked struct {
	requestName
	StartS *float64      `json:"start_s"`
	PEs    *model.PEList `json:"pes,omitempty"`
}

// reservationDialect is the messages of reservation.
type reservationDialect struct{ *session }

func (p reservationDialect) begins(platform online.ReservationPlatform) any {
	p.clock = clock{platform.TicksPerSecond, 0x1p52 / platform.TicksPerSecond}
	return reservationBegins{model.KindReservation, platform.PEs, platform.Goal, platform.TicksPerSecond}
}

func (p reservationDialect) report(e online.ReservationEvent) {
	p.now = e.At
	switch q := e.Request; e.Type {
	case online.Submitted:
		p.items[q.ID] = q.Number
		d := reservationSubmitted{requestName: requestName{q.ID}}
		r := &d.Request
		r.ArrivalS, r.ReadyS, r.DurationS, r.DeadlineS = p.clock.seconds(q.Arrival), p.clock.seconds(q.Ready), p.clock.seconds(q.Duration), p.clock.seconds(q.Deadline)
		r.PEs = q.PEs
		p.add(e.At, requestSubmitted, d)
	case online.Called:
		p.add(e.At, requestedCall, struct{}{})
	default:
		start := p.clock.seconds(e.Start)
		d := booked{requestName: requestName{q.ID}, StartS: &start}
		if e.PEs != nil {
			d.PEs = &e.PEs
		}
		what := requestCompleted
		if e.Type == online.Withdrawn {
			what = requestWithdrawn
		}
		p.add(e.At, what, d)
	}
}

func (reservationDialect) decision(what online.DecisionType, k int32, at int64) online.ReservationDecision {
	return online.ReservationDecision{Type: what, Request: k, At: at}
}

func (p reservationDialect) more(x *online.ReservationDecision, _ int32, e *answerEvent) error {
	if x.Type == online.Reject {
		return nil
	}
	d, err := read[booked](e)
	switch {
	case err != nil:
		return err
	case d.StartS == nil:
		return errors.New("there is no start_s")
	}
	if x.At, err = p.clock.ticks(*d.StartS); err != nil {
		return fmt.Errorf("start_s %w", err)
	}
	if d.PEs != nil {
		x.PEs = *d.PEs
	}
	return nil
}

// reservation runs the session on an instance.
func (s *session) reservation(in *model.Reservation) course {
	s.noun = "request"
	b, err := online.Reservation(s.ctx, in, &policy[online.ReservationPlatform, online.ReservationEvent, online.ReservationDecision]{
		session: s, dialect: reservationDialect{s}, offers: []offer{
			{acceptRequest, online.Accept}, {rejectRequest, online.Reject}, {moveRequest, online.Move}}})
	if b == nil { // it can't begin
		return course{err: err}
	}
	c := course{solution: b, err: err, heard: err == nil && len(s.items) == len(in.Requests)}
	if len(b.Bookings) > 0 {
		c.partial = &model.ReservationDetails{Partial: b.Bookings}
	}
	if n := len(in.Requests) - len(b.Bookings); c.heard && n > 0 && in.EffectiveGoal() == model.GoalAll {
		c.err = fmt.Errorf("%w: the policy has rejected %d of %d requests", model.ErrNoSolution, n, len(in.Requests))
	}
	return c
}
