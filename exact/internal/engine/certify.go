// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// certifier proves bounds on a formulation by a branch and bound of its own. Only a certificate closes a node. It is
// computed here and holds however HiGHS, which solves the linear relaxations, rounds or errs:
//
//   - its bound from the dual values of the rows (duals.SafeLower) reaches the goal,
//   - multipliers of the rows prove that it has no point (duals.Refutes, Farkas's lemma),
//   - or its bounds and a row contradict each other (propagate), which is how a coefficient above a row's limit
//     fixes its variable.
//
// Branches part the values of an integer variable, so together the closed nodes cover every point. A node that can't be
// closed, with all integer variables fixed, stays open and keeps its parent's bound.
//
// It branches by pseudo-costs, initialised by solving both branches (Achterberg, Koch, Martin: Branching rules
// revisited, 2005). It dives into the child that is expected to gain less, and goes on at the open node of the lowest
// bound.
type certifier[S any] struct {
	d        *driver[S]
	f        *milp.Formulation[S]
	m        milp.Model // f, minimised, with the bounds of the node at hand; its last row is the goal's
	all      []milp.Var // with the bounds that all points satisfy
	root     []milp.Var // with the bounds of the root, where nothing that misses the goal is left
	lp       relaxation // nil: there is no HiGHS
	rowsOf   [][]int32  // of each variable: the rows that have it
	open     heap.Heap[*certNode]
	made     int64       // nodes
	dive     *certNode   // the node to work on next, which isn't among them; nil: the first of them
	stuck    float64     // the lowest bound of nodes that can't be closed
	goal     float64     // the least bound of a closed node: +Inf before there is a solution
	gains    [2][]pseudo // of each variable, downwards and upwards
	total    [2]pseudo   // of all variables
	queue    []int32     // rows to propagate
	queued   []bool      // by row
	excluded bool        // rows were added to f: all starts again
}

// pseudo holds the gains so far of branches on a variable, for each unit of change.
type pseudo struct {
	sum float64
	n   int
}

// relaxation solves the linear relaxation of a model with changing bounds. None of its answers is believed.
type relaxation interface {
	Solve(ctx context.Context, lower, upper []float64) (milp.Result, error)
	Close()
}

// relaxed returns HiGHS's.
func relaxed(m *milp.Model) (relaxation, error) {
	lp, err := highs.NewLP(m)
	if err != nil {
		return nil, err
	}
	return lp, nil
}

// rules are the parts that a certifier can do without, in tests.
type rules uint8

const (
	noPropagation rules = 1 << iota
	noFixing
	noProbing
)

// certNode is a node: a change of one variable's bound in its parent.
type certNode struct {
	parent *certNode
	bound  float64
	v      int
	upper  bool // the upper bound is new, else the lower
	value  float64
	order  int64 // of creation
}

// before is the order of open nodes: by bound, the older ones first.
func (n *certNode) before(o *certNode) bool {
	return n.bound < o.bound || n.bound == o.bound && n.order < o.order
}

