// SPDX-License-Identifier: MIT

// Package gapwise solves scheduling problems. Solve takes an instance and
// returns a solution, a bound on every solution's objective and the gap between
// the two. An independent judge (package verify) checks the solution first.
//
//	in, err := instances.Load("instance.json")
//	res, err := gapwise.Solve(ctx, in, gapwise.Options{Algorithm: "auto"})
package gapwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/heuristics/online/wire"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/text/nearest"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/external"
	"github.com/gapwise/gapwise/verify"
)

// Version is the version of the library and the command.
const Version = "0.11.0"

// AutoTimeLimit limits the algorithm auto when no time limit is given.
const AutoTimeLimit = 10 * time.Second

// ErrUnknownAlgorithm marks the name of an algorithm, engine or formulation
// that the problem doesn't have.
var ErrUnknownAlgorithm = errors.New("unknown algorithm")

// Options are the options of Solve.
type Options struct {
	// Algorithm is a name of Algorithms(kind), or
	//   - cmd:COMMAND, a heuristic that is a program (docs/how-to/bring-your-own.md);
	//   - online:COMMAND, an online policy of batch, reservation or tvc that is another program
	//     (docs/how-to/bring-your-own-policy.md), or batsim:tcp://HOST:PORT, one of batch;
	//   - a solver of linear models, see Externals;
	//   - exact: the engine(s) below, without a time limit of their own;
	//   - auto (and ""): all heuristics and the engines of Problem.Auto take turns, for
	//     at most AutoTimeLimit unless a limit is given. It serves every size, and ends
	//     with a bound.
	Algorithm string
	// Engine is the engine that exact runs: search, highs, kernel, one of Externals or mps:COMMAND; "" is the problem's
	// default. If several are named, with commas between them, each solves the instance, and their proofs are compared.
	// "both" is the default and highs. A command comes last: its commas are its own.
	Engine string
	// Formulation is the linear model of highs and of Externals; "" is the default.
	Formulation string
	// Settings.Proof asks for a proof of the bound, which verify.Proof replays. Only the engine kernel writes one; auto
	// and exact then run it.
	model.Settings
	// Patience, if not 0, is how long Solve waits for a solver that hasn't returned by the end of its context or of a
	// tenth more than its time limit. Its result is then the last one that it reported to Progress; its goroutine goes
	// on. 0: Solve waits until it returns.
	Patience time.Duration
	// Judging, if not nil, is called from another goroutine when the judge has
	// been at work for a second.
	Judging func()
	// Solver, if not nil, runs instead of a named algorithm: a user's own.
	Solver model.Solver
	// Bounds are a user's own, from other knowledge of the instances. They hold for every result, in addition to the
	// solver's proofs, and are taken on trust: a solution that beats one is a DefectError.
	Bounds []func(context.Context, model.Instance) (bounds.Bound, error)
}

// DefectError reports that the judge, a bound or another engine refuted a solver's answer. It is a bug in gapwise or
// the solver, never in the instance.
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

// LogAlgorithm names the schedule of a log's own scheduler; its results are no algorithm's.
const LogAlgorithm = "log"

// ClassOf returns the class of a name in results: an algorithm, an engine or several, a program. An unknown name may
// have seen the whole instance.
func ClassOf(kind model.Kind, name string) model.Class {
	p, err := ProblemOf(kind)
	if err != nil {
		return model.Offline
	}
	for _, a := range p.Algorithms {
		if a.Name == name {
			return a.Class
		}
	}
	first := joined(EngineNames(name)[0])[0]
	switch {
	case wire.Known(name), name == LogAlgorithm:
		return model.Online
	case name == "" || name == "auto" || name == "exact" || first == "both" || slices.Contains(p.Engines(), first):
		return model.Yardstick
	case isExternal(first) || slices.ContainsFunc(Externals(), func(e string) bool { return strings.HasPrefix(first, e+"-") }):
		return model.Yardstick
	case slices.ContainsFunc(p.Phases, func(s model.Solver) bool { return s.Name() == name }):
		return model.Yardstick
	}
	return model.Offline
}

