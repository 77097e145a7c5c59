// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/num/null"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Problem describes one optimisation problem: all that gapwise knows about it.
type Problem struct {
	Kind model.Kind
	// Algorithms lists the heuristics, weakest first, and then the exact
	// engines, the default first.
	Algorithms []model.Algorithm
	// Default is the exact engine that exact runs.
	Default string
	// Auto names the algorithms that take turns in auto, in their order: cheap heuristics
	// by promise, those that improve a solution, engines.
	Auto []string
	// Idle names the algorithms of Auto that have no turn on an instance, since they bring nothing there.
	Idle func(model.Instance) []string
	// Portfolio is the algorithm auto; its devices are the algorithms of Auto.
	Portfolio exact.Switchable
	// Phases are the phases of the native search, each by itself.
	Phases []model.Solver
	// Search is the native search, nil without one, and Kernel the engine kernel if its devices can be
	// switched off, else nil.
	Search, Kernel exact.Switchable
	// CompleteStart makes a solution to start from of a partial one, see func CompleteStart.
	CompleteStart func(context.Context, model.Instance, model.Solution) (model.Solution, model.Completion, error)
	// Formulations names the linear models, the default first.
	Formulations []string
	// Formulation builds the named linear model of an instance; "" is the
	// default.
	Formulation func(ctx context.Context, in model.Instance, name string) (*milp.Formulation[model.Solution], error)
	// Linear returns the engine that solves the named formulation, "" for the
	// default, by a solver of linear models; nil without a formulation.
	Linear func(formulation string, backend milp.Backend) model.Solver
	// First is the cheapest heuristic, of near linear time: there is a solution when the
	// others are still at their beginning.
	First model.Solver
	// Quick computes the bounds that take no longer than a heuristic: those that take
	// linear time in any case, the others until the context ends.
	Quick func(context.Context, model.Instance) []bounds.Bound
	// Bounds computes every bound that needs no search, weakest first.
	Bounds func(context.Context, model.Instance) ([]bounds.Bound, error)
	// Others computes bounds of figures that aren't the objective, named by them.
	Others func(context.Context, model.Instance) []bounds.Bound
	// Features computes figures of an instance to group results by. The list depends on
	// the problem alone; a value is NaN where it means nothing, as some are for an empty
	// instance. The instance must be valid, or empty.
	Features func(model.Instance) []features.Feature
	// Generator makes specifications of random instances.
	Generator instances.Generator
	// Parameters makes the settings that only this problem's algorithms know;
	// nil if there are none.
	Parameters func() model.Parameters
	// Gantt names the algorithms for a picture without a given solution: the first that takes the instance solves it.
	// It is empty for a problem without a picture.
	Gantt []string
	// Pictured returns the parts of a solution's picture: the solution and, above it, others to compare it with, if
	// that helps.
	Pictured func(context.Context, model.Instance, model.Solution) ([]Picture, error)
	// Variants are the readings of an instance that a flag may choose.
	Variants []Variant
	// size counts an instance's jobs, tasks and edges, or requests.
	size func(model.Instance) int
	// complete fills in the parts that model.DecodePartial has left empty; nil if it leaves none.
	complete func(context.Context, model.Instance, model.Solution, model.Missing) (model.Solution, error)
}

// Variant is a reading of an instance that a flag may choose. Its functions take
// instances and solutions of their problem alone.
type Variant struct {
	Flag   string
	Values []string
	// Get returns the value by which an instance is read.
	Get func(model.Instance) string
	// With returns a copy of an instance to be read by another value.
	With func(in model.Instance, value string) model.Instance
	// MadeFor returns the value that a solution was made for, if the
	// instance leaves it open; "" otherwise.
	MadeFor func(model.Instance, model.Solution) string
}

// Picture is one solution of a picture.
type Picture struct {
	Instance model.Instance
	Solution model.Solution
	// Arrived holds the end of each of a schedule's transfers, in seconds; nil for problems without transfers.
	Arrived []float64
	// Label names one of several solutions: Planned or Realistic; "" if there is one.
	Label string
}

