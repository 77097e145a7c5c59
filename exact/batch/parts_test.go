// SPDX-License-Identifier: MIT

package batch_test

import (
	"math/rand/v2"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The bound by parts is never above the optimum, and a part that holds all waiting jobs proves it. Weights differ in
// half of the draws, so that parts have other units than the whole.
func TestParts(t *testing.T) {
	proved, raised := 0, 0
	rounds := require.Rounds(3000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 48))
		in := testkit.RandomBatch(rng, 1, 9, 1+rng.IntN(10))
		if seed%2 == 0 {
			in = busy(rng, 3+rng.IntN(7), 1+rng.IntN(20))
		}
		for k := range in.Jobs {
			if seed%4 < 2 {
				in.Jobs[k].Weight = 1 + rng.IntN(3)
			}
		}
		optimum := solve(t, batchexact.Search, in).Objective
		r := require.Value(batchexact.SearchInParts().Solve(t.Context(), in, model.Settings{Seed: 1}))(t)
		if r.Bound > optimum || r.Objective < optimum {
			t.Fatalf("seed %d: %v with bound %v, the optimum is %v: %+v", seed, r.Objective, r.Bound, optimum, in)
		}
		if r.Bound == optimum && r.Objective == optimum {
			proved++
		}
		if r.Bound > 0 {
			raised++
		}
	}
	if proved < rounds*9/10 {
		t.Errorf("%d of %d optima are proved by parts", proved, rounds)
	}
}

// Parts of 200 drawn jobs raise the bound with the effort, the same for each run, and the kernel's optimum of some of
// the jobs agrees with a part's.
func TestPartsRaise(t *testing.T) {
	spec := instances.NewBatchSpec()
	spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Seed = 200, 128, 1, 0.9, 3
	in := require.Value(spec.Generate())(t)
	last := 0.0
	for _, effort := range []int64{100_000, 1_000_000, 4_000_000} {
		r := require.Value(batchexact.Search.Solve(t.Context(), in, model.Settings{Seed: 1, Effort: effort}))(t)
		again := require.Value(batchexact.Search.Solve(t.Context(), in, model.Settings{Seed: 1, Effort: effort}))(t)
		if r.Bound != again.Bound || r.Objective != again.Objective || r.Nodes != again.Nodes {
			t.Errorf("effort %d: %v, %v and %v, %v", effort, r.Objective, r.Bound, again.Objective, again.Bound)
		}
		t.Log(effort, r.Objective, r.Bound, r.Status, r.Nodes)
		if r.Bound < last || r.Bound > r.Objective {
			t.Errorf("effort %d: %v, bound %v after %v", effort, r.Objective, r.Bound, last)
		}
		last = r.Bound
	}
}
