// SPDX-License-Identifier: MIT

// Package order sorts items by keys. Items are numbers, and equal keys leave them in the order of their numbers: then
// a result doesn't depend on how the sorting goes.
package order

import (
	"cmp"
	"slices"
)

type number interface{ int | int32 }

// Of returns the numbers 0 to n-1.
func Of[N number](n int) []N {
	all := make([]N, n)
	for k := range all {
		all[k] = N(k)
	}
	return all
}

// By sorts items by keys[item], the least first, and returns them.
func By[N number, K cmp.Ordered](items []N, keys []K) []N {
	slices.SortFunc(items, func(a, b N) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	return items
}

// Falling sorts items by keys[item], the largest first, and returns them.
func Falling[N number, K cmp.Ordered](items []N, keys []K) []N {
	slices.SortFunc(items, func(a, b N) int { return cmp.Or(cmp.Compare(keys[b], keys[a]), cmp.Compare(a, b)) })
	return items
}
