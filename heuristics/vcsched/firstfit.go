// SPDX-License-Identifier: MIT

package vcsched

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
)

// treeList answers the queries of firstFit on a segment tree of the smallest CPU and
// the smallest memory need below each node. The two minima may come from different
// tasks, and then the node is entered in vain: a query is O(log n) in the good case
// and O(n) in the worst. Taking a task is O(log n).
type treeList struct {
	order []int32
	leaf  int     // index of the first leaf, a power of two
	least []needs // [node], the root at 1
}

type needs struct{ cpu, mem int64 }

func newTreeList(u *view.VCSched, order []int32) firstFit {
	t := &treeList{order: order, leaf: 1}
	for t.leaf < len(order) {
		t.leaf *= 2
	}
	t.least = make([]needs, 2*t.leaf)
	for k := range t.leaf {
		t.least[t.leaf+k] = needs{math.MaxInt64, math.MaxInt64}
		if k < len(order) {
			t.least[t.leaf+k] = needs{u.CPU[order[k]], u.Memory[order[k]]}
		}
	}
	for k := t.leaf - 1; k > 0; k-- {
		t.update(k)
	}
	return t
}

// update computes a node from its children.
func (t *treeList) update(k int) {
	a, b := t.least[2*k], t.least[2*k+1]
	t.least[k] = needs{min(a.cpu, b.cpu), min(a.mem, b.mem)}
}

func (t *treeList) remove(place int) {
	k := t.leaf + place
	t.least[k] = needs{math.MaxInt64, math.MaxInt64}
	for k /= 2; k > 0; k /= 2 {
		t.update(k)
	}
}

func (t *treeList) first(from int, cpu, mem int64) (int32, int) {
	if from >= len(t.order) {
		return -1, -1
	}
	k := t.leaf + from
	for {
		if l := t.least[k]; l.cpu <= cpu && l.mem <= mem {
			if k >= t.leaf {
				return t.order[k-t.leaf], k - t.leaf
			}
			k *= 2
			continue
		}
		// Go to the next subtree to the right.
		for k&1 == 1 {
			k /= 2
		}
		if k == 0 {
			return -1, -1
		}
		k++
	}
}
