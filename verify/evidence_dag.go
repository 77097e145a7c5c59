// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
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
	case evidence.Ordering, evidence.Gathering:
		if severalAtOnce(in) {
			return Followed{}, errOneAtATime
		}
		if e.Type == evidence.Gathering {
			return dagGathering(ctx, in, e)
		}
		return dagOrdering(ctx, in, e)
	case evidence.Traffic:
		return dagTraffic(ctx, in, e)
	}
	return dagInterval(ctx, in, e)
}

// dagHeads are heads and tails over the tasks of a set and the edges between them.
//
// For a task t on machine a, let head(t, a) = max over edges (s, t) of min_b (head(s, b) +
// cost(s, b) + transfer from b to a). No schedule starts t on a before head(t, a), by induction: s is on some b, starts
// no earlier than head(s, b), and its data must get to a. The tail is the same backwards in time: the least from t's
// end to the end of the schedule. So the makespan is at least max_t min_a (head + cost + tail).
type dagHeads struct {
	unit       binary
	m          int
	cost       [][]*big.Int // of [task of the set][machine]
	head, tail [][]*big.Int
	chain      bool
	local      bool     // data take time within some machine
	never      *big.Int // stands for what takes forever: more than twice all else together

	from, to   []int        // of each edge between tasks of the set
	succ, pred [][]int      // edges by task
	order      []int        // topological
	class      []int        // of [from machine * m + to machine]
	lengths    [][]*big.Int // of [edge][class]
	off        [][]bool     // [task][machine]: the task isn't there; nil: each may be anywhere
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
	h := &dagHeads{m: m, cost: make([][]*big.Int, len(ids)), never: new(big.Int)}
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
	var data []float64 // of each edge
	for e := range in.Edges {
		if stopped(ctx, e) {
			return nil, ctx.Err()
		}
		x := &in.Edges[e]
		f, ok := place[x.From]
		if t, also := place[x.To]; ok && also {
			h.from, h.to, data = append(h.from, f), append(h.to, t), append(data, largest(x))
		}
	}
	if m > 1000 {
		return nil, tooMuch("pairs of machines")
	}
	class, kinds := dagClasses(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	h.class, h.local = class, withinTakesTime(in)
	if per := max(1, m); len(data)*per > maxEvidenceWork || len(kinds) > 1 && len(data)*per*per > maxEvidenceWork {
		return nil, tooMuch("transfers")
	}
	h.succ, h.pred = make([][]int, len(ids)), make([][]int, len(ids))
	missing, length := make([]int, len(ids)), make([]float64, len(data)*len(kinds))
	for i := range data {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		for c, k := range kinds {
			length[i*len(kinds)+c] = k.length(data[i])
			h.unit.see(length[i*len(kinds)+c])
		}
		f, t := h.from[i], h.to[i]
		h.succ[f], h.pred[t] = append(h.succ[f], i), append(h.pred[t], i)
		missing[t]++
	}
	for k, t := range task {
		h.cost[k] = make([]*big.Int, m)
		for a := range m {
			h.cost[k][a] = h.whole(in.Cost(t, a))
		}
	}
	h.lengths = make([][]*big.Int, len(data))
	for i := range data {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		h.lengths[i] = make([]*big.Int, len(kinds))
		for c := range kinds {
			h.lengths[i][c] = h.whole(length[i*len(kinds)+c])
		}
	}
	h.never.Lsh(h.never, 1)
	h.never.Add(h.never, big.NewInt(1))
	for k := range missing {
		if missing[k] == 0 {
			h.order = append(h.order, k)
		}
	}
	for i := 0; i < len(h.order); i++ {
		for _, e := range h.succ[h.order[i]] {
			t := h.to[e]
			if missing[t]--; missing[t] == 0 {
				h.order = append(h.order, t)
			}
		}
	}
	h.chain = len(data) >= len(ids)-1
	for k := 0; k+1 < len(ids) && h.chain; k++ {
		h.chain = len(h.succ[k]) > 0 && hasEdge(h.succ[k], func(e int) bool { return h.to[e] == k+1 })
	}
	return h, h.fill(ctx)
}

// whole returns a time in units, never for one without an end.
func (h *dagHeads) whole(seconds float64) *big.Int {
	if math.IsInf(seconds, 1) {
		return h.never
	}
	x := h.unit.whole(seconds)
	h.never.Add(h.never, x)
	return x
}

// length returns the time of an edge from machine a to b.
func (h *dagHeads) length(e, a, b int) *big.Int {
	if a == b && !h.local {
		return new(big.Int)
	}
	return h.lengths[e][h.class[a*h.m+b]]
}

// fill computes heads and tails over the machines where tasks may be; each task has one.
// The error is ctx's.
func (h *dagHeads) fill(ctx context.Context) error {
	m := h.m
	zeros := func() [][]*big.Int {
		all := make([][]*big.Int, len(h.cost))
		for k := range all {
			all[k] = make([]*big.Int, m)
			for a := range all[k] {
				all[k][a] = new(big.Int)
			}
		}
		return all
	}
	h.head, h.tail = zeros(), zeros()
	for _, t := range h.order {
		for _, e := range h.pred[t] {
			if stopped(ctx, e) {
				return ctx.Err()
			}
			h.extend(h.head[t], h.head[h.from[e]], h.from[e], e, true)
		}
	}
	for k := len(h.order) - 1; k >= 0; k-- {
		t := h.order[k]
		for _, e := range h.succ[t] {
			if stopped(ctx, e) {
				return ctx.Err()
			}
			h.extend(h.tail[t], h.tail[h.to[e]], h.to[e], e, false)
		}
	}
	return nil
}

// extend raises row by the ends of a task at the other end of edge e, which has the heads of (or tails, if not
// forward).
func (h *dagHeads) extend(row, of []*big.Int, task, e int, forward bool) {
	m := h.m
	end := make([]*big.Int, m) // nil where the task isn't
	var least *big.Int
	for b := range m {
		if h.off != nil && h.off[task][b] {
			continue
		}
		end[b] = new(big.Int).Add(of[b], h.cost[task][b])
		if least == nil || end[b].Cmp(least) < 0 {
			least = end[b]
		}
	}
	one, sum := len(h.lengths[e]) == 1 && !h.local, new(big.Int)
	for a := range m {
		best := end[a]
		if h.local && best != nil {
			best = new(big.Int).Add(best, h.length(e, a, a))
		}
		try := func(end, length *big.Int) {
			if sum.Add(end, length); best == nil || sum.Cmp(best) < 0 {
				best = new(big.Int).Set(sum)
			}
		}
		if one {
			try(least, h.lengths[e][0])
		}
		for b := 0; b < m && !one; b++ {
			switch {
			case b == a || end[b] == nil:
			case forward:
				try(end[b], h.length(e, b, a))
			default:
				try(end[b], h.length(e, a, b))
			}
		}
		row[a] = maximum(row[a], best)
	}
}

func hasEdge(edges []int, f func(int) bool) bool {
	for _, e := range edges {
		if f(e) {
			return true
		}
	}
	return false
}

// dagClass is a start-up and a rate that pairs of machines have; without a rate data take no more time.
type dagClass struct {
	startup *big.Rat
	rate    *big.Rat
}

// withinTakesTime reports whether data take time within some machine.
func withinTakesTime(in *model.DAG) bool {
	return slices.ContainsFunc(in.Machines, func(m model.Machine) bool { return m.LocalRate > 0 })
}

// length returns the time of a transfer.
func (c dagClass) length(data float64) float64 {
	x := new(big.Rat)
	switch {
	case c.rate == nil:
	case c.rate.Sign() == 0: // no path
		return math.Inf(1)
	case data > 0:
		x.Quo(exact(data), c.rate)
	}
	near, _ := x.Add(x, c.startup).Float64()
	return near
}

// dagClasses returns the class of each pair of different machines, [from*machines+to], and of each machine with itself
// if data take time within some; nothing of use once the context has ended.
func dagClasses(ctx context.Context, in *model.DAG) (class []int, kinds []dagClass) {
	m := len(in.Machines)
	class = make([]int, m*m)
	if len(in.Edges) == 0 {
		return class, []dagClass{{new(big.Rat), big.NewRat(1, 1)}}
	}
	p := newPaths(in)
	local := withinTakesTime(in)
	if len(in.Network.Routes) == 0 && in.Network.PathCapacity == nil && m > 1 && !local {
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
		for b := range m {
			c := dagClass{exact(p.startup(a, b)), nil}
			switch {
			case a != b:
				c.rate = p.alone(a, b)
			case !local:
				continue
			default:
				if c.startup = new(big.Rat); in.Machines[a].LocalRate > 0 {
					c.rate = exact(in.Machines[a].LocalRate)
				}
			}
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
// makespan C: a machine's tasks take C at most, so Σ_a w_a C ≥ Σ_a w_a Σ_{t on a} cost(t, a). The least is over the
// machines that can run t. Where machines run several tasks at once, a cost counts by its part.
func dagLoad(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	m := len(in.Machines)
	if len(in.Tasks)*m > maxEvidenceWork {
		return Followed{}, tooMuch("costs")
	}
	takes, err := partOf(in, e.Resource)
	if err != nil {
		return Followed{}, err
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
	var sum *big.Int
	if ok := false; takes.resource < 0 {
		sum, ok = dagLoadSmall(ctx, in, e.Weights, weight, cost)
		if !ok {
			sum = nil
		}
	}
	if sum == nil {
		sum = dagLoadSum(ctx, in, takes, weights, cost)
	}
	if ctx.Err() != nil {
		return Followed{}, ctx.Err()
	}
	b := cost.rat(sum)
	return Followed{Bound: b.Quo(b, new(big.Rat).SetInt(all.Mul(all, takes.whole))), How: fmt.Sprintf("the load of %d weighted machines", m)}, nil
}

// dagLoadSum returns Σ_t min_a w_a cost(t, a), times the parts' whole.
func dagLoadSum(ctx context.Context, in *model.DAG, takes *part, weights []*big.Int, cost binary) *big.Int {
	sum, x := new(big.Int), new(big.Int)
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return sum
		}
		var least *big.Int
		for a := range weights {
			c := in.Cost(t, a)
			if math.IsInf(c, 1) {
				continue
			}
			x.Mul(weights[a], cost.whole(c))
			if x.Mul(x, takes.of(t, a)); least == nil || x.Cmp(least) < 0 {
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
			seconds := in.Cost(t, a)
			if math.IsInf(seconds, 1) {
				continue
			}
			c, ok := cost.small(seconds)
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

// dagInterval recomputes H + max(0, work/M - (b - a)) for the window [a, b) and M machines, with H a bound by paths.
// The tasks, each between its least head and H less its least tail, must do at least work within the window.
//
// If a schedule ends at R = H + x ≥ H, each task of least head s, cost c and tail r runs within
// [s, R - r]. Within [a, b + x) it must hence do at least min(c, b + x - a, s + c - a, b + x - (R - r - c)), and no
// term is less than with x = 0. The M machines do M (b + x - a) there at most, so x ≥ work/M - (b - a). Where machines
// run several tasks at once, a task's work counts by its least part, and M are the machines that have the resource.
func dagInterval(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	takes, err := partOf(in, e.Resource)
	if err != nil {
		return Followed{}, err
	}
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
			work.Add(work, new(big.Int).Mul(least, takes.least(t)))
		}
	}
	bound := h.unit.rat(horizon)
	if takes.machines == 0 {
		return Followed{}, errors.New("no machine has its resource")
	}
	over := h.unit.rat(work)
	all := new(big.Int).Mul(takes.whole, big.NewInt(int64(takes.machines)))
	over.Quo(over, new(big.Rat).SetInt(all))
	if over.Sub(over, h.unit.rat(length)); over.Sign() > 0 {
		bound.Add(bound, over)
	}
	return Followed{Bound: bound, How: fmt.Sprintf("the work from %.6g s to %.6g s", e.Window[0], e.Window[1])}, nil
}
