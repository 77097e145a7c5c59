// SPDX-License-Identifier: MIT

package processors

import (
	"math/bits"
	"slices"
)

// Free is a set of processors that gives away the lowest first: a bitset, with a bit for each of its words that isn't 0
// in the next level, and so on up to one word. Taking or giving back a processor takes O(Levels), at most four for a
// million processors.
type Free struct {
	Levels [][]uint64
}

// NewFree returns the set of processors 0 to n-1.
func NewFree(n int) *Free {
	s := new(Free)
	for {
		words := (n + 63) / 64
		l := make([]uint64, words)
		for i := range l {
			l[i] = ^uint64(0)
		}
		if rest := n % 64; rest > 0 {
			l[words-1] = 1<<rest - 1
		}
		s.Levels = append(s.Levels, l)
		if words == 1 {
			return s
		}
		n = words
	}
}

// Take removes the lowest processors and writes them to list; there must be as
// many.
func (s *Free) Take(list []int32) {
	top := len(s.Levels) - 1
	for i := 0; i < len(list); {
		word := 0
		for l := top; l > 0; l-- {
			word = word*64 + bits.TrailingZeros64(s.Levels[l][word])
		}
		x := s.Levels[0][word]
		for ; x != 0 && i < len(list); i++ {
			list[i] = int32(word*64 + bits.TrailingZeros64(x))
			x &= x - 1
		}
		s.Levels[0][word] = x
		for l := 1; l <= top && s.Levels[l-1][word] == 0; l++ {
			s.Levels[l][word/64] &^= 1 << (word % 64)
			word /= 64
		}
	}
}

// Give puts processors back.
func (s *Free) Give(list []int32) {
	for _, p := range list {
		s.Add(p)
	}
}

// Add puts a processor into the set.
func (s *Free) Add(p int32) {
	for l := range s.Levels {
		word := &s.Levels[l][p/64]
		before := *word
		*word |= 1 << (p % 64)
		if before != 0 {
			return
		}
		p /= 64
	}
}

// Has reports whether processor p is in the set.
func (s *Free) Has(p int32) bool { return s.Levels[0][p/64]>>(p%64)&1 == 1 }

// Remove removes a processor of the set.
func (s *Free) Remove(p int32) {
	for l := range s.Levels {
		word := &s.Levels[l][p/64]
		if *word &^= 1 << (p % 64); *word != 0 {
			return
		}
		p /= 64
	}
}

// Keep removes the processors that aren't in another set of as many.
func (s *Free) Keep(other *Free) {
	for w := range s.Levels[0] {
		s.Levels[0][w] &= other.Levels[0][w]
	}
	for l := 1; l < len(s.Levels); l++ {
		clear(s.Levels[l])
		for w, x := range s.Levels[l-1] {
			if x != 0 {
				s.Levels[l][w/64] |= 1 << (w % 64)
			}
		}
	}
}

// Clone returns a copy of the set.
func (s *Free) Clone() *Free {
	c := &Free{Levels: make([][]uint64, len(s.Levels))}
	for l := range s.Levels {
		c.Levels[l] = slices.Clone(s.Levels[l])
	}
	return c
}

// Neighbours returns the lowest processor p of the set for which p to p+width-1 are in
// it, too; -1 if there is none. Linear in the words of the set and its longest stretches
// of neighbours.
func (s *Free) Neighbours(width int32) int32 {
	end := int32(len(s.Levels[0])) * 64
	for p := s.nextIn(0, end, true); p < end; {
		gap := s.nextIn(p, min(end, p+width), false)
		if gap >= p+width {
			return p
		}
		p = s.nextIn(gap, end, true)
	}
	return -1
}

// nextIn returns the first processor from p up to end that is in the set, or isn't; end:
// there is none.
func (s *Free) nextIn(p, end int32, in bool) int32 {
	for p < end {
		word := s.Levels[0][p/64]
		if !in {
			word = ^word
		}
		if word >>= p % 64; word != 0 {
			return min(end, p+int32(bits.TrailingZeros64(word)))
		}
		p = (p/64 + 1) * 64
	}
	return end
}

// RemoveAll removes the processors that are in the set.
func (s *Free) RemoveAll(list []int32) {
	for _, p := range list {
		if s.Has(p) {
			s.Remove(p)
		}
	}
}
