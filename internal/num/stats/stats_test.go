// SPDX-License-Identifier: MIT

package stats

import (
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

func TestQuantile(t *testing.T) {
	tests := map[string]struct {
		p    float64
		x    []float64
		want float64
	}{
		"none":           {0.5, nil, math.NaN()},
		"one":            {0.95, []float64{3}, 3},
		"odd, unsorted":  {0.5, []float64{9, 1, 4}, 4},
		"even":           {0.5, []float64{4, 1, 2, 9}, 3},
		"between values": {0.95, []float64{0, 10, 20}, 19},
		"last":           {1, []float64{0, 10, 20}, 20},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Quantile(tc.p, tc.x); got != tc.want && !(math.IsNaN(got) && math.IsNaN(tc.want)) {
				t.Errorf("quantile is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestShifted(t *testing.T) {
	require.Same(t, "of zeros", float64(0), Shifted(make([]float64, 13), 0.01))
	if got := Shifted([]float64{1, 3, 7}, 1); math.Abs(got-3) > 1e-12 { // (2·4·8)^(1/3) - 1
		t.Errorf("it is %v, want 3", got)
	}
}

// No values have no figure, and no function changes its input.
func TestFigures(t *testing.T) {
	x := []float64{9, 1, 4, 0.1}
	for name, f := range map[string]struct {
		of   func([]float64) float64
		want float64
	}{"mean": {Mean, 3.525}, "median": {Median, 2.5}, "largest": {Largest, 9},
		"shifted": {func(x []float64) float64 { return Shifted(x, 0) }, math.Pow(3.6, 0.25)}} {
		if got := f.of(nil); !math.IsNaN(got) {
			t.Errorf("%s of no values is %v", name, got)
		}
		if got := f.of(x); math.Abs(got-f.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, f.want)
		}
	}
	require.Same(t, "the values: now", []float64{9, 1, 4, 0.1}, x)
}
