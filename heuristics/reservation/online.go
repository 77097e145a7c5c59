// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// book decides on the requests in the order of their arrival. Bookings that end early or are cancelled by the time of
// an arrival have been deleted by then, and nothing else is known of them before. When ctx ends, the bookings are those
// made by then. It returns model.ErrNoSolution for the goal all if a request is declined.
func (p policy) book(ctx context.Context, in *model.Reservation, _ model.Settings) (*model.Bookings, error) {
	return booked(ctx, in, &searcher{by: p})
}

// booked runs an online policy. It returns model.ErrNoSolution for the goal all if a request is declined.
func booked(ctx context.Context, in *model.Reservation, p online.ReservationPolicy) (*model.Bookings, error) {
	b, err := online.Reservation(ctx, in, p)
	return declined(in, b, err)
}

// declined returns the bookings, or model.ErrNoSolution if they lack a request and
// the goal is all.
func declined(in *model.Reservation, b *model.Bookings, err error) (*model.Bookings, error) {
	if err == nil && in.EffectiveGoal() == model.GoalAll && len(b.Bookings) < len(in.Requests) {
		return nil, fmt.Errorf("%w: %d of %d requests were declined", model.ErrNoSolution, len(in.Requests)-len(b.Bookings), len(in.Requests))
	}
	return b, err
}

// searcher books each request by a search of the free PEs when it arrives.
type searcher struct {
	by        policy
	share     float64 // that requests below a threshold may take, see Selective; 0: there is none
	small     *threshold
	list      *availability
	decisions []online.ReservationDecision
}

// Begin implements online.ReservationPolicy.
func (s *searcher) Begin(p online.ReservationPlatform) error {
	s.list = newAvailability(p.PEs)
	if s.share > 0 {
		s.small = newThreshold(p, s.share)
	}
	return nil
}

// Event implements online.ReservationPolicy.
func (s *searcher) Event(e online.ReservationEvent) error {
	switch q := e.Request; e.Type {
	case online.Submitted:
		s.list.Advance(e.At)
		return s.answer(q)
	case online.Ended:
		return s.list.Delete(e.At, e.Start+q.Duration, e.PEs)
	case online.Withdrawn:
		return s.list.Delete(e.Start, e.Start+q.Duration, e.PEs)
	}
	return nil
}

// answer accepts or declines a request that has arrived.
func (s *searcher) answer(r *online.ReservationRequest) error {
	d, q := online.ReservationDecision{Type: online.Reject, Request: r.Number}, newQuery(r)
	if s.small == nil || s.small.admits(s.list.now, q) {
		if a, ok := s.list.Find(q, s.by); ok {
			d.Type, d.At, d.PEs = online.Accept, a.Start, a.PEs
			if err := s.list.Add(a.Start, a.End, a.PEs); err != nil {
				return err
			}
		}
	}
	s.decisions = append(s.decisions, d)
	return nil
}

// Decide implements online.ReservationPolicy.
func (s *searcher) Decide() ([]online.ReservationDecision, error) {
	all := s.decisions
	s.decisions = s.decisions[:0]
	return all, nil
}
