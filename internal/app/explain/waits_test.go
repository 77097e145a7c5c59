// SPDX-License-Identifier: MIT

package explain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/explain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The parts of a mean response sum to it: runtimes as the jobs state them, a wait that the optimum has at least, and the
// rest, which is 0 at the optimum. Two tiers and other problems have none.
func TestWaits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(53, 1))
	waited := 0
	for range 200 {
		in := testkit.RandomBatch(rng, 1, 5, 4)
		best := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "exact"}))(t)
		some := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "fcfs"}))(t)
		runtimes, weights := 0.0, 0.0
		for k := range in.Jobs {
			w := float64(in.Jobs[k].EffectiveWeight())
			runtimes, weights = runtimes+w*in.Work(k), weights+w
		}
		for _, r := range []model.Result{best, some} {
			x, ok := explain.WaitsOf(in, r.Objective, r.Bound)
			if !ok || math.Abs(x.Runs+x.Unavoidable+x.Open-r.Objective) > 1e-6*r.Objective || math.Abs(x.Runs-runtimes/weights) > 1e-6*x.Runs {
				t.Fatalf("%+v of %v, runtimes %v: %v", x, r.Objective, runtimes/weights, ok)
			}
			if x.Unavoidable > best.Objective-runtimes/weights+1e-6*r.Objective {
				t.Errorf("%+v: the optimum waits %v", x, best.Objective-runtimes/weights)
			}
			if r.Status == model.StatusOptimal && x.Open > 1e-5*r.Objective {
				t.Errorf("%+v is open at an optimum", x)
			}
			if x.Unavoidable > 0 {
				waited++
			}
		}
	}
	x, ok := explain.WaitsOf(&model.Batch{Tiers: 1, Jobs: []model.BatchJob{{RuntimeS: 300, EstimateS: 300}}}, 500+5e-11, 500)
	if !ok || x.Open != 0 || x.Unavoidable != 200 {
		t.Errorf("a rounding error is open: %+v", x)
	}
	if waited < 50 {
		t.Errorf("%d waits are proved", waited)
	}
	if _, ok := explain.WaitsOf(testkit.RandomBatch(rng, 2, 5, 4), 9, 8); ok {
		t.Error("two tiers change runtimes")
	}
	if _, ok := explain.WaitsOf(testkit.RandomDAG(rng, 4, 2), 9, 8); ok {
		t.Error("a graph has no waits")
	}
}
