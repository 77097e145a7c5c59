// SPDX-License-Identifier: MIT

package reservation

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// searchNear is a large neighbourhood search of plans (bookings.Offline.Windows), from
// Clairvoyant's after an eighth of its steps or in auto from the best plan so far,
// or from Settings.Start. It is offline, any-time and never worse than either.
//
// With a deadline or in auto it goes on to the end of its limits; otherwise it ends when lns.Patience neighbourhoods in
// a row brought nothing. The result depends on the seed, and on time only if a limit stops it.
//
// The error is Clairvoyant's.
func searchNear(r *run.Run, in *model.Reservation) (*model.Bookings, error) {
	ctx, t := r.Ctx, view.Shared(r.Ctx, in, view.OfReservation)
	if b, ok := r.Set.Start.(*model.Bookings); ok && b != nil && r.Beside() && len(t.Jobs) <= enginesTake {
		return b, nil
	}
	p, err := constructed(r, in, t)
	if err != nil {
		return nil, err
	}
	if !r.Beside() {
		p.Improve(ctx, bookings.Steps(len(t.Jobs))/8, math.Inf(1))
	}
	found := func() { report(r, in, t, p) }
	found()
	p.Windows(ctx, r.Limited() || r.Beside(), math.Inf(1), found, func() {
		news, value := r.News(math.NaN())
		if b, ok := news.(*model.Bookings); ok && value > p.Value()+t.FreeWeight+1e-9*math.Abs(value) {
			if starts, err := bookings.TicksOf(in, t, b); err == nil {
				p.Set(starts)
			}
		}
	})
	p.ShiftLeft(ctx)
	b, err := bookings.BookTicks(in, t, p.Starts())
	return declined(in, b, err)
}

// enginesTake is how many requests the exact engines often take: in auto, searchNear leaves the time to them.
const enginesTake = 100
