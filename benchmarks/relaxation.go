// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"fmt"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// relaxation, in plans only, solves the linear relaxation of the VCSched paper's model in
// closed form (section 3.1). It finds no solution; its bound is the relaxation's minimum
// yield.
type relaxation struct{}

func (relaxation) Name() string { return runs.Relaxation }

func (relaxation) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(runs.Relaxation, set.Seed)
	v, ok := in.(*model.VCSched)
	if !ok {
		return r, fmt.Errorf("%w: the algorithm %s is for vcsched, the instance is of %s", model.ErrUnsupported, runs.Relaxation, in.Kind())
	}
	b := vcbounds.ClosedForm(v)
	if b.Infeasible {
		r.Status, r.Reason = model.StatusInfeasible, b.Reason
		return r, nil
	}
	r.SetBound(in.Metrics()[0], b.Value, set.GapLimit())
	return r, nil
}
