package dag

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// loads adds the load of the machines: with weights w of the machines and a set S of
// tasks, in each schedule
//
//	Σ_{t in S} w_{a(t)} cost_{t,a(t)} ≤ Σ_a w_a (makespan - idle_a)
//	idle_a = min(min_{t in S} head_ta + min_{t in S} tail_ta, lower)
//
// where a(t) is the machine of t. A machine that some of S are on is idle before the
// first of them, which starts no sooner than its head, and after the last of them, for
// its tail. One that none of S is on is idle for the makespan, which is at least
// lower, so that its part of the right side isn't below its load of nothing.
//
// The heads are those by paths:
//
//	head_ta = max over edges (f, t) of min_b (head_fb + cost_fb + length from b to a)
//
// and 0 without edges, the tails those of kernelModel, and
//
//	lower = max_t min_a (head_ta + cost_ta + tail_ta).
//
// The name is "load W0,W1,...: T1 T2 ...", the weights of the machines and the tasks.
// Any weights and tasks are valid; findWeights chooses the weights by duals of a
// linear program, and the sets are all tasks, those with the longest tails, and those
// with the latest heads.
func (k *kernelModel) loads() {
	v := k.v
	least := k.findHeads()
	lower := int32(0)
	for t := range v.n {
		through := int32(never)
		for a := range v.m {
			through = min(through, k.heads[t*v.m+a]+v.cost[t*v.m+a]+v.tail[t*v.m+a])
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
				if set := sorted[:v.n*part/4]; len(set) > 0 && (part < 4 || i == 0) {
					k.load(w, set, lower)
				}
			}
		}
	}
}

// findHeads computes the heads, and returns the least of each task.
func (k *kernelModel) findHeads() (least []int32) {
	v, m := k.v, k.v.m
	least = make([]int32, v.n)
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
	return least
}

// load adds one row.
func (k *kernelModel) load(w []int32, set []int32, lower int32) {
	v, m := k.v, k.v.m
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
	tasks := make([]int32, len(set))
	for i, t := range set {
		tasks[i] = v.task[t]
		g := make([]cp.Choice, m)
		for a := range m {
			g[a] = cp.Choice{If: k.on[t][a].If, Value: int64(w[a]) * int64(v.cost[int(t)*m+a])}
		}
		row.Groups = append(row.Groups, g)
	}
	k.AddAs("load "+numbers(w, ",")+": "+numbers(tasks, " "), row)
}
