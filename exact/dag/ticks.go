// SPDX-License-Identifier: MIT

package dag

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagmodel"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// ticks is a contention-free DAG in whole numbers of a unit of time, with the figures that the search precomputes.
type ticks struct {
	dagmodel.Times
	n, m    int // tasks and machines
	off     deviceSet
	tail    []int64   // least time after task t on machine a at [t*m+a], see tails
	least   []int64   // of each task: min over a of tail
	byTail  []int32   // tasks by descending least
	weights [][]int64 // for the load rows: of machine a at [i][a]
}

// never is later than every time that matters.
const never = 1 << 29

// newTicks makes the ticks for schedules that end by the horizon (seconds), at
// least the optimum.
func newTicks(g *view.Graph, horizon float64, off deviceSet) *ticks {
	v := &ticks{Times: dagmodel.Times{Graph: g, Ticks: g.Ticks(horizon)}, n: g.Tasks, m: g.Machines, off: off}
	v.tails()
	return v
}

// identical reports whether all machines are identical: equal costs, and equal lengths of edges to and from all others,
// and to each other.
func (v *ticks) identical() bool {
	for b := range v.m {
		for t := range int32(v.n) {
			if v.Cost(t, 0) != v.Cost(t, b) {
				return false
			}
		}
		for e := range int32(len(v.Graph.Data)) {
			if v.Length(e, 0, b) != v.Length(e, b, 0) || v.Length(e, 0, 0) != v.Length(e, b, b) {
				return false
			}
			for c := range v.m {
				if c != 0 && c != b && (v.Length(e, 0, c) != v.Length(e, b, c) || v.Length(e, c, 0) != v.Length(e, c, b)) {
					return false
				}
			}
		}
	}
	return true
}

// tails computes tail[t*m+a], a lower bound on the time R from the end of task t on machine a to the end of the
// schedule. R ≥ max_s min_b (length(a, b) + cost_sb + tail_sb) over the successors s and machines b, by induction over
// the topological order (PEFT's optimistic cost table, with the true lengths of edges). O(E M²).
func (v *ticks) tails() {
	m := v.m
	v.tail, v.least = make([]int64, v.n*m), make([]int64, v.n)
	for _, t := range slices.Backward(v.Graph.Order) {
		v.least[t] = never
		for a := range m {
			path := int64(0)
			for _, e := range v.Graph.Succ(t) {
				s := v.Graph.To[e]
				rest := int64(math.MaxInt64)
				for b := range m {
					rest = min(rest, v.Length(e, a, b)+v.Cost(s, b)+v.tail[int(s)*m+b])
				}
				path = max(path, rest)
			}
			v.tail[int(t)*m+a] = min(path, never)
			v.least[t] = min(v.least[t], v.tail[int(t)*m+a])
		}
	}
}

// planOf returns the plan of a schedule.
func (v *ticks) planOf(start []int64, on []int32) dagplay.Plan {
	finish := make([]int64, v.n)
	for t := range finish {
		finish[t] = start[t] + v.Cost(int32(t), int(on[t]))
	}
	return dagplay.NewPlan(v.Graph, on, start, finish)
}
