// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"iter"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// solved is a run that is of no plan, with its result.
type solved struct {
	Record runs.Record // sealed
	gapwise.Outcome
}

// SolveEach solves an instance in several ways (gapwise.Case.Each), and makes records of them.
func SolveEach(ctx context.Context, c *gapwise.Case, ways iter.Seq[gapwise.Options]) iter.Seq2[solved, error] {
	return func(yield func(solved, error) bool) {
		var track *runs.Tracker
		tracked := func(next func(gapwise.Options) bool) {
			for o := range ways {
				track = &runs.Tracker{Sense: model.SenseOf(c.Instance), Began: time.Now()}
				o.Progress = track.Progress
				if !next(o) {
					return
				}
			}
		}
		features := runs.FeatureValues(c.Instance)
		for x, err := range c.Each(ctx, tracked) {
			s := solved{Outcome: x}
			if err == nil && x.Declined == nil {
				a := Algorithm{Name: x.Result.Algorithm, Label: x.Result.Algorithm, TimeLimit: x.TimeLimit}
				s.Record, err = a.record(c.Instance, nil, features, x.Result)
				s.Record.Trajectory, s.Record.Sealed = track.Trajectory(x.Result), true
			}
			if !yield(s, err) {
				return
			}
		}
	}
}
