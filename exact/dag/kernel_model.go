// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/dag/dagmodel"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// kernelModel is the constraint model of a DAG without contention, in ticks. Each task has a machine, and on each
// machine an optional start. Each two tasks without a path between them have an order, which counts if both are on one
// machine.
//
// Everything that a proof may use has a name, in the numbers of the instance's arrays. Variables:
//
//	makespan       0 to the horizon
//	on T M         1 if task T is on machine M; not there with one machine
//	start T M      the start of T, if it is on M: 0 to horizon - cost - tail
//	before T U     1 if T goes before U where both are on one machine
//
// Constraints:
//
//	one T          T is on exactly one machine
//	delay T U      if T is on A and U on B: start U ≥ start T + cost of T on A + length of
//	               the edge from A to B; one for each edge
//	end T          if T is on A: makespan ≥ start T + cost + tail
//	machine M      the tasks on M don't overlap: of T and U the one that is before the
//	               other, by its literal or by a path, ends first
//	load W...: T...  see loads
//
// Machines that run several tasks at once have no orders. The starts are decided instead, in the order of time, and
// each machine M has, of the resource R that tasks could exceed, in the order of the resources,
//
//	room M R       what the tasks on M need of R at any time is at most its capacity
//	area R W...: T...  in place of load: see dagmodel.Areas
//
// Beside them, the start "at T" of each task on whatever machine, by constraints "till T" and "from T", and
//
//	together R     all machines have room for what runs, see dagmodel.Together
//
// A solution becomes a plan by its starts. Played, it ends no later: by induction over the order of the starts, each
// task finds, at its start in the model, its data there and no more of the tasks before it still running, and those
// after it haven't started yet.
//
// The tail of T on A is 0 without edges, and otherwise
//
//	max over edges (T, S) of min_B (length from A to B + cost of S on B + tail of S on B).
type kernelModel struct {
	dagmodel.Model
	v      *ticks
	before [][]cp.Lit // the i-th task in topological order goes before the j-th, if both are on one machine
}

// newKernelModel returns the model of the schedules that end by the horizon.
func newKernelModel(v *ticks, horizon int64) *kernelModel {
	k := &kernelModel{Model: *dagmodel.New(v.Times, 0, horizon, true), v: v}
	machines := make([]int, v.m)
	for a := range machines {
		machines[a] = a
	}
	order := v.Graph.Order
	for _, t := range order {
		k.Place(t, machines, func(int) int64 { return 0 }, func(a int) int64 { return horizon - v.Cost(t, a) - v.tail[int(t)*v.m+a] })
	}
	for _, t := range slices.Backward(order) {
		k.End(t, v.tail)
		for _, e := range v.Graph.Succ(t) {
			k.Edge(e)
		}
	}
	if v.Graph.Room != nil {
		k.rooms(machines)
		return k
	}
	k.orders()
	for a := range machines {
		if v.off&devNoOverlap == 0 {
			k.Machine(a, order, func(i, j int) cp.Lit { return k.before[i][j] })
			continue
		}
		for j, u := range order { // the same, for each two tasks by themselves
			for i, t := range order[:j] {
				k.Machine(a, []int32{t, u}, func(first, _ int) cp.Lit { return [2]cp.Lit{k.before[i][j], k.before[j][i]}[first] })
			}
		}
	}
	if v.off&devLoadRows == 0 {
		k.loads(machines)
	}
	return k
}

// rooms adds capacities and, unless switched off, areas, and has the starts decided, at a tie of the task with the
// longest rest first.
func (k *kernelModel) rooms(machines []int) {
	v := k.v
	for _, a := range machines {
		k.Room(a, v.Graph.Order, v.off&devEnergy == 0)
	}
	if v.off&devTogether == 0 && v.m > 1 {
		k.Together(v.Graph.Order, v.off&devEnergy == 0)
	}
	if v.off&devLoadRows == 0 {
		k.loads(machines)
	}
	for _, t := range v.byTail {
		for _, x := range k.Starts[t] {
			k.Integers = append(k.Integers, x.At)
		}
	}
}

// orders makes an order of each two tasks without a path between them.
func (k *kernelModel) orders() {
	g := k.Graph
	path, place := make([][]bool, k.v.n), make([]int, k.v.n) // by places in the topological order
	k.before = make([][]cp.Lit, k.v.n)
	for i, t := range g.Order {
		place[t], path[i], k.before[i] = i, make([]bool, k.v.n), make([]cp.Lit, k.v.n)
	}
	for i, t := range slices.Backward(g.Order) {
		for _, e := range g.Succ(t) {
			j := place[g.To[e]]
			path[i][j] = true
			for u, is := range path[j] {
				path[i][u] = path[i][u] || is
			}
		}
	}
	for j, t := range g.Order {
		for i, u := range g.Order[:j] {
			if k.before[i][j] = cp.True; !path[i][j] {
				x := k.Bool()
				k.Call(x, fmt.Sprint("before ", u, " ", t))
				k.before[i][j] = x.Is()
			}
			k.before[j][i] = k.before[i][j].Not()
		}
	}
}

// loads adds rows of the load of the machines. A row's name is "load W0,W1,...: T1 T2
// ...", the weights of the machines and the tasks, with heads by paths
// (dagmodel.Times.Heads), the tails above, and
//
//	lower = max_t min_a (head_ta + cost_ta + tail_ta).
//
// findWeights chooses the weights by duals of a linear program, and the sets are all tasks, the tasks with the longest
// tails, and the tasks with the latest heads. Beside each row there is the row of rounded rooms (dagmodel.WholeRow),
// which a proof doesn't cover.
func (k *kernelModel) loads(machines []int) {
	v, lower := k.v, int64(0)
	head, least := make([]int64, v.n*v.m), make([]int64, v.n)
	v.Heads(head, v.Graph.Order, func(int32) []int { return machines }, func(int32) int32 { return -1 })
	for t := range int32(v.n) {
		lower = max(lower, k.Through(t, head, v.tail))
		least[t] = slices.Min(head[int(t)*v.m:][:v.m])
	}
	byHead := slices.Clone(v.Graph.Order)
	order.Stable(byHead, func(a, b int32) int { return cmp.Compare(least[b], least[a]) })
	weights := v.weights
	if v.Graph.Room != nil {
		weights = [][]int64{nil} // areas have their own
	}
	for _, w := range weights {
		for part := 1; part <= 4; part++ {
			for i, sorted := range [][]int32{v.byTail, byHead} {
				if set := sorted[:v.n*part/4]; len(set) > 0 && (part < 4 || i == 0) {
					l := k.NewLoad(set, head, v.tail, lower)
					if v.Graph.Room != nil {
						k.Areas(l)
						continue
					}
					if k.Row(l, w); v.off&devWholeLoads == 0 {
						k.WholeRow(l, w)
					}
				}
			}
		}
	}
}

// planOf returns the plan of a solution.
func (k *kernelModel) planOf(values []int64) dagplay.Plan {
	s := cp.Assignment{Model: &k.Model.Model, Values: values}
	start, on := make([]int64, k.v.n), make([]int32, k.v.n)
	for t := range on {
		for a, x := range k.Starts[t] {
			if s.Is(x.If) {
				on[t], start[t] = int32(a), values[x.At]
			}
		}
	}
	return k.v.planOf(start, on)
}
