// SPDX-License-Identifier: MIT

package explain

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// problem holds the explanations of a problem apart from its figures.
type problem struct {
	// words puts evidence in words that the judge has followed.
	words func(in model.Instance, f verify.Followed, bound float64, r *Reason)
	// holds explains why a solution isn't better.
	holds func(ctx context.Context, in model.Instance, s model.Solution) ([]Reason, error)
	// parts lists the jobs or requests of an instance, and makes one of some of them; nil
	// for problems that always have a solution.
	parts func(in model.Instance) (ids []string, part func(keep []int) model.Instance)
}

var problems = map[model.Kind]problem{
	model.KindBatch:         explained(batchWords, batchHolds, nil),
	model.KindConsolidation: explained(consolidationWords, consolidationHolds, consolidationParts),
	model.KindDAG:           explained(dagWords, dagHolds, nil),
	model.KindReservation: explained(reservationWords, reservationHolds,
		func(v *model.Reservation) (ids []string, part func(keep []int) model.Instance) {
			for k := range v.Requests {
				ids = append(ids, v.Requests[k].ID)
			}
			return ids, func(keep []int) model.Instance {
				some := *v
				some.Requests = picked(v.Requests, keep)
				return &some
			}
		}),
	model.KindTVC: explained(tvcWords, tvcHolds, nil),
	model.KindVCSched: explained(vcschedWords, vcschedHolds,
		func(v *model.VCSched) (ids []string, part func(keep []int) model.Instance) {
			for k := range v.Jobs {
				ids = append(ids, v.Jobs[k].ID)
			}
			return ids, func(keep []int) model.Instance {
				some := *v
				some.Jobs = picked(v.Jobs, keep)
				return &some
			}
		}),
}

// explained adapts the explanations for instances of type I and solutions of type S.
func explained[I model.Instance, S model.Solution](words func(I, *model.Evidence, float64, bool, *Reason), holds func(context.Context, I, S) ([]Reason, error),
	parts func(I) ([]string, func([]int) model.Instance)) problem {
	p := problem{
		words: func(in model.Instance, f verify.Followed, bound float64, r *Reason) {
			words(in.(I), f.Evidence, bound, f.Infeasible, r)
		},
		holds: func(ctx context.Context, in model.Instance, s model.Solution) ([]Reason, error) {
			if s, ok := s.(S); ok {
				return holds(ctx, in.(I), s)
			}
			return nil, fmt.Errorf("%w: a %s solution of a %s", model.ErrInvalid, s.Kind(), in.Kind())
		},
	}
	if parts != nil {
		p.parts = func(in model.Instance) ([]string, func([]int) model.Instance) { return parts(in.(I)) }
	}
	return p
}

// picked returns the elements of some numbers.
func picked[E any](all []E, keep []int) (some []E) {
	for _, k := range keep {
		some = append(some, all[k])
	}
	return some
}

// holds explains why a solution isn't better; it returns nothing for an unknown problem.
func holds(ctx context.Context, in model.Instance, s model.Solution) ([]Reason, error) {
	if p, ok := problems[in.Kind()]; ok {
		return p.holds(ctx, in, s)
	}
	return nil, nil
}
