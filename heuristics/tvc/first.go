package tvc

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// First returns a solution in little time: by AdaBa, in queue mode under FCFS.
func First(ctx context.Context, in *model.TVC, _ model.Settings) (*model.Embeddings, error) {
	if !in.Queue {
		return decide(ctx, in, in.Ticks(), NewAdaBa(), nil)
	}
	for k := range queueSchedulers {
		if s := &queueSchedulers[k]; s.name == "fcfs" {
			e, _, err := s.serve(ctx, in, NewAdaBa())
			return e, err
		}
	}
	return nil, model.ErrNoSolution
}
