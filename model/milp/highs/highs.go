// SPDX-License-Identifier: MIT

// Package highs solves linear and mixed-integer linear models with HiGHS 1.15.1. It knows nothing but models.
//
// HiGHS is one file of WebAssembly, from npm's package highs, which github.com/tetratelabs/wazero compiles and runs: no
// C++, no cgo, one thread a solve. scripts/highs puts the file into the user's cache, where this package looks for it
// after GAPWISE_HIGHS. Use supplies it, and a program built with the tag highs holds it. Without the file Available is
// false, and whatever would solve a model returns ErrMissing. The first solve of a process loads the machine code, a
// tenth of a second; the first on a machine makes it, six seconds of CPU. wazero has a compiler for amd64 and arm64.
// Elsewhere it interprets, some hundred times slower.
//
// The same file runs in the browser next to this program, which is WebAssembly itself: a page offers it, see
// web/page/highs.js.
//
// HiGHS prints nothing unless a Log is given. Many solves may run at once, each in memory of its own of at most 2 GiB.
//
// Its word is no proof. Each version calls some feasible models infeasible, and some points optimal that aren't;
// options.go and costScale list the known cases.
package highs

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model/milp"
)

// errSolver marks an error that HiGHS itself returned.
var errSolver = errors.New("highs: solver error")

// Backend is HiGHS.
var Backend = milp.Backend{Name: "highs", Title: "HiGHS", Solve: Solve, Missing: missing}

// Solve solves the model. It returns within 100 ms of the end of ctx with the knowledge so far. HiGHS, which may take
// longer to notice the interrupt, then ends in the background. A status that isn't optimal is no error; errors are for
// invalid models and options, and HiGHS's own failures.
func Solve(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	none := emptyResult()
	if err := checkSolve(m, o); err != nil {
		return none, err
	}
	// The least work of a linear program: others may have their turn first.
	if meter.Ahead(ctx, 20*int64(len(m.Rows)+len(m.Vars))) {
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
		return fmt.Errorf("%w: a start of %d values for %d variables", milp.ErrInvalid, len(o.Start), len(m.Vars))
	}
	if o.Gap < 0 || math.IsNaN(o.Gap) || o.TimeLimit < 0 || o.NodeLimit < 0 || o.Threads < 0 {
		return fmt.Errorf("highs: an option is negative: gap %v, time limit %v, node limit %d, threads %d", o.Gap, o.TimeLimit, o.NodeLimit, o.Threads)
	}
	return nil
}

func emptyResult() milp.Result { return milp.NoResult(defaultTolerance) }

// defaultTolerance is HiGHS's own for MIPs.
const defaultTolerance = 1e-6
