// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/internal/core/view"
	onnodes "github.com/gapwise/gapwise/internal/problem/batch/pooled"
)

// priced reports whether prices of instants bound the instance: their evidence is about processors of one tier.
func priced(t *view.Batch) bool { return t.Tiers == 1 && t.Nodes == nil }

// pooled returns the machines of nodes. At every instant the needs of the running jobs sum to at most the capacity of
// each resource, over all nodes and over the groups of any set, if the jobs are those that run nowhere else: which node
// runs which process isn't looked at. Each such sum is one of widths. Each set is one from which some jobs choose their
// nodes, and the sets with the most work come first. So a wall of a partition counts.
func pooled(t *view.Batch, most int) []machine {
	var all []ranked
	for _, groups := range onnodes.Sets(t) {
		for r := range t.Nodes.Resources {
			p := onnodes.Of(t, groups, func(g int) int64 { return t.Nodes.Capacity[g][r] },
				func(j *view.BatchJob) int64 { return int64(j.Processes) * j.Needs.Each[r] })
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
