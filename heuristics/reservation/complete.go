// SPDX-License-Identifier: MIT

package reservation

import (
	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/model"
)

// Complete makes bookings of the instance from some that may lack requests, or have others. Booked requests stay where
// they are if they fit. The others are booked, in the order of their ready times, at the first start at which they fit,
// or declined. The error wraps model.ErrInvalid, see partial.Match. O(n log n) searches of a profile.
func Complete(in *model.Reservation, start *model.Bookings) (*model.Bookings, model.Completion, error) {
	of, c, err := partial.Match(in.Requests, func(x *model.Request) string { return x.ID },
		start.Bookings, func(x *model.Booking) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	known := &model.Bookings{Goal: in.Goal}
	for _, i := range of {
		if i >= 0 {
			known.Bookings = append(known.Bookings, start.Bookings[i])
		}
	}
	t := view.OfReservation(in)
	starts, err := bookings.TicksOf(in, t, known)
	if err != nil {
		return nil, c, err
	}
	p := bookings.NewOffline(t, 0)
	p.Set(starts)
	p.Fill()
	b, err := bookings.BookTicks(in, t, p.Starts())
	return b, c, err
}