// Labels of pictures: a plan's promise, and its outcome.
const (
	Planned   = "planned"
	Realistic = "realistic"
)

// definition is a Problem in the types of its instances. All but kind, engines
// and generator may be left out.
type definition[I model.Instance] struct {
	kind         model.Kind
	heuristics   []model.Algorithm
	engines      []model.Algorithm
	auto         []string
	idle         func(I) []string
	phases       []model.Solver
	search       exact.Switchable
	kernel       exact.Switchable
	start        func(context.Context, I, model.Solution) (model.Solution, model.Completion, error)
	formulations []string
	formulation  func(ctx context.Context, in I, name string) (*milp.Formulation[model.Solution], error)
	linear       func(formulation string, b milp.Backend) model.Solver
	first        model.Solver
	quick        func(context.Context, I) []bounds.Bound
	bounds       func(context.Context, I) ([]bounds.Bound, error)
	others       func(context.Context, I) []bounds.Bound
	generator    instances.Generator
	parameters   func() model.Parameters
	gantt        []string
	pictured     func(context.Context, I, model.Solution) ([]Picture, error) // nil: the solution alone
	variants     []Variant
	features     func(I) []features.Feature
	size         func(I) int
	complete     func(context.Context, I, model.Solution, model.Missing) (model.Solution, error)
}

// define returns a Problem with functions that take instances of any kind and refuse other problems' instances.
func define[I model.Instance](d definition[I]) *Problem {
	p := &Problem{
		Kind:       d.kind,
		Algorithms: slices.Concat(d.heuristics, d.engines),
		Default:    d.engines[0].Name,
		Auto:       d.auto,
		Idle: func(in model.Instance) []string {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.idle == nil {
				return nil
			}
			return d.idle(typed)
		},
		Phases:     d.phases,
		Search:     d.search,
		Kernel:     d.kernel,
		Generator:  d.generator,
		Parameters: d.parameters,
		Gantt:      d.gantt,
		Pictured: func(ctx context.Context, in model.Instance, s model.Solution) ([]Picture, error) {
			typed, err := asKind[I](d.kind, in)
			if err != nil {
				return nil, err
			}
			if d.pictured == nil {
				return []Picture{{Instance: in, Solution: s}}, nil
			}
			return d.pictured(ctx, typed, s)
		},
		Variants: d.variants,
		Features: func(in model.Instance) []features.Feature {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.features == nil {
				return nil
			}
			return d.features(typed)
		},
		CompleteStart: func(ctx context.Context, in model.Instance, start model.Solution) (model.Solution, model.Completion, error) {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.start == nil {
				return start, model.Completion{}, err
			}
			return d.start(ctx, typed, start)
		},
		Formulations: d.formulations,
		Formulation: func(ctx context.Context, in model.Instance, name string) (*milp.Formulation[model.Solution], error) {
			typed, err := asKind[I](d.kind, in)
			if err != nil {
				return nil, err
			}
			if d.formulation == nil {
				return nil, fmt.Errorf("%w: %s has no linear model", model.ErrUnsupported, d.kind)
			}
			return d.formulation(ctx, typed, name)
		},
		Linear: d.linear,
		size: func(in model.Instance) int {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.size == nil {
				return 0
			}
			return d.size(typed)
		},
		complete: func(ctx context.Context, in model.Instance, s model.Solution, missing model.Missing) (model.Solution, error) {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.complete == nil || missing == (model.Missing{}) {
				return s, err
			}
			return d.complete(ctx, typed, s, missing)
		},
		First: d.first,
		Quick: func(ctx context.Context, in model.Instance) []bounds.Bound {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.quick == nil {
				return nil
			}
			return d.quick(ctx, typed)
		},
		Bounds: func(ctx context.Context, in model.Instance) ([]bounds.Bound, error) {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.bounds == nil {
				return nil, err
			}
			return d.bounds(ctx, typed)
		},
		Others: func(ctx context.Context, in model.Instance) []bounds.Bound {
			typed, err := asKind[I](d.kind, in)
			if err != nil || d.others == nil {
				return nil
			}
			return d.others(ctx, typed)
		},
	}
	p.Portfolio = auto{p, d.auto}
	return p
}

