// SPDX-License-Identifier: MIT

package lagrange

import (
	"math"
	"testing"
)

// The descent comes near the least value of a convex function with kinks, keeps the point of the returned value, and
// ends at the given limit.
func TestDescend(t *testing.T) {
	t.Parallel()
	calls := 0
	f := func(y, g []float64) float64 { // least at (2, 0): 1 + 5
		calls++
		g[0], g[1] = math.Copysign(3, y[0]-2), 1
		return 1 + 3*math.Abs(y[0]-2) + y[1] + 5
	}
	y := []float64{9, 4}
	if least := Descend(f, y, 0.1, 6, 0, 500); least < 6 || least > 6.01 || least != f(y, make([]float64, 2)) {
		t.Errorf("%v at %v, want 6 at 2, 0", least, y)
	}
	calls = 0
	if Descend(f, []float64{9, 4}, 0.1, 6, 100, 500); calls != 1 {
		t.Errorf("%d calls, though the first value is enough", calls)
	}
	if least := Descend(func(_, _ []float64) float64 { return math.Inf(1) }, y, 0.1, 0, 0, 9); !math.IsInf(least, 1) {
		t.Errorf("%v of a function that is stopped", least)
	}
}
