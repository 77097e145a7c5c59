// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"sort"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// decreasing returns the indices of keys, the largest key first, equals in order.
func decreasing(keys []int64) []int32 {
	return order.Falling(order.Of[int32](len(keys)), keys)
}

// extendClique builds a set of mutually conflicting items, greedily in the given order, by decreasing x: two items fit
// if their x sum to at most roomX and their y to at most roomY. It calls add with each item that joins, until add
// returns false or ctx ends. O(log n) for each item.
//
// Among the items before an item, the ones that fit with it in x are the last ones, since x decreases. So the item
// conflicts with all if the least y among them doesn't fit with its own. A stack of the suffix minima of y knows that.
func extendClique(ctx context.Context, order []int32, x, y []int64, roomX, roomY int64, add func(item int32) bool) {
	type minimum struct {
		at int // in set
		y  int64
	}
	var set []int64 // x of the items
	var least []minimum
	for i, k := range order {
		if i&0xfff == 0xfff && meter.Stop(ctx, 1<<9) {
			return
		}
		from := sort.Search(len(set), func(o int) bool { return set[o]+x[k] <= roomX })
		at := sort.Search(len(least), func(m int) bool { return least[m].at >= from })
		if from < len(set) && least[at].y+y[k] <= roomY {
			continue
		}
		for len(least) > 0 && least[len(least)-1].y >= y[k] {
			least = least[:len(least)-1]
		}
		least = append(least, minimum{len(set), y[k]})
		if set = append(set, x[k]); !add(k) {
			return
		}
	}
}
