// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// Complete makes an execution of the instance, in which each job runs through in the foreground, from one that may lack
// jobs, or have others. The placed jobs start in the order of their starts, each when it did or as soon after that as
// it fits. Then the others start, as they are submitted, as early as they fit. The error is model.ErrUnsupported for
// times that don't fit whole numbers, and model.ErrInvalid as in partial.Match. O(n log n) searches of a profile.
func Complete(in *model.Batch, start *model.Execution) (*model.Execution, model.Completion, error) {
	of, c, err := partial.Match(in.Jobs, func(x *model.BatchJob) string { return x.ID },
		start.Runs, func(x *model.Run[model.BatchPlace]) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	t := view.OfBatch(in)
	if err := t.Alike(); err != nil {
		return nil, c, fmt.Errorf("start: %w", err)
	}
	lengths, _, err := processors.Lengths(t)
	if err != nil {
		return nil, c, fmt.Errorf("start: %w", err)
	}
	wanted, order := make([]int64, len(in.Jobs)), make([]int, len(in.Jobs))
	for k := range in.Jobs {
		order[k], wanted[k] = k, t.Jobs[k].Submit
		if i := of[k]; i >= 0 && len(start.Runs[i].Segments) > 0 {
			if at := start.Runs[i].Segments[0].StartS * 1e6; at < 1<<53 {
				wanted[k] = max(wanted[k], int64(math.Round(at)))
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		free := func(k int) int { return -min(0, of[k]) } // 1: not placed
		return cmp.Or(cmp.Compare(free(a), free(b)), cmp.Compare(wanted[a], wanted[b]))
	})
	use := profile.Profile{Capacity: t.Processors}
	starts := make([]int64, len(in.Jobs))
	for _, k := range order {
		at, ok := use.First(t.Jobs[k].Processes, lengths[k], wanted[k], view.MostTime-lengths[k])
		if !ok {
			return nil, c, fmt.Errorf("start: %w: job %q fits nowhere before 8e+09 s", model.ErrInvalid, in.Jobs[k].ID)
		}
		starts[k] = at
		use.Add(at, at+lengths[k], t.Jobs[k].Processes)
	}
	e, err := processors.Place(in, t, starts)
	return e, c, err
}
