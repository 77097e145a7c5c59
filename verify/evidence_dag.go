// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/model"
)

// dagEvidence recomputes bounds on the makespan. A transfer takes the float64 nearest to
// start-up + data / rate without contention, which only delays.
func dagEvidence(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	switch e.Type {
	case evidence.Path:
		return dagPath(ctx, in, e)
	case evidence.Load:
		return dagLoad(ctx, in, e)
	}
	return dagInterval(ctx, in, e)
}

// dagHeads are heads and tails over the tasks of a set and the edges between them.
//
// For a task t on machine a, let head(t, a) = max over edges (s, t) of min_b (head(s, b) +
// cost(s, b) + transfer from b to a). By induction no schedule starts t on a before
// head(t, a), for s is on some b, starts no earlier than head(s, b), and its data must
// get to a. tail is the same backwards in time: the least from t's end to the end of the
// schedule. So the makespan is at least max_t min_a (head + cost + tail).
type dagHeads struct {
	unit       binary
	m          int
	cost       [][]*big.Int // of [task of the set][machine]
	head, tail [][]*big.Int
	chain      bool
}

func newDAGHeads(ctx context.Context, in *model.DAG, ids []string) (*dagHeads, error) {
	m := len(in.Machines)
	place := make(map[string]int, len(ids))
	for k, id := range ids {
		place[id] = k
	}
	if len(ids)*m > maxEvidenceWork/4 { // of three exact figures each
		return nil, tooMuch("costs")
	}
	h := &dagHeads{m: m, cost: make([][]*big.Int, len(ids))}
	task := make([]int, len(ids))
	found := 0
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return nil, ctx.Err()
		}
		if k, ok := place[in.Tasks[t].ID]; ok {
			task[k] = t
			found++
			for a := range m {
				h.unit.see(in.Cost(t, a))
			}
		}
	}
	if found < len(ids) {
		return nil, errors.New("it names a task that there isn't")
	}
	type edge struct {
		from, to int
		length   []float64 // by class of machine pairs
	}
	var edges []edge
	for e := range in.Edges {
		if stopped(ctx, e) {
			return nil, ctx.Err()
		}
		x := &in.Edges[e]
		f, ok := place[x.From]
		if t, also := place[x.To]; ok && also {
			edges = append(edges, edge{from: f, to: t})
			edges[len(edges)-1].length = []float64{x.Data} // for now
		}
	}
	if m > 1000 {
		return nil, tooMuch("pairs of machines")
	}
	class, kinds := dagClasses(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if per := max(1, m); len(edges)*per > maxEvidenceWork || len(kinds) > 1 && len(edges)*per*per > maxEvidenceWork {
		return nil, tooMuch("transfers")
	}
	succ, pred, missing := make([][]int, len(ids)), make([][]int, len(ids)), make([]int, len(ids))
	for i := range edges {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		x := &edges[i]
		data := x.length[0]
		x.length = make([]float64, len(kinds))
		for c, k := range kinds {
			x.length[c] = k.length(data)
			h.unit.see(x.length[c])
		}
		succ[x.from], pred[x.to] = append(succ[x.from], i), append(pred[x.to], i)
		missing[x.to]++
	}
	for k, t := range task {
		h.cost[k] = make([]*big.Int, m)
		for a := range m {
			h.cost[k][a] = h.unit.whole(in.Cost(t, a))
		}
	}
	lengths := make([][]*big.Int, len(edges))
	for i := range edges {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		lengths[i] = make([]*big.Int, len(kinds))
		for c, x := range edges[i].length {
			lengths[i][c] = h.unit.whole(x)
		}
	}
	var order []int
	for k := range missing {
		if missing[k] == 0 {
			order = append(order, k)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, e := range succ[order[i]] {
			t := edges[e].to
			if missing[t]--; missing[t] == 0 {
				order = append(order, t)
			}
		}
	}
	h.chain = len(edges) >= len(ids)-1
	for k := 0; k+1 < len(ids) && h.chain; k++ {
		h.chain = len(succ[k]) > 0 && hasEdge(succ[k], func(e int) bool { return edges[e].to == k+1 })
	}
	// extend raises row by the ends of the task at the other end of an edge.
	extend := func(row, of, cost, length []*big.Int, forward bool) {
		end := make([]*big.Int, m)
		least := new(big.Int)
		for b := range m {
			end[b] = new(big.Int).Add(of[b], cost[b])
			if b == 0 || end[b].Cmp(least) < 0 {
				least = end[b]
			}
		}
		sum := new(big.Int)
		for a := range m {
			best := end[a]
			if len(kinds) == 1 {
				if sum.Add(least, length[0]).Cmp(best) < 0 {
					best = new(big.Int).Set(sum)
				}
			} else {
				for b := range m {
					if b == a {
						continue
					}
					c := class[b*m+a]
					if !forward {
						c = class[a*m+b]
					}
					if sum.Add(end[b], length[c]).Cmp(best) < 0 {
						best = new(big.Int).Set(sum)
					}
				}
			}
			row[a] = maximum(row[a], best)
		}
	}
	zeros := func() [][]*big.Int {
		all := make([][]*big.Int, len(ids))
		for k := range all {
			all[k] = make([]*big.Int, m)
			for a := range all[k] {
				all[k][a] = new(big.Int)
			}
		}
		return all
	}
	h.head, h.tail = zeros(), zeros()
	for _, t := range order {
		for _, e := range pred[t] {
			if stopped(ctx, e) {
				return nil, ctx.Err()
			}
			f := edges[e].from
			extend(h.head[t], h.head[f], h.cost[f], lengths[e], true)
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		t := order[k]
		for _, e := range succ[t] {
			if stopped(ctx, e) {
				return nil, ctx.Err()
			}
			s := edges[e].to
			extend(h.tail[t], h.tail[s], h.cost[s], lengths[e], false)
		}
	}
	return h, nil
}

func hasEdge(edges []int, f func(int) bool) bool {
	for _, e := range edges {
		if f(e) {
			return true
		}
	}
	return false
}

// dagClass is a start-up and a rate that pairs of machines have.
type dagClass struct {
	startup *big.Rat
	rate    *big.Rat
}

// length returns the time of a transfer.
func (c dagClass) length(data float64) float64 {
	x := exact(data)
	if data > 0 && c.rate.Sign() > 0 {
		x.Quo(x, c.rate)
	}
	near, _ := x.Add(x, c.startup).Float64()
	return near
}

// dagClasses returns the class of each pair of different machines, [from*machines+to];
// nothing of use once the context has ended.
func dagClasses(ctx context.Context, in *model.DAG) (class []int, kinds []dagClass) {
	m := len(in.Machines)
	class = make([]int, m*m)
	if len(in.Edges) == 0 {
		return class, []dagClass{{new(big.Rat), big.NewRat(1, 1)}}
	}
	p := newPaths(in)
	if len(in.Network.Routes) == 0 && in.Network.PathCapacity == nil && m > 1 {
		same := true
		for a := range m {
			same = same && in.Machines[a].StartupS == in.Machines[0].StartupS
		}
		if same {
			return class, []dagClass{{exact(in.Machines[0].StartupS), p.alone(0, 1)}}
		}
	}
	known := map[string]int{}
	for a := range m {
		if ctx.Err() != nil {
			return class, kinds
		}
		startup := exact(in.Machines[a].StartupS)
		for b := range m {
			if a == b {
				continue
			}
			c := dagClass{startup, p.alone(a, b)}
			key := c.startup.RatString()
			if c.rate != nil {
				key += " " + c.rate.RatString()
			}
			k, ok := known[key]
			if !ok {
				k = len(kinds)
				known[key] = k
				kinds = append(kinds, c)
			}
			class[a*m+b] = k
		}
	}
	if len(kinds) == 0 { // one machine
		kinds = []dagClass{{new(big.Rat), big.NewRat(1, 1)}}
	}
	return class, kinds
}

// longest returns max_t min_a (head + cost + tail).
func (h *dagHeads) longest() *big.Int {
	most := new(big.Int)
	for k := range h.cost {
		var least *big.Int
		for a := range h.m {
			sum := new(big.Int).Add(h.head[k][a], h.cost[k][a])
			if sum.Add(sum, h.tail[k][a]); least == nil || sum.Cmp(least) < 0 {
				least = sum
			}
		}
		most = maximum(most, least)
	}
	return most
}

// dagPath recomputes the bound by a set of tasks: on each machine that its tasks may be
// on, the longest chain of tasks and transfers through the set.
func dagPath(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	h, err := newDAGHeads(ctx, in, e.Elements)
	if err != nil {
		return Followed{}, err
	}
	how := fmt.Sprintf("a path of %d tasks", len(e.Elements))
	switch {
	case len(e.Elements) == 1:
		how = "one task"
	case !h.chain:
		how = fmt.Sprintf("the paths through %d tasks", len(e.Elements))
	}
	return Followed{Bound: h.unit.rat(h.longest()), How: how}, nil
}

// dagLoad recomputes Σ_t min_a w_a cost(t, a) / Σ_a w_a. For any weights w ≥ 0 it bounds the
// makespan C: a machine's tasks take C at most, so Σ_a w_a C ≥ Σ_a w_a Σ_{t on a} cost(t, a).
func dagLoad(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	m := len(in.Machines)
	if len(in.Tasks)*m > maxEvidenceWork {
		return Followed{}, tooMuch("costs")
	}
	var weight, cost binary
	all := new(big.Int)
	for _, w := range e.Weights {
		weight.see(w)
	}
	weights := make([]*big.Int, m)
	for a, w := range e.Weights {
		weights[a] = weight.whole(w)
		all.Add(all, weights[a])
	}
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return Followed{}, ctx.Err()
		}
		for a := range m {
			cost.see(in.Cost(t, a))
		}
	}
	sum, ok := dagLoadSmall(ctx, in, e.Weights, weight, cost)
	if !ok {
		sum = dagLoadSum(ctx, in, weights, cost)
	}
	if ctx.Err() != nil {
		return Followed{}, ctx.Err()
	}
	b := cost.rat(sum)
	return Followed{Bound: b.Quo(b, new(big.Rat).SetInt(all)), How: fmt.Sprintf("the load of %d weighted machines", m)}, nil
}

