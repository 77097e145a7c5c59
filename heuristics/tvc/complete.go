package tvc

import "github.com/gapwise/gapwise/model"

// Complete makes embeddings of the instance from some that may have requests that it
// doesn't: those are left out. Requests that aren't embedded are rejected, as a
// solution may. The error wraps model.ErrInvalid, see model.Match.
func Complete(in *model.TVC, start *model.Embeddings) (*model.Embeddings, model.Completion, error) {
	ids, placed := make([]string, len(in.Requests)), make([]string, len(start.Runs))
	for k := range ids {
		ids[k] = in.Requests[k].ID
	}
	for i := range placed {
		placed[i] = start.Runs[i].ID
	}
	of, c, err := model.Match(ids, placed)
	if err != nil {
		return nil, c, err
	}
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	for _, i := range of {
		if i >= 0 {
			e.Runs = append(e.Runs, start.Runs[i])
		}
	}
	return e, c, nil
}
