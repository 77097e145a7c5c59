// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Each drawn instance is valid, and neither are all requests accepted nor all declined.
func TestRandomReservation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	all, some, none, infeasible := 0, 0, 0, 0
	for range 300 {
		in := testkit.RandomReservation(rng, 1+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		value, feasible := plain.Optimum(in)
		switch {
		case !feasible:
			infeasible++
		case in.EffectiveGoal() == model.GoalPESeconds:
		case value == float64(len(in.Requests)):
			all++
		case value > 0:
			some++
		default:
			none++
		}
	}
	if all < 30 || some < 30 || none > 0 || infeasible < 30 {
		t.Errorf("%d with all accepted, %d with some, %d with none, %d infeasible", all, some, none, infeasible)
	}
}
