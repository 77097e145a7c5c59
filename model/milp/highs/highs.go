// SPDX-License-Identifier: MIT

// Package highs solves linear and mixed-integer linear models with HiGHS
// (version 1.10 or later) through its C API. It knows nothing but models.
//
// HiGHS prints nothing unless a Log is given. Many solves may run at once, each
// with one thread; a solve with more threads runs alone, since HiGHS's thread
// pool belongs to the process.
//
// A build without cgo, or with the tag nohighs, has no HiGHS: Built is false then,
// and whatever would solve a model returns ErrNotBuilt.
package highs

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// ErrNotBuilt is the error of every solve in a program that was built without
// HiGHS. It wraps model.ErrUnsupported.
var ErrNotBuilt = fmt.Errorf("%w: built without HiGHS; build it with cgo, see docs/how-to/use-as-a-library.md", model.ErrUnsupported)

// errSolver marks an error that HiGHS itself returned.
var errSolver = errors.New("highs: solver error")

// ErrStart marks a start solution whose length isn't the number of variables.
var ErrStart = errors.New("highs: start solution of the wrong length")

// Backend is HiGHS.
var Backend = milp.Backend{Name: "highs", Title: "HiGHS", Solve: Solve, Missing: missing}

// Lanl is HiGHS by another binding, github.com/lanl/highs: a second opinion on ours,
// and the field's own. It has no callbacks, interrupt, start or added columns, for
// which package highs exists: so there is no progress, a cancelled solve goes on in the
// background, one that reaches its time limit hands back nothing, and it uses one
// thread.
var Lanl = milp.Backend{Name: "lanl", Title: "HiGHS (lanl/highs)", Solve: solveLanl, Missing: missing}

// Column is a variable to add to an LP.
type Column struct {
	Cost, Lower, Upper float64
	Terms              []RowTerm
}

// RowTerm is a coefficient of a column.
type RowTerm struct {
	Row  int
	Coef float64
}

// Solve solves the model. It returns within 100 ms of the end of ctx with what is
// known by then; HiGHS, which may take longer to notice the interrupt, then ends in
// the background. A status that isn't optimal is no error; errors are for invalid
// models and options, and HiGHS's own failures.
func Solve(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	none := emptyResult()
	if err := checkSolve(m, o); err != nil {
		return none, err
	}
	// What a linear program takes at least: others may have their turn first.
	if turns.Ahead(ctx, 20*int64(len(m.Rows)+len(m.Vars))) {
		none.Status = milp.Interrupted
		return none, nil
	}
	return solve(ctx, m, o)
}

// checkSolve refuses invalid models and options.
func checkSolve(m *milp.Model, o milp.Options) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if o.Start != nil && len(o.Start) != len(m.Vars) {
		return fmt.Errorf("%w: %d values for %d variables", ErrStart, len(o.Start), len(m.Vars))
	}
	if o.Gap < 0 || math.IsNaN(o.Gap) || o.TimeLimit < 0 || o.NodeLimit < 0 || o.Threads < 0 {
		return fmt.Errorf("highs: an option is negative: gap %v, time limit %v, node limit %d, threads %d", o.Gap, o.TimeLimit, o.NodeLimit, o.Threads)
	}
	return nil
}

func emptyResult() milp.Result { return milp.NoResult(defaultTolerance) }

// defaultTolerance is HiGHS's own for MIPs.
const defaultTolerance = 1e-6

// SolveFile solves a model that HiGHS reads from a file in the format that its
// extension names (.mps, .lp), for tests of what was written.
func SolveFile(ctx context.Context, file string, o milp.Options) (milp.Result, error) {
	return solveFile(ctx, file, o)
}
