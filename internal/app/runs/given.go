// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"context"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Given is a solution that is known, as a solver of its instance: it is judged, bounded and recorded as others are.
type Given struct {
	Label    string
	Solution model.Solution // nil: none was found
	Elapsed  time.Duration
	Reason   string // why there is no solution, if that is known
}

// Name implements model.Solver.
func (g Given) Name() string { return g.Label }

// Solve implements model.Solver.
func (g Given) Solve(_ context.Context, in model.Instance, s model.Settings) (model.Result, error) {
	r := model.NewResult(g.Label, s.Seed)
	if r.Elapsed = g.Elapsed; g.Solution == nil {
		r.Reason = cmp.Or(g.Reason, "it has no solution")
		return r, nil
	}
	err := r.SetSolution(in, g.Solution)
	return r, err
}
