package tvc

import (
	"context"
	"errors"

	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/model"
)

// start returns the best of Settings.Start and the heuristics' solutions, nil if
// there is none. Heuristics that don't take the instance's mode are left out.
func start(ctx context.Context, v *model.TVC, set model.Settings) (*model.Embeddings, error) {
	best, _ := set.Start.(*model.Embeddings)
	var value model.Objective
	if best != nil {
		var err error
		if value, err = v.Objective(best); err != nil {
			return nil, err
		}
	}
	own := model.Settings{Seed: set.Seed, Parameters: set.Parameters}
	for _, a := range tvcheur.Algorithms() {
		if ctx.Err() != nil && best != nil {
			break
		}
		r, err := a.Solver.Solve(ctx, v, own)
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, ok := r.Solution.(*model.Embeddings)
		if !ok || s == nil {
			continue
		}
		o, err := v.Objective(s)
		if err != nil {
			return nil, err
		}
		if best == nil || o.Better(value) {
			best, value = s, o
		}
	}
	return best, nil
}
