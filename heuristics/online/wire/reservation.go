// SPDX-License-Identifier: MIT

package wire

import (
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

// reservationPolicy is a scheduler of reservation.
type reservationPolicy struct {
	*session
	requests requests
	now      int64
	all      []online.ReservationDecision
}

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

// Begin implements online.ReservationPolicy.
func (p *reservationPolicy) Begin(platform online.ReservationPlatform) error {
	p.clock = clock{platform.TicksPerSecond, 0x1p52 / platform.TicksPerSecond}
	return p.begin(reservationBegins{model.KindReservation, platform.PEs, platform.Goal, platform.TicksPerSecond})
}

// Event implements online.ReservationPolicy.
func (p *reservationPolicy) Event(e online.ReservationEvent) error {
	p.now = e.At
	switch q := e.Request; e.Type {
	case online.Submitted:
		p.requests[q.ID] = q.Number
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
	return nil
}

// Decide implements online.ReservationPolicy.
func (p *reservationPolicy) Decide() (_ []online.ReservationDecision, err error) {
	p.all, err = decideNow(p.session, p.now, p.all[:0], p.decisions)
	return p.all, err
}

// decisions appends what an event of an answer decides.
func (p *reservationPolicy) decisions(all []online.ReservationDecision, e *answerEvent) ([]online.ReservationDecision, error) {
	types := map[string]online.DecisionType{acceptRequest: online.Accept, moveRequest: online.Move, rejectRequest: online.Reject}
	x := online.ReservationDecision{Type: types[e.Type]}
	switch e.Type {
	case callMeLater:
		at, err := p.clock.call(e)
		return append(all, online.ReservationDecision{Type: online.CallAt, At: at}), err
	case acceptRequest, moveRequest, rejectRequest:
	default:
		return nil, notOffered(e, acceptRequest, rejectRequest, moveRequest, callMeLater)
	}
	d, err := read[booked](e)
	if err != nil {
		return nil, err
	}
	if x.Request, err = p.requests.number(e.Type, d.RequestID); err != nil || x.Type == online.Reject {
		return append(all, x), err
	}
	if d.StartS == nil {
		return nil, fmt.Errorf("the data of %s of %s have no start_s", e.Type, d.name())
	}
	if x.At, err = p.clock.ticks(*d.StartS); err != nil {
		return nil, fmt.Errorf("start_s of %s of %s %w", e.Type, d.name(), err)
	}
	if d.PEs != nil {
		x.PEs = *d.PEs
	}
	return append(all, x), nil
}

// reservation runs the session on an instance.
func (s *session) reservation(in *model.Reservation) course {
	p := &reservationPolicy{session: s, requests: requests{}}
	b, err := online.Reservation(s.ctx, in, p)
	if b == nil { // it can't begin
		return course{err: err}
	}
	c := course{solution: b, err: err, heard: err == nil && len(p.requests) == len(in.Requests), at: p.now}
	if len(b.Bookings) > 0 {
		c.partial = &model.ReservationDetails{Partial: b.Bookings}
	}
	if n := len(in.Requests) - len(b.Bookings); c.heard && n > 0 && in.EffectiveGoal() == model.GoalAll {
		c.err = fmt.Errorf("%w: the policy has rejected %d of %d requests", model.ErrNoSolution, n, len(in.Requests))
	}
	return c
}
