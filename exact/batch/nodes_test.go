// SPDX-License-Identifier: MIT

package batch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// proved returns the kernel's proved optimum on nodes, which the judge accepts.
func proved(t *testing.T, s model.Solver, in *model.Batch) model.Result {
	t.Helper()
	r := solve(t, s, in)
	report := require.Value(verify.Result(t.Context(), in, r, verify.Options{}))(t)
	if !report.Feasible() {
		t.Fatalf("%v: %+v", report, in)
	}
	return r
}

// The kernel's optimum is the enumeration's.
func TestKernelOnNodes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 7))
	searched := 0
	for range require.Rounds(3000) {
		in := testkit.RandomNodes(rng, 1+rng.IntN(4))
		if in.Processors > 4 { // there are too many ways to place its jobs
			continue
		}
		least := testkit.LeastOnNodes(in)
		r := proved(t, batchexact.Kernel, in)
		if math.Abs(r.Objective-least) > 1e-9*least {
			t.Fatalf("%v, by enumeration %v: %+v", r.Objective, least, in)
		}
		if r.Nodes > 0 {
			searched++
		}
	}
	t.Log(searched)
}
