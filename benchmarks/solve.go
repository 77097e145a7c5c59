package benchmarks

import (
	"context"
	"fmt"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// Solve solves an instance that is of no plan, and returns its record, sealed, with
// the result that the record is of. The options' Progress is called, too.
func Solve(ctx context.Context, c *gapwise.Case, o gapwise.Options) (Record, model.Result, error) {
	track := &tracker{sense: model.SenseOf(c.Instance), began: time.Now()}
	also := o.Progress
	o.Progress = func(p model.Progress) {
		track.progress(p)
		if also != nil {
			also(p)
		}
	}
	res, err := c.Solve(ctx, o)
	if err != nil {
		return Record{}, res, err
	}
	a := Algorithm{Name: res.Algorithm, Label: res.Algorithm, TimeLimit: o.TimeLimit}
	rec, err := newRecord("", &instances.Planned{Name: c.Instance.ID()}, c.Instance, model.Features(c.Instance), &a, res)
	rec.Trajectory, rec.Sealed = track.trajectory(res), true
	return rec, res, err
}

// Stated returns the record of a result that a file states: it isn't sealed. Line is
// where the result stands in the file.
func Stated(r model.Result, file string, line int) (Record, error) {
	rec := Record{Instance: r.Instance, Hash: r.InstanceHash, Kind: r.Kind, Algorithm: r.Algorithm, Seed: r.Seed, Status: r.Status,
		Objective: optional(r.Objective), Second: optional(r.SecondObjective), Bound: optional(r.Bound), Gap: optional(r.Gap),
		ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes, Reason: r.Reason, Version: r.Version, File: file, Line: line}
	if r.Kind.New() == nil || r.Algorithm == "" || r.InstanceHash == "" {
		return rec, fmt.Errorf("%w result: %s: kind, algorithm or instance_hash is missing", model.ErrInvalid, rec.at())
	}
	return rec, nil
}
