// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// onceRow is the kind of the rows Σ_a x_ta = 1, which evidence doesn't need.
const onceRow = "once"

// dagBuild is the formulation being built. Times are in units.
type dagBuild struct {
	milp.Formulation[*model.Schedule]
	unit       float64 // seconds
	horizon    float64 // the latest end
	g          *view.Graph
	n, m       int
	cost       []float64 // of task t on machine a at [t*m+a]
	head, tail []float64 // least time before its start and after its end at [t*m+a]
	before     []bool    // a path of edges leads from i to j: [i*n+j]
	place      []int     // of each task in topological order
	numbers    []numbered

	// Variables by number; -1 for variables that the model doesn't have.
	c int   // the makespan
	s []int // start of task t: [t]
	x []int // task t is on machine a: [t*m+a]
	z []int // edge e is from machine a to b: [(e*m+a)*m+b]
	y []int // task i is before j on machine a: [(i*n+j)*m+a]; for an edge from i to j its z there
}

// numbered is a row's kind and its number among the rows of the kind.
type numbered struct {
	kind   string
	number int64
}

func newDAGBuild(d *model.DAG, g *view.Graph, horizon float64) *dagBuild {
	n, m := g.Tasks, g.Machines
	none := func(k int) []int {
		v := make([]int, k)
		for i := range v {
			v[i] = -1
		}
		return v
	}
	b := &dagBuild{g: g, n: n, m: m, cost: make([]float64, n*m), head: make([]float64, n*m), tail: make([]float64, n*m),
		before: make([]bool, n*n), place: make([]int, n), x: none(n * m), s: make([]int, n), z: none(len(g.Data) * m * m), y: none(n * n * m)}
	b.Name, b.Scheme = d.Name, Formulations[0]
	if math.IsInf(horizon, 1) {
		for a := range int32(m) {
			horizon = min(horizon, oneByOne(g, dagplay.OnMachine(g, a)))
		}
		if math.IsInf(horizon, 1) {
			horizon = longestOneByOne(g)
		}
	}
	if q := g.Unit(); q > 0 && horizon/q <= maxWhole {
		b.unit, b.Whole = q, true
		b.horizon = math.Floor(horizon/q + 1e-6)
	} else if horizon > 0 {
		// HiGHS's tolerances are for figures around this size. The horizon's
		// own schedule must pass in spite of rounding.
		b.unit = horizon / 1000
		b.horizon = 1000 * (1 + 1e-9)
	} else {
		b.unit = 1
	}
	for k, c := range g.Cost {
		b.cost[k] = c / b.unit
		b.x[k] = 0 // allowed until windows says otherwise
	}
	for k, t := range g.Order {
		b.place[t] = k
		for _, e := range g.Pred(t) {
			p := int(g.From[e])
			b.before[p*n+int(t)] = true
			for i := range n {
				if b.before[i*n+p] {
					b.before[i*n+int(t)] = true
				}
			}
		}
	}
	return b
}

// oneByOne returns how long a plan's tasks and transfers take one after the other.
func oneByOne(g *view.Graph, p dagplay.Plan) (sum float64) {
	for t, a := range p.Machine {
		sum += g.Cost[t*g.Machines+int(a)]
	}
	for e := range int32(len(g.Data)) {
		sum += g.Comm(e, p.Machine[g.From[e]], p.Machine[g.To[e]])
	}
	return sum
}

// longestOneByOne is oneByOne of the longest finite times: some schedule takes no longer if there is any.
func longestOneByOne(g *view.Graph) (sum float64) {
	finite := func(most, x float64) float64 {
		if math.IsInf(x, 1) {
			return most
		}
		return max(most, x)
	}
	for t := range g.Tasks {
		most := 0.0
		for _, c := range g.Cost[t*g.Machines:][:g.Machines] {
			most = finite(most, c)
		}
		sum += most
	}
	for e := range int32(len(g.Data)) {
		most := 0.0
		for k := range int32(g.Machines * g.Machines) {
			most = finite(most, g.Comm(e, k/int32(g.Machines), k%int32(g.Machines)))
		}
		sum += most
	}
	return sum
}

func (b *dagBuild) comm(e, p, q int) float64 {
	return b.g.Comm(int32(e), int32(p), int32(q)) / b.unit
}

