// SPDX-License-Identifier: MIT

package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// The judge reads times, rates and tolerances by its own code, with the same meaning as in the solvers.
func TestNumbersOfItsOwn(t *testing.T) {
	t.Parallel()
	require.Same(t, "the tolerance of judge and solvers", view.FitTolerance, Tolerance)
	rng := rand.New(rand.NewPCG(48, 1))
	for range 500 {
		b := testkit.RandomBatch(rng, 1+rng.IntN(2), 1+rng.IntN(8), rng.IntN(9))
		n, v := numbersOf(b), view.OfBatch(b)
		for k := range n.Jobs {
			x, y := n.Jobs[k], v.Jobs[k]
			if x.Submit != y.Submit || x.Length != y.Length || x.Processes != y.Processes || x.Weight != y.Weight || x.Foreground != y.Foreground || x.Efficiency != y.Efficiency {
				t.Fatalf("job %d: %+v, the solvers read %+v", k, x, y)
			}
			for i := range x.Processes {
				if use := x.Use[min(i, len(x.Use)-1)]; use != y.CPU(i) {
					t.Fatalf("process %d of job %d uses %d, the solvers read %d", i, k, use, y.CPU(i))
				}
			}
		}
		r := testkit.RandomReservation(rng, rng.IntN(12))
		held, withdrawn, read := heldRequests(r)
		s := view.OfReservation(r)
		if w, _ := withdrawn.Float64(); len(held) != len(s.Jobs) || w != s.FreeWeight || read.places != s.Decimals || read.exact != s.Exact {
			t.Fatalf("%d requests hold PEs, %v is withdrawn, in ticks of %d places, %v; the solvers read %d, %v, %d, %v", len(held), w, read.places, read.exact, len(s.Jobs), s.FreeWeight, s.Decimals, s.Exact)
		}
		for k, x := range held {
			if y := s.Jobs[k]; x != (heldRequest{y.Request, y.Ready, y.Due, y.Length, y.Counted, y.PEs}) {
				t.Fatalf("request %d: %+v, the solvers read %+v", k, x, y)
			}
		}
	}
}
