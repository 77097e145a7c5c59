// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// attempt is one call of Case.Solve.
type attempt struct {
	*Case
	ctx      context.Context // the caller's, without the time limit
	set      model.Settings
	stated   []bounds.Bound
	proves   bool // an algorithm is an engine, or auto
	patience time.Duration
	ends     time.Time // of the time limit; zero without one
	judging  func()
	judge    *verify.Judge
	first    model.Result // of the cheapest heuristic; zero: it wasn't run or found nothing
	quick    []bounds.Bound
	own      float64 // the bound of the solver that has ended, before others joined it
}

// cheapest runs the problem's cheapest heuristic if all algorithms are engines, and computes the quick bounds that they
// begin with. The heuristic has a tenth of the limit or a second (half of a shorter limit). The limits of the solvers
// shrink by the time and effort used. Before auto alone the heuristic has the whole limit, and a microsecond more for
// each item of the instance, at most as much again: stopped half way it would be of no use there.
func (t *attempt) cheapest(algorithms []model.Algorithm) error {
	p, err := ProblemOf(t.Instance.Kind())
	if err != nil || p.First == nil {
		return err
	}
	if slices.ContainsFunc(algorithms, func(a model.Algorithm) bool { return !a.Exact }) {
		return nil
	}
	_, alone := algorithms[0].Solver.(auto)
	started, set := time.Now(), t.set
	set.Start, set.Proof, set.Progress = nil, nil, nil
	if limit := set.TimeLimit; limit == 0 && t.set.Effort == 0 {
		set.TimeLimit = time.Second
	} else if alone {
		set.TimeLimit += min(limit, time.Duration(p.size(t.Instance))*time.Microsecond)
	} else {
		set.TimeLimit = max(limit/10, min(limit/2, time.Second))
	}
	first := &limited{Solver: p.First}
	solve := p.First.Solve
	if limit := set.Effort; limit > 0 {
		if solve = first.Solve; !alone {
			set.Effort = max(limit/10, min(limit/2, time.Second.Microseconds()))
		}
	}
	r, err := solve(t.ctx, t.Instance, set)
	if t.set.Effort > 0 {
		t.set.Effort = max(1, t.set.Effort-first.spent)
	}
	if err != nil || r.Solution == nil {
		return err
	}
	if t.first = r; t.set.Progress != nil {
		t.set.Progress(model.Progress{Algorithm: r.Algorithm, Incumbent: r.Objective, Bound: math.NaN(), Elapsed: r.Elapsed, Solution: r.Solution})
	}
	if !alone { // auto computes them itself
		t.quickBounds()
	}
	if t.set.TimeLimit > 0 {
		t.set.TimeLimit = max(1, t.set.TimeLimit-time.Since(started))
	}
	return nil
}

// bounded runs one solver, and has the quick bounds computed if its result lacks bounds.
func (t *attempt) bounded(s model.Solver) (r model.Result, err error) {
	t.keepQuick(t.ctx)
	if r, err = t.solve(s); err == nil && lacksBounds(r) {
		t.quickBounds()
	}
	return r, err
}

// lacksBounds reports whether the quick bounds may better a solver's result: a heuristic
// proves nothing by itself, nor may an engine that was stopped before it had bounds of its own.
func lacksBounds(r model.Result) bool {
	return r.Status == model.StatusFeasible || r.Status == model.StatusUnknown
}

// solve runs one solver. If it hasn't returned within patience of the end of its time, its result is the one reported
// until then, and it is left running.
func (t *attempt) solve(s model.Solver) (r model.Result, err error) {
	started := time.Now()
	defer func() {
		if r.Elapsed == 0 {
			r.Elapsed = time.Since(started)
		}
	}()
	if t.set.Effort > 0 {
		s = &limited{Solver: s}
	}
	if t.patience == 0 {
		return s.Solve(t.ctx, t.Instance, t.set)
	}
	set, heard := t.set, &listener{r: model.NewResult(s.Name(), t.set.Seed), in: t.Instance, gap: t.set.GapLimit(), next: t.set.Progress}
	set.Progress = heard.progress
	ctx, cancel := t.set.WithTimeLimit(t.ctx)
	defer cancel()
	late := func() time.Duration {
		if t.ctx.Err() != nil {
			return t.patience
		}
		return t.patience + t.set.TimeLimit/10
	}
	var solved model.Result
	returned, err := panics.Within(ctx, late, func() (err error) { solved, err = s.Solve(t.ctx, t.Instance, set); return err })
	panics.PassPanic(err)
	if returned {
		return solved, err
	}
	r = heard.close()
	r.Reason = meter.StopReason(ctx) + ", but it did not return"
	return r, nil
}

// listener keeps the reports of a solver.
type listener struct {
	mu   sync.Mutex
	r    model.Result
	in   model.Instance
	gap  float64
	best model.Progress // with the best solution reported
	next func(model.Progress)
	shut bool
}

func (l *listener) progress(p model.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return
	}
	sense := model.SenseOf(l.in)
	if p.Solution != nil && (l.best.Solution == nil || sense.Better(p.Incumbent, l.best.Incumbent)) {
		l.best = p
	}
	l.r.SetBound(l.in.Metrics()[0], p.Bound, l.gap)
	l.r.Nodes = p.Nodes
	if l.next != nil {
		l.next(p)
	}
}

// close returns the result reported so far. Nothing more is heard or passed on.
func (l *listener) close() model.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = true
	if l.best.Solution != nil && l.r.SetSolution(l.in, l.best.Solution) == nil {
		l.r.SetBound(l.in.Metrics()[0], l.r.Bound, l.gap)
	}
	return l.r
}

// limited is a solver that stops when its effort is spent.
type limited struct {
	model.Solver
	spent int64
}

// Solve implements model.Solver.
func (s *limited) Solve(ctx context.Context, in model.Instance, set model.Settings) (r model.Result, err error) {
	if _, several := s.Solver.(*portfolio); !several {
		set.Threads = 1 // of one goroutine alone the work is counted
	}
	r, s.spent, err = run.Spend(ctx, set.Effort, func(ctx context.Context) (model.Result, error) { return s.Solver.Solve(ctx, in, set) })
	return r, err
}
