// Package heuristics is the catalogue of named algorithms. The algorithms live
// one folder down, by problem, as typed functions; the catalogue adapts them
// to model.Solver.
package heuristics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Algorithm is one entry of the catalogue.
type Algorithm struct {
	Name       string     // as in --algorithm
	Kind       model.Kind // the problem that it solves
	Paper      string     // where it comes from, with the section
	Complexity string     // worst case, in the words of its doc comment
	Summary    string     // one line
	Exact      bool       // proves optimality when given time
	Seeded     bool       // draws random numbers from Settings.Seed
	Solver     model.Solver
}

// Adapt makes a model.Solver of a typed algorithm. The result carries the
// solution and its objective; model.ErrNoSolution becomes the status unknown. The
// time limit reaches the algorithm through its context.
func Adapt[I model.Instance, S model.Solution](name string, solve func(context.Context, I, model.Settings) (S, error)) model.Solver {
	return solver[I, S]{name, solve}
}

type solver[I model.Instance, S model.Solution] struct {
	name  string
	solve func(context.Context, I, model.Settings) (S, error)
}

func (s solver[I, S]) Name() string { return s.name }

func (s solver[I, S]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.name, set.Seed)
	typed, ok := in.(I)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", s.name, model.ErrUnsupported, in.Kind())
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	start := time.Now()
	solution, err := s.solve(ctx, typed, set)
	r.Elapsed = time.Since(start)
	switch {
	case errors.Is(err, model.ErrNoSolution):
		r.Reason = err.Error()
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s: %w", s.name, err)
	}
	return r, r.SetSolution(in, solution)
}
