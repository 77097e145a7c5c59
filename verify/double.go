// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"math"
	"math/big"
)

// double is the sum of two float64s, the second at most half a unit in the last place of the first. It has 106
// significant bits (Dekker 1971; Hida, Li, Bailey: Algorithms for Quad-Double Precision Floating Point Arithmetic,
// 2001). The relative error of an operation is below 2^-100 while all figures are between about 1e-200 and 1e200.
type double struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// fastSum returns a + b exactly for |a| >= |b|.
func fastSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func (a double) add(b double) double {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = fastSum(s.hi, s.lo+t.hi)
	return fastSum(s.hi, s.lo+t.lo)
}

func (a double) sub(b double) double { return a.add(double{-b.hi, -b.lo}) }

func (a double) mul(b double) double {
	p := a.hi * b.hi
	return fastSum(p, math.FMA(a.hi, b.hi, -p)+(a.hi*b.lo+a.lo*b.hi))
}

func (a double) times(x float64) double {
	p := a.hi * x
	return fastSum(p, math.FMA(a.hi, x, -p)+a.lo*x)
}

// div returns a / b by long division of two digits. The remainder of the first is exact but for three roundings by
// 2^-53 of at most 2^-51 of a, and so is the second.
func (a double) div(b double) double {
	q := a.hi / b.hi
	rest := math.FMA(-q, b.hi, a.hi) + math.FMA(-q, b.lo, a.lo)
	return fastSum(q, rest/b.hi)
}

// over returns a / b likewise for a float64.
func (a double) over(b float64) double {
	q := a.hi / b
	return fastSum(q, (math.FMA(-q, b, a.hi)+a.lo)/b)
}

func (a double) less(b double) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a double) compare(b double) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// rat returns the same number as a fraction.
func (a double) rat() *big.Rat {
	x := exact(a.hi)
	if a.lo != 0 {
		x.Add(x, exact(a.lo))
	}
	return x
}

// doubleOf returns a fraction rounded to 106 bits.
func doubleOf(x *big.Rat) double {
	hi, _ := x.Float64()
	lo, _ := new(big.Rat).Sub(x, exact(hi)).Float64()
	return double{hi, lo}
}
