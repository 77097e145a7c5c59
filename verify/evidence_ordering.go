// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// dagOrdering recomputes the bound min(H, L) by multipliers λ of rows that hold for every schedule that ends by the
// horizon H. L is the least of C + Σ_r λ_r (what row r demands - what it has) over all values that the variables may
// take, each by itself (Lagrangian relaxation). L ≤ C of such a schedule, for each row's λ_r multiplies an amount that
// is at most 0, or 0 if it is an equation. A schedule that ends later beats nothing below H.
//
// A schedule gives the variables these values; contention only delays, so that the rows hold with it:
//
//   - C is its makespan, s_t the start of task t, x_ta = 1 if t is on machine a, else 0.
//   - z_eab = x_ia x_jb for an edge e from task i to j with some transfer that takes time.
//   - y_ija = 1 if i and j are both on a, i before j, else 0, for i and j that no path of edges orders. For an edge
//     from i to j it is z_eaa, or 0 without z.
//   - Heads and tails h, q of tasks by machine come from dagHeads over machines that can run the task and have
//     h + cost + q ≤ H. A task is on no other, z_eab = 0 if h_ia + cost_ia + length_eab + cost_jb + q_jb > H, and y_ija = 0 if h_ia + cost_ia + cost_ja +
//     q_ja > H.
//
// The rows, by kind:
//
//	tail    C - s_t - Σ_a (cost_ta + q_ta) x_ta ≥ 0
//	head    s_t - Σ_a h_ta x_ta ≥ 0
//	from    Σ_b z_eab - x_ia = 0
//	to      Σ_b z_eba - x_ja = 0
//	edge    s_j - s_i - Σ_a cost_ia x_ia - Σ_ab length_eab z_eab ≥ 0
//	both    y_ija + y_jia - x_ia - x_ja ≥ -1
//	wait    s_j - s_i - Σ_a (B + cost_ia) y_ija ≥ -B, where B is the largest s_i less the least s_j
//	load    C - Σ_t cost_ta x_ta ≥ 0
//	before  s_t - Σ_i Σ_a cost_ia y_ita ≥ 0: what is before t on its machine ends by its start
//	after   C - s_t - Σ_a cost_ta x_ta - Σ_i Σ_a cost_ia y_tia ≥ 0
//
// Exactly one of the x of a task and of the z of an edge is 1, and at most one of all y of two tasks: the least is
// taken over these. If L is above a multiple of the common divisor of all costs and lengths, the next multiple is a
// bound: played without idle time and contention a schedule ends no later, and at such a multiple.
func dagOrdering(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	n, m := len(in.Tasks), len(in.Machines)
	if n > 1<<12 || m > 1<<10 || n*n*m > maxEvidenceWork || len(in.Edges)*max(n, m*m) > maxEvidenceWork {
		return Followed{}, tooMuch("rows")
	}
	ids := make([]string, n)
	for t := range ids {
		ids[t] = in.Tasks[t].ID
	}
	heads, err := newDAGHeads(ctx, in, ids)
	if err != nil {
		return Followed{}, err
	}
	o := &dagRows{dagHeads: heads, n: n}
	some, err := o.windows(ctx, e.Window[1])
	if err != nil {
		return Followed{}, err
	}
	count := 0
	for k := range e.Parts {
		count += len(e.Parts[k].Rows)
	}
	f := Followed{Bound: exact(e.Window[1]), How: fmt.Sprintf("%d multipliers of the linear relaxation", count)}
	if !some {
		return f, nil
	}
	o.variables()
	for k := range e.Parts {
		for _, w := range e.Parts[k].Weights {
			o.weight.see(w)
		}
	}
	for k := range e.Parts {
		for i, number := range e.Parts[k].Rows {
			if stopped(ctx, i) {
				return Followed{}, ctx.Err()
			}
			if err := o.row(e.Parts[k].Resource, number, o.weight.whole(e.Parts[k].Weights[i])); err != nil {
				return Followed{}, err
			}
			if o.work > maxEvidenceWork {
				return Followed{}, tooMuch("terms")
			}
		}
	}
	if bound := o.least(); bound.Cmp(f.Bound) < 0 {
		f.Bound = bound
	}
	return f, nil
}

