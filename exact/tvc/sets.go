// SPDX-License-Identifier: MIT

package tvc

import "math/bits"

// mostRequests is the number of requests of a component up to which its sets are
// searched.
const mostRequests = 256

// set is a set of requests of one component, numbered in the order of arrival.
type set [mostRequests / 64]uint64

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s set) with(i int) set {
	s[i/64] |= 1 << (i % 64)
	return s
}

// in reports whether all of s is in x.
func (s set) in(x set) bool {
	for w := range s {
		if s[w]&^x[w] != 0 {
			return false
		}
	}
	return true
}

func (s set) all(yield func(int) bool) {
	for w, x := range s {
		for ; x != 0; x &= x - 1 {
			if !yield(w*64 + bits.TrailingZeros64(x)) {
				return
			}
		}
	}
}
