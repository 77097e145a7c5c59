// SPDX-License-Identifier: MIT

// Package stats computes figures of samples: quantiles and means.
package stats

import (
	"math"
	"slices"
)

// Quantile interpolates linearly between the two nearest of the sorted values (R's type 7), p from 0 to 1: the median
// of an even number is the mean of the middle two. It returns NaN for no values, and leaves x as it is.
func Quantile(p float64, x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	at := p * float64(len(x)-1)
	k := min(int(at), len(x)-1)
	if k == len(x)-1 {
		return x[k]
	}
	return x[k] + (at-float64(k))*(x[k+1]-x[k])
}

// Median returns the middle value, NaN for no values.
func Median(x []float64) float64 { return Quantile(0.5, x) }

// Mean returns the arithmetic mean, NaN for no values. It adds the values in ascending order: their order doesn't
// matter.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, y := range slices.Sorted(slices.Values(x)) {
		sum += y
	}
	return sum / float64(len(x))
}

// Shifted returns the shifted geometric mean of values of at least 0: the geometric mean of the values plus a shift,
// less the shift. Unlike the arithmetic mean it isn't ruled by the few largest values, and unlike the geometric mean
// not by the ones near 0 (Achterberg: Constraint Integer Programming, section A.3). NaN for no values.
func Shifted(x []float64, shift float64) float64 {
	logs := make([]float64, len(x))
	least, most := math.Inf(1), math.Inf(-1)
	for i, y := range x {
		logs[i] = math.Log(y + shift)
		least, most = min(least, y), max(most, y)
	}
	return max(least, min(most, math.Exp(Mean(logs))-shift)) // without the rounding of logarithms: 0 of zeros
}

// Largest returns the largest value, NaN for no values.
func Largest(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return slices.Max(x)
}
