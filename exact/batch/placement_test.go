// SPDX-License-Identifier: MIT

package batch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// hasNodes reports whether jobs have nodes such that, of each set of jobs that pairwise meet, all fit each node
// together. It tries all ways to place one job after the other, node by node.
func hasNodes(t *view.Batch, meet func(i, k int) bool) bool {
	n := len(t.Jobs)
	on := make([][]int64, n) // [job][node] processes
	// fits reports whether a node holds job k and any jobs before it that meet it, and each other.
	fits := func(p, k int) bool {
		var with func(set []int, i int) bool
		with = func(set []int, i int) bool {
			if i == k {
				free := slices.Clone(t.Nodes.Capacity[t.Nodes.Group[p]])
				for _, x := range set {
					for r, need := range t.Jobs[x].Needs.Each {
						if free[r] -= need * on[x][p]; free[r] < 0 {
							return false
						}
					}
					if len(set) > 1 && t.Jobs[x].Needs.Exclusive {
						return false
					}
				}
				return true
			}
			if !with(set, i+1) {
				return false
			}
			if on[i][p] > 0 && !slices.ContainsFunc(set, func(x int) bool { return !meet(i, x) }) {
				return with(append(slices.Clone(set), i), i+1)
			}
			return true
		}
		return with([]int{k}, 0)
	}
	var next func(k int) bool
	next = func(k int) bool {
		if k == n {
			return true
		}
		j := &t.Jobs[k]
		on[k] = make([]int64, len(t.Nodes.Group))
		for _, groups := range j.Needs.Alternatives {
			var fill func(p, left int) bool
			fill = func(p, left int) bool {
				if left == 0 {
					return next(k + 1)
				}
				if p == len(t.Nodes.Group) {
					return false
				}
				if slices.Contains(groups, int(t.Nodes.Group[p])) {
					for c := nodes.Each(j.Needs, t.Nodes.Capacity[t.Nodes.Group[p]], int64(left)); c > 0; c-- {
						if on[k][p] = c; fits(p, k) && fill(p+1, left-int(c)) {
							return true
						}
					}
				}
				on[k][p] = 0
				return fill(p+1, left)
			}
			if fill(0, j.Processes) {
				return true
			}
		}
		return false
	}
	return next(0)
}

// Jobs are placed if and only if one of all ways to place them fits, whatever their times. Pairs that are said to be
// crowded are, by all ways, and are some of those that overlap.
func TestPlacement(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 8))
	has, hasNot, fewer := 0, 0, 0
	rounds := require.Rounds(1500)
	for range rounds {
		v := view.OfBatch(testkit.RandomNodes(rng, 2+rng.IntN(5)))
		if v.Processors > 5 { // there are too many ways
			continue
		}
		n := len(v.Jobs)
		start, end := make([]int64, n), make([]int64, n)
		o := &overlaps{place: newPlacement(t.Context(), v), before: make([][]cp.Var, n), most: mostPlacing}
		for k := range n {
			start[k] = rng.Int64N(8)
			end[k] = start[k] + 1 + rng.Int64N(5)
			for i := range n {
				o.before[k] = append(o.before[k], 0)
				if !shareGroup(v.Jobs[i].Needs, v.Jobs[k].Needs) {
					o.before[k][i] = -1
				}
			}
		}
		want := hasNodes(v, func(i, k int) bool { return overlap(start, end, i, k) })
		pairs, ok := o.crowd(start, end)
		if !ok || (pairs == nil) != want {
			t.Fatalf("crowded %v (%v), by all ways there are nodes: %v: %v %v %+v", pairs, ok, want, start, end, v)
		}
		if want {
			has++
			continue
		}
		hasNot++
		if hasNodes(v, func(i, k int) bool {
			return slices.Contains(pairs, [2]int{max(i, k), min(i, k)}) || slices.Contains(pairs, [2]int{min(i, k), max(i, k)})
		}) {
			t.Fatalf("%v aren't crowded: %v %v %+v", pairs, start, end, v)
		}
		overlapping := 0
		for i := range n {
			for k := range i {
				if overlap(start, end, i, k) {
					overlapping++
				}
			}
		}
		if len(pairs) < overlapping {
			fewer++
		}
		for _, x := range pairs {
			if !overlap(start, end, x[0], x[1]) {
				t.Fatalf("%v don't overlap", x)
			}
		}
	}
	if t.Logf("%d have nodes, %d don't, for %d of these some overlaps are enough", has, hasNot, fewer); min(has, hasNot) < rounds/10 || fewer < hasNot/2 {
		t.Error("too few of a kind")
	}
}
