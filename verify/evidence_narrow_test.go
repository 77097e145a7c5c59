// SPDX-License-Identifier: MIT

package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Numbers of two words give the sums that numbers of any size give, for any prices that fit; some are too
// fine, and are refused.
func TestNarrowPrices(t *testing.T) {
	t.Parallel()
	fit, refused := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		in := testkit.RandomBatch(rng, 1, 12, 1+rng.IntN(9))
		ticks := numbersOf(in)
		if len(ticks.Jobs) == 0 {
			continue
		}
		common, last := int64(0), int64(1)
		for k := range ticks.Jobs {
			common = gcd(common, ticks.Jobs[k].Weight)
			last = max(last, ticks.Jobs[k].Submit+ticks.Jobs[k].Length)
		}
		e := &model.Evidence{Times: []int64{rng.Int64N(last)}}
		fine := 1 / float64(uint64(1)<<rng.IntN(64))
		var unit binary
		for range 1 + rng.IntN(20) {
			e.Times = append(e.Times, e.Times[len(e.Times)-1]+1+rng.Int64N(last))
			price := float64(rng.IntN(1000)) * fine
			if rng.IntN(50) == 0 {
				price = rng.Float64() * 1e-20
			}
			e.Prices = append(e.Prices, price)
			unit.see(price)
		}
		work := 0
		x, ok := newNarrowPrices(ticks, e, unit, common)
		if !ok {
			refused++
			continue
		}
		fit++
		got := require.Value(x.total(t.Context(), ticks, common, &work))(t)
		steps := 0
		want := require.Value(wholePayments(t.Context(), ticks, e, unit, common, &steps))(t)
		if got.Cmp(want) != 0 || work != steps {
			t.Fatalf("seed %d: %v in %d steps, by numbers of any size %v in %d", seed, got, work, want, steps)
		}
	}
	if t.Logf("%d fit, %d are refused", fit, refused); fit < 1000 || refused < 20 {
		t.Errorf("%d fit, %d are refused", fit, refused)
	}
}
