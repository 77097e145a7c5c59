// SPDX-License-Identifier: MIT

package report

import (
	"context"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// given is a schedule that is known, as a solver of its instance: the judge looks at it as at any other.
type given struct {
	name     string
	schedule *model.Execution
}

// Name implements model.Solver.
func (g given) Name() string { return g.name }

// Solve implements model.Solver.
func (g given) Solve(_ context.Context, in model.Instance, s model.Settings) (model.Result, error) {
	r := model.NewResult(g.name, s.Seed)
	err := r.SetSolution(in, g.schedule)
	return r, err
}

// judged returns the run of a known schedule.
func (s Solving) judged(ctx context.Context, c *gapwise.Case, features map[string]float64, g given) (Run, error) {
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
	r, err := s.judged(ctx, c, runs.FeatureValues(c.Instance), given{gapwise.LogAlgorithm, log.Ran})
	return &r, err
}