// dagRows are the rows of dagOrdering and the sums of their multipliers. Times are in 1/2^unit.shift s, multipliers in
// 1/2^weight.shift, and products of the two in the product of these units.
type dagRows struct {
	*dagHeads
	n       int
	weight  binary
	horizon *big.Int
	ordered []bool // [i*n+j]: a path of edges leads from i to j
	between []int  // [i*n+j]: an edge from i to j with z, or -1
	timed   []bool // of each edge: it has z

	low, high []*big.Int // of each start
	work      int        // terms so far

	demand *big.Int   // Σ λ times the row's demand: a product
	c      *big.Int   // the factor of C less 1, a multiplier
	s      []*big.Int // of each start, likewise
	// The factors of the others are products, nil for 0: x at [t*m+a], z at [(e*m+a)*m+b], y at [(i*n+j)*m+a].
	x, z, y []*big.Int
}

// windows excludes machines until heads and tails exclude no more, and reports whether each task has one left.
func (o *dagRows) windows(ctx context.Context, horizon float64) (bool, error) {
	before := o.unit.shift
	o.unit.see(horizon)
	if up := uint(o.unit.shift - before); up > 0 {
		o.never = new(big.Int).Lsh(o.never, up)
		for _, table := range [][][]*big.Int{o.cost, o.lengths} {
			for _, row := range table {
				for a := range row {
					row[a] = new(big.Int).Lsh(row[a], up)
				}
			}
		}
	}
	o.horizon = o.unit.whole(horizon)
	o.off = make([][]bool, o.n)
	for t := range o.off {
		o.off[t] = make([]bool, o.m)
		for a, c := range o.cost[t] {
			o.off[t][a] = c.Cmp(o.never) >= 0
		}
	}
	for again := true; again; {
		again = false
		if o.work += len(o.from)*o.m*o.m + o.n*o.m; o.work > maxEvidenceWork {
			return false, tooMuch("heads and tails")
		}
		if err := o.fill(ctx); err != nil {
			return false, err
		}
		for t := range o.n {
			left := 0
			for a := range o.m {
				if !o.off[t][a] && o.span(t, a).Cmp(o.horizon) > 0 {
					o.off[t][a], again = true, true
				}
				if !o.off[t][a] {
					left++
				}
			}
			if left == 0 {
				return false, nil
			}
		}
	}
	o.work = 0
	return true, nil
}

// span returns head + cost + tail.
func (o *dagRows) span(t, a int) *big.Int {
	sum := new(big.Int).Add(o.head[t][a], o.cost[t][a])
	return sum.Add(sum, o.tail[t][a])
}

// variables sets the variables that exist, and the possible starts.
func (o *dagRows) variables() {
	n, m := o.n, o.m
	o.ordered, o.between, o.timed = make([]bool, n*n), make([]int, n*n), make([]bool, len(o.from))
	for k := range o.between {
		o.between[k] = -1
	}
	for _, t := range o.order {
		for _, e := range o.pred[t] {
			p := o.from[e]
			o.ordered[p*n+t] = true
			for i := range n {
				o.ordered[i*n+t] = o.ordered[i*n+t] || o.ordered[i*n+p]
			}
		}
	}
	for e := range o.from {
		for a := 0; a < m && !o.timed[e]; a++ {
			for b := range m {
				o.timed[e] = o.timed[e] || o.length(e, a, b).Sign() > 0
			}
		}
		if o.timed[e] {
			o.between[o.from[e]*n+o.to[e]] = e
		}
	}
	o.low, o.high = make([]*big.Int, n), make([]*big.Int, n)
	for t := range n {
		for a := range m {
			if o.off[t][a] {
				continue
			}
			last := new(big.Int).Sub(o.horizon, o.tail[t][a])
			if last.Sub(last, o.cost[t][a]); o.low[t] == nil {
				o.low[t], o.high[t] = o.head[t][a], last
			}
			o.low[t], o.high[t] = minimum(o.low[t], o.head[t][a]), maximum(o.high[t], last)
		}
	}
	o.demand, o.c, o.s = new(big.Int), new(big.Int), make([]*big.Int, n)
	for t := range o.s {
		o.s[t] = new(big.Int)
	}
	o.x, o.z, o.y = make([]*big.Int, n*m), make([]*big.Int, len(o.from)*m*m), make([]*big.Int, n*n*m)
}

// hasZ reports whether an edge with z may be from machine a to b.
func (o *dagRows) hasZ(e, a, b int) bool {
	i, j := o.from[e], o.to[e]
	if o.off[i][a] || o.off[j][b] || o.length(e, a, b).Cmp(o.never) >= 0 {
		return false
	}
	sum := new(big.Int).Add(o.head[i][a], o.cost[i][a])
	sum.Add(sum, o.length(e, a, b)).Add(sum, o.cost[j][b])
	return sum.Add(sum, o.tail[j][b]).Cmp(o.horizon) <= 0
}

