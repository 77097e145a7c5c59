// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// dagGathering recomputes max_t min_a (h_ta + cost_ta + q_ta). Its heads h and tails q of tasks by machine include the
// work that must come together on a machine and on its links.
//
// A head h_ta bounds the start S of task t from below if t is on machine a. It is the larger of max over edges (p, t) of
// min(h_pa + cost_pa, min_b≠a (h_pb + cost_pb + length_ba)) and, where the evidence names a set for t and a, of a
// second bound. Let P be the tasks of the set with an edge to t, G the others, each with an edge to a task of P. Let L
// be the tasks of the set on a in a schedule. Then all of these hold, whatever it is:
//
//	u in L                      works on a from h_ua on, for cost_ua; then there is at least w until S, where w is the largest
//	                            of 0, cost_pa for edges (u, p) into P and L, and min_b≠a (length_ab + cost_pb + length_ba) into P without L
//	u in P, not in L            S ≥ min_b≠a (h_ub + cost_ub + length_ba), and data_ut pass the link into a, 0 s before S
//	(u, p), p in P, of the two  S ≥ min_b≠a (h_ub + cost_ub + length_ba) + cost_pa, and data_up pass the link into a, cost_pa before S
//	 only p in L
//	(u, p), p in P, of the two  data_up pass the link out of a from h_ua + cost_ua + start-up of a on, and then there is
//	 only u in L                at least min_b≠a (cost_pb + length_ba) until S
//
// Data into a begin after min_b≠a (h_ub + cost_ub + start-up of b). Contention only delays, so lengths are those without it.
// Consider a link that all routes into (or out of) a use. The rates on it together never exceed its capacity, under TCP
// times the share of as many connections as edges and files make. Data pass it as work of length data / capacity. So do
// tasks on a. Such work i runs at rate 1 in all, from r_i on, and ends w_i before S: for any set of it S ≥ min r + Σ
// length + min w. The largest of these bounds S for L, and the least of that over all L bounds S. The judge finds it by
// branch and bound: the bound by the tasks placed so far only grows. Tails are the same backwards in time, but for
// start-ups: these then come after the data, so the sender's start-ups are part of w.
//
// Data within a machine are taken to need no time.
//
// All is monotone in each figure and every sum bounds a time. So each figure may be rounded down to the unit, and
// each sum be cut at 2^60 units, more than all tasks take on some machine or one by one: the optimum is no later.
// Nothing overflows.
func dagGathering(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	n, m := len(in.Tasks), len(in.Machines)
	f := Followed{Bound: new(big.Rat), How: "what must come together before and after tasks"}
	if most := maxEvidenceWork / 8; n*m > most || m > 1000 || len(in.Edges)*m > most || len(in.Edges)*m*m > maxEvidenceWork {
		return f, tooMuch("heads and tails")
	}
	least := math.Inf(1)
	for a := range m {
		sum := 0.0
		for t := range n {
			sum += in.Cost(t, a)
		}
		least = min(least, sum)
	}
	if math.IsInf(least, 1) {
		least = oneByOne(in)
	}
	if n == 0 || least == 0 {
		return f, nil
	}
	_, exponent := math.Frexp(2 * least) // twice, for its rounding
	g := &gathered{ctx: ctx, n: n, m: m, shift: 60 - exponent}
	if err := g.read(in); err != nil {
		return f, err
	}
	rows := [2][]int64{}
	for k, forward := range []bool{true, false} {
		g.sets = map[int][]int{}
		for i := range e.Parts {
			if forward == (e.Parts[i].Resource == evidence.Heads) {
				if err := g.name(in, e.Parts[i].Parts); err != nil {
					return f, err
				}
			}
		}
		if err := g.rows(forward); err != nil {
			return f, err
		}
		rows[k] = g.row
	}
	most := int64(0)
	for t := range n {
		least := int64(cut)
		for k := t * m; k < (t+1)*m; k++ {
			least = min(least, plus(rows[0][k], g.cost[k], rows[1][k]))
		}
		most = max(most, least)
	}
	f.Bound.SetInt64(most).Mul(f.Bound, exact(math.Ldexp(1, -g.shift)))
	return f, nil
}

