package dag

import (
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
)

// ticks is a contention-free DAG in whole numbers of a unit of time, its tasks
// renumbered in topological order, with what the search precomputes.
//
// Ticks are a relaxation (see model.DAGTicks), so what is proved for them holds
// for the instance.
type ticks struct {
	n, m    int // tasks and machines
	off     deviceSet
	unit    float64   // seconds per tick
	whole   bool      // nothing was rounded: makespans are multiples of the unit
	task    []int32   // number of each task in the instance
	cost    []int32   // of task t on machine a at [t*m+a]
	pred    [][]arc   // edges into each task
	succ    [][]arc   // edges out of it
	tail    []int32   // least time after task t on machine a at [t*m+a], see tails
	least   []int32   // of each task: min over a of tail
	byTail  []int32   // tasks by descending least
	weights [][]int32 // for the load bound: of machine a at [i][a]
	uniform bool      // an edge has one length between any two machines
}

// arc is an edge seen from one of its tasks.
type arc struct {
	to   int32   // the other task
	away int32   // uniform: length between different machines
	comm []int32 // otherwise: length from machine a to b at [a*m+b]
}

// never is later than every time that matters. A time that isn't later plus a
// cost and a length is below 2^31.
const never = 1 << 29

// newTicks makes the ticks for schedules that end by the horizon (seconds), at
// least the optimum.
func newTicks(g *model.Graph, horizon float64, off deviceSet) *ticks {
	n, m, view := g.Tasks, g.Machines, g.Ticks(horizon)
	v := &ticks{n: n, m: m, off: off, unit: view.Unit, whole: view.Whole, task: g.Order, uniform: g.Uniform || m == 1,
		cost: make([]int32, n*m), pred: make([][]arc, n), succ: make([][]arc, n)}
	number := make([]int32, n)
	for i, t := range v.task {
		number[t] = int32(i)
		copy(v.cost[i*m:][:m], view.Cost[int(t)*m:])
	}
	for e := range g.Data {
		a := arc{}
		if v.uniform {
			a.away = view.Comm[e]
		} else {
			a.comm = view.Comm[e*m*m:][:m*m]
		}
		f, t := number[g.From[e]], number[g.To[e]]
		a.to = f
		v.pred[t] = append(v.pred[t], a)
		a.to = t
		v.succ[f] = append(v.succ[f], a)
	}
	v.tails()
	return v
}

// length returns the length of an arc from machine a to b.
func (v *ticks) length(x *arc, a, b int) int32 {
	switch {
	case a == b:
		return 0
	case v.uniform:
		return x.away
	}
	return x.comm[a*v.m+b]
}

// identical reports whether all machines are: equal costs, and equal lengths of edges
// to and from all others, and to each other.
func (v *ticks) identical() bool {
	for a := range v.m {
		if !v.same(0, a) {
			return false
		}
	}
	return true
}

// same reports whether machines a and b are identical.
func (v *ticks) same(a, b int) bool {
	for t := range v.n {
		if v.cost[t*v.m+a] != v.cost[t*v.m+b] {
			return false
		}
		for i := range v.succ[t] {
			x := &v.succ[t][i]
			if v.length(x, a, b) != v.length(x, b, a) {
				return false
			}
			for c := range v.m {
				if c != a && c != b && (v.length(x, a, c) != v.length(x, b, c) || v.length(x, c, a) != v.length(x, c, b)) {
					return false
				}
			}
		}
	}
	return true
}

// tails computes tail[t*m+a], a lower bound on the time R from the end of task t on
// machine a to the end of the schedule: the greater of two.
//
// Path: R ≥ max_s min_b (length(a, b) + cost_sb + tail_sb) over the successors s and
// machines b, by induction over the topological order (PEFT's optimistic cost
// table, with the true lengths of edges).
//
// Fork: let away_s be the least of that sum over b ≠ a. A successor on another
// machine gives R ≥ away_s. So all s with away_s > R are on a, one after another,
// each followed by its tail: R ≥ stay(R), where stay(L) is the makespan of these
// jobs with delivery times on one machine, least in the order of falling tails
// (Jackson 1955), for the s with away_s > L. As stay falls in L, by steps at the
// away_s, the least R with R ≥ stay(R) is min_L max(L, stay(L)) over L = 0 and
// L = away_s. A sum that overflows wraps to less: the bound gets weaker, not wrong.
//
// O(E M² + Σ_t successors(t)² M).
func (v *ticks) tails() {
	m := v.m
	v.tail, v.least = make([]int32, v.n*m), make([]int32, v.n)
	type child struct{ away, stay, tail int32 }
	var children []child
	for t := v.n - 1; t >= 0; t-- {
		v.least[t] = never
		for a := range m {
			path := int32(0)
			children = children[:0]
			for i := range v.succ[t] {
				x := &v.succ[t][i]
				s := int(x.to)
				away := int32(never)
				for b := range m {
					if b != a {
						away = min(away, v.length(x, a, b)+v.cost[s*m+b]+v.tail[s*m+b])
					}
				}
				c := child{away, v.cost[s*m+a], v.tail[s*m+a]}
				path = max(path, min(away, c.stay+c.tail))
				children = append(children, c)
			}
			best := int32(never)
			try := func(limit int32) { // those with away > limit are on a
				load, stay := int32(0), int32(0)
				for done := int32(never); ; {
					next := int32(-1)
					for _, c := range children {
						if c.away > limit && c.tail < done {
							next = max(next, c.tail)
						}
					}
					if next < 0 {
						break
					}
					for _, c := range children {
						if c.away > limit && c.tail == next {
							load += c.stay
						}
					}
					stay = max(stay, load+next)
					done = next
				}
				best = min(best, max(limit, stay))
			}
			try(0)
			for _, c := range children {
				if c.away < never {
					try(c.away)
				}
			}
			switch {
			case v.off&devTails != 0:
				path, best = 0, 0
			case v.off&devFork != 0:
				best = 0
			}
			v.tail[t*m+a] = min(max(path, best), never)
			v.least[t] = min(v.least[t], v.tail[t*m+a])
		}
	}
}

// earliest returns the earliest start of task t on machine a: free, when the machine
// is, or when the data of its predecessors are there, which are on machines on and
// end at end.
func (v *ticks) earliest(t, a int, on []int8, end []int32, free int32) int32 {
	start := free
	for i := range v.pred[t] {
		p := &v.pred[t][i]
		start = max(start, end[p.to]+v.length(p, int(on[p.to]), a))
	}
	return start
}

// fit plays a plan of g, whose ticks these are: it returns the makespan, and each
// task's end and machine by the ticks' task numbers.
func (v *ticks) fit(g *model.Graph, p dagheur.Plan) (makespan int32, end []int32, on []int8) {
	play := model.NewDAGPlay(g)
	play.Run(p.Machine, p.Order)
	number := make([]int32, v.n)
	for i, t := range v.task {
		number[t] = int32(i)
	}
	end, on = make([]int32, v.n), make([]int8, v.n)
	free := make([]int32, v.m)
	for _, task := range play.Played {
		t, a := int(number[task]), int(p.Machine[task])
		on[t] = int8(a)
		end[t] = v.earliest(t, a, on, end, free[a]) + v.cost[t*v.m+a]
		free[a] = end[t]
		makespan = max(makespan, end[t])
	}
	return makespan, end, on
}
