package dag

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/internal/cp"
)

// kernelModel is the constraint model of a DAG without contention, in ticks: for
// each task a machine, and on each machine an optional start; an order of each two
// tasks without a path between them, which counts where both are on one machine.
//
// What a proof may use has a name, in the numbers of the instance's arrays. Variables:
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
// The tail of T on A is 0 without edges, and otherwise
//
//	max over edges (T, S) of min_B (length from A to B + cost of S on B + tail of S on B).
type kernelModel struct {
	cp.Model
	v      *ticks
	on     [][]cp.Start // of task t on machine a
	before [][]cp.Lit   // task t goes before u, if both are on one machine
	heads  []int32      // earliest start by paths of task t on machine a at [t*m+a]
}

// newKernelModel returns the model of the schedules that end by the horizon.
func newKernelModel(v *ticks, horizon int32) *kernelModel {
	k := &kernelModel{v: v, on: make([][]cp.Start, v.n), before: make([][]cp.Lit, v.n), heads: make([]int32, v.n*v.m)}
	k.Objective = k.Int(0, int64(horizon))
	k.Call(k.Objective, "makespan")
	for t := range v.n {
		k.place(t, int64(horizon))
	}
	path := k.delays()
	k.orders(path)
	if v.off&devNoOverlap == 0 {
		k.machines()
	} else {
		k.pairs()
	}
	if v.off&devLoadRows == 0 {
		k.loads()
	}
	return k
}

// place adds the variables of a task, and that it is on one machine.
func (k *kernelModel) place(t int, horizon int64) {
	v := k.v
	xs := make([]cp.Lit, v.m)
	for a := range v.m {
		if xs[a] = cp.True; v.m > 1 {
			x := k.Bool()
			k.Call(x, fmt.Sprint("on ", v.task[t], " ", a))
			k.Decisions = append(k.Decisions, x)
			xs[a] = x.Is()
		}
		at := k.Optional(xs[a], 0, horizon-int64(v.cost[t*v.m+a])-int64(v.tail[t*v.m+a]))
		k.Call(at, fmt.Sprint("start ", v.task[t], " ", a))
		k.on[t] = append(k.on[t], cp.Start{If: xs[a], At: at})
	}
	if v.m > 1 {
		k.ExactlyOne(fmt.Sprint("one ", v.task[t]), xs...)
	}
}

// delays adds the edges and the ends, and returns from which task there is a path
// to which.
func (k *kernelModel) delays() (path [][]bool) {
	v := k.v
	end := []cp.Start{{If: cp.True, At: k.Objective}}
	path = make([][]bool, v.n)
	for t := v.n - 1; t >= 0; t-- {
		path[t] = make([]bool, v.n)
		last := &cp.Delay{From: k.on[t], To: end}
		for a := range v.m {
			last.By = append(last.By, []int64{int64(v.cost[t*v.m+a]) + int64(v.tail[t*v.m+a])})
		}
		k.AddAs(fmt.Sprint("end ", v.task[t]), last)
		for i := range v.succ[t] {
			x := &v.succ[t][i]
			path[t][x.to] = true
			for u, is := range path[x.to] {
				path[t][u] = path[t][u] || is
			}
			d := &cp.Delay{From: k.on[t], To: k.on[x.to]}
			for a := range v.m {
				by := make([]int64, v.m)
				for b := range v.m {
					by[b] = int64(v.cost[t*v.m+a]) + int64(v.length(x, a, b))
				}
				d.By = append(d.By, by)
			}
			k.AddAs(fmt.Sprint("delay ", v.task[t], " ", v.task[x.to]), d)
		}
	}
	return path
}

// orders adds an order of each two tasks without a path between them.
func (k *kernelModel) orders(path [][]bool) {
	v := k.v
	for t := range k.before {
		k.before[t] = make([]cp.Lit, v.n)
		for u := range t {
			if k.before[u][t] = cp.True; !path[u][t] {
				x := k.Bool()
				k.Call(x, fmt.Sprint("before ", v.task[u], " ", v.task[t]))
				k.before[u][t] = x.Is()
			}
			k.before[t][u] = k.before[u][t].Not()
		}
	}
}

// machines adds that no two tasks overlap on a machine.
func (k *kernelModel) machines() {
	v := k.v
	for a := range v.m {
		c := &cp.NoOverlap{Before: k.before}
		for t := range v.n {
			c.Starts, c.Lengths = append(c.Starts, k.on[t][a]), append(c.Lengths, int64(v.cost[t*v.m+a]))
		}
		k.AddAs(fmt.Sprint("machine ", a), c)
	}
}

// pairs adds the same for each two tasks alone.
func (k *kernelModel) pairs() {
	v := k.v
	for a := range v.m {
		name := fmt.Sprint("machine ", a)
		for t := range v.n {
			for u := range t {
				two := [][]cp.Lit{{{}, k.before[u][t]}, {k.before[t][u], {}}}
				k.AddAs(name, &cp.NoOverlap{
					Starts:  []cp.Start{k.on[u][a], k.on[t][a]},
					Lengths: []int64{int64(v.cost[u*v.m+a]), int64(v.cost[t*v.m+a])},
					Before:  two,
				})
			}
		}
	}
}

// assign returns the literals' tasks' machines and ends of a solution.
func (k *kernelModel) assign(values []int64) (end []int32, on []int8) {
	v := k.v
	s := cp.Assignment{Model: &k.Model, Values: values}
	end, on = make([]int32, v.n), make([]int8, v.n)
	for t := range v.n {
		for a, x := range k.on[t] {
			if s.Is(x.If) {
				on[t], end[t] = int8(a), int32(values[x.At])+v.cost[t*v.m+a]
			}
		}
	}
	return end, on
}

// numbers joins numbers with a separator.
func numbers(of []int32, separator string) string {
	words := make([]string, len(of))
	for i, x := range of {
		words[i] = fmt.Sprint(x)
	}
	return strings.Join(words, separator)
}
