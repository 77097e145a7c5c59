package tvc

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// start returns the best of Settings.Start and the heuristics' solutions, nil if
// there is none.
func start(_ context.Context, v *model.TVC, set model.Settings) (*model.Embeddings, error) {
	if s, ok := set.Start.(*model.Embeddings); ok && s != nil {
		return s, nil
	}
	if v.Queue {
		return nil, nil
	}
	return &model.Embeddings{}, nil
}
