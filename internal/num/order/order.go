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

// keyed is an item beside its key: a comparison looks up nothing.
type keyed[N number, K cmp.Ordered] struct {
	key  K
	item N
}

// By sorts items by keys[item], the least first, and returns them.
func By[N number, K cmp.Ordered](items []N, keys []K) []N { return by(items, keys, 1) }

// Falling sorts items by keys[item], the largest first, and returns them.
func Falling[N number, K cmp.Ordered](items []N, keys []K) []N { return by(items, keys, -1) }

func by[N number, K cmp.Ordered](items []N, keys []K, sign int) []N {
	all := make([]keyed[N, K], len(items))
	for k, i := range items {
		all[k] = keyed[N, K]{keys[i], i}
	}
	slices.SortFunc(all, func(a, b keyed[N, K]) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return sign * c
		}
		return cmp.Compare(a.item, b.item)
	})
	for k := range all {
		items[k] = all[k].item
	}
	return items
}
