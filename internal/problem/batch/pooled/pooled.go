// SPDX-License-Identifier: MIT

// Package pooled looks at nodes of a machine together, and not at which node runs which process.
package pooled

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
)

// mostSets is how many sets of groups are looked at beside all of them.
const mostSets = 8

// mostParts is the most parts of a resource that are counted.
const mostParts = 1 << 20

// Sets returns sets of groups, nil for all of them. Each is one from which some jobs choose their nodes, and the sets
// with the most work come first.
func Sets(t *view.Batch) [][]int64 {
	type set struct {
		groups []int64
		work   float64
	}
	var sets []set
	known := map[*view.NodeNeeds]int{}
	for k := range t.Jobs {
		j := &t.Jobs[k]
		at, ok := known[j.Needs]
		if !ok {
			groups := j.Needs.Groups()
			at = slices.IndexFunc(sets, func(s set) bool { return slices.Equal(s.groups, groups) })
			if at < 0 {
				at, sets = len(sets), append(sets, set{groups: groups})
			}
			known[j.Needs] = at
		}
		sets[at].work += float64(j.Length) * float64(j.Processes)
	}
	order.Stable(sets, func(a, b set) int { return cmp.Compare(b.work, a.work) })
	all := [][]int64{nil}
	for _, s := range sets[:min(len(sets), mostSets)] {
		if len(s.groups) < len(t.Nodes.Capacity) {
			all = append(all, s.groups)
		}
	}
	return all
}

// Of returns the jobs that run on nothing but some groups (nil: all) as jobs of one resource of these: slots of each
// node, by group, and takes of a job on an empty machine that holds it. It is counted in at most mostParts parts: needs
// times parts over the capacity, rounded down, sum to at most the parts whenever the needs sum to at most the capacity.
// Other jobs have no width. It is nil for a set that has nothing of the resource. The slots of all nodes are at most
// 10^18.
func Of(t *view.Batch, groups []int64, slots func(group int) int64, takes func(j *view.BatchJob) int64) *view.Batch {
	capacity := int64(0)
	inside := func(g int) bool { return groups == nil || slices.Contains(groups, int64(g)) }
	for g := range t.Nodes.Capacity {
		if inside(g) {
			capacity += int64(t.Nodes.First[g+1]-t.Nodes.First[g]) * slots(g)
		}
	}
	if capacity == 0 && groups != nil {
		return nil
	}
	p := *t
	p.Nodes, p.Processors, p.Jobs = nil, int(max(1, min(capacity, mostParts))), slices.Clone(t.Jobs)
	within := map[*view.NodeNeeds]bool{}
	for k := range p.Jobs {
		j := &p.Jobs[k]
		in, ok := within[j.Needs]
		if !ok {
			in = !slices.ContainsFunc(j.Needs.Groups(), func(g int64) bool { return !inside(int(g)) })
			within[j.Needs] = in
		}
		if !in || capacity == 0 {
			j.Processes = 0
			continue
		}
		high, low := bits.Mul64(uint64(takes(j)), uint64(p.Processors))
		width, _ := bits.Div64(high, low, uint64(capacity)) // a job fits the nodes, so that high < capacity
		j.Processes = int(width)
	}
	return &p
}
