// SPDX-License-Identifier: MIT

package explain

import (
	"context"
	"errors"
	"strings"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// conflict looks for a minimal conflict of an infeasible instance: the result's, or one by deletion. Task graphs,
// batches and virtual clusters always have a solution: tasks and jobs can wait, and requests be rejected.
func (x *Explanation) conflict(ctx context.Context, in model.Instance, r model.Result, o Options) error {
	if d, ok := r.Details.(*model.ReservationDetails); ok && len(d.Conflict) > 0 {
		x.Conflict = &Conflict{Elements: d.Conflict, Minimal: !strings.Contains(r.Reason, "may not be minimal")}
		return nil
	}
	parts := problems[in.Kind()].parts
	if parts == nil {
		return nil
	}
	ids, part := parts(in)
	keep, minimal, err := shrink(ctx, len(ids), part, o)
	if err != nil {
		return err
	}
	x.Conflict = &Conflict{Minimal: minimal}
	for _, k := range keep {
		x.Conflict.Elements = append(x.Conflict.Elements, ids[k])
	}
	return nil
}

// shrink is a deletion filter (Chinneck, Dravnieks: Locating minimal infeasible constraint sets in linear programs,
// 1991). It leaves out blocks of elements, ever smaller ones down to single elements, as long as the rest is
// infeasible. An element that stays was needed with more elements than remain at the end. So it is needed at the end if
// it was asked about alone since. The result minimal is false if a question had no answer.
func shrink(ctx context.Context, n int, part func(keep []int) model.Instance, o Options) (keep []int, minimal bool, err error) {
	for k := range n {
		keep = append(keep, k)
	}
	limit := max(o.TimeLimit/50, 20*time.Millisecond)
	unsure := map[int]bool{}
	for block := max(1, (n+1)/2); ; block = (block + 1) / 2 {
		for from := 0; from < len(keep) && len(keep) > 1; {
			to := min(from+block, len(keep))
			rest := append(append([]int(nil), keep[:from]...), keep[to:]...)
			status := model.StatusUnknown
			if len(rest) > 0 && ctx.Err() == nil {
				r, err := gapwise.Solve(ctx, part(rest), gapwise.Options{Settings: model.Settings{TimeLimit: limit, Seed: o.Seed}})
				if err != nil && !errors.Is(err, model.ErrUnsupported) {
					return nil, false, err
				}
				status = r.Status
			}
			switch {
			case status == model.StatusInfeasible:
				keep = rest
				continue
			case block == 1 && status == model.StatusUnknown && len(rest) > 0:
				unsure[keep[from]] = true
			}
			from = to
		}
		if block == 1 {
			break
		}
	}
	minimal = true
	for _, k := range keep {
		minimal = minimal && !unsure[k]
	}
	return keep, minimal, nil
}
