// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// Solved is a run that is of no plan, with its result. It has no record if it was declined (see gapwise.Case.Try).
type Solved struct {
	Record   runs.Record // sealed
	Result   model.Result
	Declined error
}

// Solve solves an instance with the given features, and makes a record of it.
func Solve(ctx context.Context, c *gapwise.Case, features map[string]float64, o gapwise.Options) (s Solved, err error) {
	track := &runs.Tracker{Sense: model.SenseOf(c.Instance), Began: time.Now()}
	o.Progress = track.Progress
	if s.Result, s.Declined, err = c.Try(ctx, o); err != nil || s.Declined != nil {
		return s, err
	}
	a := Algorithm{Name: s.Result.Algorithm, Label: s.Result.Algorithm, TimeLimit: o.TimeLimit}
	s.Record, err = a.record(c.Instance, nil, features, s.Result)
	s.Record.Trajectory, s.Record.Sealed = track.Trajectory(s.Result), true
	return s, err
}