// windows computes heads and tails over the machines that each task can be on, and
// excludes machines with head + cost + tail above the horizon, until nothing
// changes. It returns false if a task has no machine left. O(E M²) per pass.
func (b *dagBuild) windows() bool {
	g, m := b.g, b.m
	// wait returns min_k (rest + cost + length) over the machines k of task other, at
	// the other end of edge e; rest is its head or, if out, its tail.
	wait := func(rest []float64, other, e, a int, out bool) float64 {
		least := math.Inf(1)
		for k := range m {
			if at := other*m + k; b.x[at] >= 0 {
				p, q := k, a
				if out {
					p, q = a, k
				}
				least = min(least, rest[at]+b.cost[at]+b.comm(e, p, q))
			}
		}
		return least
	}
	for again := true; again; {
		again = false
		for _, t := range g.Order {
			for a := range m {
				head := 0.0
				for _, e := range g.Pred(t) {
					head = max(head, wait(b.head, int(g.From[e]), int(e), a, false))
				}
				b.head[int(t)*m+a] = head
			}
		}
		for k := b.n - 1; k >= 0; k-- {
			t := g.Order[k]
			for a := range m {
				tail := 0.0
				for _, e := range g.Succ(t) {
					tail = max(tail, wait(b.tail, int(g.To[e]), int(e), a, true))
				}
				b.tail[int(t)*m+a] = tail
			}
		}
		for t := range b.n {
			some := false
			for k := t * m; k < (t+1)*m; k++ {
				if b.x[k] >= 0 && b.head[k]+b.cost[k]+b.tail[k] > b.horizon {
					b.x[k], again = -1, true
				}
				some = some || b.x[k] >= 0
			}
			if !some {
				return false
			}
		}
	}
	return true
}

// row adds a row, without terms of coefficient 0. Kind and number are as in evidence.Ordering; label follows the kind
// in the name.
func (b *dagBuild) row(kind string, number int, label string, lower, upper float64, terms ...milp.Term) {
	b.numbers = append(b.numbers, numbered{kind, int64(number)})
	kept := make([]milp.Term, 0, len(terms))
	for _, t := range terms {
		if t.Coef != 0 {
			kept = append(kept, t)
		}
	}
	b.AddRow(kind+"_"+label, lower, upper, kept...)
}

// variables adds C, x and s with the bounds of their windows.
func (b *dagBuild) variables() {
	n, m := b.n, b.m
	longest := 0.0
	start := make([]milp.Var, n)
	for t := range n {
		v := milp.Var{Name: fmt.Sprintf("s_%d", t+1), Lower: math.Inf(1)}
		least := math.Inf(1)
		for k := t * m; k < (t+1)*m; k++ {
			if b.x[k] >= 0 {
				least = min(least, b.head[k]+b.cost[k]+b.tail[k])
				v.Lower, v.Upper = min(v.Lower, b.head[k]), max(v.Upper, b.horizon-b.tail[k]-b.cost[k])
			}
		}
		longest = max(longest, least)
		start[t] = v
	}
	longest *= 1 - roundingMargin(b.Whole)
	b.c = b.AddVar(milp.Var{Name: "C", Lower: longest, Upper: b.horizon, Cost: 1, Integer: b.Whole})
	for t := range n {
		for a := range m {
			if k := t*m + a; b.x[k] >= 0 {
				b.x[k] = b.AddVar(milp.Var{Name: fmt.Sprintf("x_%d_%d", t+1, a+1), Upper: 1, Integer: true})
			}
		}
	}
	for t, v := range start {
		b.s[t] = b.AddVar(v)
	}
}

// tasks adds the rows of each task by itself.
func (b *dagBuild) tasks() {
	for t := range b.n {
		var once []milp.Term
		later := false // on some machine than the lower bound of s
		head, tail := []milp.Term{{Var: b.s[t], Coef: 1}}, []milp.Term{{Var: b.c, Coef: 1}, {Var: b.s[t], Coef: -1}}
		for k := t * b.m; k < (t+1)*b.m; k++ {
			if v := b.x[k]; v >= 0 {
				once = append(once, milp.Term{Var: v, Coef: 1})
				later = later || b.head[k] > b.Vars[b.s[t]].Lower
				head = append(head, milp.Term{Var: v, Coef: -b.head[k]})
				tail = append(tail, milp.Term{Var: v, Coef: -b.cost[k] - b.tail[k]})
			}
		}
		b.row(onceRow, t, strconv.Itoa(t+1), 1, 1, once...)
		b.row(evidence.TailRow, t, strconv.Itoa(t+1), 0, milp.Inf, tail...)
		if later {
			b.row(evidence.HeadRow, t, strconv.Itoa(t+1), 0, milp.Inf, head...)
		}
	}
}