const (
	cut        = 1 << 60
	maxGather  = 15      // tasks of a set at most
	gatherWork = 1 << 28 // steps of all searches, of some 5 ns each
)

// plus returns a sum of times, cut.
func plus(times ...int64) (sum int64) {
	for _, x := range times {
		sum = min(cut, sum+x)
	}
	return sum
}

// gathered are the figures of dagGathering in units of 2^-shift s, rounded down and cut, and heads or tails.
type gathered struct {
	ctx         context.Context
	n, m, shift int
	cost        []int64 // [t*m+a]
	startup     []int64
	from, to    []int32
	pred, succ  [][]int   // edges by task
	order       []int     // topological
	class       []int     // of [from machine * m + to machine]
	lengths     [][]int64 // [e][class]
	in, out     []int64   // [e*m+a]: data over the capacity of the link into (out of) a, 0 without one

	forward bool
	sets    map[int][]int // by t*m+a
	row     []int64       // [t*m+a]: heads or tails
	away    []int64       // [t*m+a]: when data of t may leave other machines for a
	arrives []int64       // [e*m+a]: when they may be on a from there

	t, a         int
	nodes        []gatheredTask
	floor, least int64 // a bound in any case, and the least of the sets so far
	work, visits int
	lines        [maxGather + 1][3][]gatheredWork // by depth: on a, on the link into it and on that out of it
}

// gatheredTask is a task of a set. Its edges lead to t, if near, or to tasks of P at a place, from which own leads to t.
type gatheredTask struct {
	task, key int // key is task*m+a
	near, on  bool
	to        []struct{ e, place, own int }
}

type gatheredWork struct{ release, length, after int64 }

// down returns a time in units.
func (g *gathered) down(x *big.Rat) int64 {
	num, den := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	if g.shift >= 0 {
		num.Lsh(num, uint(g.shift))
	} else {
		den.Lsh(den, uint(-g.shift))
	}
	if num.Quo(num, den); num.BitLen() > 60 {
		return cut
	}
	return num.Int64()
}

// units is down of seconds.
func (g *gathered) units(seconds float64) int64 {
	if math.IsInf(seconds, 1) {
		return cut
	}
	return g.down(exact(seconds))
}

// oneByOne returns an end of a schedule that runs each task after all others are over and their data have arrived:
// some makespan is no longer. TCP takes less than twice as long as without contention.
func oneByOne(in *model.DAG) (all float64) {
	most := func(times func(k int) float64, n int) {
		longest := 0.0
		for k := range n {
			if x := times(k); !math.IsInf(x, 1) {
				longest = max(longest, x)
			}
		}
		all += longest
	}
	for t := range in.Tasks {
		most(func(a int) float64 { return in.Cost(t, a) }, len(in.Machines))
	}
	_, kinds := dagClasses(context.Background(), in)
	for e := range in.Edges {
		most(func(k int) float64 { return 2 * kinds[k].length(in.Edges[e].Data) }, len(kinds))
	}
	return all
}

