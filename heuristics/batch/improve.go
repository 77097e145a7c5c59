// SPDX-License-Identifier: MIT

package batch

import (
	"errors"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/joborder"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// improve is a local search over orders of jobs, in windows (ours, package joborder; on nodes nodesSearch), from
// rollout's schedule or Settings.Start, whichever is better. It is offline, any-time and
// never worse than either. On two tiers it uses the foreground alone; if PEASY's execution
// is better, it returns that.
//
// It ends when joborder.Search is stale. In auto it goes on to the limit where no engine
// takes the instance. The result depends on the seed, and on time only if a limit stops it.
// A step, the placing of a job in a window, takes O(window).
func improve(r *run.Run, in *model.Batch) (*model.Execution, error) {
	ctx, set := r.Ctx, r.Set
	t := view.Shared(ctx, in, view.OfBatch)
	lengths, _, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	var starts []int64
	if e, ok := set.Start.(*model.Execution); ok && e != nil {
		if _, err := r.Improve(e); err != nil {
			return nil, err
		}
		if starts, err = processors.Starts(in, t, e); err != nil && !errors.Is(err, model.ErrUnsupported) {
			return nil, err
		}
	}
	var e *model.Execution
	better := false
	if !r.Beside() || starts == nil { // else list has had its turn
		if e, err = offlineList(r, in, listRules); err == nil {
			better, err = r.Improve(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if ctx.Err() == nil {
		r.TellBest() // the next schedule may take long
		other, rollErr := rolled(ctx, in, set.Seed)
		if err = rollErr; other != nil {
			var again bool
			if again, err = r.Improve(other); again {
				e, better = other, true
			}
		}
	}
	if err == nil && (better || starts == nil) {
		starts, err = processors.Starts(in, t, e)
	}
	if err != nil {
		return nil, err
	}
	if in.Tiers == 2 && !r.Beside() { // it has had its turn
		if e, err := PEASY(ctx, in, set); err == nil {
			if _, err := r.Improve(e); err != nil {
				return nil, err
			}
		}
	}
	r.TellBest()
	var s orderSearch
	var place func() (*model.Execution, error)
	if t.Nodes != nil {
		x := newNodesSearch(t, lengths, starts, set.Seed)
		s, place = x, func() (*model.Execution, error) { return x.course.Execution(in, t, lengths) }
	} else {
		x := joborder.New(ctx, t, lengths, starts, set.Seed)
		s, place = x, func() (*model.Execution, error) { return processors.Place(in, t, x.Starts()) }
	}
	patient := r.Beside() && r.Limited() && len(in.Jobs) > enginesTake
	for better := true; better || (patient || !s.Stale()) && ctx.Err() == nil; better = s.Improve(ctx, turn) {
		if !better {
			continue
		}
		e, err := place()
		if err != nil {
			return nil, err
		}
		if better, err = r.Improve(e); err != nil {
			return nil, err
		}
		if better {
			r.TellBest()
		}
	}
	best, _ := r.Solution.(*model.Execution)
	return best, nil
}

// enginesTake is how many jobs the exact engines take.
const enginesTake = 100

// turn is the effort after which a better schedule is reported.
const turn = 100_000
