package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Algorithm describes a solver of one problem.
type Algorithm struct {
	Name       string // as in --algorithm
	Kind       Kind   // the problem that it solves
	Paper      string // where it comes from, with the section
	Complexity string // worst case, in the words of its doc comment
	Summary    string // one line
	Exact      bool   // proves optimality when given time
	Seeded     bool   // draws random numbers from Settings.Seed
	Solver     Solver
}

// Adapt makes a Solver of a typed algorithm. The result carries the
// solution and its objective; ErrNoSolution becomes the status unknown. The
// time limit reaches the algorithm through its context.
func Adapt[I Instance, S Solution](name string, solve func(context.Context, I, Settings) (S, error)) Solver {
	return AdaptDetailed(name, func(ctx context.Context, in I, set Settings) (S, Details, error) {
		solution, err := solve(ctx, in, set)
		return solution, nil, err
	})
}

// AdaptDetailed is Adapt for algorithms that tell details, or nil for none.
func AdaptDetailed[I Instance, S Solution](name string, solve func(context.Context, I, Settings) (S, Details, error)) Solver {
	return solver[I, S]{name, solve}
}

type solver[I Instance, S Solution] struct {
	name  string
	solve func(context.Context, I, Settings) (S, Details, error)
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
	solution, details, err := s.solve(ctx, typed, set)
	r.Elapsed, r.Details = time.Since(start), details
	switch {
	case errors.Is(err, ErrNoSolution):
		r.Reason = err.Error()
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s: %w", s.name, err)
	}
	if ctx.Err() != nil {
		r.Reason = "stopped before its end"
	}
	return r, r.SetSolution(in, solution)
}

// Engine describes an exact engine under its own name. It counts as seeded:
// engines start from the solutions of seeded heuristics, and which one of
// several optimal solutions they end with depends on that.
func Engine(kind Kind, s Solver, paper, summary string) Algorithm {
	return Algorithm{Name: s.Name(), Kind: kind, Paper: paper, Complexity: "exponential", Summary: summary, Exact: true, Seeded: true, Solver: s}
}
