// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/dag/dagmodel"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
)

// window is the constraint model of a neighbourhood: the relaxed tasks, and the fixed
// ones that move between them.
type window struct {
	dagmodel.Model
	b       *board
	horizon int64
	behind  []map[int32]cp.Lit // of relaxed task r: whether a fixed task goes before it
	orders  [][]cp.Lit         // of relaxed tasks r and q: r goes first
	values  []int64            // of the variables: the plan's for Booleans; then those of a solution
}

// decide makes a Boolean, which is so in the plan.
func (w *window) decide(is bool) cp.Lit {
	x := w.Bool()
	w.suggest(x, is)
	return x.Is()
}

// suggest notes the plan's value of a Boolean.
func (w *window) suggest(x cp.Var, is bool) {
	if is {
		w.values = append(append(w.values, make([]int64, int(x)-len(w.values))...), 1)
	}
}

// window makes the model of the neighbourhood that free prepared; nil if a task has no
// machine left.
func (b *board) window(horizon int64) *window {
	low := int64(0)
	for t := range int32(b.n) {
		if b.number[t] < 0 {
			i := int(t)*b.m + int(b.plan.Machine[t])
			low = max(low, b.head[i]+b.Cost(t, int(b.plan.Machine[t]))+b.tail[i])
		}
	}
	w := &window{Model: *dagmodel.New(b.Times, low, max(low, horizon), false), b: b, horizon: horizon}
	for _, t := range b.sequence {
		w.task(t)
	}
	if slices.ContainsFunc(b.relaxed, func(t int32) bool { return w.Starts[t] == nil }) {
		return nil
	}
	for _, t := range b.sequence {
		w.edges(t)
	}
	w.order()
	for a := range b.m {
		w.machine(a)
	}
	w.loads()
	w.values = append(w.values, make([]int64, len(w.Low)-len(w.values))...)
	return w
}

// task adds the starts of a task.
func (w *window) task(t int32) {
	b := w.b
	r := b.number[t]
	if r < 0 && !b.moves(t) {
		return
	}
	var places []int
	for _, a := range b.on(t) {
		if i := int(t)*b.m + a; r < 0 || !b.ranges[int(r)*b.m+a].empty() && b.head[i]+b.Cost(t, a)+b.tail[i] <= w.horizon {
			places = append(places, a)
		}
	}
	w.Place(t, places, func(a int) int64 { return b.head[int(t)*b.m+a] }, func(a int) int64 { return w.horizon - b.Cost(t, a) - b.tail[int(t)*b.m+a] })
	for i, x := range w.Starts[t] {
		if x.If != cp.True {
			w.suggest(x.If.Var(), int(b.plan.Machine[t]) == places[i])
		}
	}
	w.End(t, b.tail)
}

// edges adds the delays of a task's edges and of the fixed task behind it.
func (w *window) edges(t int32) {
	b := w.b
	if w.Starts[t] == nil {
		return
	}
	for _, e := range b.Graph.Succ(t) {
		if w.Starts[b.Graph.To[e]] != nil {
			w.Edge(e)
		}
	}
	if b.number[t] < 0 {
		if f := b.neighbour(t, 1); f >= 0 && w.Starts[f] != nil {
			w.Add(&cp.Delay{From: w.Starts[t], To: w.Starts[f], By: [][]int64{{b.Cost(t, int(b.plan.Machine[t]))}}})
		}
	}
}

// order adds the orders of the relaxed tasks.
func (w *window) order() {
	b := w.b
	w.orders = make([][]cp.Lit, len(b.relaxed))
	w.behind = make([]map[int32]cp.Lit, len(b.relaxed))
	for r, t := range b.relaxed {
		w.orders[r], w.behind[r] = make([]cp.Lit, len(b.relaxed)), map[int32]cp.Lit{}
		for q, u := range b.relaxed[:r] {
			x := cp.False
			switch {
			case b.from[u].Has(r):
				x = cp.True
			case b.from[t].Has(q):
			case slices.ContainsFunc(w.Hosts[t], func(a int) bool { return slices.Contains(w.Hosts[u], a) }):
				x = w.decide(b.place[t] < b.place[u])
			}
			w.orders[r][q], w.orders[q][r] = x, x.Not()
		}
	}
}

// machine adds that the tasks on a machine don't overlap: the relaxed ones that may be
// there, and the fixed ones that they may be next to.
func (w *window) machine(a int) {
	b := w.b
	var tasks []int32
	for r, t := range b.relaxed {
		if !slices.Contains(w.Hosts[t], a) {
			continue
		}
		tasks = append(tasks, t)
		s := b.ranges[r*b.m+a]
		before := cp.False // the one before goes behind the relaxed
		for k := max(0, s.low-1); k < min(int32(len(b.chains[a])), s.high+1); k++ {
			f := b.chains[a][k]
			if w.Starts[f] != nil {
				tasks = append(tasks, f)
			}
			if k < s.low || k >= s.high {
				continue
			}
			first := w.decide(b.place[f] < b.place[t])
			if before != cp.False {
				w.Add(cp.Nogood{before, first})
			}
			before = first.Not()
			w.behind[r][f] = first
		}
	}
	tasks = slices.Compact(order.By(tasks, b.place))
	if len(tasks) < 2 {
		return
	}
	w.Machine(a, tasks, func(i, j int) cp.Lit { return w.before(tasks[i], tasks[j], a) })
}

