// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// gathering returns a bound under contention: the longest path of heads and tails that know which data must come
// together on a task's machine. It is NaN if no machine has a link that all its routes in (or out) use, or ctx ends.
//
// Let t be on machine a, P some of its predecessors, and G some predecessors of the tasks that aren't in P. In any
// schedule let L be the tasks of P and G on a. Before t starts,
//
//   - the tasks of L run on a, one at a time, each v from head(v, a) on. After it come, if v isn't in P, each successor
//     p of it in P, on a if p is in L, else on another machine b and after two transfers.
//   - if all routes into a use a link, the data of edges into a pass it: from P \ L to t, and from G \ L to tasks of P
//     in L, after which these run. Those of u pass after min over b ≠ a of head(u, b) + cost(u, b) + start-up of b.
//   - if all routes out of a use a link, so do the data from tasks of G in L to tasks of P \ L, after which
//     these run elsewhere and send to t.
//
// So much work (data over the link's capacity) of length p_i can't begin before r_i and is followed by q_i until t
// starts, on something that does one unit a second. For any set of them the start is at least min r + Σ p + min q: the
// work of the set passes between min r and the start less min q. The largest of these over all sets and the three
// resources bounds the start for this L, and the least of that over all L is head(t, a). The sets that matter have all
// i with r_i and q_i from some value on (Jackson 1955). Heads without links hold, too. Tails are the same backwards in
// time, where the start-up comes at the other end of a transfer.
//
// The sum of rates on a link is its capacity at most, under TCP the share of as many transfers as edges and their files
// make. The data of an edge on a link are its Load: no file is counted twice. Data within a machine are taken to need no
// time.
//
// O(2^K K²) for a task on a machine and K tasks in P and G together, so that all take gatherSteps sets at most. x holds
// the figures for evidence, nil with NaN.
func gathering(ctx context.Context, g *view.Graph) (value float64, x *gather) {
	n, m := g.Tasks, g.Machines
	in, out := machineLinks(g)
	if in == nil || n == 0 {
		return math.NaN(), nil
	}
	x = &gather{g: g, startups: g.Startups(), line: make([]gatherLine, 3), in: shared(g, in), out: shared(g, out)}
	x.most = min(gatherMost, bits.Len(uint(gatherSteps/(2*n*m)))-1)
	if x.most < 4 {
		return math.NaN(), nil
	}
	head, tail := x.rows(ctx, true), x.rows(ctx, false)
	if head == nil || tail == nil {
		return math.NaN(), nil
	}
	longest := 0.0
	for t := range n {
		least := math.Inf(1)
		for k := t * m; k < (t+1)*m; k++ {
			least = min(least, head[k]+g.Cost[k]+tail[k])
		}
		if least > longest {
			longest, x.widest = least, t
		}
	}
	if math.IsInf(longest, 1) { // there is no schedule
		return math.NaN(), nil
	}
	if x.exact() {
		return longest, x
	}
	return longest * (1 - roundingOf(64*(n+1))), x
}

const (
	gatherSteps = 1 << 24 // sets of all tasks together
	gatherMost  = 15      // tasks that a set is chosen of
)

// gather computes heads or tails; its terms are the ones for heads.
type gather struct {
	g        *view.Graph
	most     int
	forward  bool
	startups []float64      // least of each machine's transfers, s
	in, out  []float64      // capacity of the link that all routes into (out of) a machine use, 0 without one
	row      []float64      // heads at [t*m+a]
	widest   int            // the task of the bound
	chosen   [2][]gatherSet // of heads and tails, at [t*m+a]

	nodes []gatherNode // P, then G
	near  int          // how many are P
	local [gatherMost]bool
	line  []gatherLine // of the machine, of the link in and of the link out
	least float64      // of the sets so far
	first float64      // the time before data of a pass the link out
}

// gatherNode is a task of P or G, for a machine a.
type gatherNode struct {
	task   int32
	start  float64 // its head on a
	cost   float64 // on a
	away   float64 // when its data can begin to leave another machine
	weight float64 // by which tasks are chosen
	to     []gatherEdge
}

// gatherSet is P and G of a head, by number, or one task p with an edge that alone bounds it.
type gatherSet struct {
	tasks []int32
	plain bool
}

// gatherEdge is an edge to t, or to a task of P: node is its place.
type gatherEdge struct {
	node    int
	arrives float64 // when its data can be on a, from another machine, and the time before t then
	in, out float64 // time on the links into and out of a
	here    float64 // time from the end on the link to t's start, if the edge leads into a
	there   float64 // the same if it leads out of a
	round   float64 // time from the end of a task on a over one on another machine to t's start
}

