// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/model"
)

// spt starts every job that fits, the shortest runtime first (Smith 1956), over its weight if jobs have weights. This
// is the rule of bestList with a = 0 and without reservations. It knows how long jobs run, so it is offline, and no
// policy.
//
// O(n log n), and O(waiting jobs) a pass at worst.
func spt(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return offlineList(ctx, in, set, "spt", []listRule{{0, math.Inf(1)}})
}
