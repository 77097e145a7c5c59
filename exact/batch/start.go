// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/engine"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/model"
)

// start returns the best of Settings.Start and the heuristics' solutions, the
// strongest first; nil if there is none.
func start(r *engine.Run) (*model.Execution, error) {
	all := batchheur.Algorithms()
	slices.Reverse(all)
	return engine.First[*model.Execution](r, all)
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

// improve moves one job at a time to another position of the order while that
// makes the sum of responses of the serial schedule smaller, at most so many times
// for each pair of positions, until ctx ends.
func (j *jobs) improve(ctx context.Context, order []int, tries int) (starts []int64, sum int64) {
	starts, sum = j.serial(order)
	for improved := true; improved && tries > 0; {
		improved = false
		for from := range order {
			for to := range order {
				if to == from || tries <= 0 || turns.Stop(ctx, int64(len(order))/8+1) {
					continue
				}
				tries--
				other := slices.Clone(order)
				k := other[from]
				other = slices.Insert(slices.Delete(other, from, from+1), to, k)
				if s, x := j.serial(other); x < sum {
					order, starts, sum, improved = other, s, x, true
				}
			}
		}
	}
	return starts, sum
}
