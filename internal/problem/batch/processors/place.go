// SPDX-License-Identifier: MIT

// Package processors gives jobs that run through on one tier their times and processors.
package processors

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// Place returns the execution on one tier, or in the foreground of two, in which
// each job starts at the given tick and runs to its end. At no instant may more
// processors be needed than there are. The error wraps model.ErrUnsupported for
// times that don't fit whole numbers.
func Place(in *model.Batch, t *view.Batch, starts []int64) (*model.Execution, error) {
	lengths, _, err := Lengths(t)
	if err != nil {
		return nil, err
	}
	n, ends := len(starts), make([]int64, len(starts))
	for k := range starts {
		ends[k] = starts[k] + lengths[k]
	}
	course := &Course{Starts: starts, Started: order.By(order.Of[int32](n), starts),
		Ended: order.By(order.Of[int32](n), ends)}
	return course.Execution(in, t, lengths)
}

// Starts returns the ticks at which the jobs start, by job, of an execution that Place could have made. The error is
// model.ErrUnsupported if a job doesn't run through on one tier, and model.ErrInvalid if Index refuses the execution.
func Starts(in *model.Batch, t *view.Batch, e *model.Execution) ([]int64, error) {
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	starts := make([]int64, len(index))
	for i, k := range index {
		s := &e.Runs[i].Segments[0]
		starts[k] = int64(math.Round(s.StartS * 1e6))
		if len(e.Runs[i].Segments) > 1 || s.Place.Tier != model.TierForeground || t.Seconds(starts[k]+AtRate(t.Jobs[k].Length, t.Jobs[k].Foreground)) != s.EndS {
			return nil, fmt.Errorf("%w: job %q doesn't run through in the foreground", model.ErrUnsupported, in.Jobs[k].ID)
		}
	}
	return starts, nil
}