func (g *gathered) read(in *model.DAG) error {
	n, m := g.n, g.m
	for t := range n {
		if stopped(g.ctx, t) {
			return g.ctx.Err()
		}
		for a := range m {
			g.cost = append(g.cost, g.units(in.Cost(t, a)))
		}
	}
	g.startup = g.startups(in)
	class, kinds := dagClasses(g.ctx, in)
	if g.class = class; len(in.Edges)*len(kinds) > maxEvidenceWork/8 {
		return tooMuch("transfers")
	}
	g.from, g.to = in.EdgeTasks()
	g.pred, g.succ = make([][]int, n), make([][]int, n)
	missing := make([]int, n)
	into, outOf := g.links(in)
	loads := loadsOf(in)
	if g.ctx.Err() != nil {
		return g.ctx.Err()
	}
	for e := range in.Edges {
		if stopped(g.ctx, e) {
			return g.ctx.Err()
		}
		most := largest(&in.Edges[e])
		f, t, data := g.from[e], g.to[e], exact(most)
		g.pred[t], g.succ[f] = append(g.pred[t], e), append(g.succ[f], e)
		missing[t]++
		lengths := make([]int64, len(kinds))
		for c, k := range kinds {
			x := new(big.Rat).Set(k.startup)
			if data.Sign() > 0 && k.rate != nil && k.rate.Sign() > 0 {
				x.Add(x, new(big.Rat).Quo(data, k.rate))
			}
			if lengths[c] = g.units(k.length(most)); lengths[c] < cut {
				lengths[c] = min(g.down(x), lengths[c]) // of both readings of a length
			}
		}
		g.lengths = append(g.lengths, lengths)
		pass := func(capacity *big.Rat) int64 {
			if capacity == nil {
				return 0
			}
			return g.down(new(big.Rat).Quo(loads[e], capacity))
		}
		for a := range m {
			g.in, g.out = append(g.in, pass(into[a])), append(g.out, pass(outOf[a]))
		}
	}
	for t := range n {
		if missing[t] == 0 {
			g.order = append(g.order, t)
		}
	}
	for i := 0; i < len(g.order); i++ {
		for _, e := range g.succ[g.order[i]] {
			if missing[g.to[e]]--; missing[g.to[e]] == 0 {
				g.order = append(g.order, int(g.to[e]))
			}
		}
	}
	return g.ctx.Err()
}

// startups returns the least start-up of each machine's transfers to others that it has a path to; its own without one.
func (g *gathered) startups(in *model.DAG) (least []int64) {
	p := newPaths(in)
	for a := range g.m {
		own := math.Inf(1)
		for b := range g.m {
			if a != b && p.alone(a, b).Sign() > 0 {
				own = min(own, p.startup(a, b))
			}
		}
		if math.IsInf(own, 1) {
			own = in.Machines[a].StartupS
		}
		least = append(least, g.down(exact(own)))
	}
	return least
}

// links returns the least capacity of the links that all routes into (out of) each machine use, nil without one.
func (g *gathered) links(in *model.DAG) (into, outOf []*big.Rat) {
	p := newPaths(in)
	share := p.ofAll()
	used := func(k int) []int {
		if k < 0 {
			return nil
		}
		return p.classes[k].links
	}
	least := func(a int, into bool) (capacity *big.Rat) {
		uses, routes := map[int]int{}, 0
		for b := range g.m {
			from, to := a, b
			if into {
				from, to = b, a
			}
			if b == a || p.own(from, to).Sign() == 0 {
				continue
			}
			routes++
			for _, l := range slices.Compact(slices.Clone(used(p.class(from, to)))) {
				uses[l]++
			}
		}
		for l, k := range uses {
			if k == routes && (capacity == nil || p.capacity[l].Cmp(capacity) < 0) {
				capacity = p.capacity[l]
			}
		}
		if capacity != nil {
			capacity = new(big.Rat).Mul(capacity, share)
		}
		return capacity
	}
	for a := range g.m {
		if g.ctx.Err() != nil {
			break
		}
		into = append(into, least(a, true))
		outOf = append(outOf, least(a, false))
	}
	return into, outOf
}

