// SPDX-License-Identifier: MIT

package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Tolerance is the tolerance that solvers of linear models get for rows, integrality and optimality. (At 1e-9 HiGHS
// 1.10 has given a wrong optimum.)
const Tolerance = 1e-8

// Linear describes what to ask a solver of linear models, a milp.Backend, about one instance. S is the type of the
// decisions in the problem's formulations.
//
// Such solvers compute in floating-point arithmetic, and are wrong now and then: HiGHS calls points optimal that
// aren't, and models infeasible that aren't; others stop within an increment of their own. So their word is no proof:
//
//   - A point counts as its decoded solution, with the objective that the instance computes.
//   - "Optimal", "infeasible" and bounds come from the certifier, which computes its certificates here. It gets the
//     rest of the run's limits after the solver's answer.
//   - A bound that a known solution beats doesn't count.
type Linear[S any] struct {
	// Starts are solutions to start from, if there are any.
	Starts []S
	// Formulate returns the formulation to optimise, given the objective of the best solution (NaN without one);
	// solutions that aren't better may be missing from it. Its error may be the context's error.
	Formulate func(incumbent float64) (*milp.Formulation[S], error)
	// Accept turns the description by a point into a solution of the instance, nil if that isn't feasible.
	Accept func(context.Context, S) (model.Solution, error)
	// Exclude, if not nil, adds rows to the formulation that every solution satisfies and s, which has none, doesn't;
	// false if it can't.
	Exclude func(s S) bool
	// Explain, if not nil, adds to a result that is proved infeasible.
	Explain func(context.Context, *model.Result) error
}

// LinearEngine is a model.Solver that asks a backend the questions that Prepare returns
// for an instance. Prepare's error may be model.ErrNoSolution if it was stopped.
// Instances of another type than I are model.ErrUnsupported; a backend that is missing
// says so.
type LinearEngine[I model.Instance, S any] struct {
	milp.Backend
	ID      string // its name; "": the backend's
	Prepare func(*Run, I) (Linear[S], error)
}

// Name implements model.Solver.
func (e LinearEngine[I, S]) Name() string { return cmp.Or(e.ID, e.Backend.Name) }

// Solve implements model.Solver. The points are the backend's, the proofs the certifier's.
func (e LinearEngine[I, S]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return run.Solve(ctx, e.Name(), in, set, func(r *Run, in I) (err error) {
		if e.Missing != nil {
			if err := e.Missing(); err != nil {
				return err
			}
		}
		d := &driver[S]{Run: r, Backend: e.Backend, known: math.NaN(), relaxed: relaxed}
		if meter.Counted(r.Ctx) {
			d.Backend = counting(e.Backend)
		}
		if d.Linear, err = e.Prepare(r, in); err != nil {
			return err
		}
		err = d.run(r.Ctx)
		if e.CPUTime {
			r.Elapsed = d.cpu
		}
		return err
	})
}

// counting returns a backend that counts its work. So the backend takes turns, and a limit on the effort ends it in the
// same place in each run. It has one thread for that. Backends other than HiGHS don't count.
func counting(b milp.Backend) milp.Backend {
	solve := b.Solve
	b.Solve = func(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
		// A unit of HiGHS's work takes longer in larger models (1.15.1, 39 models of four kinds): 40 µs at 150 rows and
		// variables, 90 at 840, 80 to 220 at 8,400. It took 1,000 in the first linear program of 14,000.
		size := math.Sqrt(float64(len(m.Rows) + len(m.Vars)))
		o.Threads = 1
		o.Count = func(work int64) bool { return meter.Stop(ctx, work*int64(30+2*size)) }
		return solve(ctx, m, o)
	}
	return b
}

// driver is one run of a backend. Bounds and objectives are the problem's unless a
// comment says that they are a formulation's.
type driver[S any] struct {
	*Run
	Linear[S]
	milp.Backend
	best  S       // the origin of Run.Solution, if it isn't nil
	known float64 // the best bound so far, for reports
	off   rules

	relaxed func(*milp.Model) (relaxation, error)
	cpu     time.Duration
}

// answer is a solver's answer about a formulation.
type answer struct {
	milp.Result
	improved bool // the point is a better solution than those before
	excluded bool // the point is no solution, and the formulation has got rows against it
}

// Reasons, after the solver's name.
const (
	uncertified = " says optimal, which no certificate confirms"
	unfounded   = " says infeasible, which no certificate confirms"
	noSolution  = "'s point is no solution to the last digit, and it finds no other"
	isSolution  = " finds no solution where there is one, and no certificate says that there is no better one"
	beaten      = ": a bound is worse than a solution at hand, so it proves nothing"
	infeasible  = ": certificates of linear programs prove that there is no solution"
	ended       = " ended without a proof: "
)

// run asks until there is nothing more to ask.
func (d *driver[S]) run(ctx context.Context) error {
	for _, s := range d.Starts {
		if _, _, err := d.keep(ctx, s); err != nil {
			return err
		}
	}
	for again := true; again; {
		f, err := d.Formulate(d.Objective)
		if reason := meter.StopReason(ctx); reason != "" && errors.Is(err, ctx.Err()) {
			d.Reason = reason
			return nil
		}
		if err != nil {
			return err
		}
		if again, err = d.answer(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// answer asks the solver about a formulation and certifies the answer if possible. again is true if the formulation has
// got rows against a point that was no solution.
func (d *driver[S]) answer(ctx context.Context, f *milp.Formulation[S]) (again bool, err error) {
	start, done := d.reached(f)
	if done {
		return false, nil
	}
	d.knows(f.Value(f.Limit))
	c, err := newCertifier(d, f)
	if err != nil {
		return false, err
	}
	defer func() { c.close() }()
	if err := c.run(ctx, false); err != nil || c.excluded {
		return c.excluded, err
	}
	if c.done() {
		return false, d.finish(ctx, c, "")
	}
	a, err := d.ask(ctx, f, c.harmless(), start)
	if err != nil || a.excluded {
		return a.excluded, err
	}
	reason := ""
	switch {
	case a.Status == milp.TimeLimit:
		reason = meter.OutOfTime
	case a.Status != milp.Optimal && a.Status != milp.Infeasible:
		reason = d.Title + ended + a.Status.String()
	case a.Status == milp.Infeasible && d.Solution != nil:
		reason = d.Title + isSolution
	case a.Status == milp.Infeasible:
		reason = d.Title + unfounded
	case d.Solution == nil:
		reason = d.Title + noSolution
	default:
		reason = d.Title + uncertified
	}
	if a.improved { // fewer points may be asked for
		g, err := d.Formulate(d.Objective)
		if err != nil {
			return false, err
		}
		if g != f {
			if _, done := d.reached(g); done {
				return false, nil
			}
			c.close()
			if c, err = newCertifier(d, g); err != nil {
				return false, err
			}
		}
		c.improved()
	}
	if err := c.run(ctx, true); err != nil || c.excluded {
		return c.excluded, err
	}
	switch why := meter.StopReason(ctx); {
	case why != "":
		reason = why
	case c.lp == nil:
		reason += ": HiGHS isn't there to certify a bound"
	}
	return false, d.finish(ctx, c, reason)
}

// finish stores the certifier's proof, and the reason why it proves no more.
func (d *driver[S]) finish(ctx context.Context, c *certifier[S], reason string) error {
	bound := c.proved()
	switch {
	case !c.done():
		d.conclude(bound, reason)
	case d.Solution == nil:
		return d.infeasible(ctx)
	case math.IsNaN(bound): // the formulation has all better solutions, and there is none
		d.conclude(d.Objective, "")
	default:
		d.conclude(bound, "")
	}
	return nil
}

// reached returns f's point of the best solution, nil if there is none, and
// whether that solution needs no proof: nothing is better than f's limit.
func (d *driver[S]) reached(f *milp.Formulation[S]) (x []float64, done bool) {
	if d.Solution == nil {
		return nil, false
	}
	if x = f.Encode(d.best); x == nil || better(f, f.Limit, f.Model.Objective(x)) {
		return x, false
	}
	d.conclude(d.Objective, "")
	return x, true
}

// ask has the solver optimise f, as m says it, and keeps the solution that its point describes if it is better than the
// best so far. If the point describes none, Exclude looks at it.
func (d *driver[S]) ask(ctx context.Context, f *milp.Formulation[S], m *milp.Model, start []float64) (answer, error) {
	o := d.options(f)
	o.Start = start
	if end, ok := ctx.Deadline(); ok {
		o.TimeLimit = max(time.Until(end)/2, time.Millisecond) // the rest is the certifier's
	}
	before := d.Nodes
	h, err := d.Backend.Solve(ctx, m, o)
	d.Nodes = before + h.Nodes
	d.cpu += h.CPU
	a := answer{Result: h}
	if err != nil || !a.Feasible {
		return a, err
	}
	s, err := f.Decode(a.X)
	if errors.Is(err, model.ErrInfeasible) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	feasible, improved, err := d.keep(ctx, s)
	if a.improved = improved; improved {
		d.report() // certificates may take longer than the run has
	}
	if err == nil && !feasible && a.Status == milp.Optimal && d.Exclude != nil {
		a.excluded = d.Exclude(s)
	}
	return a, err
}

// keep makes s the best solution if it is a solution and better than those before.
func (d *driver[S]) keep(ctx context.Context, s S) (feasible, improved bool, err error) {
	p, err := d.Accept(ctx, s)
	if err != nil || p == nil {
		return false, false, err
	}
	o, err := d.In.Objective(p)
	if err != nil {
		return false, false, err
	}
	if d.Solution != nil && !model.SenseOf(d.In).Better(o.Value, d.Objective) {
		return true, false, nil
	}
	d.best = s
	return true, true, d.SetSolution(d.In, p)
}

func (d *driver[S]) infeasible(ctx context.Context) error {
	d.Status, d.Reason = model.StatusInfeasible, d.Title+infeasible
	if d.Explain == nil {
		return nil
	}
	return d.Explain(ctx, &d.Result)
}

// knows takes over a proved bound, and reports it if it is better.
func (d *driver[S]) knows(bound float64) {
	before := d.known
	if math.IsNaN(d.known) {
		d.known = bound
	} else if !math.IsNaN(bound) {
		d.known = d.stronger(d.known, bound)
	}
	if d.known != before && !math.IsNaN(d.known) {
		d.report()
	}
}

// report reports the best solution and the best bound.
func (d *driver[S]) report() {
	d.Tell(d.Objective, d.known, func() model.Solution { return d.Solution })
}

// conclude stores a bound and, unless it proves the best solution optimal, the reason why nothing more is proved. A
// bound that a solution beats by more than the rounding of either doesn't count.
func (d *driver[S]) conclude(bound float64, reason string) {
	if d.Solution != nil && !model.SenseOf(d.In).Better(bound, d.Objective) {
		if !(math.Abs(bound-d.Objective) <= 1e-9*math.Abs(d.Objective)) {
			d.Reason = d.Title + beaten
			return
		}
		bound = d.Objective
	}
	d.SetBound(d.In.Metrics()[0], bound, d.Set.GapLimit())
	if d.Status != model.StatusOptimal {
		d.Reason = reason
	}
}

func (d *driver[S]) stronger(a, b float64) float64 {
	if model.SenseOf(d.In).Better(a, b) {
		return b
	}
	return a
}

// options returns the options of a question. Reports have the best solution and the certified bound.
func (d *driver[S]) options(f *milp.Formulation[S]) milp.Options {
	o := milp.Options{Threads: d.Set.Workers(), Tolerance: Tolerance}
	if d.Set.GapLimit() > model.DefaultGap {
		o.Gap = d.Set.GapLimit() / 2
	}
	if d.Set.Progress == nil {
		return o
	}
	sense, before := model.SenseOf(d.In), d.Nodes
	o.Progress = func(p milp.Progress) {
		incumbent, bound := f.Value(p.Incumbent), d.known
		if math.IsNaN(incumbent) || sense.Better(d.Objective, incumbent) {
			incumbent = d.Objective
		}
		if sense.Better(incumbent, bound) { // an incumbent is the solver's word, too
			incumbent = d.Objective
		}
		d.Nodes = before + p.Nodes
		d.Tell(incumbent, bound, func() model.Solution {
			if incumbent == d.Objective {
				return d.Solution
			}
			return nil
		})
	}
	return o
}

// sense is 1 if f maximises, and -1.
func sense[S any](f *milp.Formulation[S]) float64 {
	if f.Maximise {
		return 1
	}
	return -1
}

// better reports whether objective a of f is better than b; false for NaN.
func better[S any](f *milp.Formulation[S], a, b float64) bool {
	if f.Maximise {
		return a > b
	}
	return a < b
}
