// SPDX-License-Identifier: MIT

package plain_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestReservationAgainstBruteForce(t *testing.T) {
	rng, declined, impossible := rand.New(rand.NewPCG(9, 5)), 0, 0
	for rounds := 6000; rounds > 0; {
		n := rng.IntN(6)
		r := testkit.RandomReservation(rng, n)
		if _, err := plain.Solve(r, math.NaN(), 0); errors.Is(err, model.ErrUnsupported) {
			continue // times of many digits
		}
		rounds--
		want, feasible := testkit.BruteReservation(r)
		if !feasible {
			want = math.NaN()
			impossible++
		}
		agree(t, r, want)
		if r.EffectiveGoal() == model.GoalAccepted && want < float64(n) {
			declined++
		}
	}
	if impossible < 300 || declined < 300 {
		t.Errorf("goals of all that can't be met: %d, requests that must be declined: %d; too few to test much", impossible, declined)
	}
}

// Instances on which a solver or the judge of version 0.3.0 was wrong.
func TestReservationFound(t *testing.T) {
	for file, want := range map[string]float64{"decimals-back-to-back": 2, "decimals-tight": 2, "far-deadline-tolerance": 2} {
		in, err := instances.Load("../../../../exact/reservation/testdata/reservation-" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		agree(t, in, want)
	}
}

// Times that a whole number of ticks can't hold aren't rounded.
func TestReservationTooManyDigits(t *testing.T) {
	r := &model.Reservation{PEs: 1, Requests: []model.Request{{ID: "a", ReadyS: 1.0 / 3, DurationS: 1, DeadlineS: 1e6, PEs: 1}}}
	if _, err := plain.Solve(r, math.NaN(), enough); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}

func BenchmarkReservation(b *testing.B) {
	for _, requests := range []int{8, 10, 12, 14} {
		b.Run(fmt.Sprintf("requests=%d", requests), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(9, 6))
			grow(b, func() model.Instance { return testkit.RandomReservation(rng, requests) })
		})
	}
}
