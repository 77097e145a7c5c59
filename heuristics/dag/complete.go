// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
)

// Complete makes a schedule of the instance from one that may lack tasks, or have others. Placed tasks stay on their
// machines, in the order of their starts if edges allow. A new task comes as soon as its predecessors are there, on the
// machine on which it ends first. All start as early as possible. The error wraps model.ErrInvalid, see partial.Match.
// O(V M log V + E M).
func Complete(d *model.DAG, start *model.Schedule) (*model.Schedule, model.Completion, error) {
	of, c, err := partial.Match(d.Tasks, func(x *model.DAGTask) string { return x.ID },
		start.Tasks, func(x *model.TaskStart) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	machines := map[string]int32{}
	for m := range d.Machines {
		machines[d.Machines[m].ID] = int32(m)
	}
	g := view.OfDAG(d)
	on := make([]int32, g.Tasks) // -1: free
	for t := range on {
		on[t] = -1
		if of[t] < 0 {
			continue
		}
		m, ok := machines[start.Tasks[of[t]].Machine]
		if !ok || !g.Runs(int32(t), m) {
			c.Added, c.Ignored = c.Added+1, c.Ignored+1
			continue
		}
		on[t] = m
	}
	// due is when a task wants to start: as in the start, or when its last
	// predecessor does.
	due, waits := make([]float64, g.Tasks), make([]int, g.Tasks)
	position := make([]int32, g.Tasks)
	for k, t := range g.Order {
		position[t] = int32(k)
	}
	ready := heap.Heap[int32]{Less: func(a, b int32) bool {
		return due[a] < due[b] || due[a] == due[b] && position[a] < position[b]
	}}
	push := func(t int32) {
		if on[t] >= 0 {
			due[t] = start.Tasks[of[t]].StartS
		}
		ready.Push(t)
	}
	for t := range waits {
		if waits[t] = len(g.Pred(int32(t))); waits[t] == 0 {
			push(int32(t))
		}
	}
	b := newBuilder(newCosts(g, nil))
	plan := dagplay.Plan{Machine: on, Order: make([][]int32, g.Machines)}
	last := make([]float64, g.Machines)
	end := func(t, m int32, at []float64) float64 { return b.behind(t, m, at[m], last[m]) + b.cost(t, m) }
	for ready.Len() > 0 {
		t := ready.Pop()
		at := b.arrive(t)
		if on[t] < 0 {
			on[t] = 0
			for m := range last {
				if a := on[t]; less(end(t, int32(m), at), end(t, a, at)) {
					on[t] = int32(m)
				}
			}
		}
		m := on[t]
		last[m] = b.follow(t, m, b.behind(t, m, at[m], last[m]))
		plan.Order[m] = append(plan.Order[m], t)
		for _, e := range g.Succ(t) {
			s := g.To[e]
			due[s] = max(due[s], due[t])
			if waits[s]--; waits[s] == 0 {
				push(s)
			}
		}
	}
	r := dagplay.NewReplay(g)
	if math.IsInf(r.Run(plan, nil), 1) {
		return nil, c, fmt.Errorf("%w start: some data have no path between its machines", model.ErrInvalid)
	}
	return d.Schedule(plan.Machine, r.Start, r.Sent), c, nil
}
