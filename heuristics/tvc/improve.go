// SPDX-License-Identifier: MIT

package tvc

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// improve is a local search that sees the whole instance (ours), from the best of some
// schedules and policies or, in loss mode, Settings.Start. It is any-time and never worse than either.
//
// The search is ejection in loss mode, from the best of adaba, program-servers, program-reserved and bid-price. It ends
// when all requests that fit are accepted. The search is reorder in queue mode, from repack and srpt by several orders
// and embedders. It ends when no response is longer than the work.
//
// It also ends when nothing better was found for long, if there is no time limit. The result depends on the seed,
// and on time only if a limit stops it.
func improve(r *run.Run, in *model.TVC) (*model.Embeddings, error) {
	x := &improving{Run: r, in: in}
	if s, ok := r.Set.Start.(*model.Embeddings); ok && s != nil && !in.Queue { // see Complete
		if _, err := x.Improve(s); err != nil {
			return nil, err
		}
	}
	x.patient = r.Limited() && len(in.Requests) > enginesTake
	var err error
	if in.Queue {
		err = x.queue()
	} else {
		err = x.loss()
	}
	best, _ := x.Solution.(*model.Embeddings)
	return best, err
}

// improving is a run of improve.
type improving struct {
	*run.Run
	in      *model.TVC
	patient bool // there is a time limit, and more requests than engines take
}

// loss improves a solution of loss mode.
func (x *improving) loss() error {
	ctx := x.Ctx
	if !x.Beside() || x.Solution == nil {
		for _, name := range []string{"adaba", "program-servers", "program-reserved", "bid-price"} {
			if x.Solution != nil && ctx.Err() != nil {
				break
			}
			s, err := solve(ctx, x.in, x.Set, name)
			if err == nil {
				_, err = x.Improve(s)
			}
			if err != nil {
				return err
			}
		}
	}
	x.TellBest()
	e := newEjection(view.Shared(ctx, x.in, view.OfTVC), x.Set.Seed)
	best, _ := x.Solution.(*model.Embeddings)
	if err := e.set(ctx, x.in, best); err != nil {
		return err
	}
	n := len(x.in.Requests)
	for found := e.work; ctx.Err() == nil && e.turn() && (x.patient || e.work-found <= staleWork*int64(n)); {
		if news, _ := x.News(math.NaN()); news != nil {
			better, err := x.Improve(news)
			if err == nil && better {
				err = e.set(ctx, x.in, news.(*model.Embeddings))
			}
			if err != nil {
				return err
			}
		}
		if !e.improve(ctx, tellWork) {
			continue
		}
		better, err := x.Improve(e.solution(x.in))
		if err != nil {
			return err
		}
		if better {
			found = e.work
			x.TellBest()
		}
	}
	return nil
}

// queue improves a schedule of queue mode.
func (x *improving) queue() error {
	ctx := x.Ctx
	r := newReorder(ctx, x.in, x.Set.Seed)
	work, n := 0.0, 0.0 // no mean response is shorter than the mean work
	for k := range r.Requests {
		if q := &r.Requests[k]; q.Fits {
			work += r.Seconds(q.Duration)
			n++
		}
	}
	done := func() bool { return x.Solution != nil && x.Objective*n <= work*(1+1e-12) }
	best, leading := math.Inf(1), 0
	pairs := len(reorderings) * len(r.rules)
	for i := range pairs {
		if done() || i > 0 && ctx.Err() != nil {
			break
		}
		r.start(i)
		value, err := x.schedule(r)
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
		value, err := x.schedule(r)
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
func (x *improving) schedule(r *reorder) (float64, error) {
	s, err := r.schedule(x.Ctx)
	if err != nil {
		return 0, err
	}
	o, err := x.in.Objective(s)
	if err != nil {
		return 0, err
	}
	better, err := x.Improve(s)
	if better {
		x.TellBest()
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
