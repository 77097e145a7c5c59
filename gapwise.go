// Package gapwise is the library's door: an instance goes in; a solution, a
// bound and a gap come out, and an independent judge has looked at the solution
// before anyone else does.
//
//	in, err := instances.Load("instance.json")
//	res, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: "auto"})
package gapwise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/verify"
)

// Version of the library and the command.
const Version = "0.4.0"

// AutoTimeLimit is the time limit of the algorithm auto when none is given.
const AutoTimeLimit = 10 * time.Second

// ErrUnknownAlgorithm is for an algorithm, engine or formulation that the
// catalogue doesn't have.
var ErrUnknownAlgorithm = errors.New("unknown algorithm")

// Options of Solve.
type Options struct {
	// Algorithm is a name of Algorithms(kind), or
	//   - exact: the engine(s) below, without a time limit of their own;
	//   - auto (and ""): the native search for at most AutoTimeLimit unless a
	//     limit is given. It starts from the strongest heuristic and ends
	//     with a bound, so it serves large instances too.
	Algorithm string
	// Engine of exact: search (and ""), highs, or both, which makes the two
	// solve the instance and compares what they prove.
	Engine string
	// Formulation for the engine highs; empty is its default.
	Formulation string
	model.Settings
	// Judging, if not nil, is called from another goroutine when the judge has
	// been at work for a second.
	Judging func()
	// Solver, if not nil, is used instead of a named algorithm: a user's own.
	Solver model.Solver
}

// DefectError says that a solver's answer was refuted: by the judge, by a
// bound, or by another engine. It is a bug in gapwise, never in the instance.
type DefectError struct {
	Instance model.Instance
	Result   model.Result
	Reason   string
	Report   verify.Report
}

func (e *DefectError) Error() string {
	return fmt.Sprintf("defect: %s on instance %q: %s", e.Result.Algorithm, e.Instance.ID(), e.Reason)
}

// Algorithms lists a problem's heuristics and then its exact engines; nil if
// there is no such problem.
func Algorithms(kind model.Kind) []model.Algorithm {
	p, err := ProblemOf(kind)
	if err != nil {
		return nil
	}
	return p.Algorithms
}