// newCertifier returns a certifier of f; its root is open, and stays so without HiGHS.
func newCertifier[S any](d *driver[S], f *milp.Formulation[S]) (*certifier[S], error) {
	c := &certifier[S]{d: d, f: f, m: f.Model, stuck: math.Inf(1), goal: math.Inf(1)}
	c.open.Less = (*certNode).before
	c.m.Vars, c.m.Maximise = slices.Clone(f.Vars), false
	if f.Maximise {
		c.m.Offset = -f.Offset
		for j := range c.m.Vars {
			c.m.Vars[j].Cost = -f.Vars[j].Cost
		}
	}
	for j := range c.m.Vars {
		if v := &c.m.Vars[j]; v.Integer {
			v.Lower, v.Upper = math.Ceil(v.Lower), math.Floor(v.Upper)
		}
	}
	goal := milp.Row{Lower: math.Inf(-1), Upper: math.Inf(1)}
	c.rowsOf = make([][]int32, len(c.m.Vars))
	for j, v := range c.m.Vars {
		if v.Cost != 0 {
			goal.Terms = append(goal.Terms, milp.Term{Var: j, Coef: v.Cost})
		}
	}
	c.m.Rows = append(slices.Clone(f.Rows), goal)
	for i := range c.m.Rows {
		for _, t := range c.m.Rows[i].Terms {
			c.rowsOf[t.Var] = append(c.rowsOf[t.Var], int32(i))
		}
	}
	c.queued = make([]bool, len(c.m.Rows))
	for side := range c.gains {
		c.gains[side] = make([]pseudo, len(c.m.Vars))
	}
	for i := range c.m.Rows {
		c.enqueue(int32(i))
	}
	empty := !c.propagate()
	c.root = slices.Clone(c.m.Vars)
	c.all = slices.Clone(c.m.Vars)
	m := c.m
	m.Vars, m.Rows = slices.Clone(c.m.Vars), c.m.Rows[:len(f.Rows)]
	c.improved()
	if empty {
		return c, nil
	}
	c.open.Push(&certNode{bound: c.minimised(f.Limit)})
	var err error
	if c.lp, err = d.relaxed(&m); errors.Is(err, highs.ErrMissing) {
		c.lp, err = nil, nil
	}
	return c, err
}

// minimised returns an objective of f in the sense of m; and back.
func (c *certifier[S]) minimised(objective float64) float64 { return -sense(c.f) * objective }

// improved sets the goal by the best solution: no point is better than it by the gap asked for, half of it for
// rounding, or by 1 where objectives are whole.
func (c *certifier[S]) improved() {
	if c.d.Solution == nil {
		return
	}
	x := c.f.Encode(c.d.best)
	if x == nil {
		return // solutions no better than the best have no point in f
	}
	value := c.minimised(c.f.Model.Objective(x))
	gap := c.d.Set.GapLimit() / 2
	if c.f.Whole && gap <= model.DefaultGap {
		gap = 0
	}
	goal := value - math.Abs(value)*gap
	if c.f.Whole {
		goal = math.Ceil(goal - 1e-6)
	}
	c.goal = min(c.goal, goal)
	row := &c.m.Rows[len(c.m.Rows)-1]
	row.Upper = c.goal - c.m.Offset
	if c.f.Whole {
		row.Upper = c.goal - 1 - c.m.Offset
	}
}

// number gives a node its place among the nodes of equal bound.
func (c *certifier[S]) number(n *certNode) {
	c.made++
	n.order = c.made
}

// closed reports whether a bound closes a node.
func (c *certifier[S]) closed(bound float64) bool {
	if c.f.Whole {
		bound = math.Ceil(bound)
	}
	return bound >= c.goal
}

// bound returns the bound of m proved so far.
func (c *certifier[S]) bound() float64 {
	b := min(c.stuck, c.goal)
	if c.open.Len() > 0 {
		b = min(b, c.open.Items[0].bound)
	}
	if c.dive != nil {
		b = min(b, c.dive.bound)
	}
	if c.f.Whole {
		b = math.Ceil(b)
	}
	return max(b, c.minimised(c.f.Limit))
}

// proved returns bound as a bound on the problem's objective; NaN if all nodes are closed and there is no solution.
func (c *certifier[S]) proved() float64 {
	if b := c.bound(); !math.IsInf(b, 1) {
		return c.f.Value(c.minimised(b))
	}
	return math.NaN()
}

