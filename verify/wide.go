// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"math/big"
	"math/bits"
)

// wide is a whole number of at least 0, below 2^128.
type wide struct{ high, low uint64 }

// product returns a·b of numbers of at least 0.
func product(a, b int64) wide {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return wide{high, low}
}

func (a wide) cmp(b wide) int { return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low)) }

// less reports whether a < b.
func (a wide) less(b wide) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

// plus returns a + b, which is below 2^128.
func (a wide) plus(b wide) wide {
	low, carry := bits.Add64(a.low, b.low, 0)
	return wide{a.high + b.high + carry, low}
}

// minus returns a - b, which isn't below 0.
func (a wide) minus(b wide) wide {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	return wide{a.high - b.high - borrow, low}
}

// times returns a·b, which is below 2^128.
func (a wide) times(b uint64) wide {
	high, low := bits.Mul64(a.low, b)
	return wide{a.high*b + high, low}
}

// up returns a 2^shift, which is below 2^128.
func (a wide) up(shift uint) wide {
	if shift >= 64 {
		return wide{high: a.low << (shift - 64)}
	}
	return wide{a.high<<shift | a.low>>(64-shift), a.low << shift}
}

// wideSum is a whole number of 192 bits in two's complement, the lowest word first. So a
// sum of 2^64 products of two int64s is exact, whatever they are.
type wideSum [3]uint64

// add adds a·b.
func (w *wideSum) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	var carry uint64
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1], carry = bits.Add64(w[1], hi, carry)
	w[2], _ = bits.Add64(w[2], uint64(int64(hi)>>63), carry)
}

// positive reports whether w > 0.
func (w *wideSum) positive() bool { return int64(w[2]) >= 0 && w[0]|w[1]|w[2] != 0 }

// negative reports whether w < 0.
func (w *wideSum) negative() bool { return int64(w[2]) < 0 }

// addWide adds a.
func (w *wideSum) addWide(a wide) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], a.low, 0)
	w[1], carry = bits.Add64(w[1], a.high, carry)
	w[2] += carry
}

// integer returns w, which isn't below 0.
func (w *wideSum) integer() *big.Int {
	x := new(big.Int).SetUint64(w[2])
	for _, word := range []uint64{w[1], w[0]} {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(word))
	}
	return x
}
