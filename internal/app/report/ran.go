// SPDX-License-Identifier: MIT

package report

import (
	"context"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// judged returns the run of a known schedule.
func (s Solving) judged(ctx context.Context, c *gapwise.Case, features map[string]float64, g runs.Given) (Run, error) {
	x, err := benchmarks.Solve(ctx, c, features, gapwise.Options{Solver: g, Settings: model.Settings{Seed: s.Seed}})
	if err == nil {
		err = x.Declined
	}
	return Run{Record: x.Record, Instance: c.Instance, Solution: x.Result.Solution}, err
}

// ran returns the run of the log's own scheduler, nil if the log doesn't tell it.
func (s Solving) ran(ctx context.Context, c *gapwise.Case, log *Log) (*Run, error) {
	if log == nil || log.Ran == nil {
		return nil, nil
	}
	r, err := s.judged(ctx, c, runs.FeatureValues(c.Instance), runs.Given{Label: gapwise.LogAlgorithm, Solution: log.Ran})
	return &r, err
}
