// SPDX-License-Identifier: MIT

package batch_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Events after an instant change no decision up to then: jobs that end later get other runtimes, and run on beyond it.
func TestNothingOfTheFuture(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 1))
	later := map[string]int{}
	for range require.Rounds(600) {
		b := small(rng)
		if rng.IntN(10) == 0 {
			b = deep(rng)
		}
		b.Tiers = 1
		for k := range b.Jobs { // a job without one has an exact estimate
			b.Jobs[k].EstimateS = b.Jobs[k].Estimate()
		}
		for name := range oneTier {
			for _, order := range orders {
				before := run(t, name, b, order)
				instant := before[rng.IntN(len(before))]
				other := *b
				other.Jobs = slices.Clone(b.Jobs)
				for k := range other.Jobs {
					j := &other.Jobs[k]
					if end := before[k] + int64(b.Work(k)*1e6); end > instant {
						ran := max(0, float64(instant-before[k])/1e6)
						j.RuntimeS = ran + float64(1+rng.IntN(20))
					}
				}
				after := run(t, name, &other, order)
				for k := range before {
					if (before[k] <= instant || after[k] <= instant) && before[k] != after[k] {
						t.Fatalf("%s in order %s: job %d starts at %d, and at %d if other things happen after %d; %+v", name, order, k, before[k], after[k], instant, b)
					}
				}
				if !slices.Equal(before, after) {
					later[name]++
				}
			}
		}
	}
	for name := range oneTier {
		if later[name] == 0 {
			t.Errorf("%s: no start has changed after the instant either: the test tests nothing", name)
		}
	}
}
