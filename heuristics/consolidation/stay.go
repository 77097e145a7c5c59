// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// Stay leaves every task where it is, and places those without a host by best fit on hosts in use, else on the cheapest
// other one. Linear, plus O(H) for each task without a host.
func Stay(ctx context.Context, in *model.Consolidation, set model.Settings) (*model.Assignment, error) {
	set.Start = nil
	p := start(ctx, in, set)
	return p.result("stay")
}

// smallFirst is the number of tasks times hosts up to which First drains hosts, even if its context has ended.
const smallFirst = 1_000_000

// First is Stay or, where that is beyond a limit and the instance isn't large, Drain or BestFit.
func First(ctx context.Context, in *model.Consolidation, set model.Settings) (*model.Assignment, error) {
	a, err := Stay(ctx, in, set)
	if err == nil || in.CostLimit == nil && len(in.Limits) == 0 && !in.Mend || in.Tasks()*(len(in.Hosts)+len(in.Offers)) > smallFirst {
		return a, err
	}
	ctx = context.WithoutCancel(ctx)
	if a, err := Drain(ctx, in, model.Settings{}); err == nil {
		return a, nil
	}
	return BestFit(ctx, in, model.Settings{})
}
