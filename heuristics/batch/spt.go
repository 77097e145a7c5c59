// SPDX-License-Identifier: MIT

package batch

import (
	"math"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// spt starts every job that fits, the shortest runtime first (Smith 1956), over its weight if jobs have weights. This
// is the rule of bestList with a = 0 and without reservations. It knows how long jobs run, so it is offline, and no
// policy.
//
// O(n log n), and O(waiting jobs) a pass at worst.
func spt(r *run.Run, in *model.Batch) (*model.Execution, error) {
	return offlineList(r, in, []listRule{{0, math.Inf(1)}})
}
