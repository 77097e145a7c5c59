// SPDX-License-Identifier: MIT

package batch

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
)

// rollerNodes is a roller's part on a machine of nodes, where jobs get the nodes that fit best.
type rollerNodes struct {
	state  *nodes.State
	widths []int32 // of each job, its part of the machine in parts of wholeMachine: of the resource of which it takes most
	kind   []int32 // of each job, the number of its needs
	failed []int   // of each kind, how many processes didn't fit; more don't fit either until a job has ended
	lists  [][]int32
}

// wholeMachine is the width of a job that takes all of a resource.
const wholeMachine = 1 << 16

// These take as long as so many looks at waiting jobs: a look at the room of the nodes, a copy of their state, a
// reservation but for that and the ends before it, and a start or an end.
const (
	looksForRoom  = 20
	looksForCopy  = 400
	looksForSpare = 150
	looksForStart = 60
)

// moreLooks is how many times as many looks are taken on nodes as on processors.
const moreLooks = 4

// tooMany processes fit nowhere.
const tooMany = 1 << 31

func newRollerNodes(t *view.Batch) *rollerNodes {
	total := make([]float64, len(t.Nodes.Resources))
	for g, capacity := range t.Nodes.Capacity {
		for r, c := range capacity {
			total[r] += float64(c) * float64(t.Nodes.First[g+1]-t.Nodes.First[g])
		}
	}
	n := &rollerNodes{state: nodes.New(t.Nodes), lists: make([][]int32, len(t.Jobs))}
	kinds := map[*view.NodeNeeds]int32{}
	for k := range t.Jobs {
		j, most := &t.Jobs[k], 0.0
		for r, need := range j.Needs.Each {
			if need > 0 {
				most = max(most, float64(need)*float64(j.Processes)/total[r])
			}
		}
		i, ok := kinds[j.Needs]
		if !ok {
			i = int32(len(kinds))
			kinds[j.Needs], n.failed = i, append(n.failed, tooMany)
		}
		n.kind, n.widths = append(n.kind, i), append(n.widths, max(1, int32(most*wholeMachine)))
	}
	return n
}

// clone returns a copy for a schedule that isn't kept.
func (n *rollerNodes) clone() *rollerNodes {
	c := *n
	c.state, c.failed, c.lists = n.state.Clone(), slices.Clone(n.failed), nil
	return &c
}

// end gives the nodes of a job back.
func (n *rollerNodes) end(j *view.BatchJob, list []int32) {
	n.state.Give(j.Needs, list)
	for i := range n.failed {
		n.failed[i] = tooMany
	}
}

// passOnNodes is pass on nodes. A look at them takes O(classes of nodes).
func (r *roller) passOnNodes() {
	n := r.nodes
	left := r.waiting[:0]
	head, shadow := true, int64(never)
	var then *nodes.Later
	for _, k := range r.waiting {
		r.looks++
		j := &r.t.Jobs[k]
		end, failed := r.now+r.lengths[k], &n.failed[n.kind[k]]
		fits := j.Processes < *failed
		if fits {
			r.looks += looksForRoom
			if fits = n.state.Fits(j.Needs, j.Processes); !fits {
				*failed = j.Processes
			}
		}
		var list []int32
		switch {
		case !fits && head:
			if float64(r.now-j.Submit) >= r.rule.patience*float64(r.lengths[k]) {
				then, shadow = r.reserveOnNodes(j)
			}
			head = false
		case !fits:
		case end <= shadow:
			list = n.state.Fit(j.Needs, j.Processes)
		default:
			r.looks += looksForSpare
			if list, _ = then.FitBoth(n.state, j.Needs, j.Processes); list != nil {
				then.Take(j.Needs, list)
			}
		}
		if list == nil {
			left = append(left, k)
			continue
		}
		n.state.Take(j.Needs, list)
		r.looks += looksForStart + int64(len(list))/2
		r.start(k, ending{end, n.widths[k], k, list})
		if n.lists != nil {
			n.lists[k] = list
		}
	}
	r.waiting = left
}

// reserveOnNodes returns when a job that doesn't fit will, and the nodes then, with its reservation.
func (r *roller) reserveOnNodes(j *view.BatchJob) (then *nodes.Later, shadow int64) {
	then = r.nodes.state.Later()
	r.looks += looksForCopy + looksForSpare
	for i := range r.running {
		x := &r.running[i]
		then.Give(r.t.Jobs[x.job].Needs, x.list)
		r.looks += looksForStart
		if (i+1 == len(r.running) || r.running[i+1].at > x.at) && then.Reserve(r.nodes.state, j.Needs, j.Processes) {
			return then, x.at
		}
	}
	return nil, never // each job fits the empty machine
}
