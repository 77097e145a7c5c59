// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"slices"
)

// remaining bounds the weighted sum of responses of all completions of a node. Each job that hasn't started ends no
// earlier than its earliest start plus its length, and all of them pay for the processors that the started ones leave
// free (see paid.of).
type remaining struct {
	earliest []int64 // by job
	order    []int32 // by earliest start
	paid     *paid   // nil: no prices
}

func newRemaining(j *jobs) *remaining { return &remaining{earliest: make([]int64, len(j.release))} }

// bound returns the bound of x. O(jobs log jobs), plus the time of paid.of.
func (r *remaining) bound(t *tree, x *node) int64 {
	sum := x.cost
	r.order = r.order[:0]
	for k := range t.release {
		if !x.set.has(k) {
			at := t.earliest(x, k)
			r.earliest[k] = at
			r.order = append(r.order, int32(k))
			sum += t.weight[k] * (at + t.length[k] - t.release[k])
		}
	}
	if r.paid == nil {
		return sum
	}
	slices.SortFunc(r.order, func(a, b int32) int { return cmp.Or(cmp.Compare(r.earliest[a], r.earliest[b]), cmp.Compare(a, b)) })
	return max(sum, r.paid.bound(x, r.order, r.earliest))
}
