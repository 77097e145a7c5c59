// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/big"
	"math/bits"
)

// sum adds float64s exactly: as a multiple of 2^-fineBits in 128 bits while it is one,
// else as an integer multiple of 2^-unitBits, which every float64 is. Either is far
// faster than fractions, and the former a tenth of the latter's time and memory.
type sum struct {
	hi    int64 // hi 2^64 + lo, if total is nil
	lo    uint64
	total *big.Int
}

const (
	unitBits = 1074
	fineBits = 100
)

// add adds a finite x. O(1).
func (s *sum) add(x float64) {
	fraction, exponent := math.Frexp(x) // x = fraction 2^exponent
	mantissa, shift := int64(fraction*(1<<53)), exponent-53
	if s.total == nil && s.addFine(mantissa, shift+fineBits) {
		return
	}
	if s.total == nil {
		s.total = s.integer()
		s.total.Lsh(s.total, unitBits-fineBits)
	}
	term := big.NewInt(mantissa)
	if shift += unitBits; shift >= 0 {
		term.Lsh(term, uint(shift))
	} else {
		term.Rsh(term, uint(-shift)) // a subnormal's trailing zeros
	}
	s.total.Add(s.total, term)
}

// addProduct adds x·y, whose rounding error must be a float64.
func (s *sum) addProduct(x, y float64) {
	product := x * y
	s.add(product)
	s.add(math.FMA(x, y, -product))
}

// addFine adds mantissa 2^shift fine units, and reports whether it could: the term is
// whole, and sums stay below 2^126.
func (s *sum) addFine(mantissa int64, shift int) bool {
	if shift < 0 {
		if shift < -53 || mantissa&(1<<-shift-1) != 0 {
			return mantissa == 0
		}
		mantissa, shift = mantissa>>-shift, 0
	}
	if shift > 70 {
		return mantissa == 0
	}
	hi, lo := mantissa>>63, uint64(mantissa)
	if shift >= 64 {
		hi, lo = mantissa<<(shift-64), 0
	} else if shift > 0 {
		hi, lo = hi<<shift|int64(lo>>(64-shift)), lo<<shift
	}
	lo, carry := bits.Add64(s.lo, lo, 0)
	hi += s.hi + int64(carry) // both are below 2^61
	if hi >= 1<<61 || hi < -(1<<61) {
		return false
	}
	s.hi, s.lo = hi, lo
	return true
}

// integer returns the fine units.
func (s *sum) integer() *big.Int {
	x := big.NewInt(s.hi)
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(s.lo))
}

// units returns the sum in units of 2^-unitBits.
func (s *sum) units() *big.Int {
	if s.total != nil {
		return s.total
	}
	x := s.integer()
	return x.Lsh(x, unitBits-fineBits)
}

func (s *sum) rat() *big.Rat {
	if s.total != nil {
		return new(big.Rat).SetFrac(s.total, new(big.Int).Lsh(big.NewInt(1), unitBits))
	}
	return new(big.Rat).SetFrac(s.integer(), new(big.Int).Lsh(big.NewInt(1), fineBits))
}

// most returns a float64 that the sum isn't above.
func (s *sum) most() float64 {
	if s.total != nil || s.hi < 0 {
		f, _ := s.rat().Float64()
		return math.Nextafter(f, math.Inf(1))
	}
	// Three roundings by 2^-53 at most.
	return math.Ldexp(float64(s.hi)*(1<<64)+float64(s.lo), -fineBits) * (1 + 0x1p-50)
}
