// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// Stay leaves every task where it is, and places those without a host by best fit on
// hosts in use, else on the cheapest other one. Linear but for the tasks without a host: O(H) each.
func Stay(ctx context.Context, in *model.Consolidation, _ model.Settings) (*model.Assignment, error) {
	p := newPacker(in)
	p.reset(p.C.Today())
	p.fill(ctx)
	return p.result("stay")
}
