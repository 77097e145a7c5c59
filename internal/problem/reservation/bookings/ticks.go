// SPDX-License-Identifier: MIT

// Package bookings makes bookings of reservations from starts in ticks, and plans of all
// jobs by local search.
package bookings

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/model"
)

// TicksOf returns the starts of the ticks' jobs in bookings of the instance, by job, view.Declined for those that
// aren't booked. If the bookings need too many PEs, in ticks, jobs are dropped in the order of starts. The error,
// model.ErrInvalid, is Index's.
func TicksOf(in *model.Reservation, t *view.Reservation, b *model.Bookings) ([]int64, error) {
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	wanted := make([]float64, len(in.Requests))
	for k := range wanted {
		wanted[k] = math.NaN()
	}
	for i, k := range index {
		wanted[k] = b.Bookings[i].StartS
	}
	starts := make([]int64, len(t.Jobs))
	booked := make([]int, 0, len(starts))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		starts[i] = view.Declined
		// One that is withdrawn before that start holds no PEs.
		if x := wanted[j.Request]; !math.IsNaN(x) && t.Requests[j.Request].Runs(t.Tick(x)) {
			starts[i] = min(max(t.Tick(x), j.Ready), j.Latest())
			booked = append(booked, i)
		}
	}
	order.By(booked, starts)
	c := profile.Profile{Capacity: t.PEs}
	for _, i := range booked {
		j := &t.Jobs[i]
		// Rounding may ask for a tick or two more.
		s, ok := c.First(j.PEs, j.Length, starts[i], j.Latest())
		if !ok {
			s, ok = c.First(j.PEs, j.Length, j.Ready, j.Latest())
		}
		if starts[i] = view.Declined; ok {
			starts[i] = s
			c.Add(s, s+j.Length, j.PEs)
		}
	}
	return starts, nil
}

// BookTicks returns the bookings of jobs with the given starts, in ticks by job
// and negative for declined, and of the free requests, in the order of the
// requests. The error is model.ErrInfeasible if too many PEs are needed at a time.
func BookTicks(in *model.Reservation, t *view.Reservation, starts []int64) (*model.Bookings, error) {
	n := len(t.Free)
	for _, at := range starts {
		if at >= 0 {
			n++
		}
	}
	runs, requests, seconds := make([]Interval, 0, n), make([]int, 0, n), make([]float64, 0, n)
	for i := range t.Jobs {
		if j := &t.Jobs[i]; starts[i] >= 0 {
			runs, requests = append(runs, Interval{starts[i], starts[i] + j.Length, j.PEs}), append(requests, j.Request)
			seconds = append(seconds, t.Seconds(starts[i]))
		}
	}
	for _, k := range t.Free { // it holds no PEs
		runs, requests = append(runs, Interval{PEs: in.Requests[k].PEs}), append(requests, k)
		seconds = append(seconds, t.Seconds(t.Requests[k].Latest()))
	}
	lists, short := Number(t.PEs, runs)
	if short >= 0 {
		return nil, fmt.Errorf("%w: too few of the %d PEs are free when request %q starts", model.ErrInfeasible, t.PEs, in.Requests[requests[short]].ID)
	}
	b := &model.Bookings{Goal: in.Goal}
	if n > 0 {
		b.Bookings = make([]model.Booking, n)
	}
	for i, o := range order.By(order.Of[int](n), requests) {
		b.Bookings[i] = model.Booking{ID: in.Requests[requests[o]].ID, StartS: seconds[o], PEs: lists[o]}
	}
	return b, nil
}
