// SPDX-License-Identifier: MIT

package reservation_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The audit's relations hold at the sizes people use, where all is proved.
func TestReservationRelations(t *testing.T) {
	t.Parallel()
	rng, seed := rand.New(rand.NewPCG(11, 23)), uint64(0)
	for range 1 + need.Rounds(20)/10 {
		in := load(16+rng.IntN(10), rng.Uint64(), []model.Goal{"", model.GoalPESeconds}[rng.IntN(2)])
		solve := func(in model.Instance) model.Result {
			seed++
			r := reservationSearch(t, t.Context(), in.(*model.Reservation), model.Settings{Seed: seed, Threads: 1 + int(seed%2)})
			report, err := verify.Result(t.Context(), in, r, verify.Options{})
			if err != nil || !report.Feasible() || r.Status != model.StatusOptimal {
				t.Fatalf("%s (%s): %v, %v: %s", r.Status, r.Reason, report, err, text(in.(*model.Reservation)))
			}
			return r
		}
		if err := audit.Relate(in, rng, solve); err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
	}
}