// Find looks an algorithm up by name; ErrUnknownAlgorithm names the ones there are.
func Find(kind model.Kind, name string) (model.Algorithm, error) {
	var names []string
	for _, a := range Algorithms(kind) {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return model.Algorithm{}, fmt.Errorf("%w %q for %s, give one of auto, exact, %s", ErrUnknownAlgorithm, name, kind, strings.Join(names, ", "))
}

// solvers are the solvers that the options name, with the settings to use.
func (o Options) solvers(kind model.Kind) ([]model.Solver, model.Settings, error) {
	set := o.Settings
	if o.Solver != nil {
		return []model.Solver{o.Solver}, set, nil
	}
	pick := func(names ...string) ([]model.Solver, model.Settings, error) {
		var all []model.Solver
		for _, n := range names {
			a, err := Find(kind, n)
			if err != nil {
				return nil, set, err
			}
			all = append(all, a.Solver)
		}
		return all, set, nil
	}
	if o.Algorithm != "exact" && (o.Engine != "" || o.Formulation != "") {
		return nil, set, fmt.Errorf("%w: an engine or a formulation goes with the algorithm exact, not with %q", ErrUnknownAlgorithm, o.Algorithm)
	}
	byHiGHS := "highs"
	if f := o.Formulation; f != "" {
		known := Formulations(kind)
		if !slices.Contains(known, f) {
			return nil, set, fmt.Errorf("%w: formulation %q for %s, give one of %s", ErrUnknownAlgorithm, f, kind, strings.Join(known, ", "))
		}
		if f != known[0] {
			byHiGHS = "highs-" + f
		}
	}
	switch o.Algorithm {
	case "", "auto":
		if set.TimeLimit == 0 {
			set.TimeLimit = AutoTimeLimit
		}
		return pick("search")
	case "exact":
		switch o.Engine {
		case "", "search":
			if o.Formulation != "" {
				return nil, set, fmt.Errorf("%w: a formulation goes with the engine highs or both, not with search", ErrUnknownAlgorithm)
			}
			return pick("search")
		case "highs":
			return pick(byHiGHS)
		case "both":
			return pick("search", byHiGHS)
		}
		return nil, set, fmt.Errorf("%w: engine %q, give search, highs or both", ErrUnknownAlgorithm, o.Engine)
	}
	return pick(o.Algorithm)
}

// Formulations lists the problem's linear models, the default first.
func Formulations(kind model.Kind) []string {
	p, err := ProblemOf(kind)
	if err != nil {
		return nil
	}
	return p.Formulations
}

// Formulation builds the linear model of an instance, which turns solutions into
// points and points into solutions; an empty name is the default.
func Formulation(ctx context.Context, in model.Instance, name string) (*milp.Formulation[model.Solution], error) {
	p, err := ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	return p.Formulation(ctx, in, name)
}

// Check reports whether the options name solvers for the problem, without
// solving anything.
func (o Options) Check(kind model.Kind) error {
	_, _, err := o.solvers(kind)
	return err
}

// Solve runs a solver, gives its solution a bound, has the judge look at the
// result, and stamps it. Nothing in gapwise bypasses it.
//
// The error is a *DefectError if a claim is refuted, and otherwise one for bad
// input (model.ErrInvalid, model.ErrUnsupported, ErrUnknownAlgorithm) or a
// solver's failure. An interrupted solve is not an error: its solution is judged
// for some seconds more. A context that ends while the judge is at work stops
// the judge; the result is then marked Unverified.
func Solve(ctx context.Context, in model.Instance, o Options) (model.Result, error) {
	none := model.NewResult(o.Algorithm, o.Seed)
	solvers, set, err := o.solvers(in.Kind())
	if err != nil {
		return none, err
	}
	if err := in.Validate(); err != nil {
		return none, err
	}
	var results []model.Result
	for _, s := range solvers {
		r, err := solveOne(ctx, in, s, set, o.Judging)
		if err != nil {
			return r, err
		}
		results = append(results, r)
	}
	best := results[0]
	for _, r := range results[1:] {
		if best, err = reconcile(in, best, r, set.GapLimit()); err != nil {
			return best, err
		}
	}
	if len(results) > 1 {
		return stamp(ctx, in, best, set, o.Judging)
	}
	return best, nil
}

func solveOne(ctx context.Context, in model.Instance, s model.Solver, set model.Settings, judging func()) (model.Result, error) {
	start := time.Now()
	r, err := s.Solve(ctx, in, set)
	if r.Elapsed == 0 {
		r.Elapsed = time.Since(start)
	}
	if err != nil {
		return r, err
	}
	// A heuristic proves nothing by itself: it gets the cheap bounds.
	if r.Status != model.StatusInfeasible && math.IsNaN(r.Bound) {
		p, err := ProblemOf(in.Kind())
		if err != nil {
			return r, err
		}
		for _, b := range p.Quick(in) {
			switch {
			case !b.Infeasible:
				r.SetBound(model.SenseOf(in), b.Value, set.GapLimit())
			case r.Solution == nil:
				r.Status, r.Reason = model.StatusInfeasible, b.Reason
			default:
				return r, &DefectError{Instance: in, Result: r, Reason: "a bound proves infeasible what was solved: " + b.Reason}
			}
		}
	}
	return stamp(ctx, in, r, set, judging)
}

// judgeGrace is how long the judge may look at what a solver left that was
// interrupted: whoever interrupts is in a hurry (a batch system sends its second
// signal after some seconds).
const judgeGrace = 5 * time.Second

// stamp has the judge look at the result and writes who made it of what. If the
// context ends while the judge is at work, the result is Unverified.
func stamp(ctx context.Context, in model.Instance, r model.Result, set model.Settings, judging func()) (model.Result, error) {
	hash, err := model.Hash(in)
	if err != nil {
		return r, err
	}
	r.Instance, r.InstanceHash, r.Kind, r.Version, r.Seed = in.ID(), hash, in.Kind(), Version, set.Seed
	if r.GapLimit = 0; set.GapLimit() != model.DefaultGap {
		r.GapLimit = set.GapLimit()
	}
	patience, stop := ctx, context.CancelFunc(func() {})
	if ctx.Err() != nil { // it ended the solver: what that left is judged all the same
		patience, stop = context.WithTimeout(context.WithoutCancel(ctx), judgeGrace)
	}
	defer stop()
	if judging != nil {
		defer time.AfterFunc(time.Second, judging).Stop()
	}
	report, err := verify.Result(patience, in, r, verify.Options{})
	if err != nil && patience.Err() != nil {
		// The solution is handed over, but nothing that was claimed of it.
		r.Unverified = true
		if r.Status == model.StatusOptimal {
			r.Status = model.StatusFeasible
		}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := report.Err(); err != nil {
		return r, &DefectError{Instance: in, Result: r, Report: report, Reason: err.Error()}
	}
	r.Unverified = false
	return r, nil
}

// reconcile compares what two engines prove and joins it: the better solution
// with the better bound.
func reconcile(in model.Instance, a, b model.Result, gap float64) (model.Result, error) {
	sense := model.SenseOf(in)
	if err := contradiction(in, a, b); err != nil {
		return b, err
	}
	if a.Status == model.StatusOptimal && b.Status == model.StatusOptimal && model.Gap(a.Objective, b.Objective) > 2*gap {
		return b, &DefectError{Instance: in, Result: b, Reason: fmt.Sprintf("%s and %s disagree: the optima are %.12g and %.12g", a.Algorithm, b.Algorithm, a.Objective, b.Objective)}
	}
	r := a
	if a.Solution == nil && a.Status != model.StatusInfeasible && (b.Solution != nil || b.Status == model.StatusInfeasible) || b.Solution != nil && sense.Better(b.Objective, a.Objective) {
		r = b
	}
	if r.Algorithm = a.Algorithm + "+" + b.Algorithm; r.Details == nil {
		r.Details = b.Details
	}
	r.Elapsed, r.Nodes = a.Elapsed+b.Elapsed, a.Nodes+b.Nodes
	for _, x := range []model.Result{a, b} {
		r.SetBound(sense, x.Bound, gap)
	}
	if r.Status == model.StatusOptimal {
		r.Reason = "" // one was stopped, the two together have the proof
	}
	return r, nil
}

// Bounds computes every bound that needs no search, weakest first.
func Bounds(ctx context.Context, in model.Instance) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p, err := ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	return p.Bounds(ctx, in)
}
