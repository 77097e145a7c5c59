package benchmarks

import (
	"context"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/model"
)

// Solve solves an instance that is of no plan, and returns its record, sealed, with
// the result that the record is of. The options' Progress is called, too.
func Solve(ctx context.Context, c *gapwise.Case, o gapwise.Options) (runs.Record, model.Result, error) {
	track := &runs.Tracker{Sense: model.SenseOf(c.Instance), Began: time.Now()}
	also := o.Progress
	o.Progress = func(p model.Progress) {
		track.Progress(p)
		if also != nil {
			also(p)
		}
	}
	res, err := c.Solve(ctx, o)
	if err != nil {
		return runs.Record{}, res, err
	}
	a := Algorithm{Name: res.Algorithm, Label: res.Algorithm, TimeLimit: o.TimeLimit}
	rec, err := a.record(c.Instance, nil, model.Features(c.Instance), res)
	rec.Trajectory, rec.Sealed = track.Trajectory(res), true
	return rec, res, err
}
