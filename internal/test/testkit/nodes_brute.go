// SPDX-License-Identifier: MIT

package testkit

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// LeastOnNodes returns the least mean response time of a tiny instance on nodes, by enumeration. Some optimum has its
// jobs in the order of their starts, each as early as its nodes have room beside the jobs before it, no earlier than
// the one before: moved so, one after the other, no job of an optimum ends later. So all orders and all choices of
// nodes are tried, but for nodes that are alike. It reads the instance by itself.
func LeastOnNodes(in *model.Batch) float64 {
	type run struct {
		start, end float64
		job        int
		on         []int // processes on each node
	}
	var group []*model.NodeGroup
	for g := range in.Nodes {
		for range in.Nodes[g].Count {
			group = append(group, &in.Nodes[g])
		}
	}
	best, weights := math.Inf(1), 0.0
	for k := range in.Jobs {
		weights += float64(max(1, in.Jobs[k].Weight))
	}
	var runs []run
	left := make([]bool, len(in.Jobs))
	for k := range left {
		left[k] = true
	}
	// room reports whether a job has its nodes at an instant.
	room := func(k int, on []int, at float64) bool {
		n := in.Jobs[k].Needs
		for p, count := range on {
			if count == 0 {
				continue
			}
			for r, need := range n.Each {
				used := need * int64(count)
				for _, x := range runs {
					if x.start <= at && at < x.end {
						used += int64(x.on[p]) * in.Jobs[x.job].Needs.Each[r]
					}
				}
				if used > group[p].Capacity[r] {
					return false
				}
			}
			for _, x := range runs {
				if x.start <= at && at < x.end && x.on[p] > 0 && (n.Exclusive || in.Jobs[x.job].Needs.Exclusive) {
					return false
				}
			}
		}
		return true
	}
	untouched := func(p int) bool { return !slices.ContainsFunc(runs, func(x run) bool { return x.on[p] > 0 }) }
	var next func(from, sum float64)
	place := func(k int, from, sum float64, on []int) {
		j := &in.Jobs[k]
		at := max(from, j.SubmitS)
		ends := []float64{at}
		for _, x := range runs {
			if x.end > at {
				ends = append(ends, x.end)
			}
		}
		slices.Sort(ends)
		for _, t := range ends { // starts before are no later than at: what is free then stays free
			if room(k, on, t) {
				end := t + in.Work(k)
				runs = append(runs, run{t, end, k, slices.Clone(on)})
				next(t, sum+float64(max(1, j.Weight))*(end-j.SubmitS))
				runs = runs[:len(runs)-1]
				return
			}
		}
	}
	next = func(from, sum float64) {
		if sum >= best {
			return
		}
		if !slices.Contains(left, true) {
			best = sum
			return
		}
		for k, waits := range left {
			if !waits {
				continue
			}
			left[k] = false
			n := in.Jobs[k].Needs
			on := make([]int, len(group))
			partitions := n.Partitions
			if len(partitions) == 0 {
				partitions = []string{""}
			}
			var fill func(p, processes int, partition string)
			fill = func(p, processes int, partition string) {
				if processes == 0 {
					place(k, from, sum, on)
					return
				}
				if p == len(group) {
					return
				}
				allowed := partition == "" || slices.Contains(group[p].Partitions, partition)
				for _, f := range n.Features {
					allowed = allowed && slices.Contains(group[p].Features, f)
				}
				most := 0
				if allowed {
					if most = processes; n.Spread {
						most = min(1, processes)
					}
					for r, need := range n.Each {
						if need > 0 {
							most = min(most, int(group[p].Capacity[r]/need))
						}
					}
				}
				// Nodes of a group on which nothing has run are alike: the first of them takes the most.
				if p > 0 && group[p] == group[p-1] && untouched(p) && untouched(p-1) {
					most = min(most, on[p-1])
				}
				for count := 0; count <= most; count++ {
					on[p] = count
					fill(p+1, processes-count, partition)
				}
				on[p] = 0
			}
			for _, partition := range partitions {
				fill(0, in.Jobs[k].Processes, partition)
			}
			left[k] = true
		}
	}
	next(0, 0)
	return best / weights
}
