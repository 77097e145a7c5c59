// SPDX-License-Identifier: MIT

// Package run holds a live run of an algorithm on an instance. Heuristics, searches, the learning kernel and solvers of
// linear models are its workers. Limits, the best solution, bounds, reports and the news of other runs stand here once.
package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
)

// Run is one live run on an instance: its best solution, bound and nodes so far (model.Result), its reports, and why it
// stopped. Its worker finds solutions or proves bounds. Workers that keep their solutions in terms of their own store
// the best in the end.
type Run struct {
	model.Result
	Ctx context.Context // ends with the time limit, too
	Set model.Settings
	In  model.Instance

	began time.Time
	told  float64        // objective of the last solution that was reported; NaN: none
	first model.Solution // First's, unless it is the start
	of    string         // the algorithm of it
}

// New returns a run that its caller's context alone ends.
func New(ctx context.Context, name string, in model.Instance, set model.Settings) *Run {
	return &Run{Result: model.NewResult(name, set.Seed), Ctx: ctx, Set: set, In: in, began: time.Now(), told: math.NaN()}
}

// Solve answers one call of a model.Solver by a run. The worker's error may be model.ErrNoSolution if it was stopped,
// or has called Infeasible. Instances of another type than I are model.ErrUnsupported.
func Solve[I model.Instance](ctx context.Context, name string, in model.Instance, set model.Settings,
	work func(*Run, I) error) (model.Result, error) {
	if set.Effort > 0 && !meter.Counted(ctx) { // nobody else counts it
		set.Threads = 1 // the work of one goroutine alone is counted
		r, _, err := Spend(ctx, set.Effort, func(ctx context.Context) (model.Result, error) { return Solve(ctx, name, in, set, work) })
		return r, err
	}
	r := New(ctx, name, in, set)
	typed, ok := in.(I)
	if !ok {
		return r.Result, fmt.Errorf("%s: %w: it doesn't solve %s instances", name, model.ErrUnsupported, in.Kind())
	}
	var cancel context.CancelFunc
	r.Ctx, cancel = set.WithTimeLimit(ctx)
	defer cancel()
	r.Ctx = meter.WithThreads(r.Ctx, set.Workers())
	err := work(r, typed)
	switch {
	case errors.Is(err, model.ErrNoSolution) && r.Status == model.StatusInfeasible:
		err = nil // the worker has said why
	case errors.Is(err, model.ErrNoSolution):
		r.Reason, err = "stopped before there was a first solution", nil
	case r.Status == model.StatusOptimal:
		r.Reason = ""
	case r.Status != model.StatusInfeasible && r.Reason == "":
		r.Reason = meter.StopReason(r.Ctx)
	}
	if r.first != nil && r.Solution == r.first && r.Status == model.StatusFeasible {
		r.SolutionOf = r.of
	}
	if r.Elapsed == 0 {
		r.Elapsed = time.Since(r.began)
	}
	if err != nil {
		return r.Result, fmt.Errorf("%s: %w", name, err)
	}
	return r.Result, nil
}

// Spend has a solver work until it has counted so much effort or has ended. It returns the counted effort, too.
func Spend(ctx context.Context, effort int64, solve func(context.Context) (model.Result, error)) (r model.Result, spent int64, err error) {
	spent, err = meter.Spend(ctx, effort, func(ctx context.Context) error {
		return panics.Call(func() (err error) { r, err = solve(ctx); return err })
	})
	panics.PassPanic(err)
	return r, spent, err
}

// Heuristic makes a model.Solver of a function that returns its best solution. The function may report better ones
// before. Its error may be model.ErrNoSolution: then the status is unknown.
func Heuristic[I model.Instance, S model.Solution](name string, work func(*Run, I) (S, error)) model.Solver {
	return heuristic[I, S]{name, work}
}

// OneShot is Heuristic for a function that needs no run: it reports no solution before its end.
func OneShot[I model.Instance, S model.Solution](name string, work func(context.Context, I, model.Settings) (S, error)) model.Solver {
	return Heuristic(name, func(r *Run, in I) (S, error) { return work(r.Ctx, in, r.Set) })
}

type heuristic[I model.Instance, S model.Solution] struct {
	name string
	work func(*Run, I) (S, error)
}

// Name implements model.Solver.
func (h heuristic[I, S]) Name() string { return h.name }

// Solve implements model.Solver.
func (h heuristic[I, S]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Solve(ctx, h.name, in, set, func(r *Run, in I) error {
		s, err := h.work(r, in)
		switch {
		case errors.Is(err, model.ErrNoSolution):
			r.Reason = err.Error()
			return nil
		case err != nil:
			return err
		case r.Ctx.Err() != nil:
			r.Reason = "stopped before its end"
		}
		if model.Solution(s) == r.Solution {
			return nil // Improve has computed its objective
		}
		return r.SetSolution(in, s)
	})
}

