// SPDX-License-Identifier: MIT

package simplex_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/simplex"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// program returns a program with bounded variables, some with equal bounds, and rows of all kinds.
func program(rng *rand.Rand) *milp.Model {
	m := &milp.Model{Offset: float64(rng.IntN(5))}
	for range 1 + rng.IntN(8) {
		low := float64(rng.IntN(3))
		m.AddVar(milp.Var{Lower: low, Upper: low + float64(rng.IntN(5)), Cost: float64(rng.IntN(6))})
	}
	for range rng.IntN(8) {
		var terms []milp.Term
		for v := range m.Vars {
			if c := rng.IntN(7) - 3; c != 0 && rng.IntN(2) == 0 {
				terms = append(terms, milp.Term{Var: v, Coef: float64(c)})
			}
		}
		low := float64(rng.IntN(21) - 10)
		switch rng.IntN(3) {
		case 0:
			m.AddRow("", low, low, terms...)
		case 1:
			m.AddRow("", low, math.Inf(1), terms...)
		default:
			m.AddRow("", math.Inf(-1), low, terms...)
		}
	}
	return m
}

// If bounds are on, its optima equal HiGHS's, and its points satisfy all rows and bounds. If they are off, or above a
// cutoff, its answer is a bound.
func TestSolve(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 2))
	var s simplex.Simplex
	solved, refuted := 0, 0
	for range require.Rounds(20_000) {
		m := program(rng)
		want := require.Value(highs.Solve(t.Context(), m, milp.Options{Relax: true}))(t)
		inf := math.Inf(1)
		lower, x := s.Solve(t.Context(), m, simplex.Options{Cutoff: inf, Pivots: 1000, Bounded: true})
		loose, _ := s.Solve(t.Context(), m, simplex.Options{Cutoff: inf, Pivots: 1000})
		early, _ := s.Solve(t.Context(), m, simplex.Options{Cutoff: lower / 2, Pivots: rng.IntN(10), Bounded: true})
		if want.Status != milp.Optimal {
			if refuted++; x != nil || lower < 1000 {
				t.Fatalf("HiGHS says %s, the bound is %v: %v of %+v", want.Status, lower, x, m)
			}
			continue
		}
		solved++
		const most = 1e-6
		if x == nil || math.Abs(lower-want.Objective) > most || max(loose, early) > want.Objective+most {
			t.Fatalf("%v, %v without bounds, %v early; HiGHS has %v: %v of %+v", lower, loose, early, want.Objective, x, m)
		}
		for j, v := range m.Vars {
			if x[j] < v.Lower-most || x[j] > v.Upper+most {
				t.Fatalf("variable %d is %v: %+v", j, x[j], m)
			}
		}
		for i, r := range m.Rows {
			sum := 0.0
			for _, term := range r.Terms {
				sum += term.Coef * x[term.Var]
			}
			if sum < r.Lower-most || sum > r.Upper+most {
				t.Fatalf("row %d is %v: %v of %+v", i, sum, x, m)
			}
		}
	}
	if min(solved, refuted) == 0 {
		t.Errorf("%d solved, %d refuted", solved, refuted)
	}
}
