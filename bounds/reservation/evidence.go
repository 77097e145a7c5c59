// SPDX-License-Identifier: MIT

package reservation

import (
	"context"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// QuickOf is Quick of an instance, each bound with its evidence.
func QuickOf(ctx context.Context, in *model.Reservation) []bounds.Bound {
	w := newWork(view.Shared(ctx, in, view.OfReservation))
	w.in = in
	return w.quick(ctx)
}

// proved returns a bound with its evidence, unless times were rounded for it or the
// instance isn't known.
func (w *work) proved(b bounds.Bound, e *model.Evidence) bounds.Bound {
	if w.shift == 0 && w.in != nil && e != nil {
		e.Method = b.Name
		b.Evidence = e
	}
	return b
}
