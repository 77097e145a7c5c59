// Package units holds the integer arithmetic that turns figures into whole
// numbers of a common unit.
package units

// GCD returns the greatest common divisor of two numbers that aren't negative,
// by Euclid's algorithm; GCD(0, a) is a.
func GCD[T ~int32 | ~int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
