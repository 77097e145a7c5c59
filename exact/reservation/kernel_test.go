// SPDX-License-Identifier: MIT

package reservation_test

import (
	"math/rand/v2"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The search in turns with the kernel finds the plain engine's results, for all goals.
func TestReservationTurns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 31))
	both := 0
	for range require.Rounds(200) {
		in := testkit.RandomReservation(rng, 2+rng.IntN(9))
		want, feasible := plain.Optimum(in)
		r, err := resexact.Turns(&both).Solve(t.Context(), in, model.Settings{})
		switch {
		case err != nil, !feasible && r.Status != model.StatusInfeasible,
			feasible && (r.Status != model.StatusOptimal || r.Objective < want*(1-1e-6) ||
				r.Objective > want*(1+1e-9) || r.Bound < want*(1-1e-12)):
			t.Fatalf("%s %v, bound %v, want %v (feasible: %v), %v: %+v", r.Status, r.Objective, r.Bound, want,
				feasible, err, in)
		}
		if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatalf("%v %v: %+v", report, err, in)
		}
	}
	if t.Logf("%d rounds of both", both); both < require.Rounds(150)/20 {
		t.Errorf("kernel and sweeps took turns %d times only", both)
	}
}