// name reads the sets: of each part the first task is t, the others are the set, and rows are the machines.
func (g *gathered) name(in *model.DAG, parts []model.Evidence) error {
	task := map[string]int{}
	for t := range in.Tasks {
		task[in.Tasks[t].ID] = t
	}
	for i := range parts {
		var tasks []int
		for _, id := range parts[i].Elements {
			t, ok := task[id]
			if !ok {
				return fmt.Errorf("it names a task %q that there isn't", id)
			}
			tasks = append(tasks, t)
		}
		for _, a := range parts[i].Rows {
			if a >= int64(g.m) {
				return fmt.Errorf("there are %d machines, none has the number %d", g.m, a)
			}
			k := tasks[0]*g.m + int(a)
			if g.sets[k] != nil {
				return fmt.Errorf("two sets are of task %q on machine %q", parts[i].Elements[0], in.Machines[a].ID)
			}
			g.sets[k] = tasks[1:]
		}
	}
	return nil
}

// ends returns the edges into t and the tasks that they come from; of tails those out of it, and where they lead.
func (g *gathered) ends(t int) (edges []int, ends []int32) {
	if g.forward {
		return g.pred[t], g.from
	}
	return g.succ[t], g.to
}

// length returns the length of an edge from machine a, which is farther from t, to b.
func (g *gathered) length(e, a, b int) int64 {
	if a == b {
		return 0
	}
	if !g.forward {
		a, b = b, a
	}
	return g.lengths[e][g.class[a*g.m+b]]
}

// starts returns the least start-up before data that leave machine a, and after data that get to it, seen from t.
func (g *gathered) starts(a int) (before, after int64) {
	if g.forward {
		return g.startup[a], 0
	}
	return 0, g.startup[a]
}

// elsewhere returns the least over the machines but a.
func (g *gathered) elsewhere(a int, f func(b int) int64) int64 {
	least := int64(cut)
	for b := range g.m {
		if b != a {
			least = min(least, f(b))
		}
	}
	return least
}

// rows computes heads, if forward, or tails.
func (g *gathered) rows(forward bool) error {
	m := g.m
	g.forward = forward
	g.row, g.away, g.arrives = make([]int64, g.n*m), make([]int64, g.n*m), make([]int64, len(g.from)*m)
	order, after := g.order, g.succ
	if !forward {
		order, after = slices.Clone(order), g.pred
		slices.Reverse(order)
	}
	for _, t := range order {
		if g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		for a := range m {
			edges, ends := g.ends(t)
			for _, e := range edges {
				p := int(ends[e])*m + a
				g.row[t*m+a] = max(g.row[t*m+a], min(plus(g.row[p], g.cost[p]), g.arrives[e*m+a]))
			}
			if set := g.sets[t*m+a]; len(set) > 0 {
				if err := g.gather(t, a, set); err != nil {
					return err
				}
			}
		}
		for a := range m {
			end := func(b int) int64 { return plus(g.row[t*m+b], g.cost[t*m+b]) }
			g.away[t*m+a] = g.elsewhere(a, func(b int) int64 { before, _ := g.starts(b); return plus(end(b), before) })
			for _, e := range after[t] {
				g.arrives[e*m+a] = g.elsewhere(a, func(b int) int64 { return plus(end(b), g.length(e, b, a)) })
			}
		}
	}
	return nil
}

// gather raises the head of t on a by a set.
func (g *gathered) gather(t, a int, set []int) error {
	g.t, g.a, g.nodes = t, a, nil
	edges, ends := g.ends(t)
	edge := func(edges []int, ends []int32, u int) int {
		g.work += len(edges)
		return slices.IndexFunc(edges, func(e int) bool { return int(ends[e]) == u })
	}
	for _, u := range set {
		g.nodes = append(g.nodes, gatheredTask{task: u, key: u*g.m + a, near: edge(edges, ends, u) >= 0})
	}
	// Any order will do; in this one, P before G, the bound grows fast.
	slices.SortFunc(g.nodes, func(u, v gatheredTask) int {
		if u.near != v.near {
			return map[bool]int{true: -1, false: 1}[u.near]
		}
		return cmp.Compare(plus(g.row[v.key], g.cost[v.key]), plus(g.row[u.key], g.cost[u.key]))
	})
	for i := range g.nodes {
		v := &g.nodes[i]
		if v.near {
			v.to = append(v.to, struct{ e, place, own int }{e: edges[edge(edges, ends, v.task)]})
		}
		for j := 0; j < i && !v.near && g.nodes[j].near; j++ {
			p := g.nodes[j]
			far, ends := g.ends(p.task)
			if k := edge(far, ends, v.task); k >= 0 {
				v.to = append(v.to, struct{ e, place, own int }{far[k], j, p.to[0].e})
			}
		}
		if len(v.to) == 0 {
			return errors.New("a set names a task from which no path of two edges leads to its own")
		}
	}
	g.floor, g.least = g.row[t*g.m+a], cut
	if err := g.choose(0, g.floor); err != nil {
		return err
	}
	g.row[t*g.m+a] = max(g.floor, g.least)
	return nil
}

