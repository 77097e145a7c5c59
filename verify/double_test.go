// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Each operation has a relative error below 2^-100, differences of close figures, too.
func TestDoubles(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 54))
	draw := func() double {
		x := math.Ldexp(1+rng.Float64(), rng.IntN(80)-40)
		switch rng.IntN(4) {
		case 0:
			return double{hi: float64(1 + rng.IntN(20))}
		case 1:
			return double{hi: x}
		}
		return twoSum(x, x*math.Ldexp(rng.Float64()-0.5, -52-rng.IntN(20)))
	}
	worst := 0.0
	for range 4_000 {
		a, b := draw(), draw()
		x, y := a.rat(), b.rat()
		near := a // a figure close to a, for differences
		near.hi = math.Nextafter(a.hi, []float64{0, math.Inf(1)}[rng.IntN(2)])
		for name, c := range map[string]struct {
			got  double
			want *big.Rat
		}{
			"add":   {a.add(b), new(big.Rat).Add(x, y)},
			"sub":   {a.sub(b), new(big.Rat).Sub(x, y)},
			"near":  {a.sub(near), new(big.Rat).Sub(x, near.rat())},
			"mul":   {a.mul(b), new(big.Rat).Mul(x, y)},
			"times": {a.times(b.hi), new(big.Rat).Mul(x, exact(b.hi))},
			"div":   {a.div(b), new(big.Rat).Quo(x, y)},
			"over":  {a.over(b.hi), new(big.Rat).Quo(x, exact(b.hi))},
		} {
			off := new(big.Rat).Sub(c.got.rat(), c.want)
			if off.Sign() == 0 {
				continue
			}
			by := math.Abs(floor(off.Quo(off, c.want)))
			if worst = max(worst, by); by > 0x1p-100 {
				t.Fatalf("%s of %v and %v is off by %v", name, a, b, by)
			}
		}
	}
	if worst < 0x1p-110 {
		t.Errorf("the worst is off by %v: nothing is rounded", worst)
	}
	t.Logf("the worst is off by 2^%.1f", math.Log2(worst))
}