// Find returns the algorithm of a name. The name is one of Algorithms(kind), a solver of linear models that is a
// separate program (see Externals), a heuristic cmd:COMMAND, or an online policy online:COMMAND. LABEL= before the
// last two names them in results. The error wraps ErrUnknownAlgorithm and names the algorithms that there are.
func Find(kind model.Kind, name string) (model.Algorithm, error) {
	var names []string
	for _, a := range Algorithms(kind) {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	label, rest := process.Labelled(name)
	if label == "auto" || label == "exact" || label == LogAlgorithm || label != "" && slices.Contains(names, label) {
		return model.Algorithm{}, fmt.Errorf("%w %q: %s is gapwise's own, give yours another name", ErrUnknownAlgorithm, name, label)
	}
	if strings.HasPrefix(rest, command.Prefix) {
		return ofCommand(kind, name)
	}
	if wire.Known(rest) {
		return ofPolicy(kind, name)
	}
	if a, ok, err := findExternal(kind, name); ok {
		return a, err
	}
	hint := ""
	if strings.ContainsAny(name, " /{") {
		hint = fmt.Sprintf("a program is %s%s: did you mean that? Else ", command.Prefix, name)
	}
	if name == LogAlgorithm {
		hint = "log is how a log's own scheduler ran its jobs: gapwise report shows it, gapwise convert --ran writes it; else "
	} else if near := nearest.Of(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return model.Algorithm{}, fmt.Errorf("%w %q for %s; %sgive one of auto, exact, %s", ErrUnknownAlgorithm, name, kind, hint, strings.Join(names, ", "))
}

// auto reports whether the algorithm is auto.
func (o Options) auto() bool {
	return o.Solver == nil && (o.Algorithm == "" || o.Algorithm == "auto")
}

// untilSpent is the time limit where the effort is to end a run.
const untilSpent = 1000 * time.Hour

// solvers returns the algorithms that the options name, with the settings to use.
func (o Options) solvers(kind model.Kind) (all []model.Algorithm, set model.Settings, err error) {
	set = o.Settings
	if set.Effort > 0 { // a solver that goes on to the limit of its time goes on to this one
		set.TimeLimit = cmp.Or(set.TimeLimit, untilSpent)
	}
	if o.Solver != nil {
		known, _ := Find(kind, o.Solver.Name()) // an engine without some of its devices
		_, several := o.Solver.(auto)
		return []model.Algorithm{{Name: o.Solver.Name(), Exact: known.Exact || several, Solver: o.Solver}}, set, nil
	}
	wrong := func(format string, args ...any) ([]model.Algorithm, model.Settings, error) {
		return nil, set, fmt.Errorf("%w: "+format, append([]any{ErrUnknownAlgorithm}, args...)...)
	}
	p, err := ProblemOf(kind)
	if err != nil {
		return nil, set, err
	}
	if set.Proof != nil {
		switch o.Algorithm {
		case "", "auto":
			set.TimeLimit = cmp.Or(set.TimeLimit, AutoTimeLimit)
			o.Algorithm = "exact"
		case "kernel":
			o.Algorithm = "exact"
		}
		if o.Algorithm != "exact" || o.Engine != "" && o.Engine != "kernel" {
			return wrong("only the engine kernel writes proofs: leave algorithm and engine out, or give exact and kernel")
		}
		if o.Engine = "kernel"; !slices.Contains(p.Engines(), o.Engine) {
			return wrong("there are no proofs for %s, which has no engine kernel", kind)
		}
	}
	if o.Algorithm != "exact" && (o.Engine != "" || o.Formulation != "") {
		return wrong("an engine or a formulation goes with the algorithm exact, not with %q", o.Algorithm)
	}
	switch name := o.Algorithm; name {
	case "exact":
		if all, err = o.engines(p); err != nil {
			return nil, set, err
		}
	case "", "auto":
		set.TimeLimit = cmp.Or(set.TimeLimit, AutoTimeLimit)
		if err := o.untraced("auto", false); err != nil {
			return nil, set, err
		}
		return []model.Algorithm{{Name: "auto", Exact: true, Solver: p.Portfolio}}, set, nil
	default:
		a, err := Find(kind, name)
		if err != nil {
			return nil, set, err
		}
		all = append(all, a)
	}
	for _, a := range all {
		if err := o.untraced(a.Name, a.Traced); err != nil {
			return nil, set, err
		}
		if p, ok := a.Solver.(model.Prover); set.Proof != nil && !(ok && p.Proves()) {
			return wrong("the engine kernel writes no proofs for %s", kind)
		}
	}
	return all, set, nil
}

// untraced reports an algorithm that is asked for its steps and reports none.
func (o Options) untraced(name string, traced bool) error {
	if o.Trace == nil || traced {
		return nil
	}
	var names []string
	for _, p := range problems {
		for _, a := range p.Algorithms {
			if a.Traced {
				names = append(names, fmt.Sprintf("%s (%s)", a.Name, p.Kind))
			}
		}
	}
	return fmt.Errorf("%w: %s has no trace; these have one: %s", ErrUnknownAlgorithm, name, strings.Join(names, ", "))
}

// engines returns the exact algorithms that Engine and Formulation name.
func (o Options) engines(p *Problem) ([]model.Algorithm, error) {
	wrong := func(format string, args ...any) ([]model.Algorithm, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{ErrUnknownAlgorithm}, args...)...)
	}
	engine := cmp.Or(o.Engine, p.Default)
	if engine == "both" {
		engine = p.Default + ",highs"
	}
	names := EngineNames(engine)
	linear := 0
	for i, name := range names {
		if !slices.Contains(p.Engines(), name) && !isExternal(name) {
			return wrong("engine %q for %s, give one of %s, %s or mps:COMMAND, or several with commas",
				name, p.Kind, strings.Join(p.Engines(), ", "), strings.Join(Externals(), ", "))
		}
		if name == "highs" || isExternal(name) {
			linear++
		}
		if slices.Contains(names[:i], name) {
			return wrong("engine %q twice", name)
		}
	}
	switch {
	case o.Formulation == "":
	case !slices.Contains(p.Formulations, o.Formulation):
		return wrong("formulation %q for %s, give one of %s", o.Formulation, p.Kind, strings.Join(p.Formulations, ", "))
	case linear == 0:
		return wrong("a formulation goes with the engine highs or a solver of MPS files, not with %s", engine)
	}
	var all []model.Algorithm
	for _, name := range names {
		var a model.Algorithm
		var err error
		switch {
		case isExternal(name):
			a, err = ofExternal(p, name, o.Formulation)
		case name == "highs" && o.Formulation != "" && o.Formulation != p.Formulations[0]:
			a, err = Find(p.Kind, name+"-"+o.Formulation)
		default:
			a, err = Find(p.Kind, name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// EngineNames splits Options.Engine, or a list of algorithms, at its commas, up to a
// command.
func EngineNames(engine string) (names []string) {
	for {
		name, rest, more := strings.Cut(engine, ",")
		_, rested := process.Labelled(engine)
		if strings.HasPrefix(engine, external.Prefix) || strings.HasPrefix(rested, command.Prefix) || wire.Known(rested) || !more {
			return append(names, engine)
		}
		names, engine = append(names, name), rest
	}
}

// Formulations lists the problem's linear models, the default first.
func Formulations(kind model.Kind) []string {
	p, err := ProblemOf(kind)
	if err != nil {
		return nil
	}
	return p.Formulations
}

// Formulation builds the linear model of an instance. It turns solutions into
// points and points into solutions. The name "" is the default.
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

// Bounds computes every bound that needs no search, weakest first.
func Bounds(ctx context.Context, in model.Instance) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p, err := ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	return p.Bounds(view.NewCase(in).Context(ctx), in)
}

// OtherBounds computes bounds of figures that aren't the objective, named by them;
// nil if the problem has none.
func OtherBounds(ctx context.Context, in model.Instance) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p, err := ProblemOf(in.Kind())
	if err != nil {
		return nil, err
	}
	return p.Others(ctx, in), nil
}
