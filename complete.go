// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// CompleteSolution reads a solution as another program writes it. It fills in parts that may be left out because they
// follow from the rest (see model.DecodePartial):
//
//   - without start times a dag's plan is played under the instance's transfer model:
//     each task starts as soon as its machine and its data are there, each transfer
//     as soon as its producer has finished;
//   - without CPU shares a placement gives each job the largest minimum yield of its hosts, and the remainder raises
//     the average;
//   - without PEs or processors the lowest that are free are taken in the order of
//     starts.
//
// The result need not be feasible: the judge says what is wrong. A job that finds too few free PEs or processors
// shares those of others, and a task that waits in a circle never starts, so it starts at +Inf.
func CompleteSolution(ctx context.Context, in model.Instance, data []byte) (model.Solution, error) {
	p, err := problemFor(in)
	if err != nil {
		return nil, err
	}
	s, missing, err := model.DecodePartial(in, data)
	if err != nil {
		return nil, err
	}
	return p.complete(ctx, in, s, missing)
}
