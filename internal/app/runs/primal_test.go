// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Berthold's definition: 1 until the first solution, then |best - x| / max.
func TestPrimalIntegral(t *testing.T) {
	nan := math.NaN()
	const best = 50.0
	r := &Record{}
	r.Trajectory = []Moment{{S: 1, Objective: nan, Bound: 3}, {S: 2, Objective: 100}, {S: 4, Objective: 50}, {S: 6, Objective: 50}}
	for end, want := range map[float64]float64{10: 2*1 + 2*0.5, 3: 2 + 0.5, 1: 1, 0: 0} {
		if got := r.PrimalIntegral(end, best); math.Abs(got-want) > 1e-12 {
			t.Errorf("up to %v: %v, want %v", end, got, want)
		}
	}
	for s, want := range map[float64]float64{0: 1, 1.5: 1, 2: 0.5, 3.9: 0.5, 4: 0, 99: 0} {
		require.Same(t, fmt.Sprintf("at %v", s), want, r.PrimalGapAt(s, best))
	}
	for _, c := range [][3]float64{{0, 0, 0}, {5, -5, 1}, {0, 5, 1}, {5, 5, 0}, {10, 5, 0.5}, {nan, 5, 1}} {
		require.Same(t, fmt.Sprintf("primal gap of %v to %v", c[0], c[1]), c[2], PrimalGap(c[0], c[1]))
	}
	// The integral equals the curve's.
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		at, objective := 0.0, 100.0
		r.Trajectory = nil
		for range 1 + rng.IntN(10) {
			at, objective = at+rng.Float64(), max(50, objective-10*rng.Float64())
			r.Trajectory = append(r.Trajectory, Moment{S: at, Objective: objective})
		}
		const end = 8.0
		sum := 0.0
		for k := range 2000 {
			sum += r.PrimalGapAt((float64(k)+0.5)*end/2000, best) * end / 2000
		}
		if got := r.PrimalIntegral(end, best); math.Abs(got-sum) > 0.01 {
			t.Fatalf("integral %v, the curve's is %v", got, sum)
		}
	}
}

// As a measure it goes to the end of the longest run on the instance, to the best
// objective of all.
func TestPrimalMeasure(t *testing.T) {
	records := []Record{
		{Kind: model.KindDAG, Hash: "a", Algorithm: "x", ElapsedS: 4, Objective: Optional(100.0), Trajectory: []Moment{{S: 1, Objective: 100}}},
		{Kind: model.KindDAG, Hash: "a", Algorithm: "y", ElapsedS: 2, Objective: Optional(50.0)},
		{Kind: model.KindDAG, Hash: "b", Algorithm: "y", ElapsedS: 2},
	}
	known := Learn(records, nil)
	for k, want := range []float64{1 + 3*0.5, 2, math.NaN()} {
		got, err := Measure("primal integral", Run{&records[k], known[records[k].Hash]})
		if err != nil || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("run %d: %v, %v, want %v", k, got, err, want)
		}
	}
}
