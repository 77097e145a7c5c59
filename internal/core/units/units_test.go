// SPDX-License-Identifier: MIT

package units_test

import (
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/test/require"
)

func TestCommon(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		values []float64
		most   float64
		want   int64
	}{
		"none":              {nil, 10, 0},
		"zeros":             {[]float64{0, 0}, 10, 0},
		"one":               {[]float64{6}, 10, 6},
		"a divisor":         {[]float64{6, 0, 9, 15}, 15, 3},
		"above the most":    {[]float64{6, 9, 15}, 14, 0},
		"not whole":         {[]float64{6, 4.5}, 10, 0},
		"as good as whole":  {[]float64{6, math.Nextafter(3, 4)}, 10, 0},
		"infinite":          {[]float64{6, math.Inf(1)}, 1 << 53, 0},
		"not a number":      {[]float64{6, math.NaN()}, 1 << 53, 0},
		"the largest whole": {[]float64{1<<53 - 1, 3 * (1<<53 - 1) / 3}, 1<<53 - 1, 1<<53 - 1},
	}
	for name, c := range tests {
		require.Same(t, name, c.want, units.Common(c.values, c.most))
	}
	// No float64 has these.
	if got := units.Common([]int64{3 * (1<<60 + 1), 1<<60 + 1}, 1<<62); got != 1<<60+1 {
		t.Errorf("%d, want %d", got, int64(1<<60+1))
	}
}