// Improve makes s the best solution if it is better than the best so far, and reports whether it is.
func (r *Run) Improve(s model.Solution) (better bool, err error) {
	o, err := r.In.Objective(s)
	if err != nil || r.Solution != nil && !o.Better(r.Value(r.In.Metrics())) {
		return false, err
	}
	r.Solution, r.Objective, r.SecondObjective, r.Status = s, o.Value, o.Second, model.StatusFeasible
	return true, nil
}

// Limited reports whether time will end the run.
func (r *Run) Limited() bool {
	_, limited := r.Ctx.Deadline()
	return limited
}

// Beside reports whether others work on the same instance. Then they have run the heuristics.
func (r *Run) Beside() bool { return r.Set.Others != nil }

// News returns a solution that another solver has found and that is better than an
// objective (NaN: none), with its objective; nil if there is none.
func (r *Run) News(than float64) (model.Solution, float64) {
	if !r.Beside() {
		return nil, math.NaN()
	}
	p := r.Set.Others()
	if p.Solution == nil || !math.IsNaN(than) && !model.SenseOf(r.In).Better(p.Incumbent, than) {
		return nil, math.NaN()
	}
	return p.Solution, p.Incumbent
}

// Raise stores a bound that is better than the best so far. One that the objective
// beats by no more than the rounding of either is the objective.
func (r *Run) Raise(bound float64) {
	sense := model.SenseOf(r.In)
	if sense.Better(r.Objective, bound) && math.Abs(bound-r.Objective) <= 1e-9*math.Abs(r.Objective) {
		bound = r.Objective
	}
	r.SetBound(r.In.Metrics()[0], bound, r.Set.GapLimit())
}

// Closed reports whether the gap asked for is reached.
func (r *Run) Closed() bool { return r.Status == model.StatusOptimal }

// Infeasible stores that there is no solution, and why.
func (r *Run) Infeasible(why string) {
	r.Status, r.Reason = model.StatusInfeasible, why
	r.Bound, r.Gap = math.NaN(), math.NaN()
}

// Tell reports the best objective (NaN: none), the bound and the nodes so far. It also reports the solution, if
// solution has it, unless it has already reported one of that objective.
func (r *Run) Tell(incumbent, bound float64, solution func() model.Solution) {
	if r.Set.Progress == nil {
		return
	}
	p := model.Progress{Algorithm: r.Algorithm, Incumbent: incumbent, Bound: bound, Nodes: r.Nodes, Elapsed: time.Since(r.began)}
	if !math.IsNaN(incumbent) && incumbent != r.told {
		if p.Solution = solution(); p.Solution != nil {
			r.told = incumbent
		}
	}
	r.Set.Progress(p)
}

// TellBest is Tell for the stored solution and bound.
func (r *Run) TellBest() {
	r.Tell(r.Objective, r.Bound, func() model.Solution { return r.Solution })
}

// Team returns the kernels for the run: one per allowed thread, but a single one for a proof, which covers the
// derivations of one kernel.
func (r *Run) Team(o lcg.Options, models ...*cp.Model) *lcg.Team {
	threads := r.Set.Workers()
	if r.Set.Proof != nil {
		threads = 1
	}
	return lcg.NewTeam(threads, o, models...)
}

// Prove has a kernel write its proof if one is asked for; nil if not. unit describes the model's units in the proof,
// and upper is the most of its objective.
func (r *Run) Prove(k *lcg.Kernel, unit string, upper int64) (*lcg.Proof, error) {
	p := r.Set.Proof
	if p == nil {
		return nil, nil
	}
	return k.Prove(p, lcg.Header{Kind: string(r.In.Kind()), Instance: p.Instance, Unit: unit, Upper: upper})
}

// First returns the best of Settings.Start and the algorithms' solutions; nil if there is none. Algorithms that don't take
// the instance are left out; all are if the run is one of several that start from a solution.
func (r *Run) First(algorithms []model.Algorithm) (best model.Solution, err error) {
	var value model.Objective
	if best = r.Set.Start; best != nil {
		if value, err = r.In.Objective(best); err != nil {
			return nil, err
		}
	}
	if r.Beside() && best != nil {
		return best, nil // they have run
	}
	for _, a := range algorithms {
		if r.Ctx.Err() != nil && best != nil {
			break
		}
		x, err := a.Solver.Solve(r.Ctx, r.In, model.Settings{Seed: r.Set.Seed, Parameters: r.Set.Parameters})
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if x.Solution == nil {
			continue
		}
		if o := x.Value(r.In.Metrics()); best == nil || o.Better(value) {
			best, value = x.Solution, o
			r.first, r.of = best, a.Name
		}
	}
	return best, nil
}
