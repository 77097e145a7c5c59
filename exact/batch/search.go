package batch

import (
	"context"
	"fmt"
	"time"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for Batch on one tier.
//
// It starts from the heuristics, moves jobs in their orders, and then branches on
// the order of the starts (tree). The result carries the best solution and the bound
// proved by then when ctx or the time limit ends. Of more than 64 jobs, and where
// weighted sums of responses may not fit (batchbounds.Units.Fit), it proves
// batchbounds.All alone. Threads aren't used.
//
// Instances with two tiers are refused.
type Search struct {
	off deviceSet // devices that are switched off
}

// Name returns "search".
func (Search) Name() string { return "search" }

// Solve implements model.Solver.
func (e Search) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(e.Name(), set.Seed)
	b, ok := in.(*model.Batch)
	if !ok {
		return r, fmt.Errorf("search: %w: it doesn't solve %s instances", model.ErrUnsupported, in.Kind())
	}
	j, err := newJobs(b)
	if err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	s := &run{ctx: ctx, jobs: j, set: set, began: time.Now(), off: e.off, r: &r}
	if err := s.solve(); err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	r.Elapsed = time.Since(s.began)
	return r, nil
}

// run is one run of Search.
type run struct {
	*jobs
	ctx   context.Context
	set   model.Settings
	began time.Time
	off   deviceSet
	r     *model.Result
	told  model.Told
}

// improveTries bounds the schedules that the local search makes.
const improveTries = 20_000

func (s *run) solve() error {
	best, err := start(s.ctx, s.in, s.set)
	if err != nil {
		return err
	}
	if best != nil {
		if err := s.r.SetSolution(s.in, best); err != nil {
			return err
		}
	}
	for _, b := range batchbounds.Quick(s.ctx, s.in) {
		s.bound(b.Value)
	}
	s.report(nil)
	n := len(s.release)
	exactly := s.set.GapLimit() <= model.DefaultGap // the search needs no tolerance
	if s.r.Status == model.StatusOptimal && (s.r.Gap == 0 || !exactly) {
		return nil
	}
	fit := s.units.Fit(s.t)
	if n > mostJobs || !fit {
		all, err := batchbounds.All(s.ctx, s.in)
		if err != nil {
			return err
		}
		for _, b := range all {
			s.bound(b.Value)
		}
		if s.r.Reason = exact.StopReason(s.ctx); s.r.Reason == "" {
			s.r.Reason = fmt.Sprintf("there are %d jobs, orders of up to %d are searched", n, mostJobs)
			if !fit {
				s.r.Reason = batchbounds.SumsDontFit
			}
		}
		return nil
	}
	t := newTree(s.ctx, s.jobs, s.off)
	// Sums that are better by less than half the gap limit aren't looked for.
	t.slack = func(best int64) int64 {
		if exactly {
			return 0
		}
		return int64(float64(best) * s.set.GapLimit() / 2)
	}
	t.report = func() { s.report(t) }
	if best != nil {
		t.know(s.sum(s.r.Objective), nil)
		if s.off&devLocal == 0 {
			order, err := s.orderOf(best)
			if err != nil {
				return err
			}
			starts, sum := s.improve(s.ctx, order, improveTries)
			t.know(sum, starts)
		}
	}
	t.search()
	if t.starts != nil {
		e, err := batchheur.Place(s.in, s.ticks(t.starts))
		if err != nil {
			return err
		}
		if err := s.r.SetSolution(s.in, e); err != nil {
			return err
		}
	}
	s.report(t)
	if s.r.Status != model.StatusOptimal {
		s.r.Reason = exact.StopReason(s.ctx)
	}
	return nil
}

// bound stores a bound of the mean. The weighted sum of responses is a whole number of
// units, so that the bound is rounded up to the mean of one.
func (s *run) bound(value float64) {
	if s.total(value)*float64(s.units.Time*s.units.Weight) < 1<<53 {
		value = s.mean(s.sum(value))
	}
	s.r.SetBound(model.SenseOf(s.in), value, s.set.GapLimit())
}

// report stores what a tree, if any, has found and proved, and tells it.
func (s *run) report(t *tree) {
	incumbent := s.r.Objective
	if t != nil {
		s.r.Nodes = t.nodes
		s.bound(s.mean(t.lower()))
		if t.best < 1<<62 {
			incumbent = min(incumbent, s.mean(t.best))
		}
	}
	if s.set.Progress != nil {
		p := model.Progress{Algorithm: "search", Incumbent: incumbent, Bound: s.r.Bound, Nodes: s.r.Nodes, Elapsed: time.Since(s.began)}
		if s.told.News(incumbent) {
			if p.Solution = s.r.Solution; incumbent != s.r.Objective && t.starts != nil {
				if e, err := batchheur.Place(s.in, s.ticks(t.starts)); err == nil {
					p.Solution = e
				}
			}
		}
		s.set.Progress(p)
	}
}
