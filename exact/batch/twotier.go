// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/exact/internal/tiers"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// twoTiers solves an instance of two tiers. It runs the heuristics and batchbounds.All and, for at most tiers.MostJobs
// jobs, looks for the best order of events (tiers.Search).
func twoTiers(r *engine.Run, in *model.Batch, off deviceSet) error {
	best, err := start(r)
	if err != nil {
		return err
	}
	if best != nil {
		if err := r.SetSolution(in, best); err != nil {
			return err
		}
	}
	batchbounds.Each(r.Ctx, in, func(b bounds.Bound) {
		r.Raise(b.Value)
		r.TellBest()
	})
	if r.Closed() || len(in.Jobs) == 0 || best == nil {
		return nil
	}
	if n := len(in.Jobs); n > tiers.MostJobs {
		if r.Reason = meter.StopReason(r.Ctx); r.Reason == "" {
			r.Reason = fmt.Sprintf("exact search on two tiers is for at most %d jobs, here are %d", tiers.MostJobs, n)
		}
		return nil
	}
	s := tiers.New(r.Ctx, in, r.Objective)
	s.AllOrders, s.Unordered, s.Unsquashed = off&devActive != 0, off&devOrder != 0, off&devBusy != 0
	s.Unpaid, s.Undecided, s.Unbarred = off&devPaid != 0, off&devLast != 0, off&devBarred != 0
	s.Gap = min(r.Set.GapLimit(), 1) / 2
	s.Found = func(e *model.Execution) (float64, error) {
		_, err := r.Improve(e)
		return r.Objective, err
	}
	s.Told = func(bound float64) {
		r.Nodes = s.Programs
		r.Raise(bound)
		r.TellBest()
	}
	bound, err := s.Run()
	if err != nil {
		return err
	}
	r.Nodes = s.Programs
	r.Raise(bound)
	switch {
	case r.Closed() || r.Ctx.Err() != nil:
	case s.Full:
		r.Reason = "too many beginnings of schedules are as good as the bound"
	default:
		r.Reason = "nothing better is left but for times rounded to microseconds, and jobs that migrate again before they arrive"
	}
	return nil
}
