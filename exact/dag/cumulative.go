// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// cumulativeModel is the constraint model of a DAG on identical machines between which
// data take no time, in ticks: for each task a start, and no machines.
//
// Tasks that start at such times fit on m machines if and only if at no time more than m of them run. Proof: in the
// order of their starts each one takes a machine that is free by then (interval graphs are perfect). So one cumulative
// constraint represents all machines, and no two of them then differ by names alone. Tasks that cost nothing aren't in
// it. It is for bounds and schedules beside the kernelModel, and not for proofs.
//
// Variables are the makespan and the starts, from the head of a task to the horizon less
// its cost and tail. Starts are decided in the order of time, at a tie the task with the
// longest rest first.
type cumulativeModel struct {
	cp.Model
	v     *ticks
	start []cp.Var // of each task
}

// newCumulativeModel returns the model of the schedules that end by the horizon.
func newCumulativeModel(v *ticks, horizon int64) *cumulativeModel {
	k := &cumulativeModel{v: v, start: make([]cp.Var, v.n)}
	k.Objective = k.Int(0, horizon)
	machines, head := []int{0}, make([]int64, v.n*v.m)
	v.Heads(head, v.Graph.Order, func(int32) []int { return machines }, func(int32) int32 { return -1 })
	rest := func(t int32) int64 { return v.Cost(t, 0) + v.tail[int(t)*v.m] }
	all := &cp.Cumulative{Capacity: int64(v.m), Energy: true}
	at := func(t int32) []cp.Start { return []cp.Start{{If: cp.True, At: k.start[t]}} }
	end := []cp.Start{{If: cp.True, At: k.Objective}}
	for _, t := range v.Graph.Order {
		k.start[t] = k.Int(head[int(t)*v.m], horizon-rest(t))
		if cost := v.Cost(t, 0); cost > 0 {
			all.Starts = append(all.Starts, at(t)...)
			all.Lengths, all.Demands = append(all.Lengths, cost), append(all.Demands, 1)
		}
		for _, e := range v.Graph.Pred(t) {
			f := v.Graph.From[e]
			k.Add(&cp.Delay{From: at(f), To: at(t), By: [][]int64{{v.Cost(f, 0)}}})
		}
		k.Add(&cp.Delay{From: at(t), To: end, By: [][]int64{{rest(t)}}})
	}
	k.Add(all)
	byRest := slices.Clone(v.Graph.Order)
	order.Stable(byRest, func(a, b int32) int { return cmp.Compare(rest(b), rest(a)) })
	for _, t := range byRest {
		k.Integers = append(k.Integers, k.start[t])
	}
	return k
}

// planOf returns the plan of a solution.
func (k *cumulativeModel) planOf(values []int64) dagplay.Plan {
	start, length := make([]int64, k.v.n), make([]int64, k.v.n)
	for t, x := range k.start {
		start[t], length[t] = values[x], k.v.Cost(int32(t), 0)
	}
	return dagplay.OnFree(k.v.Graph, start, length)
}
