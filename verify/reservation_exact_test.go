// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// A whole number of ticks, if reported, is the printed decimal number of the time; all of at most 15 digits are found.
func TestInTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	odd := []float64{0, 5e-324, 1e-22, 1e15, 1e15 - 1, 0.999999999999999, 999999999999999.9, 1e22, math.MaxFloat64, 1. / 3, 1 << 53}
	seen, draws := 0, require.Rounds(200_000)
	for k := range draws {
		places := rng.IntN(mostPlaces + 1)
		x := rng.Float64() * math.Pow10(rng.IntN(18)-3)
		switch {
		case k < 100*len(odd):
			x = odd[k/100]
		case k%2 == 0:
			x = float64(rng.Int64N(int64(math.Pow10(1+rng.IntN(17))))) / math.Pow10(rng.IntN(mostPlaces+1))
		}
		if k%5 == 0 {
			x = math.Nextafter(x, math.Inf(1))
		}
		before, after := digitsOf(x)
		digits := ""
		if len(after) <= places {
			digits = strings.TrimLeft(before+after+strings.Repeat("0", places-len(after)), "0")
		}
		n, ok := inTicks(x, places)
		if ok {
			seen++
			if len(after) > places || strings.TrimLeft(strconv.FormatInt(n, 10), "0") != digits {
				t.Fatalf("%v is %d units of 10^-%d, its digits say %s.%s", x, n, places, before, after)
			}
		} else if finite(x) && len(after) <= places && len(digits) <= 15 {
			t.Fatalf("%v isn't seen to be whole in units of 10^-%d", x, places)
		}
	}
	if seen < draws/20 {
		t.Errorf("%d were whole", seen)
	}
}
