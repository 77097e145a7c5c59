// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/lagrange"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// randomJobs returns some jobs of similar size, whose windows may all touch, and the same as an instance.
func randomJobs(rng *rand.Rand, n, pes int) ([]Job, *model.Reservation) {
	jobs := make([]Job, n)
	longest, slack, span, heavy := 1+rng.Int64N(8), 1+rng.Int64N(8), 1+rng.Int64N(int64(2*n)), rng.IntN(2)
	in := &model.Reservation{PEs: pes, Goal: model.Goals[heavy]}
	for i := range jobs {
		j := Job{Ready: rng.Int64N(span), Length: 1 + rng.Int64N(longest), PEs: 1 + rng.IntN(pes), Weight: 1}
		j.Latest = j.Ready + rng.Int64N(slack)
		if in.Goal.PESeconds() {
			j.Weight = float64(j.PEs) * float64(j.Length)
		}
		jobs[i] = j
		in.Requests = append(in.Requests, model.Request{ID: fmt.Sprint(i), ReadyS: float64(j.Ready),
			DurationS: float64(j.Length), DeadlineS: float64(j.Due()), PEs: j.PEs})
	}
	return jobs, in
}

// bothDuals returns the two dual functions, with the number of their charges.
func bothDuals(d *dual) (names []string, of []func(y, sub []float64) float64, charges []int) {
	return []string{"uniform", "own"}, []func(y, sub []float64) float64{d.uniform, d.own}, []int{d.grid.cells(), d.offset[len(d.jobs)]}
}

func drawCharges(rng *rand.Rand, n int) []float64 {
	y := make([]float64, n)
	for k := range y {
		y[k] = max(0, 2*rng.Float64()-0.5)
	}
	return y
}

// Any multipliers bound every plan, at the optimum of the dual, near it and far from it.
func TestMultipliersAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 20))
	tight, stronger, n := 0, 0, require.Rounds(6000)
	for range n {
		pes := 1 + rng.IntN(9)
		jobs, in := randomJobs(rng, 1+rng.IntN(7), pes)
		want, _ := plain.Optimum(in)
		d := newDual(t.Context(), pes, jobs, newGrid(jobs, 8+rng.IntN(20)))
		names, of, charges := bothDuals(d)
		var least [2]float64
		for k, f := range of {
			y := drawCharges(rng, charges[k])
			if least[k] = f(y, make([]float64, len(y))); rng.IntN(2) == 0 {
				least[k] = lagrange.Descend(f, y, newWeight, 0, 0, rng.IntN(60))
			}
			if least[k] < want-1e-9 {
				t.Fatalf("a %s bound of %v, the optimum is %v: %d PEs, %+v", names[k], least[k], want, pes, jobs)
			}
		}
		most, rounding := NewMultipliers(t.Context(), pes, jobs, want, want).Bound()
		uniform := newDual(t.Context(), pes, jobs, gridOf(jobs))
		alike := lagrange.Descend(uniform.uniform, make([]float64, uniform.grid.cells()), newWeight, want, want, uniformSteps)
		switch {
		case most+rounding < want:
			t.Fatalf("a bound of %v (rounding %v), the optimum is %v: %d PEs, %+v", most, rounding, want, pes, jobs)
		case most-rounding > alike+1e-9:
			t.Fatalf("a bound of %v, of multipliers that are alike %v: %d PEs, %+v", most, alike, pes, jobs)
		case most < want+0.5:
			tight++
		}
		if most < alike-0.1 {
			stronger++
		}
	}
	if tight < n*3/4 || stronger < n/20 {
		t.Errorf("of %d bounds only %d are tight, %d stronger than with multipliers that are alike", n, tight, stronger)
	}
}

// The bound by knapsacks, of all goals, is no less than the optimum.
func TestKnapsacksAgainstPlain(t *testing.T) {
	t.Parallel()
	tight, proofs := map[string]int{}, map[string]int{}
	n := require.Rounds(3000)
	for k := range n {
		checkPlain(t, k, tight, proofs, func(ticks *view.Reservation) (all []bounds.Bound) {
			if b, ok := newWork(ticks).knapsacks(t.Context()); ok {
				all = append(all, b)
			}
			return all
		})
	}
	if tight["knapsacks"] < n/4 || proofs["knapsacks"] < n/20 {
		t.Errorf("of %d tight: %v; proofs of infeasibility: %v", n, tight, proofs)
	}
}

// The subgradient supports L: L(z) ≥ L(y) + g(z - y). L is infinite without any time.
func TestDual(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 28))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 300 {
		pes := 1 + rng.IntN(9)
		jobs, _ := randomJobs(rng, 1+rng.IntN(8), pes)
		d := newDual(t.Context(), pes, jobs, newGrid(jobs, 8+rng.IntN(20)))
		names, of, charges := bothDuals(d)
		for k, f := range of {
			y, z, sub := drawCharges(rng, charges[k]), drawCharges(rng, charges[k]), make([]float64, charges[k])
			at := f(z, sub) // z's; overwritten
			linear := f(y, sub)
			for c := range y {
				linear += sub[c] * (z[c] - y[c])
			}
			if at < linear-1e-9 {
				t.Fatalf("%s: L is %v, below %v, its support: %d PEs, %+v", names[k], at, linear, pes, jobs)
			}
			d.ctx = ended
			if at := f(y, sub); !math.IsInf(at, 1) {
				t.Fatalf("%s: L is %v without any time", names[k], at)
			}
			d.ctx = t.Context()
		}
	}
}

// A machine too large for knapsacks has multipliers that are alike.
func TestLargeMachine(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 9))
	for range 20 {
		jobs, _ := randomJobs(rng, 20, 2*mostPacked)
		d := newDual(t.Context(), 2*mostPacked, jobs, gridOf(jobs))
		alike := lagrange.Descend(d.uniform, make([]float64, d.grid.cells()), newWeight, 1, 1, uniformSteps)
		if most, rounding := NewMultipliers(t.Context(), 2*mostPacked, jobs, 1, 1).Bound(); math.Abs(most-alike) > rounding+1e-9*alike {
			t.Errorf("a bound of %v, want %v", most, alike)
		}
	}
}