// harmless returns f with the bounds that all points satisfy, and rows without the terms of fixed variables. So a
// coefficient that dwarfs a solver's tolerance is gone if it is above its row's limit.
func (c *certifier[S]) harmless() *milp.Model {
	m := c.f.Model
	m.Vars, m.Rows = slices.Clone(c.all), slices.Clone(m.Rows)
	for j := range m.Vars {
		m.Vars[j].Cost = c.f.Vars[j].Cost
	}
	for i := range m.Rows {
		row := &m.Rows[i]
		all := row.Terms
		row.Terms = nil
		for _, t := range all {
			if v := &m.Vars[t.Var]; v.Lower != v.Upper {
				row.Terms = append(row.Terms, t)
			} else if v.Lower != 0 {
				row.Lower, row.Upper = row.Lower-t.Coef*v.Lower, row.Upper-t.Coef*v.Lower
			}
		}
	}
	return &m
}

func (c *certifier[S]) close() {
	if c.lp != nil {
		c.lp.Close()
	}
}

// done reports whether every node is closed.
func (c *certifier[S]) done() bool {
	return !c.excluded && c.open.Len() == 0 && math.IsInf(c.stuck, 1)
}

// run closes nodes until none is open or only ones that can't be closed, or the run ends. Without branch it only does
// as much as the root's relaxation allows.
func (c *certifier[S]) run(ctx context.Context, branch bool) error {
	if c.lp == nil {
		return nil
	}
	defer func() {
		if c.dive != nil {
			c.open.Push(c.dive)
			c.dive = nil
		}
	}()
	for !c.excluded {
		if c.dive == nil {
			if c.open.Len() == 0 {
				return nil
			}
			c.dive = c.open.Pop()
		}
		if c.closed(c.dive.bound) {
			c.dive = nil
			continue
		}
		first, second, stopped, err := c.node(ctx, c.dive, branch)
		if err != nil || stopped {
			c.d.knows(c.proved())
			return err
		}
		c.d.Nodes++
		if first != nil {
			c.number(first)
			c.number(second)
			c.open.Push(second)
		}
		c.dive = first
		c.d.knows(c.proved())
	}
	return nil
}

// enter sets the bounds of m to the bounds of a node and queues the rows that they touch.
func (c *certifier[S]) enter(n *certNode) {
	for j := range c.m.Vars {
		c.m.Vars[j].Lower, c.m.Vars[j].Upper = c.root[j].Lower, c.root[j].Upper
	}
	for ; n.parent != nil; n = n.parent {
		if v := &c.m.Vars[n.v]; n.upper {
			v.Upper = min(v.Upper, n.value)
		} else {
			v.Lower = max(v.Lower, n.value)
		}
		c.touch(n.v)
	}
	c.enqueue(int32(len(c.m.Rows) - 1))
}

func (c *certifier[S]) enqueue(i int32) {
	if !c.queued[i] {
		c.queued[i] = true
		c.queue = append(c.queue, i)
	}
}

func (c *certifier[S]) touch(v int) {
	for _, i := range c.rowsOf[v] {
		c.enqueue(i)
	}
}

// node works on a node, which is then closed, has two children (the first to go on with) or is stuck. If there is a
// reason to end (stopped), it stays open; so does the root if it isn't to branch.
func (c *certifier[S]) node(ctx context.Context, n *certNode, branch bool) (first, second *certNode, stopped bool, err error) {
	c.enter(n)
	for {
		if !c.propagate() {
			return nil, nil, false, nil
		}
		r, err := c.relax(ctx)
		if err != nil || r.Status == milp.Interrupted || ctx.Err() != nil {
			return nil, nil, true, err
		}
		switch {
		case c.refuted(&r):
			return nil, nil, false, nil
		case r.Status != milp.Optimal:
			r.X = nil
		default:
			bound, reduced := duals.Reduced(c.rows(), r.Duals)
			n.bound = max(n.bound, bound)
			if c.closed(n.bound) {
				return nil, nil, false, nil
			}
			if c.fix(bound, reduced) {
				continue
			}
		}
		if n.parent == nil {
			copy(c.root, c.m.Vars)
			if !branch {
				return nil, nil, true, nil
			}
		}
		v, at := -1, 0.0
		if r.X != nil {
			if v, at, err = c.branch(ctx, n, r.X); err != nil || ctx.Err() != nil {
				return nil, nil, true, err
			}
			if v == again {
				continue
			}
			if v < 0 {
				if err := c.try(ctx, r.X); err != nil || c.excluded {
					return nil, nil, true, err
				}
				if c.closed(n.bound) {
					return nil, nil, false, nil
				}
			}
		}
		if v < 0 {
			v, at = c.halve(r.X)
		}
		if v < 0 {
			c.stuck = min(c.stuck, n.bound)
			return nil, nil, false, nil
		}
		down := &certNode{parent: n, bound: n.bound, v: v, upper: true, value: math.Floor(at)}
		up := &certNode{parent: n, bound: n.bound, v: v, value: math.Floor(at) + 1}
		if r.X != nil && c.expected(1, v)*(math.Ceil(at)-at) < c.expected(0, v)*(at-math.Floor(at)) {
			return up, down, false, nil
		}
		return down, up, false, nil
	}
}

