package verify

import (
	"math"
	"math/big"
)

// moment is the exact sum of two float64s, of a start and a length, as a
// float64 and another for what rounding left out: the error of a sum is
// a float64 (Knuth, The Art of Computer Programming 2, section 4.2.2).
type moment struct{ hi, lo float64 }

func plus(a, b float64) moment {
	hi := a + b
	t := hi - a
	return moment{hi, (a - (hi - t)) + (b - t)}
}

func (m moment) rat() *big.Rat { return new(big.Rat).Add(exact(m.hi), exact(m.lo)) }

// earlier is the smaller one. Rounding keeps the order, so hi decides unless
// it is the same.
func earlier(a, b moment) moment {
	if a.hi < b.hi || a.hi == b.hi && a.lo < b.lo {
		return a
	}
	return b
}

// seconds is x - y, rounded.
func seconds(x moment, y float64) float64 {
	d := x.rat()
	f, _ := d.Sub(d, exact(y)).Float64()
	return f
}

// over reports whether x - y is more than the tolerance allows. Floats decide
// where they are clearly apart, and fractions where they aren't.
func (j *bookingJudge) over(x moment, y float64) bool {
	if x.hi < y {
		return false
	}
	if j.allowed == 0 && j.report.Tolerance == 0 {
		return x.hi > y || x.lo > 0
	}
	apart := x.hi - y // rounded, as the two sums to come: errors of 2^-53 of each
	d := apart + x.lo
	doubt := 0x1p-50*(apart+math.Abs(x.lo)+j.allowed) + 0x1p-1000
	switch {
	case d > j.allowed+doubt:
		return true
	case d < j.allowed-doubt:
		return false
	}
	r := x.rat()
	return r.Sub(r, exact(y)).Cmp(j.allowedRat) > 0
}

// fraction is num/den, not reduced: reducing would take far longer than all
// the rest.
type fraction struct{ num, den *big.Int }

// add is the sum of at least one fraction, half by half, so that large numbers
// are multiplied with such of their own length.
func add(all []fraction) fraction {
	if len(all) == 1 {
		return all[0]
	}
	a, b := add(all[:len(all)/2]), add(all[len(all)/2:])
	a.num.Mul(a.num, b.den)
	b.num.Mul(b.num, a.den)
	return fraction{a.num.Add(a.num, b.num), a.den.Mul(a.den, b.den)}
}
