// SPDX-License-Identifier: MIT

package ticks

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// A whole number of ticks, if reported, is the printed decimal number of the time; all of at most 15 digits are found.
func TestWholeTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	odd := []float64{0, 5e-324, 1e-22, 1e15, 1e15 - 1, 0.999999999999999, 999999999999999.9, 1e22, math.MaxFloat64, 1. / 3, 1 << 53, math.Inf(1), math.NaN()}
	seen := 0
	for k := range 200_000 {
		places := rng.IntN(maxDecimals + 3)
		x := rng.Float64() * math.Pow10(rng.IntN(18)-3)
		switch {
		case k < 100*len(odd):
			x = odd[k/100]
		case k%2 == 0:
			x = float64(rng.Int64N(int64(math.Pow10(1+rng.IntN(17))))) / math.Pow10(rng.IntN(maxDecimals+1))
		}
		if k%5 == 0 {
			x = math.Nextafter(x, math.Inf(1))
		}
		before, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
		digits := ""
		if len(after) <= places {
			digits = strings.TrimLeft(before+after+strings.Repeat("0", places-len(after)), "0")
		}
		n, ok := wholeTicks(x, places)
		if ok {
			seen++
			if len(after) > places || strings.TrimLeft(strconv.FormatInt(n, 10), "0") != digits {
				t.Fatalf("%v is %d units of 10^-%d, its digits say %s.%s", x, n, places, before, after)
			}
		} else if places <= maxDecimals && len(after) <= places && len(digits) <= 15 && !math.IsInf(x, 1) && x == x {
			t.Fatalf("%v isn't seen to be whole in units of 10^-%d", x, places)
		}
	}
	if seen < 10_000 {
		t.Errorf("%d were whole", seen)
	}
}
