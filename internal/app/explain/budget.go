// SPDX-License-Identifier: MIT

package explain

import (
	"context"
	"fmt"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// budget estimates the cost of a placement's migration budget: it looks for a placement without it that beats the bound
// with it, or, for an infeasible instance, for any. Finding none proves nothing.
func budget(ctx context.Context, in model.Instance, r model.Result, o Options) []Reason {
	v, ok := in.(*model.VCSched)
	if !ok || v.MigrationBudget == nil {
		return nil
	}
	free := *v
	free.MigrationBudget = nil
	without, err := gapwise.Solve(ctx, &free, gapwise.Options{Settings: model.Settings{TimeLimit: max(o.TimeLimit/10, 50*time.Millisecond), Seed: o.Seed}})
	if err != nil || without.Solution == nil || without.Unverified {
		return nil
	}
	holds := fmt.Sprintf("The migration budget of %.6g hosts' memory holds it down", *v.MigrationBudget)
	switch {
	case r.Status == model.StatusInfeasible:
		return []Reason{{Words: fmt.Sprintf("%s: without it there is a placement, of the yield %.6g.", holds, without.Objective)}}
	case model.Gap(without.Objective, r.Bound) > model.DefaultGap && model.SenseOf(in).Better(without.Objective, r.Bound):
		return []Reason{{Words: fmt.Sprintf("%s: without it a placement was found of the yield %.6g, and with it none has more than %.6g.", holds, without.Objective, r.Bound)}}
	}
	return nil
}
