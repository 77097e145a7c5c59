// SPDX-License-Identifier: MIT

// Package vectors has fixed-size vectors of amounts, for searches that spend their time adding and comparing them: two
// amounts are as fast as by hand, more use the same code.
package vectors

// Vector is an array of amounts, one for each resource.
type Vector interface {
	[2]int64 | [3]int64 | [4]int64 | [6]int64 | [11]int64 | [24]int64 | [65]int64
}

// Most is the number of amounts in the longest Vector.
const Most = 65

// Size returns the length of the shortest Vector of at least so many amounts, up to
// Most.
func Size(amounts int) int {
	for _, n := range []int{2, 3, 4, 6, 11, 24} {
		if amounts <= n {
			return n
		}
	}
	return Most
}
