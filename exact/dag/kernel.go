package dag

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model/cp"
	"github.com/gapwise/gapwise/model/cp/lcg"
)

// kernelModel is the constraint model of a DAG without contention: for each task a
// machine, and on each machine an optional start; an order of each two tasks without a
// path between them, which counts where both are on one machine.
type kernelModel struct {
	cp.Model
	v     *ticks
	on    [][]cp.Start // of task t on machine a
	heads []int32      // earliest start by paths of task t on machine a at [t*m+a]
}

// newKernelModel returns the model of the schedules that end by the horizon.
func newKernelModel(v *ticks, horizon int32) *kernelModel {
	k := &kernelModel{v: v, on: make([][]cp.Start, v.n), heads: make([]int32, v.n*v.m)}
	k.Objective = k.Int(0, int64(horizon))
	for t := range v.n {
		xs := make([]cp.Lit, v.m)
		for a := range v.m {
			if xs[a] = cp.True; v.m > 1 {
				x := k.Bool()
				k.Decisions = append(k.Decisions, x)
				xs[a] = x.Is()
			}
			k.on[t] = append(k.on[t], cp.Start{If: xs[a], At: k.Optional(xs[a], 0, int64(horizon-v.cost[t*v.m+a]-v.tail[t*v.m+a]))})
		}
		if v.m > 1 {
			k.ExactlyOne(fmt.Sprint("one ", v.task[t]), xs...)
		}
	}
	end := []cp.Start{{If: cp.True, At: k.Objective}}
	path := make([][]bool, v.n) // from a task to a later one
	for t := v.n - 1; t >= 0; t-- {
		path[t] = make([]bool, v.n)
		last := &cp.Delay{From: k.on[t], To: end}
		for a := range v.m {
			last.By = append(last.By, []int64{int64(v.cost[t*v.m+a] + v.tail[t*v.m+a])})
		}
		k.Add(last)
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
					by[b] = int64(v.cost[t*v.m+a] + v.length(x, a, b))
				}
				d.By = append(d.By, by)
			}
			k.Add(d)
		}
	}
	before := make([][]cp.Lit, v.n)
	for t := range before {
		before[t] = make([]cp.Lit, v.n)
		for u := range t {
			if before[u][t] = cp.True; !path[u][t] {
				before[u][t] = k.Bool().Is()
			}
			before[t][u] = before[u][t].Not()
		}
	}
	for a := range v.m {
		c := &cp.NoOverlap{Before: before}
		for t := range v.n {
			c.Starts, c.Lengths = append(c.Starts, k.on[t][a]), append(c.Lengths, int64(v.cost[t*v.m+a]))
		}
		k.Add(c)
	}
	k.loads()
	return k
}

// loads adds the load of the machines, with weights w and for tasks S:
//
//	Σ_{t in S} min_a w_a cost_ta ≤ Σ_a w_a (makespan - head_a - tail_a)
//
// where head_a is the least earliest start of S on a, and tail_a the least time after;
// but head_a + tail_a is at most a lower bound of the makespan, or the right side would
// be less than nothing for a machine that none of S is on.
func (k *kernelModel) loads() {
	v, m := k.v, k.v.m
	least := make([]int32, v.n) // head on any machine
	for t := range v.n {
		least[t] = never
		for a := range m {
			h := int32(0)
			for i := range v.pred[t] {
				x := &v.pred[t][i]
				best := int32(never)
				for b := range m {
					best = min(best, k.heads[int(x.to)*m+b]+v.cost[int(x.to)*m+b]+v.length(x, b, a))
				}
				h = max(h, best)
			}
			k.heads[t*m+a] = h
			least[t] = min(least[t], h)
		}
	}
	lower := int32(0)
	for t := range v.n {
		through := int32(never)
		for a := range m {
			through = min(through, k.heads[t*m+a]+v.cost[t*m+a]+v.tail[t*m+a])
		}
		lower = max(lower, through)
	}
	byHead := make([]int32, v.n)
	for t := range byHead {
		byHead[t] = int32(t)
	}
	slices.SortStableFunc(byHead, func(a, b int32) int { return cmp.Compare(least[b], least[a]) })
	for _, w := range v.weights {
		for part := 1; part <= 4; part++ {
			for i, sorted := range [][]int32{v.byTail, byHead} {
				if part == 4 && i == 1 {
					continue
				}
				set := sorted[:v.n*part/4]
				if len(set) == 0 {
					continue
				}
				row := &cp.Linear{}
				times := int64(0)
				for a := range m {
					head, tail := int32(never), int32(never)
					for _, t := range set {
						head, tail = min(head, k.heads[int(t)*m+a]), min(tail, v.tail[int(t)*m+a])
					}
					times += int64(w[a])
					row.AtMost -= int64(w[a]) * int64(min(head+tail, lower))
				}
				row.Terms = []cp.Term{{Times: -times, Var: k.Objective}}
				for _, t := range set {
					g := make([]cp.Choice, m)
					for a := range m {
						g[a] = cp.Choice{If: k.on[t][a].If, Value: int64(w[a]) * int64(v.cost[int(t)*m+a])}
					}
					row.Groups = append(row.Groups, g)
				}
				k.Add(row)
			}
		}
	}
}

// minimise solves the model: it returns what lcg.Kernel.Minimise does.
func (k *kernelModel) minimise(ctx context.Context, upper int64) (lcg.Outcome, *lcg.Kernel) {
	s := lcg.New(&k.Model)
	return s.Minimise(ctx, &upper, 0, nil), s
}
