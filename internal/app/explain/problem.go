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
	model.KindBatch: explained(func(_ *model.Batch, f verify.Followed, bound float64, r *Reason) { batchWords(f.Evidence, bound, r) },
		func(_ context.Context, b *model.Batch, s *model.Execution) ([]Reason, error) { return batchHolds(b, s) }, nil),
	model.KindConsolidation: explained(func(c *model.Consolidation, f verify.Followed, bound float64, r *Reason) {
		if !f.Infeasible {
			consolidationWords(c, f.Evidence, bound, r)
		}
	}, func(_ context.Context, c *model.Consolidation, s *model.Assignment) ([]Reason, error) {
		return consolidationHolds(c, s)
	}, consolidationParts),
	model.KindDAG: explained(func(d *model.DAG, f verify.Followed, bound float64, r *Reason) { dagWords(d, f.Evidence, bound, r) }, dagHolds, nil),
	model.KindReservation: explained(func(v *model.Reservation, f verify.Followed, bound float64, r *Reason) {
		reservationWords(v, f.Evidence, bound, f.Infeasible, r)
	}, func(_ context.Context, v *model.Reservation, s *model.Bookings) ([]Reason, error) {
		return reservationHolds(v, s)
	},
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
	model.KindTVC: explained(func(v *model.TVC, f verify.Followed, bound float64, r *Reason) { tvcWords(v, f.Evidence, bound, r) },
		func(_ context.Context, v *model.TVC, s *model.Embeddings) ([]Reason, error) { return tvcHolds(v, s) }, nil),
	model.KindVCSched: explained(func(v *model.VCSched, f verify.Followed, bound float64, r *Reason) {
		vcschedWords(v, f.Evidence, bound, f.Infeasible, r)
	}, func(_ context.Context, v *model.VCSched, s *model.Placement) ([]Reason, error) {
		return vcschedHolds(v, s)
	},
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
func explained[I model.Instance, S model.Solution](words func(I, verify.Followed, float64, *Reason), holds func(context.Context, I, S) ([]Reason, error),
	parts func(I) ([]string, func([]int) model.Instance)) problem {
	p := problem{
		words: func(in model.Instance, f verify.Followed, bound float64, r *Reason) { words(in.(I), f, bound, r) },
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
