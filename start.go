// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/num/null"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// CompleteStart returns the solution from which a solver starts, given one that may be partial. A partial one places
// only some of the instance's jobs, tasks or requests, or some that the instance no longer has. Placed parts stay where
// they are if the instance allows it, new parts are placed greedily, and parts that the instance doesn't have are
// ignored. A whole solution is returned as it is. Solve does this with Settings.Start.
//
// The result need not be feasible: it is a hint. The error wraps model.ErrInvalid if the start has nothing of the
// instance, or something twice, or belongs to another problem.
func CompleteStart(ctx context.Context, in model.Instance, start model.Solution) (model.Solution, model.Completion, error) {
	p, err := problemFor(in)
	if err != nil {
		return nil, model.Completion{}, err
	}
	if err := in.Validate(); err != nil {
		return nil, model.Completion{}, err
	}
	if null.Is(start) {
		return nil, model.Completion{}, fmt.Errorf("start: %w: it is nil", model.ErrInvalid)
	}
	return p.CompleteStart(ctx, in, start)
}

// startOf adapts a problem's function to solutions of any kind.
func startOf[I model.Instance, S model.Solution](complete func(I, S) (S, model.Completion, error)) func(context.Context, I, model.Solution) (model.Solution, model.Completion, error) {
	return func(ctx context.Context, in I, start model.Solution) (model.Solution, model.Completion, error) {
		typed, ok := start.(S)
		if !ok {
			return nil, model.Completion{}, fmt.Errorf("start: %w: it is a solution of %s, the instance is of %s", model.ErrInvalid, start.Kind(), in.Kind())
		}
		s, c, err := complete(in, typed)
		if _, wrong := in.Objective(start); wrong == nil && (err != nil || c == (model.Completion{})) { // it is whole
			report, judged := verify.Verify(ctx, in, start, verify.Options{Valid: true})
			if judged == nil && report.Feasible() {
				return start, model.Completion{}, nil
			}
		}
		if err != nil {
			return nil, c, err
		}
		return s, c, nil
	}
}
