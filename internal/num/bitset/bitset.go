// SPDX-License-Identifier: MIT

// Package bitset holds sets of small numbers as bits.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of numbers from 0 up: number i is bit i%64 of word i/64. Loops
// over its words may work on several sets at once.
type Set []uint64

// New returns an empty set of numbers below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Fill makes it all numbers below n. It must have been made for n.
func (s Set) Fill(n int) {
	for w := range s {
		s[w] = ^uint64(0)
	}
	if r := n % 64; r != 0 {
		s[len(s)-1] = 1<<r - 1
	}
}

// Len returns the number of elements of the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// Meets reports whether two sets made for the same n have a number in common.
func (s Set) Meets(t Set) bool {
	for w, x := range s {
		if x&t[w] != 0 {
			return true
		}
	}
	return false
}

// Join adds the numbers of a set made for the same n.
func (s Set) Join(t Set) {
	for w, x := range t {
		s[w] |= x
	}
}

// Empty reports whether nothing is in the set.
func (s Set) Empty() bool {
	for _, x := range s {
		if x != 0 {
			return false
		}
	}
	return true
}

// Add adds the numbers first to last.
func (s Set) Add(first, last int) {
	for w := first / 64; w <= last/64; w++ {
		s[w] |= mask(w, first, last)
	}
}

// Remove removes the numbers first to last.
func (s Set) Remove(first, last int) {
	for w := first / 64; w <= last/64; w++ {
		s[w] &^= mask(w, first, last)
	}
}

// mask returns the bits of word w for the numbers first to last.
func mask(w, first, last int) uint64 {
	m := ^uint64(0)
	if w == first/64 {
		m <<= first % 64
	}
	if w == last/64 {
		m &= ^uint64(0) >> (63 - last%64)
	}
	return m
}

// Runs yields the first and the last number of each run of consecutive numbers,
// ascending.
func (s Set) Runs() iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		first, end := 0, -1 // the run found last is [first, end)
		for w, x := range s {
			for x != 0 {
				low := bits.TrailingZeros64(x)
				run := bits.TrailingZeros64(^(x >> low))
				if at := w*64 + low; at != end {
					if end > first && !yield(first, end-1) {
						return
					}
					first = at
				}
				end = w*64 + low + run
				x = x >> low >> run << run << low // shifts by 64 give 0
			}
		}
		if end > first {
			yield(first, end-1)
		}
	}
}

// OrShift adds i+by for each i in the set, up to the end of the set's words. If the set holds the sums of some numbers'
// subsets, it then holds the sums with one number more.
func (s Set) OrShift(by int) {
	words, n := by/64, uint(by%64)
	for k := len(s) - 1; k >= words; k-- {
		x := s[k-words] << n
		if n > 0 && k > words {
			x |= s[k-words-1] >> (64 - n)
		}
		s[k] |= x
	}
}

// AtMost returns the largest number in the set that is at most i; there must be
// one.
func (s Set) AtMost(i int) int {
	w := i / 64
	x := s[w] & (^uint64(0) >> (63 - i%64))
	for x == 0 {
		w--
		x = s[w]
	}
	return w*64 + 63 - bits.LeadingZeros64(x)
}

// Meet keeps the elements that t has, too. O(n/64).
func (s Set) Meet(t Set) {
	for i := range s {
		s[i] &= t[i]
	}
}
