// SPDX-License-Identifier: MIT

package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gapwise/gapwise/internal/num/null"
)

// Algorithm describes a solver of one problem.
type Algorithm struct {
	Name       string // as in --algorithm
	Kind       Kind   // the problem that it solves
	Paper      string // its source, with the section
	Complexity string // worst case, as in its doc comment
	Summary    string // one line
	Class      Class  // its knowledge when it decides
	Exact      bool   // proves optimality, given time
	Seeded     bool   // its solution depends on Settings.Seed
	Traced     bool   // it reports its steps to Settings.Trace
	Solver     Solver
}

// Class describes an algorithm's knowledge when it decides. Results of different classes are shown side by side but not
// ranked against each other. The difference between an online policy and a yardstick is the price of not knowing the
// future.
type Class string

// The classes, in the order in which tables show them.
const (
	// Online algorithms decide about each job with the knowledge at that time.
	Online Class = "online"
	// Offline algorithms are heuristics that see the whole instance. Programs of users
	// get the whole file, so they are offline in every problem.
	Offline Class = "offline"
	// Yardsticks measure the others: the clairvoyant, exact engines, bounds.
	Yardstick Class = "yardstick"
)

// Classes returns the classes in the order in which tables show them.
func Classes() []Class { return []Class{Online, Offline, Yardstick} }

// Rank returns the place of the class in Classes.
func (c Class) Rank() int { return slices.Index(Classes(), c) }

// Plural names the algorithms of a class.
func (c Class) Plural() string {
	switch c {
	case Online:
		return "online policies"
	case Offline:
		return "offline heuristics"
	}
	return "yardsticks"
}

// Meaning describes in a few words the knowledge of a class's algorithms.
func (c Class) Meaning() string {
	switch c {
	case Online:
		return "decide with what is known at that time"
	case Offline:
		return "see the whole instance"
	}
	return "clairvoyant or exact, to measure the others by"
}

// Adapt makes a Solver of a function. The function's context ends with the time
// limit; its ErrNoSolution becomes the status unknown, and so does the context's error once the context has ended.
func Adapt[I Instance, S Solution](name string, solve func(context.Context, I, Settings) (S, error)) Solver {
	return solver[I, S]{name, solve}
}

type solver[I Instance, S Solution] struct {
	name  string
	solve func(context.Context, I, Settings) (S, error)
}

func (s solver[I, S]) Name() string { return s.name }

func (s solver[I, S]) Solve(ctx context.Context, in Instance, set Settings) (Result, error) {
	r := NewResult(s.name, set.Seed)
	typed, ok := in.(I)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", s.name, ErrUnsupported, in.Kind())
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	start := time.Now()
	solution, err := s.solve(ctx, typed, set)
	r.Elapsed = time.Since(start)
	switch {
	case errors.Is(err, ErrNoSolution):
		r.Reason = err.Error()
		return r, nil
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		r.Reason = "stopped without a solution"
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s: %w", s.name, err)
	case null.Is(solution):
		return r, fmt.Errorf("%s: %w solution: it is nil, and so is the error; return model.ErrNoSolution if there is none", s.name, ErrInvalid)
	}
	if ctx.Err() != nil {
		r.Reason = "stopped before its end"
	}
	return r, r.SetSolution(in, solution)
}

// Engine returns the description of an exact engine. It counts as seeded:
// engines start from the solutions of seeded heuristics, and which of several
// optimal solutions they return depends on that.
func Engine(kind Kind, s Solver, paper, summary string) Algorithm {
	return Algorithm{Name: s.Name(), Kind: kind, Paper: paper, Complexity: "exponential", Summary: summary, Class: Yardstick, Exact: true, Seeded: true, Solver: s}
}