// before returns the literal that task t goes before u on machine a.
func (w *window) before(t, u int32, a int) cp.Lit {
	b := w.b
	switch r, q := b.number[t], b.number[u]; {
	case r >= 0 && q >= 0:
		return w.orders[r][q]
	case r >= 0:
		return w.before(u, t, a).Not()
	case q >= 0:
		if x, ok := w.behind[q][t]; ok {
			return x
		}
		if b.index[t] < b.ranges[int(q)*b.m+a].low {
			return cp.True
		}
		return cp.False
	}
	if b.index[t] < b.index[u] {
		return cp.True
	}
	return cp.False
}

// read returns the plan of the solution in values.
func (w *window) read() dagplay.Plan {
	b := w.b
	p := dagplay.Plan{Machine: slices.Clone(b.plan.Machine), Order: make([][]int32, b.m)}
	behind, at := make([]int32, b.n), make([]int64, b.n) // fixed tasks before a relaxed one, its start
	on := make([][]int32, b.m)
	for r, t := range b.relaxed {
		for i, a := range w.Hosts[t] {
			s := w.Starts[t][i]
			if s.If != cp.True && w.values[s.If.Var()] == 0 {
				continue
			}
			p.Machine[t], at[t] = int32(a), w.values[s.At]
			on[a] = append(on[a], t)
			behind[t] = b.ranges[r*b.m+a].low
			for j := behind[t]; j < b.ranges[r*b.m+a].high; j++ {
				if w.values[w.behind[r][b.chains[a][j]].Var()] == 1 {
					behind[t] = j + 1
				}
			}
		}
	}
	for a := range b.m {
		slices.SortFunc(on[a], func(x, y int32) int {
			return cmp.Or(cmp.Compare(behind[x], behind[y]), cmp.Compare(at[x], at[y]), cmp.Compare(at[x]+b.Cost(x, a), at[y]+b.Cost(y, a)), w.first(x, y))
		})
		i := 0
		for j := range len(b.chains[a]) + 1 {
			for ; i < len(on[a]) && int(behind[on[a][i]]) <= j; i++ {
				p.Order[a] = append(p.Order[a], on[a][i])
			}
			if j < len(b.chains[a]) {
				p.Order[a] = append(p.Order[a], b.chains[a][j])
			}
		}
	}
	return p
}

// first compares two relaxed tasks by their order in a solution.
func (w *window) first(x, y int32) int {
	l := w.orders[w.b.number[x]][w.b.number[y]]
	if l.SV < 0 {
		if l == cp.True {
			return -1
		}
		return 1
	}
	if (w.values[l.Var()] == 1) == (l.SV&1 == 0) {
		return -1
	}
	return 1
}

// loads adds the load of the machines (dagmodel.Load) by the relaxed tasks and the fixed ones that move and start among
// them. The weights are equal ones, and prices by which the tasks load all machines about equally, each on the machine
// where it is cheapest: those make the left side large.
func (w *window) loads() {
	b := w.b
	first, last := b.start[b.relaxed[0]], b.start[b.relaxed[0]]
	for _, t := range b.relaxed {
		first, last = min(first, b.start[t]), max(last, b.start[t])
	}
	var set []int32
	lower := w.Low[w.Objective]
	for _, t := range b.sequence {
		if w.Starts[t] != nil && b.start[t] >= first && b.start[t] <= last {
			set = append(set, t)
			lower = max(lower, w.Through(t, b.head, b.tail))
		}
	}
	l := w.NewLoad(set, b.head, b.tail, lower)
	w.Row(l, slices.Repeat([]int64{equalWeight}, b.m))
	if weights := w.price(l); weights != nil {
		w.Row(l, weights)
	}
}

// equalWeight is the mean weight of the machines: large, since weights are rounded.
const equalWeight = 1000

// price changes the equal weights by a few steps of ascent: a machine's weight grows with its load above the mean; nil
// without any load.
func (w *window) price(l dagmodel.Load) []int64 {
	b, load, weights := w.b, make([]float64, w.b.m), slices.Repeat([]float64{equalWeight}, w.b.m)
	for step := range 60 {
		for a := range load {
			load[a] = float64(l.Idle[a])
		}
		for _, t := range l.Tasks {
			best, least := 0, math.Inf(1)
			for _, a := range w.Hosts[t] {
				if c := weights[a] * float64(b.Cost(t, a)); c < least {
					best, least = a, c
				}
			}
			load[best] += float64(b.Cost(t, best))
		}
		mean, total := 0.0, 0.0
		for _, l := range load {
			mean += l / float64(b.m)
		}
		if mean == 0 {
			return nil
		}
		for a := range weights {
			weights[a] *= math.Exp((load[a]/mean - 1) / float64(step+4))
			total += weights[a]
		}
		for a := range weights {
			weights[a] *= equalWeight * float64(b.m) / total
		}
	}
	whole := make([]int64, b.m)
	for a, x := range weights {
		whole[a] = int64(x)
	}
	return whole
}