// choose puts the k-th task of the set and those after it on a or elsewhere in all ways. What those before it bound is lower.
func (g *gathered) choose(k int, lower int64) error {
	if lower >= g.least || g.least <= g.floor {
		return nil
	}
	if k == len(g.nodes) {
		g.least = lower
		return nil
	}
	v, m, a := &g.nodes[k], g.m, g.a
	in, out := g.in, g.out
	if !g.forward {
		in, out = out, in
	}
	before, later := g.starts(a)
	for _, on := range []bool{true, false} {
		v.on = on
		bound, after := lower, int64(0)
		lines := &g.lines[k+1]
		for i := range lines {
			lines[i] = append(lines[i][:0], g.lines[k][i]...)
		}
		for _, x := range v.to {
			p := &g.nodes[x.place]
			switch {
			case v.near && !on:
				bound = max(bound, g.arrives[x.e*m+a])
				lines[1] = join(lines[1], gatheredWork{g.away[v.key], in[x.e*m+a], later})
			case v.near:
			case on && p.on:
				after = max(after, g.cost[p.key])
			case on:
				rest := func(b int) int64 { return plus(g.cost[p.key-a+b], g.length(x.own, b, a)) }
				after = max(after, g.elsewhere(a, func(b int) int64 { return plus(g.length(x.e, a, b), rest(b)) }))
				lines[2] = join(lines[2], gatheredWork{plus(g.row[v.key], g.cost[v.key], before), out[x.e*m+a],
					g.elsewhere(a, func(b int) int64 { _, later := g.starts(b); return plus(later, rest(b)) })})
			case p.on:
				bound = max(bound, plus(g.arrives[x.e*m+a], g.cost[p.key]))
				lines[1] = join(lines[1], gatheredWork{g.away[v.key], in[x.e*m+a], plus(later, g.cost[p.key])})
			}
		}
		if on {
			lines[0] = join(lines[0], gatheredWork{g.row[v.key], g.cost[v.key], after})
		}
		for i, line := range lines {
			if len(line) > len(g.lines[k][i]) {
				bound = max(bound, most(line))
				g.work += len(line) * len(line)
			}
		}
		if g.work += 64; g.work > gatherWork {
			return tooMuch("sets of tasks")
		}
		if g.visits++; stopped(g.ctx, g.visits) {
			return g.ctx.Err()
		}
		if err := g.choose(k+1, bound); err != nil {
			return err
		}
	}
	return nil
}

// join adds work to a line, which is by descending release.
func join(line []gatheredWork, x gatheredWork) []gatheredWork {
	k := len(line)
	for line = append(line, x); k > 0 && line[k-1].release < x.release; k-- {
		line[k] = line[k-1]
	}
	line[k] = x
	return line
}

// most returns the largest min r + Σ length + min w over sets of a line: the sets with all work of r and w from some
// value on.
func most(line []gatheredWork) (all int64) {
	for i := range line {
		sum := line[i].after
		for j := range line {
			if y := &line[j]; y.after >= line[i].after {
				sum = plus(sum, y.length)
				all = max(all, plus(y.release, sum))
			}
		}
	}
	return all
}