// rows returns the model without the goal's row.
func (c *certifier[S]) rows() *milp.Model {
	m := c.m
	m.Rows = m.Rows[:len(m.Rows)-1]
	return &m
}

// refuted reports whether a relaxation's multipliers prove that the node has no point.
func (c *certifier[S]) refuted(r *milp.Result) bool {
	return r.Status == milp.Infeasible && r.Ray != nil && duals.Refutes(c.rows(), r.Ray)
}

// relax solves the relaxation of the node.
func (c *certifier[S]) relax(ctx context.Context) (milp.Result, error) {
	lower, upper := make([]float64, len(c.m.Vars)), make([]float64, len(c.m.Vars))
	for j := range c.m.Vars {
		lower[j], upper[j] = c.m.Vars[j].Lower, c.m.Vars[j].Upper
	}
	r, err := c.lp.Solve(ctx, lower, upper)
	meter.Stop(ctx, r.Iterations*int64(20+len(c.m.Rows)/20))
	return r, err
}

// fix tightens bounds of integer variables by the node's Lagrangian bound and reduced costs: it drops each value with a
// bound that closes the node. It reports whether there is anything new.
func (c *certifier[S]) fix(bound float64, reduced []float64) bool {
	if math.IsInf(c.goal, 1) || c.d.off&noFixing != 0 {
		return false
	}
	need := c.goal - bound
	if c.f.Whole {
		need-- // whole objectives above goal - 1 are at least the goal
	}
	changed := false
	for j := range c.m.Vars {
		v := &c.m.Vars[j]
		if !v.Integer || v.Lower == v.Upper || need <= 0 || math.IsInf(v.Upper-v.Lower, 0) {
			continue
		}
		d := reduced[j]
		steps := math.Floor(need/math.Abs(d)*(1+1e-9) + 1e-9) // that far it may still be
		if !(steps < v.Upper-v.Lower) {
			continue
		}
		if changed = true; d > 0 {
			v.Upper = v.Lower + steps
		} else {
			v.Lower = v.Upper - steps
		}
		c.touch(j)
	}
	return changed
}

// again, in place of a variable, says that a node has changed.
const again = -2

