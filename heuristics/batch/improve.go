// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"errors"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/joborder"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// improve is a local search over orders of jobs, in windows (ours, package joborder), from
// rollout's schedule or Settings.Start, whichever is better. It is offline, any-time and
// never worse than either. On two tiers it uses the foreground alone; if PEASY's execution
// is better, it returns that.
//
// It ends when joborder.Search is stale. In auto it goes on to the limit where no engine
// takes the instance. The result depends on the seed, and on time only if a limit stops it.
// A step, the placing of a job in a window, takes O(window).
func improve(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	t := view.OfBatch(in)
	lengths, _, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	var best *model.Execution
	var value model.Objective
	take := func(e *model.Execution) (better bool, err error) {
		o, err := in.Objective(e)
		if better = err == nil && (best == nil || o.Better(value)); better {
			best, value = e, o
		}
		return better, err
	}
	var starts []int64
	if e, ok := set.Start.(*model.Execution); ok && e != nil {
		if _, err := take(e); err != nil {
			return nil, err
		}
		if starts, err = processors.Starts(in, e); err != nil && !errors.Is(err, model.ErrUnsupported) {
			return nil, err
		}
	}
	var e *model.Execution
	better, inAuto := false, set.Others != nil
	if !inAuto || starts == nil { // else list has had its turn
		if e, err = offlineList(ctx, in, set, "improve", listRules); err == nil {
			better, err = take(e)
		}
		if err != nil {
			return nil, err
		}
	}
	tell := func(placed int64) {
		if set.Progress != nil {
			set.Progress(model.Progress{Algorithm: "improve", Incumbent: value.Value, Bound: math.NaN(), Nodes: placed, Solution: best})
		}
	}
	if ctx.Err() == nil {
		tell(0) // what follows may take long
		other, rollErr := rolled(ctx, in, set.Seed)
		if err = rollErr; other != nil {
			var again bool
			if again, err = take(other); again {
				e, better = other, true
			}
		}
	}
	if err == nil && (better || starts == nil) {
		starts, err = processors.Starts(in, e)
	}
	if err != nil {
		return nil, err
	}
	if in.Tiers == 2 && !inAuto { // it has had its turn
		if e, err := PEASY(ctx, in, set); err == nil {
			if _, err := take(e); err != nil {
				return nil, err
			}
		}
	}
	tell(0)
	s := joborder.New(ctx, t, lengths, starts, set.Seed)
	_, limited := ctx.Deadline()
	patient := inAuto && limited && len(in.Jobs) > enginesTake
	for better := true; better || (patient || !s.Stale()) && ctx.Err() == nil; better = s.Improve(ctx, turn) {
		if !better {
			continue
		}
		e, err := processors.Place(in, s.Starts())
		if err != nil {
			return nil, err
		}
		if better, err = take(e); err != nil {
			return nil, err
		}
		if better {
			tell(s.Placed)
		}
	}
	return best, nil
}

// enginesTake is how many jobs the exact engines take.
const enginesTake = 100

// turn is the effort after which a better schedule is reported.
const turn = 100_000