// dagLoadSum returns Σ_t min_a w_a cost(t, a).
func dagLoadSum(ctx context.Context, in *model.DAG, weights []*big.Int, cost binary) *big.Int {
	sum, x := new(big.Int), new(big.Int)
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return sum
		}
		var least *big.Int
		for a := range weights {
			if x.Mul(weights[a], cost.whole(in.Cost(t, a))); least == nil || x.Cmp(least) < 0 {
				least = new(big.Int).Set(x)
			}
		}
		sum.Add(sum, least)
	}
	return sum
}

// dagLoadSmall is dagLoadSum where weights and costs are below 2^63 units and products have
// 128 bits, so that the sum of fewer than 2^31 has 160. It reports whether they are.
func dagLoadSmall(ctx context.Context, in *model.DAG, weights []float64, weight, cost binary) (sum *big.Int, ok bool) {
	w := make([]uint64, len(weights))
	for a := range weights {
		if w[a], ok = weight.small(weights[a]); !ok {
			return nil, false
		}
	}
	var top, high, low uint64
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return nil, false
		}
		leastHigh, leastLow := uint64(math.MaxUint64), uint64(math.MaxUint64)
		for a := range w {
			c, ok := cost.small(in.Cost(t, a))
			if !ok {
				return nil, false
			}
			if hi, lo := bits.Mul64(w[a], c); hi < leastHigh || hi == leastHigh && lo < leastLow {
				leastHigh, leastLow = hi, lo
			}
		}
		var carry uint64
		low, carry = bits.Add64(low, leastLow, 0)
		high, carry = bits.Add64(high, leastHigh, carry)
		top += carry
	}
	sum = new(big.Int).SetUint64(top)
	for _, digit := range []uint64{high, low} {
		sum.Lsh(sum, 64).Or(sum, new(big.Int).SetUint64(digit))
	}
	return sum, true
}