// branch returns the fractional variable to branch on; -1 if there is none, again if one of its
// branches is closed, by which the node changes.
func (c *certifier[S]) branch(ctx context.Context, n *certNode, x []float64) (v int, at float64, err error) {
	type candidate struct {
		v     int
		score float64
	}
	var best, most []candidate
	for j := range c.m.Vars {
		if !c.m.Vars[j].Integer || math.Abs(x[j]-math.Round(x[j])) <= 1e-6 {
			continue
		}
		down, up := x[j]-math.Floor(x[j]), math.Ceil(x[j])-x[j]
		k := candidate{j, max(c.expected(0, j)*down, 1e-6) * max(c.expected(1, j)*up, 1e-6)}
		best = append(best, k)
	}
	if len(best) == 0 {
		return -1, 0, nil
	}
	const reliable, tried = 4, 8
	for range min(tried, len(best)) {
		k := 0
		for i := range best {
			if best[i].score > best[k].score {
				k = i
			}
		}
		most = append(most, best[k])
		best[k] = best[len(best)-1]
		best = best[:len(best)-1]
	}
	top := candidate{-1, -1}
	for _, k := range most {
		if min(c.gains[0][k.v].n, c.gains[1][k.v].n) >= reliable || c.d.off&noProbing != 0 {
			if k.score > top.score {
				top = k
			}
			continue
		}
		gain := [2]float64{}
		for side := range gain {
			g, refuted, err := c.probe(ctx, n.bound, k.v, x[k.v], side)
			if err != nil || ctx.Err() != nil {
				return -1, 0, err
			}
			if refuted {
				b := &c.m.Vars[k.v]
				if side == 0 {
					b.Lower = math.Ceil(x[k.v])
				} else {
					b.Upper = math.Floor(x[k.v])
				}
				c.touch(k.v)
				return again, 0, nil
			}
			gain[side] = g
		}
		if k.score = max(gain[0], 1e-6) * max(gain[1], 1e-6); k.score > top.score {
			top = k
		}
	}
	return top.v, x[top.v], nil
}

// expected returns the expected gain of a unit of change of a variable.
func (c *certifier[S]) expected(side, v int) float64 {
	p := c.gains[side][v]
	if p.n == 0 {
		p = c.total[side]
	}
	return p.sum / float64(max(1, p.n))
}

// probe solves one branch on a variable (side 0: downwards) and returns its gain, or whether it is closed.
func (c *certifier[S]) probe(ctx context.Context, bound float64, v int, at float64, side int) (gain float64, refuted bool, err error) {
	b := &c.m.Vars[v]
	before, change := *b, at-math.Floor(at)
	if side == 0 {
		b.Upper = math.Floor(at)
	} else {
		b.Lower, change = math.Ceil(at), math.Ceil(at)-at
	}
	defer func() { *b = before }()
	r, err := c.relax(ctx)
	switch {
	case err != nil:
		return 0, false, err
	case r.Status != milp.Optimal:
		return 0, c.refuted(&r), nil
	}
	lower := duals.SafeLower(c.rows(), r.Duals)
	if c.closed(lower) {
		return 0, true, nil
	}
	gain = max(0, lower-bound)
	for _, p := range []*pseudo{&c.gains[side][v], &c.total[side]} {
		p.sum += gain / change
		p.n++
	}
	return gain, false, nil
}

// try has the driver look at an integral point.
func (c *certifier[S]) try(ctx context.Context, x []float64) error {
	s, err := c.f.Decode(x)
	if errors.Is(err, model.ErrInfeasible) {
		return nil
	}
	if err != nil {
		return err
	}
	feasible, improved, err := c.d.keep(ctx, s)
	if improved {
		c.improved()
		c.d.report()
	}
	if err == nil && !feasible && c.d.Exclude != nil {
		c.excluded = c.d.Exclude(s)
	}
	return err
}

// halve returns an integer variable that isn't fixed, and the point at which to part its values; -1 if there is none. x
// may be nil.
func (c *certifier[S]) halve(x []float64) (int, float64) {
	for j := range c.m.Vars {
		v := &c.m.Vars[j]
		if !v.Integer || v.Lower == v.Upper {
			continue
		}
		at := v.Lower
		if x != nil {
			at = min(max(math.Round(x[j]), v.Lower), v.Upper-1)
		}
		return j, at
	}
	return -1, 0
}

