// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/run/caught"
	"github.com/gapwise/gapwise/internal/run/turns"
	"github.com/gapwise/gapwise/model"
)

// Run is one live run of an engine on an instance: its best solution, bound and nodes so far (model.Result), its
// reports, and why it stopped. A worker of the run finds solutions or proves bounds: a search, the learning kernel or a
// solver of linear models. Workers that keep their solutions in terms of their own store the best in the end.
type Run struct {
	model.Result
	Ctx   context.Context // ends with the time limit, too
	Set   model.Settings
	in    model.Instance
	began time.Time
	told  model.Told
	first model.Solution // First's, unless it is the start
	of    string         // the algorithm of it
}

// start answers one call of a model.Solver by a run, with work as its worker. Its error may be model.ErrNoSolution if
// it was stopped.
func start[I model.Instance](ctx context.Context, name string, in model.Instance, set model.Settings,
	work func(*Run, I) error) (model.Result, error) {
	if set.Effort > 0 && !turns.Counted(ctx) { // nobody else counts it
		var r model.Result
		set.Threads = 1 // the work of one goroutine alone is counted
		err := turns.Within(ctx, set.Effort, func(ctx context.Context) error {
			return caught.Call(func() (err error) { r, err = start(ctx, name, in, set, work); return err })
		})
		caught.PassPanic(err)
		return r, err
	}
	r := &Run{Result: model.NewResult(name, set.Seed), Set: set, in: in, began: time.Now()}
	typed, ok := in.(I)
	if !ok {
		return r.Result, fmt.Errorf("%s: %w: it doesn't solve %s instances", name, model.ErrUnsupported, in.Kind())
	}
	var cancel context.CancelFunc
	r.Ctx, cancel = set.WithTimeLimit(ctx)
	defer cancel()
	r.Ctx = turns.WithThreads(r.Ctx, set.Workers())
	err := work(r, typed)
	switch {
	case errors.Is(err, model.ErrNoSolution):
		r.Reason, err = "stopped before there was a first solution", nil
	case r.Status == model.StatusOptimal:
		r.Reason = ""
	case r.Status != model.StatusInfeasible && r.Reason == "":
		r.Reason = exact.StopReason(r.Ctx)
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

// Improve makes s the best solution if it is better than the best so far.
func (r *Run) Improve(s model.Solution) error {
	o, err := r.in.Objective(s)
	best := model.Objective{Value: r.Objective, Second: r.SecondObjective, Sense: o.Sense, SecondSense: o.SecondSense}
	if err != nil || r.Solution != nil && !o.Better(best) {
		return err
	}
	return r.SetSolution(r.in, s)
}

// News returns a solution that another solver has found and that is better than an
// objective (NaN: none), with its objective; nil if there is none.
func (r *Run) News(than float64) (model.Solution, float64) {
	if r.Set.Others == nil {
		return nil, math.NaN()
	}
	p := r.Set.Others()
	if p.Solution == nil || !math.IsNaN(than) && !model.SenseOf(r.in).Better(p.Incumbent, than) {
		return nil, math.NaN()
	}
	return p.Solution, p.Incumbent
}

// Raise stores a bound that is better than the best so far. One that the objective
// beats by no more than the rounding of either is the objective.
func (r *Run) Raise(bound float64) {
	sense := model.SenseOf(r.in)
	if sense.Better(r.Objective, bound) && math.Abs(bound-r.Objective) <= 1e-9*math.Abs(r.Objective) {
		bound = r.Objective
	}
	r.SetBound(r.in.Metrics()[0], bound, r.Set.GapLimit())
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
	if told := r.told; r.told.News(incumbent) {
		if p.Solution = solution(); p.Solution == nil {
			r.told = told
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
	return k.Prove(p, lcg.Header{Kind: string(r.in.Kind()), Instance: p.Instance, Unit: unit, Upper: upper})
}

// First returns the best of Settings.Start and the algorithms' solutions; the zero value if there is none. Algorithms
// that don't take the instance are left out; all are if the run is one of several that start from a solution.
func First[S interface {
	comparable
	model.Solution
}](r *Run, algorithms []model.Algorithm) (best S, err error) {
	var none S
	var value model.Objective
	if best, _ = r.Set.Start.(S); best != none {
		if value, err = r.in.Objective(best); err != nil {
			return none, err
		}
	}
	if r.Set.Others != nil && best != none {
		return best, nil // they have run
	}
	for _, a := range algorithms {
		if r.Ctx.Err() != nil && best != none {
			break
		}
		x, err := a.Solver.Solve(r.Ctx, r.in, model.Settings{Seed: r.Set.Seed, Parameters: r.Set.Parameters})
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		if err != nil {
			return none, err
		}
		m := r.in.Metrics()
		o := model.Objective{Value: x.Objective, Second: x.SecondObjective, Sense: m[0].Sense, SecondSense: m[1].Sense}
		if s, _ := x.Solution.(S); s != none && (best == none || o.Better(value)) {
			best, value = s, o
			r.first, r.of = s, a.Name
		}
	}
	return best, nil
}
