// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// improve is a local search that sees the instance whole (ours), from the best of some
// schedules and policies or, in loss mode, Settings.Start. It is any-time and never worse than either.
//
// The search is ejection in loss mode, from the best of adaba, program-servers, program-reserved and bid-price. It ends
// when all requests that fit are accepted. The search is reorder in queue mode, from repack and srpt by several orders
// and embedders. It ends when no response is longer than the work.
//
// It also ends when nothing better was found for long, if there is no time limit. The result depends on the seed,
// and on time only if a limit stops it.
func improve(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	x := &improving{in: in, set: set}
	if s, ok := set.Start.(*model.Embeddings); ok && s != nil && !in.Queue { // see Complete
		if _, err := x.take(s); err != nil {
			return nil, err
		}
	}
	_, limited := ctx.Deadline()
	x.patient = limited && len(in.Requests) > enginesTake
	var err error
	if in.Queue {
		err = x.queue(ctx)
	} else {
		err = x.loss(ctx)
	}
	return x.best, err
}

// improving is a run of improve.
type improving struct {
	in      *model.TVC
	set     model.Settings
	patient bool // there is a time limit, and more requests than engines take
	best    *model.Embeddings
	value   model.Objective
}

// take takes a solution if it is better than the best.
func (x *improving) take(s *model.Embeddings) (better bool, err error) {
	o, err := x.in.Objective(s)
	if better = err == nil && (x.best == nil || o.Better(x.value)); better {
		x.best, x.value = s, o
	}
	return better, err
}

func (x *improving) tell(nodes int64) {
	if x.set.Progress != nil {
		x.set.Progress(model.Progress{Algorithm: "improve", Incumbent: x.value.Value, Bound: math.NaN(),
			Nodes: nodes, Solution: x.best})
	}
}

// loss improves a solution of loss mode.
func (x *improving) loss(ctx context.Context) error {
	inAuto := x.set.Others != nil
	if !inAuto || x.best == nil {
		for _, name := range []string{"adaba", "program-servers", "program-reserved", "bid-price"} {
			if x.best != nil && ctx.Err() != nil {
				break
			}
			s, err := solve(ctx, x.in, x.set, name)
			if err == nil {
				_, err = x.take(s)
			}
			if err != nil {
				return err
			}
		}
	}
	x.tell(0)
	e := newEjection(view.OfTVC(x.in), x.set.Seed)
	if err := e.set(ctx, x.in, x.best); err != nil {
		return err
	}
	n := len(x.in.Requests)
	for found := e.work; ctx.Err() == nil && e.turn() && (x.patient || e.work-found <= staleWork*int64(n)); {
		if inAuto {
			if s, ok := x.set.Others().Solution.(*model.Embeddings); ok && s != nil {
				better, err := x.take(s)
				if err == nil && better {
					err = e.set(ctx, x.in, s)
				}
				if err != nil {
					return err
				}
			}
		}
		if !e.improve(ctx, tellWork) {
			continue
		}
		better, err := x.take(e.solution(x.in))
		if err != nil {
			return err
		}
		if better {
			found = e.work
			x.tell(e.work)
		}
	}
	return nil
}

// queue improves a schedule of queue mode.
func (x *improving) queue(ctx context.Context) error {
	r := newReorder(x.in, x.set.Seed)
	work, n := 0.0, 0.0 // no mean response is shorter than the mean work
	for k := range r.Requests {
		if q := &r.Requests[k]; q.Fits {
			work += r.Seconds(q.Duration)
			n++
		}
	}
	done := func() bool { return x.best != nil && x.value.Value*n <= work*(1+1e-12) }
	best, leading := math.Inf(1), 0
	pairs := len(reorderings) * len(r.rules)
	for i := range pairs {
		if done() || i > 0 && ctx.Err() != nil {
			break
		}
		r.start(i)
		value, err := x.schedule(ctx, r, int64(i))
		if err != nil {
			return err
		}
		if value < best {
			best, leading = value, i
		}
	}
	r.start(leading)
	stale := 0
	for i := pairs; !done() && ctx.Err() == nil && (x.patient || stale < staleSchedules); i++ {
		undo := r.move()
		value, err := x.schedule(ctx, r, int64(i))
		if err != nil {
			return err
		}
		stale++
		if value < best {
			stale = 0
		}
		if value <= best {
			best = value
		} else {
			undo()
		}
	}
	return nil
}

// schedule takes the schedule of r and returns its mean response.
func (x *improving) schedule(ctx context.Context, r *reorder, nodes int64) (float64, error) {
	s, err := r.schedule(ctx)
	if err != nil {
		return 0, err
	}
	o, err := x.in.Objective(s)
	if err != nil {
		return 0, err
	}
	better, err := x.take(s)
	if better {
		x.tell(nodes)
	}
	return o.Value, err
}

// tellWork is the work after which a better solution is reported, a tenth of a second.
const tellWork = 10_000_000

// staleWork is the work for each request after which nothing more is expected.
const staleWork = 200_000

// staleSchedules is the number of schedules after which nothing more is expected.
const staleSchedules = 50

// enginesTake is how many requests the exact engines often take. If there are more, and under a time limit, the search
// goes on to that limit.
const enginesTake = 64