// propagate tightens the bounds of the node by its queued rows, and reports false if a row has no point. Sums are
// rounded outwards, by 2^-52 of the size of their terms for each term.
func (c *certifier[S]) propagate() bool {
	steps := 20 * (len(c.m.Rows) + 10)
	ok := true
	for len(c.queue) > 0 {
		i := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		c.queued[i] = false
		if ok && steps > 0 && c.d.off&noPropagation == 0 {
			steps--
			ok = c.tighten(&c.m.Rows[i])
		}
	}
	return ok
}

// tighten is propagate for one row.
func (c *certifier[S]) tighten(row *milp.Row) bool {
	least, most, size := 0.0, 0.0, 0.0
	leastInf, mostInf := 0, 0
	for _, t := range row.Terms {
		v := &c.m.Vars[t.Var]
		a, b := span(t.Coef, v)
		if math.IsInf(a, 0) {
			leastInf++
		} else {
			least += a
			size += math.Abs(a)
		}
		if math.IsInf(b, 0) {
			mostInf++
		} else {
			most += b
			size += math.Abs(b)
		}
	}
	side := 0.0
	for _, s := range []float64{row.Lower, row.Upper} {
		if !math.IsInf(s, 0) {
			side = max(side, math.Abs(s))
		}
	}
	off := 0x1p-51 * float64(len(row.Terms)+4) * (size + side)
	if leastInf == 0 && least-off > row.Upper || mostInf == 0 && most+off < row.Lower {
		return false
	}
	up, down := row.Upper, row.Lower
	if math.IsInf(up, 0) && math.IsInf(down, 0) || leastInf > 1 && mostInf > 1 {
		return true
	}
	for _, t := range row.Terms {
		v := &c.m.Vars[t.Var]
		if v.Lower == v.Upper || t.Coef == 0 {
			continue
		}
		a, b := span(t.Coef, v)
		lower, upper := math.Inf(-1), math.Inf(1) // of Coef times the variable
		if others, infinite := without(least, leastInf, a); !infinite && !math.IsInf(up, 0) {
			upper = up - others + off
		}
		if others, infinite := without(most, mostInf, b); !infinite && !math.IsInf(down, 0) {
			lower = down - others - off
		}
		if t.Coef < 0 {
			lower, upper = upper, lower
		}
		if !c.narrow(t.Var, lower/t.Coef, upper/t.Coef) {
			return false
		}
	}
	return true
}

// span returns the least and the most value of a coefficient times its variable.
func span(coef float64, v *milp.Var) (least, most float64) {
	if coef < 0 {
		return coef * v.Upper, coef * v.Lower
	}
	return coef * v.Lower, coef * v.Upper
}

// without returns a sum without one of its terms, and whether an infinite one is left.
func without(sum float64, infinite int, term float64) (float64, bool) {
	if math.IsInf(term, 0) {
		return sum, infinite > 1
	}
	return sum - term, infinite > 0
}

// narrow takes over the better bounds of a variable: whole ones for integers, otherwise only bounds that cut off a
// thousandth of the values. It reports whether values are left.
func (c *certifier[S]) narrow(j int, lower, upper float64) bool {
	v := &c.m.Vars[j]
	outwards := 0x1p-50 * max(math.Abs(lower), math.Abs(upper))
	if math.IsInf(outwards, 0) {
		outwards = 0x1p-50 * min(math.Abs(lower), math.Abs(upper))
	}
	if math.IsInf(outwards, 0) || math.IsNaN(outwards) {
		return true
	}
	lower, upper = lower-outwards, upper+outwards
	least := 0.0
	if v.Integer {
		lower, upper = math.Ceil(lower), math.Floor(upper)
	} else if least = 1e-3 * (v.Upper - v.Lower); math.IsInf(least, 0) {
		least = 0
	}
	if lower > v.Upper || upper < v.Lower {
		return false
	}
	changed := false
	if lower > v.Lower+least {
		v.Lower, changed = lower, true
	}
	if upper < v.Upper-least {
		v.Upper, changed = upper, true
	}
	if changed {
		c.touch(j)
	}
	return v.Lower <= v.Upper
}
