// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// improve is a local search that sees the instance whole (ours, see ejection), from
// Settings.Start or the best of adaba's and bid-price's solutions. It is any-time and never
// worse than either.
//
// It ends when all requests that fit are accepted, or when nothing better was found for
// long; under a time limit it goes on to that, but in auto where the engines take the
// instance. The result depends on the seed, and on time only if a limit stops it.
func improve(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	if in.Queue {
		return nil, fmt.Errorf("%w: improve works in loss mode, the instance has a queue; take srpt", model.ErrUnsupported)
	}
	var best *model.Embeddings
	var value model.Objective
	take := func(s *model.Embeddings) (better bool, err error) {
		o, err := in.Objective(s)
		if better = err == nil && (best == nil || o.Better(value)); better {
			best, value = s, o
		}
		return better, err
	}
	if s, ok := set.Start.(*model.Embeddings); ok && s != nil {
		if _, err := take(s); err != nil {
			return nil, err
		}
	}
	inAuto := set.Others != nil
	if !inAuto || best == nil {
		for _, name := range []string{"adaba", "bid-price"} {
			s, err := solve(ctx, in, set, name)
			if err == nil {
				_, err = take(s)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	tell := func(work int64) {
		if set.Progress != nil {
			set.Progress(model.Progress{Algorithm: "improve", Incumbent: value.Value, Bound: math.NaN(),
				Nodes: work, Solution: best})
		}
	}
	tell(0)
	x := newEjection(view.OfTVC(in), set.Seed)
	if err := x.set(ctx, in, best); err != nil {
		return nil, err
	}
	_, limited := ctx.Deadline()
	patient := limited && (!inAuto || len(in.Requests) > enginesTake)
	for found := x.work; ctx.Err() == nil && x.turn() && (patient || x.work-found <= staleWork*int64(len(in.Requests))); {
		if inAuto {
			if s, ok := set.Others().Solution.(*model.Embeddings); ok && s != nil {
				better, err := take(s)
				if err == nil && better {
					err = x.set(ctx, in, s)
				}
				if err != nil {
					return nil, err
				}
			}
		}
		if !x.improve(ctx, tellWork) {
			continue
		}
		if better, err := take(x.solution(in)); err != nil {
			return nil, err
		} else if better {
			found = x.work
			tell(x.work)
		}
	}
	return best, nil
}

// enginesTake is how many requests the exact engines often take.
const enginesTake = 64

// tellWork is the work after which a better solution is told, a tenth of a second.
const tellWork = 10_000_000

// staleWork is the work for each request after which nothing more is expected.
const staleWork = 1_000_000