// machineLinks returns the link of the least capacity that all routes into (out of) each machine use, -1 without one;
// nil without contention, or if there is none of any machine.
func machineLinks(g *view.Graph) (in, out []int32) {
	if g.Transfer == model.TransferIdeal || g.Machines < 2 {
		return nil, nil
	}
	some := false
	way := func(from, to int32) ([]int32, bool) {
		return g.Route(from, to), g.Rate[int(from)*g.Machines+int(to)] > 0
	}
	common := func(route func(b int32) ([]int32, bool), a int32) (link int32) {
		first := true
		var links []int32
		for b := range int32(g.Machines) {
			switch used, joined := route(b); {
			case b == a || !joined:
			case first:
				links, first = slices.Clone(used), false
			default:
				links = slices.DeleteFunc(links, func(l int32) bool { return !slices.Contains(used, l) })
			}
		}
		link = -1
		for _, l := range links {
			if link < 0 || g.Links[l] < g.Links[link] {
				link, some = l, true
			}
		}
		return link
	}
	for a := range int32(g.Machines) {
		in = append(in, common(func(b int32) ([]int32, bool) { return way(b, a) }, a))
		out = append(out, common(func(b int32) ([]int32, bool) { return way(a, b) }, a))
	}
	if !some {
		return nil, nil
	}
	return in, out
}

// shared returns the largest total rate of transfers on links, 0 for -1: the capacity, under TCP times the share for as
// many transfers as edges and their files make.
func shared(g *view.Graph, links []int32) []float64 {
	share := 1.0
	if g.Transfer != model.TransferFair {
		share = model.TCPShare(int32(max(1, g.Flows())))
	}
	rates := make([]float64, len(links))
	for a, l := range links {
		if l >= 0 {
			rates[a] = g.Links[l] * share
		}
	}
	return rates
}

// exact reports whether all sums are computed without rounding.
func (x *gather) exact() bool {
	g := x.g
	if !g.ExactSums(64 * (g.Tasks + 1)) {
		return false
	}
	whole := func(v float64) bool { v *= 1 << 20; return v == math.Trunc(v) && v < 1<<40 }
	for _, c := range slices.Concat(x.in, x.out) {
		for _, d := range g.Load {
			if c > 0 && !whole(d/c) {
				return false
			}
		}
	}
	for a := range int32(g.Machines) {
		for b := range int32(g.Machines) {
			if a != b && !whole(g.Startup(a, b)) {
				return false
			}
		}
	}
	return true
}

