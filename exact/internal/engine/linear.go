// SPDX-License-Identifier: MIT

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Tolerance is what a solver of linear models is asked to satisfy rows, integrality
// and optimality to. (At 1e-9 HiGHS 1.10 has given a wrong optimum.) A bound of a
// solver is widened by the tolerance that it ended with times Margin plus the
// formulation's sensitivity before it is called a bound, which at this tolerance
// still proves gaps below 1e-6.
const (
	Tolerance = 1e-8
	Margin    = 10
)

// Linear tells what to ask a solver of linear models, a milp.Backend, about one
// instance, in terms of S, what the problem's formulations decide.
//
// Such solvers compute in floating-point arithmetic, and are wrong now and then:
// HiGHS 1.10 has called points optimal that aren't, and models infeasible that
// aren't. So a solver's word counts under these rules alone:
//
//   - A point counts as the solution that it decodes to, with the objective that
//     the instance computes for that.
//   - A bound counts after it was widened, unless a solution at hand is better.
//   - "Optimal" counts if a second answer agrees. That is the answer to another
//     question (Better) or, without one, to the same at the solver's own tolerances:
//     those of HiGHS are wrong hardly ever but too wide for a gap of 1e-6. Of a
//     solver without either (Backend.Fixed) the widened bound counts and nothing
//     else.
//   - "Infeasible" counts for nothing where a solution is at hand. Else it counts
//     if the solver says the same at its own tolerances or, with Elastic, if its
//     bound on the elastic model proves the same.
//   - What a time limit, a cancelled context or the solver itself stops proves its
//     widened bound and nothing else.
type Linear[S any] struct {
	// Starts are solutions to start from, as far as there are.
	Starts []S
	// Formulate returns the formulation to optimise, given the objective of the
	// best solution (NaN without one); solutions that aren't better may be
	// missing from it. Its error may be that of the context.
	Formulate func(incumbent float64) (*milp.Formulation[S], error)
	// Accept turns what a point describes into a solution of the instance, nil
	// if that isn't feasible.
	Accept func(context.Context, S) (model.Solution, error)
	// Better, if not nil, returns a formulation of the solutions whose objective
	// is target or better, or model.ErrInfeasible if there are none. The
	// objective is that of f, which Formulate returned.
	Better func(f *milp.Formulation[S], target float64) (*milp.Formulation[S], error)
	// Exclude, if not nil, adds rows to what Formulate returns that every
	// solution satisfies and s, which has none, doesn't; false if it can't.
	Exclude func(s S) bool
	// Elastic, if not nil, returns a formulation that has points for every
	// instance, with whole objectives, and one that reaches its Limit if and
	// only if the instance has a solution; and a point to start from.
	Elastic func() (f *milp.Formulation[S], start S, err error)
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

// Solve implements model.Solver. The proofs are the backend's, in floating-point
// arithmetic.
func (e LinearEngine[I, S]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return start(ctx, e.Name(), in, set, func(r *Run, in I) (err error) {
		if e.Missing != nil {
			if err := e.Missing(); err != nil {
				return err
			}
		}
		d := &driver[S]{Run: r, Backend: e.Backend, known: math.NaN()}
		if turns.Counted(r.Ctx) {
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

// counting returns a backend with its work counted, so that it takes turns and a limit on the effort ends it in the same
// place in each run. It has one thread for that. Backends other than HiGHS don't count.
func counting(b milp.Backend) milp.Backend {
	solve := b.Solve
	b.Solve = func(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
		// A unit of HiGHS's work takes more in larger models: 40 µs at 150 rows and variables, 90 at 840, 80 to 220 at 8,400
		// (1.15.1, in 39 models of four kinds), but 1,000 in the first linear program of 14,000.
		size := math.Sqrt(float64(len(m.Rows) + len(m.Vars)))
		o.Threads = 1
		o.Count = func(work int64) bool { return turns.Stop(ctx, work*int64(30+2*size)) }
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
	best  S       // what Run.Solution was made of, if it isn't nil
	known float64 // the best bound so far, for reports
	cpu   time.Duration
}

// answer is what the solver says of a formulation.
type answer struct {
	milp.Result
	bound    float64 // proved by this answer alone
	improved bool    // the point is a better solution than those before
	excluded bool    // the point is no solution, and the formulation has got rows against it
	unsure   bool    // the solver contradicts itself
}

// complete reports whether the solver claims a proof.
func (a *answer) complete() bool {
	return a.Status == milp.Optimal || a.Status == milp.Infeasible
}

// Reasons, after the solver's name.
const (
	contradiction = " contradicts itself"
	unconfirmed   = " was stopped before it confirmed its proof"
	leavesGap     = " says optimal; its bound, widened by its tolerance, leaves a gap"
	noSolution    = "'s point is no solution to the last digit, and it finds no other"
	isSolution    = " finds no solution where there is one, so it proves nothing"
	beaten        = "'s bound is worse than a solution at hand, so it proves nothing"
	unsupported   = " says infeasible, which nothing confirms"
	infeasible    = " found the model infeasible"
	ended         = " ended without a proof: "
)

// run asks until an answer counts or there is nothing more to ask.
func (d *driver[S]) run(ctx context.Context) error {
	for _, s := range d.Starts {
		if _, _, err := d.keep(ctx, s); err != nil {
			return err
		}
	}
	for {
		f, err := d.Formulate(d.Objective)
		if reason := exact.StopReason(ctx); reason != "" && errors.Is(err, ctx.Err()) {
			d.Reason = reason
			return nil
		}
		if err != nil {
			return err
		}
		start, done := d.reached(f)
		if done {
			return nil
		}
		if math.IsNaN(d.known) {
			d.known = f.Value(f.Limit)
		}
		a, err := d.ask(ctx, f, start)
		d.known = d.stronger(d.known, a.bound)
		switch {
		case err != nil:
			return err
		case a.excluded:
			continue
		case a.unsure:
			d.conclude(f.Value(f.Limit), d.Title+contradiction)
		case !a.complete():
			d.conclude(a.bound, d.stopped(ctx, a))
		case a.Status == milp.Infeasible && d.Solution != nil:
			d.conclude(f.Value(f.Limit), d.Title+isSolution)
		case a.Status == milp.Infeasible && d.Elastic != nil:
			if again, err := d.elastic(ctx, f); again || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		case a.Status == milp.Infeasible && (d.Better != nil || d.Fixed):
			d.conclude(f.Value(f.Limit), d.Title+unsupported)
		case a.Status == milp.Infeasible:
			return d.infeasible(ctx)
		case d.Solution == nil:
			d.conclude(a.bound, d.Title+noSolution)
		case d.Better == nil:
			d.claim(a.bound)
		default:
			if again, err := d.confirm(ctx, f, a); again || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		return nil
	}
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
	d.claim(d.Objective)
	return x, true
}

// confirm asks whether something better exists than the best solution, which
// the solver calls optimal. again is true if there is.
func (d *driver[S]) confirm(ctx context.Context, f *milp.Formulation[S], a answer) (again bool, err error) {
	x, done := d.reached(f)
	if done {
		return false, nil
	}
	if x == nil {
		return false, fmt.Errorf("formulation %s has no point of a solution of its own", f.Scheme)
	}
	// The least improvement that the gap asked for demands, in f's objective,
	// and what no solution can be better than if it is impossible.
	sign := sense(f)
	target := f.Model.Objective(x)
	target += sign * math.Abs(target) * d.Set.GapLimit() / 2
	proved := target
	if f.Whole {
		proved = sign * math.Floor(sign*target)
		target = proved + sign
	}
	impossible := f.Value(proved)
	g, err := d.Better(f, target)
	if errors.Is(err, model.ErrInfeasible) {
		d.claim(d.stronger(a.bound, impossible))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b, err := d.askOnce(ctx, g, d.options(), nil)
	switch {
	case err != nil:
		return false, err
	case b.improved:
		return true, nil // the first answer was wrong
	case b.Status == milp.Infeasible:
		d.claim(d.stronger(a.bound, impossible))
	case b.complete():
		d.conclude(d.weaker(a.bound, b.bound), d.Title+contradiction)
	default:
		d.conclude(d.weaker(a.bound, b.bound), d.Title+unconfirmed)
	}
	return false, nil
}

// elastic confirms that there is no solution by a bound on the elastic model.
// again is true if there is one, and there is more to ask.
func (d *driver[S]) elastic(ctx context.Context, f *milp.Formulation[S]) (again bool, err error) {
	e, start, err := d.Elastic()
	if err != nil {
		return false, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	enough := e.Limit - sense(e)/2 // objectives are whole
	o := d.options()
	o.Start = e.Encode(start)
	progress := o.Progress
	o.Progress = func(p milp.Progress) {
		if progress != nil {
			progress(milp.Progress{Incumbent: math.NaN(), Bound: math.NaN(), Nodes: p.Nodes})
		}
		if better(e, enough, widened(e, p.Bound, Tolerance)) {
			cancel()
		}
	}
	a, err := d.askOnce(inner, e, o, nil)
	switch {
	case err != nil:
		return false, err
	case a.improved:
		return true, nil // the first answer was wrong
	case a.Status != milp.Infeasible && better(e, enough, widened(e, a.Bound, a.Tolerance)):
		return false, d.infeasible(ctx)
	case ctx.Err() != nil:
		d.conclude(f.Value(f.Limit), d.Title+unconfirmed)
	default:
		d.conclude(f.Value(f.Limit), d.Title+contradiction)
	}
	return false, nil
}

// ask has the solver optimise f. Without another question to confirm a proof it is
// asked twice, if that can tell anything: if the second answer, at the solver's own tolerances, refutes the
// first, that one stands.
func (d *driver[S]) ask(ctx context.Context, f *milp.Formulation[S], start []float64) (answer, error) {
	o := d.options()
	o.Start = start
	if progress := o.Progress; progress != nil {
		o.Progress = func(p milp.Progress) {
			p.Bound = f.Value(proved(f, p.Bound, Tolerance))
			if !math.IsNaN(p.Incumbent) {
				p.Incumbent = f.Value(p.Incumbent)
			}
			progress(p)
		}
	}
	if d.Better != nil || d.Fixed {
		return d.askOnce(ctx, f, o, nil)
	}
	return d.askOnce(ctx, f, o, func(a answer) (answer, error) {
		if !a.complete() {
			return a, nil
		}
		o.Tolerance = 0
		b, err := d.solveOne(ctx, f, o)
		sense := model.SenseOf(d.in)
		switch {
		case err != nil:
			return a, err
		case b.Feasible && (!a.Feasible || sense.Better(f.Value(b.Objective), f.Value(widened(f, a.Bound, a.Tolerance))+float64(sense)*1e-6)):
			return b, nil
		case !b.complete():
			a.Status, a.bound = b.Status, d.weaker(a.bound, b.bound)
		default:
			a.unsure = a.Status != b.Status
		}
		return a, nil
	})
}

// askOnce solves f, keeps the solution that the point describes if it is better
// than the best so far, and has Exclude look at a point that describes none.
// second, if not nil, replaces the solver's answer before its point is looked at.
func (d *driver[S]) askOnce(ctx context.Context, f *milp.Formulation[S], o milp.Options, second func(answer) (answer, error)) (answer, error) {
	a, err := d.solveOne(ctx, f, o)
	if err == nil && second != nil {
		a, err = second(a)
	}
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
	a.improved = improved
	if err == nil && !feasible && a.Status == milp.Optimal && d.Exclude != nil {
		a.excluded = d.Exclude(s)
	}
	return a, err
}

// solveOne runs the solver once.
func (d *driver[S]) solveOne(ctx context.Context, f *milp.Formulation[S], o milp.Options) (answer, error) {
	before := d.Nodes
	h, err := d.Backend.Solve(ctx, &f.Model, o)
	d.Nodes = before + h.Nodes
	d.cpu += h.CPU
	a := answer{Result: h, bound: f.Value(f.Limit)}
	if err == nil && h.Status != milp.Infeasible {
		a.bound = f.Value(proved(f, h.Bound, h.Tolerance))
	}
	return a, err
}

// keep makes s the best solution if it is one and better than those before.
func (d *driver[S]) keep(ctx context.Context, s S) (feasible, improved bool, err error) {
	p, err := d.Accept(ctx, s)
	if err != nil || p == nil {
		return false, false, err
	}
	o, err := d.in.Objective(p)
	if err != nil {
		return false, false, err
	}
	if d.Solution != nil && !model.SenseOf(d.in).Better(o.Value, d.Objective) {
		return true, false, nil
	}
	d.best = s
	return true, true, d.SetSolution(d.in, p)
}

func (d *driver[S]) infeasible(ctx context.Context) error {
	d.Status, d.Reason = model.StatusInfeasible, d.Title+infeasible
	if d.Explain == nil {
		return nil
	}
	return d.Explain(ctx, &d.Result)
}

// claim stores a bound that the solver calls the optimum.
func (d *driver[S]) claim(bound float64) { d.conclude(bound, d.Title+leavesGap) }

// conclude stores a bound and, unless it proves the best solution optimal, the
// reason for which nothing more is proved. A bound that a solution beats by more
// than the rounding of either is none.
func (d *driver[S]) conclude(bound float64, reason string) {
	if d.Solution != nil && !model.SenseOf(d.in).Better(bound, d.Objective) {
		if !(math.Abs(bound-d.Objective) <= 1e-9*math.Abs(d.Objective)) {
			d.Reason = d.Title + beaten
			return
		}
		bound = d.Objective
	}
	d.SetBound(model.SenseOf(d.in), bound, d.Set.GapLimit())
	if d.Status != model.StatusOptimal {
		d.Reason = reason
	}
}

func (d *driver[S]) stopped(ctx context.Context, a answer) string {
	if reason := exact.StopReason(ctx); reason != "" {
		return reason
	}
	if a.Status == milp.TimeLimit { // which the solver has kept by itself
		return exact.OutOfTime
	}
	return d.Title + ended + a.Status.String()
}

func (d *driver[S]) weaker(a, b float64) float64 {
	if model.SenseOf(d.in).Better(a, b) {
		return a
	}
	return b
}

func (d *driver[S]) stronger(a, b float64) float64 {
	if model.SenseOf(d.in).Better(a, b) {
		return b
	}
	return a
}

// options returns those of every question. A Progress that gets NaN for the
// incumbent or the bound reports the best known.
func (d *driver[S]) options() milp.Options {
	o := milp.Options{Threads: d.Set.Workers(), Tolerance: Tolerance}
	if d.Set.GapLimit() > model.DefaultGap {
		o.Gap = d.Set.GapLimit() / 2
	}
	if d.Set.Progress == nil {
		return o
	}
	sense, before := model.SenseOf(d.in), d.Nodes
	o.Progress = func(p milp.Progress) {
		incumbent, bound := p.Incumbent, d.stronger(d.known, p.Bound)
		if math.IsNaN(incumbent) || sense.Better(d.Objective, incumbent) {
			incumbent = d.Objective
		}
		if sense.Better(incumbent, bound) {
			bound = incumbent
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

// widened moves a bound on f's objective away by what the solver's tolerance may be
// worth.
func widened[S any](f *milp.Formulation[S], bound, tolerance float64) float64 {
	return bound + sense(f)*tolerance*(Margin+f.Sensitivity)
}

// proved returns what a bound of a solver proves of f's objective: widened, rounded
// if objectives are whole, and no worse than f's limit.
func proved[S any](f *milp.Formulation[S], bound, tolerance float64) float64 {
	b := widened(f, bound, tolerance)
	if f.Whole {
		b = sense(f) * math.Floor(sense(f)*b+1e-6)
	}
	if better(f, b, f.Limit) || math.IsNaN(b) {
		return f.Limit
	}
	return b
}
