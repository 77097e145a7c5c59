// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// priced reports whether prices of instants bound the instance: their evidence is about processors of one tier.
func priced(t *view.Batch) bool { return t.Tiers == 1 && t.Nodes == nil }

// mostPools is how many sets of groups are looked at beside all of them.
const mostPools = 8

// pooledParts is the most parts of a resource that are counted.
const pooledParts = 1 << 20

// pooled returns the machines of nodes. At every instant the needs of the running jobs sum to at most the capacity of
// each resource, over all nodes and over the groups of any set, if the jobs are those that run nowhere else: which node
// runs which process isn't looked at. Each such sum is one of widths. Each set is one from which some jobs choose their
// nodes, and the sets with the most work come first. So a wall of a partition counts.
func pooled(t *view.Batch, most int) []machine {
	var all []ranked
	for _, groups := range pools(t) {
		for r := range t.Nodes.Resources {
			p := pool(t, r, groups)
			if p == nil {
				continue
			}
			for k, m := range widths(p) {
				m.why.Resource, m.why.Rows = t.Nodes.Resources[r], groups
				if k == 0 { // widths compares others alone
					for k := range p.Jobs {
						m.area += float64(p.Jobs[k].Length) * float64(p.Jobs[k].Processes)
					}
					m.area /= float64(p.Processors)
				}
				all = append(all, m)
			}
		}
	}
	first := 0 // the plain one of the scarcest resource
	for k := range all {
		if all[k].why.Function == nil && (all[first].why.Function != nil || all[k].area > all[first].area) {
			first = k
		}
	}
	all[0], all[first] = all[first], all[0]
	return largest(all, most)
}

// pools returns the sets of groups, nil for all of them.
func pools(t *view.Batch) [][]int64 {
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
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(b.work, a.work) })
	all := [][]int64{nil}
	for _, s := range sets[:min(len(sets), mostPools)] {
		if len(s.groups) < len(t.Nodes.Capacity) {
			all = append(all, s.groups)
		}
	}
	return all
}

// pool returns the jobs that run on nothing but some groups (nil: all) as jobs of one resource of these, in at most
// pooledParts parts: their needs times parts over the capacity, rounded down, sum to at most the parts whenever their
// needs sum to at most the capacity. Other jobs have no width. It is nil for a set that has nothing of the resource.
func pool(t *view.Batch, r int, groups []int64) *view.Batch {
	capacity := int64(0)
	inside := func(g int) bool { return groups == nil || slices.Contains(groups, int64(g)) }
	for g, c := range t.Nodes.Capacity {
		if inside(g) {
			capacity += int64(t.Nodes.First[g+1]-t.Nodes.First[g]) * c[r]
		}
	}
	if capacity == 0 && groups != nil {
		return nil
	}
	p := *t
	p.Nodes, p.Processors, p.Jobs = nil, int(max(1, min(capacity, pooledParts))), slices.Clone(t.Jobs)
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
		high, low := bits.Mul64(uint64(j.Processes)*uint64(j.Needs.Each[r]), uint64(p.Processors))
		width, _ := bits.Div64(high, low, uint64(capacity)) // a job fits the nodes, so that high < capacity
		j.Processes = int(width)
	}
	return &p
}