// hasY reports whether task i may be before j on machine a; no path orders them.
func (o *dagRows) hasY(i, j, a int) bool {
	if o.off[i][a] || o.off[j][a] {
		return false
	}
	sum := new(big.Int).Add(o.head[i][a], o.cost[i][a])
	sum.Add(sum, o.cost[j][a])
	return sum.Add(sum, o.tail[j][a]).Cmp(o.horizon) <= 0
}

// free reports whether no path of edges orders two different tasks.
func (o *dagRows) free(i, j int) bool { return i != j && !o.ordered[i*o.n+j] && !o.ordered[j*o.n+i] }

// less subtracts λ times a time from a factor.
func (o *dagRows) less(factor **big.Int, lambda, time *big.Int) {
	o.work++
	if *factor == nil {
		*factor = new(big.Int)
	}
	(*factor).Sub(*factor, new(big.Int).Mul(lambda, time))
}

// lessY subtracts λ times a time from the factor of i before j on machine a, if that may be.
func (o *dagRows) lessY(i, j, a int, lambda, time *big.Int) {
	o.work++
	switch e := o.between[i*o.n+j]; {
	case e >= 0 && o.hasZ(e, a, a):
		o.less(&o.z[(e*o.m+a)*o.m+a], lambda, time)
	case e < 0 && o.free(i, j) && o.hasY(i, j, a):
		o.less(&o.y[(i*o.n+j)*o.m+a], lambda, time)
	}
}

// row adds λ times a row's demand less what it has.
func (o *dagRows) row(kind string, number int64, lambda *big.Int) error {
	n, m := o.n, o.m
	count := map[string]int{evidence.FromRow: len(o.from) * m, evidence.ToRow: len(o.from) * m, evidence.EdgeRow: len(o.from),
		evidence.BothRow: n * n * m, evidence.WaitRow: n * n, evidence.LoadRow: m}
	most, ok := count[kind]
	if !ok {
		most = n // rows of tasks
	}
	if number >= int64(most) {
		return fmt.Errorf("there are %d rows %q at most, none has the number %d", most, kind, number)
	}
	k := int(number)
	minus := new(big.Int).Neg(lambda)
	second := new(big.Int).Lsh(big.NewInt(1), uint(o.unit.shift))
	// x subtracts λ times a time of task t on each machine.
	x := func(t int, lambda *big.Int, time func(a int) *big.Int) {
		for a := range m {
			if !o.off[t][a] {
				o.less(&o.x[t*m+a], lambda, time(a))
			}
		}
	}
	costs := func(t int) func(a int) *big.Int { return func(a int) *big.Int { return o.cost[t][a] } }
	switch kind {
	case evidence.TailRow:
		o.c.Sub(o.c, lambda)
		o.s[k].Add(o.s[k], lambda)
		x(k, minus, func(a int) *big.Int { return new(big.Int).Add(o.cost[k][a], o.tail[k][a]) })
	case evidence.HeadRow:
		o.s[k].Sub(o.s[k], lambda)
		x(k, minus, func(a int) *big.Int { return o.head[k][a] })
	case evidence.FromRow, evidence.ToRow:
		e, a := k/m, k%m
		t := o.from[e]
		if kind == evidence.ToRow {
			t = o.to[e]
		}
		if !o.timed[e] || o.off[t][a] {
			return errors.New("a row of an edge has no variables")
		}
		o.less(&o.x[t*m+a], minus, second)
		for b := range m {
			p, q := a, b
			if kind == evidence.ToRow {
				p, q = b, a
			}
			if o.hasZ(e, p, q) {
				o.less(&o.z[(e*m+p)*m+q], lambda, second)
			}
		}
	case evidence.EdgeRow:
		i, j := o.from[k], o.to[k]
		o.s[j].Sub(o.s[j], lambda)
		o.s[i].Add(o.s[i], lambda)
		x(i, minus, costs(i))
		for a := 0; a < m && o.timed[k]; a++ {
			for b := range m {
				if o.hasZ(k, a, b) {
					o.less(&o.z[(k*m+a)*m+b], minus, o.length(k, a, b))
				}
			}
		}
	case evidence.BothRow:
		i, j, a := k/m/n, k/m%n, k%m
		if i >= j || !o.free(i, j) || o.off[i][a] || o.off[j][a] {
			return errors.New("a row of two tasks on a machine is of tasks that are ordered or not both there")
		}
		o.demand.Sub(o.demand, new(big.Int).Mul(lambda, second))
		o.less(&o.x[i*m+a], minus, second)
		o.less(&o.x[j*m+a], minus, second)
		o.lessY(i, j, a, lambda, second)
		o.lessY(j, i, a, lambda, second)
	case evidence.WaitRow:
		i, j := k/n, k%n
		if !o.free(i, j) {
			return errors.New("a row of two tasks is of tasks that are ordered")
		}
		span := new(big.Int).Sub(o.high[i], o.low[j])
		o.demand.Sub(o.demand, new(big.Int).Mul(lambda, span))
		o.s[j].Sub(o.s[j], lambda)
		o.s[i].Add(o.s[i], lambda)
		for a := range m {
			o.lessY(i, j, a, minus, new(big.Int).Add(span, o.cost[i][a]))
		}
	case evidence.LoadRow:
		o.c.Sub(o.c, lambda)
		for t := range n {
			if !o.off[t][k] {
				o.less(&o.x[t*m+k], minus, o.cost[t][k])
			}
		}
	case evidence.BeforeRow:
		o.s[k].Sub(o.s[k], lambda)
		for i := range n {
			for a := range m {
				o.lessY(i, k, a, minus, o.cost[i][a])
			}
		}
	case evidence.AfterRow:
		o.c.Sub(o.c, lambda)
		o.s[k].Add(o.s[k], lambda)
		x(k, minus, costs(k))
		for i := range n {
			for a := range m {
				o.lessY(k, i, a, minus, o.cost[i][a])
			}
		}
	}
	return nil
}

