// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The excess of needs in whole units over the true needs is that of fractions, for needs and scales of any size.
func TestVCSchedNeedsExceedTrueOnesExactly(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		scale := []int64{1, 10, 1000, 1e9, 1e13}[rng.IntN(5)]
		in := &model.VCSched{Hosts: 3}
		for k := range 1 + rng.IntN(6) {
			cpu := []float64{rng.Float64(), float64(1+rng.IntN(1000)) / 1000, math.Ldexp(rng.Float64(), -rng.IntN(60)), 1}[rng.IntN(4)]
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint("j", k), Tasks: 1 + rng.IntN(1<<rng.IntN(12)), CPU: cpu, Memory: rng.Float64()})
		}
		n := require.Value(newVCSchedNeeds(t.Context(), in, scale))(t)
		want := []*big.Rat{new(big.Rat), new(big.Rat)}
		for k := range in.Jobs {
			for r, need := range []float64{in.Jobs[k].CPU, in.Jobs[k].Memory} {
				above := new(big.Rat).Mul(exact(need), big.NewRat(scale, 1))
				if above.Sub(big.NewRat(n.need[r][k], 1), above); above.Sign() > 0 {
					want[r].Add(want[r], above.Mul(above, big.NewRat(int64(in.Jobs[k].Tasks), 1)))
					some++
				}
			}
		}
		for r := range want {
			if n.over[r].Cmp(want[r]) != 0 {
				t.Fatalf("seed %d: resource %d exceeds by %v, not %v", seed, r, n.over[r], want[r])
			}
		}
	}
	if some < 100 {
		t.Errorf("only %d needs exceed true ones", some)
	}
}
