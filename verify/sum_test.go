// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A sum is exact, whatever is added in whatever order, and not above its bound.
func TestSum(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(24, 1))
	edges := []float64{0, 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-100, 0x1p-101, -0x1p-100, 0x1p69, 0x1p70, 0x1p71, 0x1.fffffffffffffp22, 0.1, 1. / 3}
	fine := 0
	for range 20_000 {
		var s sum
		want := new(big.Rat)
		for range rng.IntN(9) {
			x := edges[rng.IntN(len(edges))]
			switch rng.IntN(4) {
			case 0:
				x = rng.Float64()
			case 1:
				x = math.Ldexp(rng.Float64()-0.5, rng.IntN(150)-120)
			case 2:
				x = float64(rng.IntN(2000)-1000) / 1000
			}
			s.add(x)
			want.Add(want, exact(x))
		}
		if s.total == nil {
			fine++
		}
		if s.rat().Cmp(want) != 0 || new(big.Rat).SetFrac(s.units(), new(big.Int).Lsh(big.NewInt(1), unitBits)).Cmp(want) != 0 {
			t.Fatalf("%v, want %v", s.rat(), want)
		}
		if most := s.most(); !math.IsInf(most, 1) && exact(most).Cmp(want) < 0 {
			t.Fatalf("%v is above %v", want, most)
		}
	}
	if fine < 2000 || fine > 18_000 {
		t.Errorf("%d of 20,000 sums stay in 128 bits", fine)
	}
}
