// SPDX-License-Identifier: MIT

// Package units holds the integer arithmetic that turns figures into whole
// numbers of a common unit.
package units

// GCD returns the greatest common divisor of two numbers that aren't negative,
// by Euclid's algorithm; GCD(0, a) is a.
func GCD[T ~int | ~int32 | ~int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Common returns the common unit of values that aren't negative: the greatest whole number u that divides every value.
// It is 0 if there is none: if a value isn't whole or is above most (at most 2^62), or all are 0.
//
// Nothing is rounded, so a proof may count in units. The sum Σ_j v_j for any set of values is exactly a multiple of u,
// and a bound B on such a sum may be lowered to u⌊B/u⌋.
func Common[T ~int64 | ~float64](values []T, most T) int64 {
	unit := int64(0)
	for _, v := range values {
		if !(v <= most) || T(int64(v)) != v {
			return 0
		}
		unit = GCD(unit, int64(v))
	}
	return unit
}