// named returns the algorithm of a name, which must be there.
func named(name string, all []model.Algorithm) model.Algorithm {
	return all[slices.IndexFunc(all, func(a model.Algorithm) bool { return a.Name == name })]
}

func asKind[I model.Instance](kind model.Kind, in model.Instance) (I, error) {
	typed, ok := in.(I)
	if !ok {
		return typed, fmt.Errorf("%w: the problem %s doesn't take %s instances", model.ErrUnsupported, kind, in.Kind())
	}
	return typed, nil
}

// problemFor returns the problem of an instance. The error is for a missing one, and of ProblemOf.
func problemFor(in model.Instance) (*Problem, error) {
	if err := given(in); err != nil {
		return nil, err
	}
	return ProblemOf(in.Kind())
}

// given reports a missing instance.
func given(in model.Instance) error {
	if null.Is(in) {
		return fmt.Errorf("%w instance: it is nil", model.ErrInvalid)
	}
	return nil
}

// general returns the formulation for solutions of any kind. Encode returns nil for solutions of another problem.
func general[S model.Solution](f *milp.Formulation[S]) *milp.Formulation[model.Solution] {
	return milp.Convert(f, func(p model.Solution) (S, error) {
		s, ok := p.(S)
		if !ok {
			return s, fmt.Errorf("%w: a %T is no solution of this problem", model.ErrUnsupported, p)
		}
		return s, nil
	}, func(s S) (model.Solution, error) { return s, nil })
}

// problems lists every problem.
var problems = []*Problem{batchProblem, consolidationProblem, dagProblem, reservationProblem, tvcProblem, vcschedProblem}

// Problems returns every problem, in alphabetical order.
func Problems() []*Problem { return slices.Clone(problems) }

// ProblemOf returns the problem of a kind; the error wraps model.ErrUnsupported.
func ProblemOf(kind model.Kind) (*Problem, error) {
	for _, p := range problems {
		if p.Kind == kind {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no problem %q, give one of %q", model.ErrUnsupported, kind, model.Kinds())
}

// Phases lists the phases of a problem's native search, each by itself.
func Phases(kind model.Kind) []model.Solver {
	p, err := ProblemOf(kind)
	if err != nil {
		return nil
	}
	return p.Phases
}

// Engines lists the values of Options.Engine: the exact algorithms, HiGHS on its default formulation alone.
func (p *Problem) Engines() (names []string) {
	for _, a := range p.Algorithms {
		if a.Exact && !strings.HasPrefix(a.Name, "highs-") {
			names = append(names, a.Name)
		}
	}
	return names
}

// ParseParameters makes the settings that only this problem's algorithms know
// from their keys and values; nil for none. The error names an unknown key or states the valid values.
func (p *Problem) ParseParameters(values map[string]string) (model.Parameters, error) {
	if len(values) == 0 {
		return nil, nil
	}
	set := (model.Parameters)(nil)
	var known []params.Param
	if p.Parameters != nil {
		set = p.Parameters()
		known = params.Of(set)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		k := slices.IndexFunc(known, func(x params.Param) bool { return x.Key == key })
		if k < 0 {
			return nil, fmt.Errorf("%w: no algorithm for %s knows the parameter %q", ErrUnknownAlgorithm, p.Kind, key)
		}
		if err := known[k].Set(set, values[key]); err != nil {
			return nil, fmt.Errorf("%s %w", key, err)
		}
	}
	return set, nil
}

// names returns the values of a string type as strings.
func names[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}
