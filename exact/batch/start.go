// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"errors"
	"slices"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/joborder"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// start returns the best of Settings.Start and the heuristics' solutions, the
// strongest first; nil if there is none. The engines' own local search goes on from there.
func start(r *engine.Run) (*model.Execution, error) {
	all := slices.DeleteFunc(batchheur.Algorithms(), func(a model.Algorithm) bool { return a.Name == "improve" })
	slices.Reverse(all)
	first, err := r.First(all)
	best, _ := first.(*model.Execution)
	return best, err
}

// orderOf returns the jobs by the starts of their last runs from the beginning.
func (j *jobs) orderOf(e *model.Execution) ([]int, error) {
	index, err := j.in.Index(e)
	if err != nil {
		return nil, err
	}
	at := make([]float64, len(index))
	order := make([]int, len(index))
	for i, k := range index {
		order[i] = k
		for s := range e.Runs[i].Segments {
			if x := &e.Runs[i].Segments[s]; s == 0 || e.Runs[i].Segments[s-1].Lost {
				at[k] = x.StartS
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(at[a], at[b]), cmp.Compare(a, b)) })
	return order, nil
}

// localSearch returns a search over orders of the jobs from a solution.
func (j *jobs) localSearch(ctx context.Context, best *model.Execution, seed uint64) (*joborder.Search, error) {
	starts, err := processors.Starts(j.in, j.t, best)
	if errors.Is(err, model.ErrUnsupported) { // other than the schedules that Place makes
		var order []int
		if order, err = j.orderOf(best); err == nil {
			starts = batchbounds.Serial(j.t, order)
		}
	}
	if err != nil {
		return nil, err
	}
	return j.searchFrom(ctx, starts, seed), nil
}

// searchFrom is localSearch from starts in ticks.
func (j *jobs) searchFrom(ctx context.Context, starts []int64, seed uint64) *joborder.Search {
	lengths := make([]int64, len(starts))
	for k := range lengths {
		lengths[k] = j.t.Jobs[k].Length
	}
	return joborder.New(ctx, j.t, lengths, starts, seed)
}

// improved returns the result of a local search from a solution: the starts, and the weighted sum of responses in
// units. Its effort is 100 times the square of the jobs, a tenth of a second for 100.
func (j *jobs) improved(ctx context.Context, best *model.Execution, seed uint64) (starts []int64, sum int64, err error) {
	l, err := j.localSearch(ctx, best, seed)
	if err != nil {
		return nil, 0, err
	}
	n := len(j.release)
	l.Improve(ctx, 100*int64(n)*int64(n))
	starts, sum = j.serial(order.By(order.Of[int](n), l.Starts())) // whole units even if the start wasn't
	return starts, sum, nil
}
