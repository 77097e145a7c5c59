// SPDX-License-Identifier: MIT

package ask

import (
	"context"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// StartOf reads a solution to start from. As gapwise.CompleteSolution allows it may leave out what follows from the
// rest; as gapwise.CompleteStart allows it may place only some of the instance's jobs, tasks or requests. Nothing
// follows from the latter, but their hosts, machines and starts are all that a start needs. Errors are those of
// CompleteSolution.
func StartOf(ctx context.Context, in model.Instance, data []byte) (model.Solution, error) {
	s, err := gapwise.CompleteSolution(ctx, in, data)
	if err != nil {
		if some, _, unread := model.DecodePartial(in, data); unread == nil {
			return some, nil
		}
	}
	return s, err
}