// least returns L of dagOrdering, rounded up.
func (o *dagRows) least() *big.Rat {
	n, m := o.n, o.m
	sum := new(big.Int).Set(o.demand)
	// A variable is where its factor is paid least.
	at := func(factor, low, high *big.Int) {
		if factor.Sign() < 0 {
			low = high
		}
		sum.Add(sum, new(big.Int).Mul(factor, low))
	}
	c := new(big.Int).Lsh(big.NewInt(1), uint(o.weight.shift))
	c.Add(c, o.c)
	longest := new(big.Int)
	for t := range n {
		var least *big.Int
		for a := range m {
			if span := o.span(t, a); !o.off[t][a] && (least == nil || span.Cmp(least) < 0) {
				least = span
			}
		}
		longest = maximum(longest, least)
		at(o.s[t], o.low[t], o.high[t])
	}
	at(c, longest, o.horizon)
	zero := new(big.Int)
	factor := func(x *big.Int) *big.Int {
		if x == nil {
			return zero
		}
		return x
	}
	for t := range n {
		var least *big.Int
		for a := range m {
			if x := factor(o.x[t*m+a]); !o.off[t][a] && (least == nil || x.Cmp(least) < 0) {
				least = x
			}
		}
		sum.Add(sum, least)
	}
	for e := range o.from {
		var least *big.Int
		for k := e * m * m; k < (e+1)*m*m && o.timed[e]; k++ {
			if z := factor(o.z[k]); (least == nil || z.Cmp(least) < 0) && (o.z[k] != nil || o.hasZ(e, k/m%m, k%m)) {
				least = z
			}
		}
		if least != nil {
			sum.Add(sum, least)
		}
	}
	for i := range n {
		for j := range i {
			least := zero
			for _, p := range [][2]int{{i, j}, {j, i}} {
				for a := range m {
					least = minimum(least, factor(o.y[(p[0]*n+p[1])*m+a]))
				}
			}
			sum.Add(sum, least)
		}
	}
	return o.up(sum)
}

// up returns a product, in seconds, as the next multiple of the common divisor of all costs and lengths.
func (o *dagRows) up(sum *big.Int) *big.Rat {
	common := new(big.Int)
	tables := [][][]*big.Int{o.cost, o.lengths}
	if o.m == 1 && !o.local {
		tables = tables[:1] // nothing is sent
	}
	for _, table := range tables {
		for _, row := range table {
			for _, x := range row {
				if x.Sign() > 0 && x.Cmp(o.never) < 0 && (common.Sign() == 0 || common.BitLen() > 1) {
					common.GCD(nil, nil, common, x)
				}
			}
		}
	}
	if common.Sign() == 0 {
		return new(big.Rat)
	}
	common.Lsh(common, uint(o.weight.shift))
	q, rest := new(big.Int).DivMod(sum, common, new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	q.Mul(q, common)
	return new(big.Rat).SetFrac(q, new(big.Int).Lsh(big.NewInt(1), uint(o.unit.shift+o.weight.shift)))
}
