// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
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
func searchNear(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	t := view.OfReservation(in)
	inAuto := set.Others != nil
	if b, ok := set.Start.(*model.Bookings); ok && b != nil && inAuto && len(t.Jobs) <= enginesTake {
		return b, nil
	}
	p, err := constructed(ctx, in, set, "lns")
	if err != nil {
		return nil, err
	}
	if !inAuto {
		p.Improve(ctx, bookings.Steps(len(t.Jobs))/8, math.Inf(1))
	}
	_, limited := ctx.Deadline()
	tell := func() { told(in, p, set, "lns") }
	tell()
	p.Windows(ctx, limited || inAuto, math.Inf(1), tell, func() {
		if !inAuto {
			return
		}
		o := set.Others()
		better := o.Incumbent > p.Value()+t.FreeWeight+1e-9*math.Abs(o.Incumbent)
		if b, ok := o.Solution.(*model.Bookings); ok && b != nil && better {
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