// dagInterval recomputes H + max(0, work/M - (b - a)) for the window [a, b) and M
// machines, where H is a bound by paths and work is what the tasks, each between its
// least head and H less its least tail, must do within the window at least.
//
// If a schedule ends at R = H + x ≥ H, each task of least head s, cost c and tail r runs within
// [s, R - r]. Within [a, b + x) it must hence do at least min(c, b + x - a, s + c - a, b + x -
// (R - r - c)), of which none is less than with x = 0. The M machines do M (b + x - a) there at
// most, so x ≥ work/M - (b - a).
func dagInterval(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	ids := make([]string, len(in.Tasks))
	for t := range ids {
		ids[t] = in.Tasks[t].ID
	}
	h, err := newDAGHeads(ctx, in, ids)
	if err != nil {
		return Followed{}, err
	}
	least := func(row []*big.Int) *big.Int {
		x := row[0]
		for _, y := range row[1:] {
			x = minimum(x, y)
		}
		return x
	}
	before := h.unit.shift
	h.unit.see(e.Window[0])
	h.unit.see(e.Window[1])
	up := func(x *big.Int) *big.Int { return new(big.Int).Lsh(x, uint(h.unit.shift-before)) }
	n := len(ids)
	start, cost, rest := make([]*big.Int, n), make([]*big.Int, n), make([]*big.Int, n)
	horizon := new(big.Int)
	for t := range n {
		start[t], cost[t], rest[t] = up(least(h.head[t])), up(least(h.cost[t])), up(least(h.tail[t]))
		sum := new(big.Int).Add(start[t], cost[t])
		horizon = maximum(horizon, sum.Add(sum, rest[t]))
	}
	a, b := h.unit.whole(e.Window[0]), h.unit.whole(e.Window[1])
	work, length, part := new(big.Int), new(big.Int).Sub(b, a), new(big.Int)
	for t := range n {
		end := new(big.Int).Add(start[t], cost[t])
		least := minimum(cost[t], minimum(length, end.Sub(end, a)))
		part.Sub(horizon, rest[t])
		part.Sub(b, part.Sub(part, cost[t]))
		if least = minimum(least, part); least.Sign() > 0 {
			work.Add(work, least)
		}
	}
	bound := h.unit.rat(horizon)
	over := h.unit.rat(work)
	over.Quo(over, new(big.Rat).SetInt64(int64(h.m)))
	if over.Sub(over, h.unit.rat(length)); over.Sign() > 0 {
		bound.Add(bound, over)
	}
	return Followed{Bound: bound, How: fmt.Sprintf("the work from %.6g s to %.6g s", e.Window[0], e.Window[1])}, nil
}