// rows returns heads, if forward, or tails; nil if ctx ended.
func (x *gather) rows(ctx context.Context, forward bool) []float64 {
	g, m := x.g, x.g.Machines
	x.forward, x.row = forward, make([]float64, g.Tasks*m)
	order, chosen := g.Order, make([]gatherSet, g.Tasks*m)
	x.chosen[1] = chosen
	if forward {
		x.chosen[0] = chosen
	} else {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	for _, t := range order {
		for a := range m {
			if ctx.Err() != nil {
				return nil
			}
			k := int(t)*m + a
			x.row[k], chosen[k] = x.head(t, a)
		}
	}
	return x.row
}

// before returns the edges into a task (out of it, for tails), and the tasks at their other ends by edge.
func (x *gather) before(t int32) (edges, ends []int32) {
	if x.forward {
		return x.g.Pred(t), x.g.From
	}
	return x.g.Succ(t), x.g.To
}

// comm returns the length of an edge from a machine to one that is nearer to t.
func (x *gather) comm(e int32, from, to int) float64 {
	if !x.forward {
		from, to = to, from
	}
	return x.g.Comm(e, int32(from), int32(to))
}

// startup returns the least time before the data of a transfer pass a link, and after, in seconds: the start-up is before
// in time. It is the machine's least one to any other, since the places of the other tasks are open.
func (x *gather) startup(from, to int) (before, after float64) {
	if x.forward {
		return x.startups[from], 0
	}
	return 0, x.startups[to]
}

// elsewhere returns the least over the machines except a.
func (x *gather) elsewhere(a int, f func(b int) float64) float64 {
	least := math.Inf(1)
	for b := range x.g.Machines {
		if b != a {
			least = min(least, f(b))
		}
	}
	return least
}

// node returns a task as a node for machine a.
func (x *gather) node(t int32, a int) gatherNode {
	g, k := x.g, int(t)*x.g.Machines
	return gatherNode{task: t, start: x.row[k+a], cost: g.Cost[k+a], away: x.elsewhere(a, func(b int) float64 {
		before, _ := x.startup(b, a)
		return x.row[k+b] + g.Cost[k+b] + before
	})}
}

// times returns how long data are on the links into and out of a, 0 without these.
func (x *gather) times(data float64, a int) (in, out float64) {
	ci, co := x.in[a], x.out[a]
	if !x.forward {
		ci, co = co, ci
	}
	if ci > 0 {
		in = data / ci
	}
	if co > 0 {
		out = data / co
	}
	return in, out
}

// head returns the head of t on machine a, and the tasks that make it.
func (x *gather) head(t int32, a int) (float64, gatherSet) {
	g, m := x.g, x.g.Machines
	edges, ends := x.before(t)
	x.nodes = x.nodes[:0]
	floor := 0.0      // without links
	var alone []int32 // of which task
	last := make([]int32, 0, len(edges))
	for _, e := range edges {
		p := x.node(ends[e], a)
		k := int(p.task) * m
		edge := gatherEdge{arrives: x.elsewhere(a, func(b int) float64 { return x.row[k+b] + g.Cost[k+b] + x.comm(e, b, a) })}
		edge.in, _ = x.times(g.Load[e], a)
		_, edge.here = x.startup(a, a)
		p.to = []gatherEdge{edge}
		p.weight = min(p.start+p.cost, edge.arrives)
		if p.weight > floor {
			floor, alone = p.weight, []int32{p.task}
		}
		x.nodes, last = append(x.nodes, p), append(last, e)
	}
	byWeight := func(p, q gatherNode) int { return cmp.Or(cmp.Compare(q.weight, p.weight), cmp.Compare(p.task, q.task)) }
	order.Stable(x.nodes, byWeight)
	x.nodes = x.nodes[:min(x.most, len(x.nodes))]
	if x.near = len(x.nodes); x.near == 0 {
		return 0, gatherSet{}
	}
	x.farther(a, last, ends)
	x.first, _ = x.startup(a, a)
	x.least = math.Inf(1)
	for k := range x.line {
		x.line[k].items = x.line[k].items[:0]
	}
	x.choose(0, floor, floor)
	if x.least <= floor {
		return floor, gatherSet{alone, true}
	}
	set := gatherSet{}
	for i := range x.nodes {
		set.tasks = append(set.tasks, x.nodes[i].task)
	}
	slices.Sort(set.tasks)
	return x.least, set
}

// evidence names the sets of the heads and tails of the bound's task, and of the tasks of these sets, and so on; nil if
// that is more than evidence may name.
func (x *gather) evidence(d *model.DAG) *model.Evidence {
	g, m := x.g, x.g.Machines
	e := &model.Evidence{Type: evidence.Gathering}
	entries := 2
	for k, name := range []string{evidence.Heads, evidence.Tails} {
		need := make([]bool, g.Tasks)
		need[x.widest] = true
		part := model.Evidence{Type: e.Type, Resource: name}
		for i := range g.Tasks {
			t := g.Order[i]
			if k == 0 {
				t = g.Order[g.Tasks-1-i]
			}
			if !need[t] {
				continue
			}
			first := len(part.Parts)
			for a, s := range x.chosen[k][int(t)*m:][:m] {
				ids := []string{d.Tasks[t].ID}
				for _, u := range s.tasks {
					need[u], ids = true, append(ids, d.Tasks[u].ID)
				}
				if s.plain || len(s.tasks) == 0 {
					continue
				}
				at := first
				for at < len(part.Parts) && !slices.Equal(part.Parts[at].Elements, ids) {
					at++
				}
				if at == len(part.Parts) {
					part.Parts = append(part.Parts, model.Evidence{Type: e.Type, Elements: ids})
					entries += 1 + len(ids)
				}
				part.Parts[at].Rows = append(part.Parts[at].Rows, int64(a))
				entries++
			}
		}
		e.Parts = append(e.Parts, part)
	}
	if entries > evidence.MostEntries(g.Tasks, m) {
		return nil
	}
	return e
}

// farther adds the tasks of G.
func (x *gather) farther(a int, last, ends []int32) {
	g, m := x.g, x.g.Machines
	if x.near == x.most {
		return
	}
	var far []gatherNode
	for i := range x.near {
		p := x.nodes[i].task
		k := int(p) * m
		var own int32 // the edge from p to t
		for _, e := range last {
			if ends[e] == p {
				own = e
			}
		}
		edges, ends := x.before(p)
		for _, e := range edges {
			u := ends[e]
			if slices.ContainsFunc(x.nodes[:x.near], func(v gatherNode) bool { return v.task == u }) {
				continue
			}
			at := slices.IndexFunc(far, func(v gatherNode) bool { return v.task == u })
			if at < 0 {
				at, far = len(far), append(far, x.node(u, a))
			}
			v := &far[at]
			ku := int(u) * m
			edge := gatherEdge{node: i}
			edge.in, edge.out = x.times(g.Load[e], a)
			edge.arrives = g.Cost[k+a] + x.elsewhere(a, func(b int) float64 { return x.row[ku+b] + g.Cost[ku+b] + x.comm(e, b, a) })
			_, after := x.startup(a, a)
			edge.here = after + g.Cost[k+a]
			edge.there = x.elsewhere(a, func(b int) float64 {
				_, after := x.startup(a, b)
				return after + g.Cost[k+b] + x.comm(own, b, a)
			})
			edge.round = x.elsewhere(a, func(b int) float64 { return x.comm(e, a, b) + g.Cost[k+b] + x.comm(own, b, a) })
			v.to = append(v.to, edge)
			v.weight = max(v.weight, min(v.start+v.cost+g.Cost[k+a], edge.arrives))
		}
	}
	order.Stable(far, func(p, q gatherNode) int { return cmp.Or(cmp.Compare(q.weight, p.weight), cmp.Compare(p.task, q.task)) })
	x.nodes = append(x.nodes, far[:min(len(far), x.most-x.near)]...)
}

// choose puts the k-th task and those after it on a or elsewhere in all ways, and makes least no more than the bound of
// each way. The bound that the tasks before it prove only grows, and is lower; below floor nothing matters.
func (x *gather) choose(k int, lower, floor float64) {
	if lower >= x.least || x.least <= floor {
		return
	}
	if k == len(x.nodes) {
		x.least = lower
		return
	}
	v := &x.nodes[k]
	machine, in, out := &x.line[0], &x.line[1], &x.line[2]
	for _, here := range []bool{true, false} {
		x.local[k] = here
		lengths := [3]int{len(machine.done), len(in.done), len(out.done)}
		bound, after := lower, 0.0
		for i := range v.to {
			e := &v.to[i]
			switch near := k < x.near; {
			case near && here:
			case near:
				bound = max(bound, e.arrives)
				in.add(v.away, e.in, e.here)
			case here && x.local[e.node]:
				after = max(after, x.nodes[e.node].cost)
			case here:
				after = max(after, e.round)
				out.add(v.start+v.cost+x.first, e.out, e.there)
			case x.local[e.node]:
				bound = max(bound, e.arrives)
				in.add(v.away, e.in, e.here)
			}
		}
		if here {
			machine.add(v.start, v.cost, after)
		}
		for i := range x.line {
			if len(x.line[i].done) > lengths[i] {
				bound = max(bound, x.line[i].bound())
			}
		}
		x.choose(k+1, bound, floor)
		for i := range x.line {
			x.line[i].undo(lengths[i])
		}
	}
}

// gatherLine is work of one resource, by descending release.
type gatherLine struct {
	items []gatherItem
	done  []int // places of the added ones, in order
}

type gatherItem struct{ release, length, after float64 }

// add adds work.
func (l *gatherLine) add(release, length, after float64) {
	k := 0
	for k < len(l.items) && l.items[k].release >= release {
		k++
	}
	l.items = slices.Insert(l.items, k, gatherItem{release, length, after})
	l.done = append(l.done, k)
}

// undo takes back all but the first n.
func (l *gatherLine) undo(n int) {
	for len(l.done) > n {
		k := l.done[len(l.done)-1]
		l.items, l.done = slices.Delete(l.items, k, k+1), l.done[:len(l.done)-1]
	}
}

// bound returns the largest min r + Σ p + min q over sets. O(items²).
func (l *gatherLine) bound() float64 {
	most := 0.0
	for i := range l.items {
		least, sum := l.items[i].after, 0.0
		for j := range l.items {
			if y := &l.items[j]; y.after >= least {
				sum += y.length
				most = max(most, y.release+sum+least)
			}
		}
	}
	return most
}