// edges adds z and the rows of each edge.
func (b *dagBuild) edges() {
	n, m := b.n, b.m
	for e := range b.g.Data {
		i, j := int(b.g.From[e]), int(b.g.To[e])
		wait := []milp.Term{{Var: b.s[j], Coef: 1}, {Var: b.s[i], Coef: -1}}
		takesTime := false
		for p := range m {
			if v := b.x[i*m+p]; v >= 0 {
				wait = append(wait, milp.Term{Var: v, Coef: -b.cost[i*m+p]})
			}
			for q := range m {
				takesTime = takesTime || b.comm(e, p, q) > 0
			}
		}
		label := fmt.Sprintf("%d_%d", i+1, j+1)
		if takesTime {
			out, in := make([][]milp.Term, m), make([][]milp.Term, m)
			for p := range m {
				for q := range m {
					ki, kj, c := i*m+p, j*m+q, b.comm(e, p, q)
					if b.x[ki] < 0 || b.x[kj] < 0 || b.head[ki]+b.cost[ki]+c+b.cost[kj]+b.tail[kj] > b.horizon {
						continue
					}
					z := b.AddVar(milp.Var{Name: fmt.Sprintf("z_%s_%d_%d", label, p+1, q+1), Upper: 1})
					b.z[(e*m+p)*m+q] = z
					if p == q {
						b.y[(i*n+j)*m+p] = z
					}
					out[p], in[q] = append(out[p], milp.Term{Var: z, Coef: 1}), append(in[q], milp.Term{Var: z, Coef: 1})
					wait = append(wait, milp.Term{Var: z, Coef: -c})
				}
			}
			for a := range m {
				if v := b.x[i*m+a]; v >= 0 {
					b.row(evidence.FromRow, e*m+a, fmt.Sprintf("%s_%d", label, a+1), 0, 0, append(out[a], milp.Term{Var: v, Coef: -1})...)
				}
				if v := b.x[j*m+a]; v >= 0 {
					b.row(evidence.ToRow, e*m+a, fmt.Sprintf("%s_%d", label, a+1), 0, 0, append(in[a], milp.Term{Var: v, Coef: -1})...)
				}
			}
		}
		b.row(evidence.EdgeRow, e, label, 0, milp.Inf, wait...)
	}
}

// pairs adds y and the rows of any two tasks that no path of edges orders.
func (b *dagBuild) pairs() {
	n, m := b.n, b.m
	for i := range n {
		for j := i + 1; j < n; j++ {
			if b.before[i*n+j] || b.before[j*n+i] {
				continue
			}
			for a := range m {
				xi, xj := b.x[i*m+a], b.x[j*m+a]
				if xi < 0 || xj < 0 {
					continue
				}
				row := []milp.Term{{Var: xi, Coef: -1}, {Var: xj, Coef: -1}}
				for _, p := range [][2]int{{i, j}, {j, i}} {
					first, second := p[0]*m+a, p[1]*m+a
					if b.head[first]+b.cost[first]+b.cost[second]+b.tail[second] > b.horizon {
						continue
					}
					y := b.AddVar(milp.Var{Name: fmt.Sprintf("y_%d_%d_%d", p[0]+1, p[1]+1, a+1), Upper: 1, Integer: true})
					b.y[(p[0]*n+p[1])*m+a] = y
					row = append(row, milp.Term{Var: y, Coef: 1})
				}
				b.row(evidence.BothRow, (i*n+j)*m+a, fmt.Sprintf("%d_%d_%d", i+1, j+1, a+1), -1, milp.Inf, row...)
			}
			b.wait(i, j)
			b.wait(j, i)
		}
	}
}

// wait adds the row s_j ≥ s_i - big + Σ_a (big + cost_ia) y_ija, where big is the most
// by which j can start before i.
func (b *dagBuild) wait(i, j int) {
	big := b.Vars[b.s[i]].Upper - b.Vars[b.s[j]].Lower
	row := []milp.Term{{Var: b.s[j], Coef: 1}, {Var: b.s[i], Coef: -1}}
	for a := range b.m {
		if y := b.y[(i*b.n+j)*b.m+a]; y >= 0 {
			row = append(row, milp.Term{Var: y, Coef: -big - b.cost[i*b.m+a]})
		}
	}
	if len(row) > 2 {
		b.row(evidence.WaitRow, i*b.n+j, fmt.Sprintf("%d_%d", i+1, j+1), -big, milp.Inf, row...)
	}
}

// loads adds the rows that sum costs.
func (b *dagBuild) loads() {
	n, m := b.n, b.m
	for a := range m {
		load := []milp.Term{{Var: b.c, Coef: 1}}
		for t := range n {
			if v := b.x[t*m+a]; v >= 0 {
				load = append(load, milp.Term{Var: v, Coef: -b.cost[t*m+a]})
			}
		}
		b.row(evidence.LoadRow, a, strconv.Itoa(a+1), 0, milp.Inf, load...)
	}
	for t := range n {
		before, after := []milp.Term{{Var: b.s[t], Coef: 1}}, []milp.Term{{Var: b.c, Coef: 1}, {Var: b.s[t], Coef: -1}}
		for a := range m {
			if v := b.x[t*m+a]; v >= 0 {
				after = append(after, milp.Term{Var: v, Coef: -b.cost[t*m+a]})
			}
			for i := range n {
				if v := b.y[(i*n+t)*m+a]; v >= 0 {
					before = append(before, milp.Term{Var: v, Coef: -b.cost[i*m+a]})
				}
				if v := b.y[(t*n+i)*m+a]; v >= 0 {
					after = append(after, milp.Term{Var: v, Coef: -b.cost[i*m+a]})
				}
			}
		}
		b.row(evidence.BeforeRow, t, strconv.Itoa(t+1), 0, milp.Inf, before...)
		b.row(evidence.AfterRow, t, strconv.Itoa(t+1), 0, milp.Inf, after...)
	}
}
