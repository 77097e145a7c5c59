// SPDX-License-Identifier: MIT

// Package spans holds sets of whole numbers that consist of few runs.
package spans

import (
	"cmp"
	"slices"
)

// Span is the whole numbers from From to To, both included.
type Span struct{ From, To int }

// Set is a set of whole numbers: disjoint spans in ascending order, not adjacent.
type Set []Span

// Has reports whether the set holds x. O(log spans).
func (s Set) Has(x int) bool {
	k, _ := slices.BinarySearchFunc(s, x, func(a Span, x int) int { return cmp.Compare(a.To, x) })
	return k < len(s) && s[k].From <= x
}

// Ends returns the numbers x of s with min(x, n-x) ≤ most, in the memory of dst, which must not share s's memory. The
// numbers of s must be from 0 to n.
func (s Set) Ends(dst Set, n, most int) Set {
	if dst = dst[:0]; 2*most >= n-1 {
		return append(dst, s...)
	}
	for _, x := range s {
		if to := min(x.To, most); x.From <= to {
			dst = append(dst, Span{x.From, to})
		}
	}
	for _, x := range s {
		if from := max(x.From, n-most); from <= x.To {
			dst = append(dst, Span{from, x.To})
		}
	}
	return dst
}

// Sums returns the sums of a number of s and one of x that are from low to high, in the memory of dst, which must not
// share the memory of s or x. O(ab log ab) for a and b spans.
func (s Set) Sums(dst, x Set, low, high int) Set {
	dst = dst[:0]
	for _, a := range s {
		for _, b := range x {
			if from, to := max(a.From+b.From, low), min(a.To+b.To, high); from <= to {
				dst = append(dst, Span{from, to})
			}
		}
	}
	return dst.join()
}

// Union returns the numbers of both sets, in the memory of s.
func (s Set) Union(x Set) Set { return append(s, x...).join() }

// join sorts spans, unites those that overlap or touch, and returns the set in
// the same memory.
func (s Set) join() Set {
	if len(s) < 2 {
		return s
	}
	slices.SortFunc(s, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	last := 0
	for _, x := range s[1:] {
		if x.From <= s[last].To+1 {
			s[last].To = max(s[last].To, x.To)
		} else {
			last++
			s[last] = x
		}
	}
	return s[:last+1]
}
