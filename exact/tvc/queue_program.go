// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/simplex"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// queueProgram is the mixed-integer program of a part of a queue. Only the migrations that are decided cost anything in
// it: they make requests longer, and a request with more migrations has more to do than that. Any time in its last
// interval beyond the work of all is a pause, which a schedule can do without.
//
// The instants of arrivals cut time into intervals l. The state of a schedule is the interval, the number k of requests
// that have ended, and the set c that runs. A schedule is given by how long it is in each state: x(l,k,c). As n - k
// requests are under way in a state, the sum of the responses is Σ (n-k) x(l,k,c) less the arrivals: no other variable
// has a cost. Only the largest sets are listed; a request may be in one though it has nothing to do.
//
//   - ended(j,k): request j is one of the first k that end. Σ_j ended(j,k) = k, and
//     ended(j,k) ≤ ended(j,k+1).
//   - past(l,k): k requests have ended when interval l begins. Then x(l,k',c) = 0 for k' < k. Without
//     it x(l-1,k',c) = 0 for k' ≥ k.
//   - work(j,k), the work of j while k have ended: at most Σ x(l,k,c) over the sets with j, and at most p_j (1 -
//     ended(j,k)); the sum over k is p_j.
//
// If these are whole numbers, the states belong to a schedule in which the sets of a state run in any order. In
// interval l the number of ended requests grows from its value at the interval's beginning to its value at the next
// one's. The relaxation is strong because fractions of orders are averages of orders, so that early ends need early
// work. Rows that hold in all schedules make it stronger:
//
//   - end(k) ≥ Σ_j (ended(j,k) - ended(j,k-1)) (a_j + p_j), where end(k) is Σ x(l,k',c) over k' < k;
//   - ended(j,k) + past(l,k) ≤ 1 if interval l begins before a_j + p_j;
//   - ended(j,k) ≤ ended(i,k) where i goes first (see queuePart.first).
//
// Rows that may contradict each other once variables are fixed may be violated at a price: no
// program is infeasible, and no claim rests on HiGHS's word for that.
type queueProgram struct {
	*queuePart
	decided *queueDecided
	length  []int64 // of requests, with their decided migrations
	last    int     // the last interval
	horizon float64
	span    []float64 // lengths of intervals
	model   *milp.Model
	states  []queueState
	spent   [][][]milp.Term // the states, [l][k]
	ended   [][]int         // [j][k], k from 0 to n; -1: it is k == n
	past    [][]int         // [l][k]; -1: it is 1 or 0, see count
	work    [][]int         // [j][k]
	whole   []queueWhole
}

// queueWhole is a variable that is 0 or 1: ended(at,k) or past(at,k).
type queueWhole struct {
	x     int
	ended bool
	at, k int
}

// queueState is the state of a schedule for a time.
type queueState struct {
	interval, ended int
	set             uint32
}

// queueScale is the length of the whole program, in its unit of time.
const queueScale = 1000

// mostStates bounds the variables of a program.
const mostStates = 1 << 14

// mostPivots bounds the steps of our own simplex method in one program.
const mostPivots = 20_000

// newQueueProgram returns the program of a part with some decisions, nil if it is too large. O(n² · states) terms.
func newQueueProgram(q *queuePart, d *queueDecided) *queueProgram {
	p := &queueProgram{queuePart: q, decided: d, model: &milp.Model{}, length: slices.Clone(q.length), last: len(q.begins) - 1}
	work := int64(0)
	for j := range p.length {
		p.length[j] += int64(d.moves[j]) * q.t.Migration
		work += p.length[j]
		p.model.Offset -= p.unit(q.arrival[j])
	}
	total := p.unit(work)
	p.horizon = p.unit(q.begins[p.last]) + total
	for l := range p.last {
		p.span = append(p.span, p.unit(q.begins[l+1]-q.begins[l]))
	}
	p.span = append(p.span, total)
	if !p.addStates() {
		return nil
	}
	p.addWhole()
	for l := range p.last {
		var all []milp.Term
		for _, terms := range p.spent[l] {
			all = append(all, terms...)
		}
		p.model.AddRow("", p.span[l], p.span[l], all...)
	}
	p.addOrder()
	p.addPast()
	p.addWork()
	p.addEnds()
	p.addFirst()
	return p
}

// unit returns ticks in the program's unit of time.
func (p *queueProgram) unit(ticks int64) float64 { return float64(ticks) / p.scale }

// addStates adds how long the states last, and reports whether they aren't too many.
func (p *queueProgram) addStates() bool {
	p.spent = make([][][]milp.Term, p.last+1)
	for l := range p.spent {
		here := p.here(l)
		p.spent[l] = make([][]milp.Term, p.n+1)
		for k := 0; k <= bits.OnesCount32(here) && k < p.n; k++ {
			for _, s := range p.sets.among(here, p.decided.barred(l, k)) {
				x := p.model.AddVar(milp.Var{Upper: p.span[l], Cost: float64(p.n - k)})
				p.states = append(p.states, queueState{l, k, s})
				p.spent[l][k] = append(p.spent[l][k], milp.Term{Var: x, Coef: 1})
			}
		}
		if len(p.states) > mostStates {
			return false
		}
	}
	return true
}

// elastic adds a row that may be violated at a price, by at most so much.
func (p *queueProgram) elastic(lower, upper, most float64, terms ...milp.Term) {
	price := 100 * float64(p.n)
	v := milp.Var{Upper: most, Cost: price * p.horizon / most}
	if most > 2*float64(p.n) { // a time
		v.Cost = price
	}
	if !math.IsInf(lower, 0) {
		terms = append(terms, milp.Term{Var: p.model.AddVar(v), Coef: 1})
	}
	if !math.IsInf(upper, 0) {
		terms = append(terms, milp.Term{Var: p.model.AddVar(v), Coef: -1})
	}
	p.model.AddRow("", lower, upper, terms...)
}

// addWhole adds the whole variables.
func (p *queueProgram) addWhole() {
	binary := func(ended bool, at, k int) int {
		x := p.model.AddVar(milp.Var{Upper: 1})
		p.whole = append(p.whole, queueWhole{x, ended, at, k})
		return x
	}
	p.ended, p.past = make([][]int, p.n), make([][]int, p.last+1)
	for l := 1; l <= p.last; l++ {
		p.past[l] = make([]int, p.n+1)
		for k := 1; k <= p.n; k++ {
			p.past[l][k] = -1
			if k <= p.count(l) {
				p.past[l][k] = binary(false, l, k)
			}
		}
	}
	for j := range p.n {
		p.ended[j] = make([]int, p.n)
		for k := 1; k < p.n; k++ {
			p.ended[j][k] = binary(true, j, k)
		}
	}
}

// addPast adds the rows that derive past from the states.
func (p *queueProgram) addPast() {
	m, inf := p.model, math.Inf(1)
	for l := 1; l <= p.last; l++ {
		for k := 1; k <= p.count(l); k++ {
			x := p.past[l][k]
			var before, after []milp.Term
			for i := range p.n {
				if i < k {
					before = append(before, p.spent[l][i]...)
				} else {
					after = append(after, p.spent[l-1][i]...)
				}
			}
			m.AddRow("", -inf, p.span[l], append(before, milp.Term{Var: x, Coef: p.span[l]})...)
			m.AddRow("", -inf, 0, append(after, milp.Term{Var: x, Coef: -p.span[l-1]})...)
		}
		for k := p.count(l) + 1; k < p.n; k++ { // so many haven't ended by then
			for _, t := range p.spent[l-1][k] {
				m.Vars[t.Var].Upper = 0
			}
		}
	}
}

// addWork adds work and its rows.
func (p *queueProgram) addWork() {
	m, inf := p.model, math.Inf(1)
	p.work = make([][]int, p.n)
	for j := range p.n {
		length := p.unit(p.length[j])
		var all []milp.Term
		for k := range p.n {
			w := m.AddVar(milp.Var{Upper: length})
			row := []milp.Term{{Var: w, Coef: -1}}
			for l := range p.spent {
				for _, t := range p.spent[l][k] {
					if p.states[t.Var].set>>j&1 != 0 {
						row = append(row, t)
					}
				}
			}
			m.AddRow("", 0, inf, row...)
			if k > 0 {
				m.AddRow("", -inf, length, milp.Term{Var: w, Coef: 1}, milp.Term{Var: p.ended[j][k], Coef: length})
			}
			all = append(all, milp.Term{Var: w, Coef: 1})
			p.work[j] = append(p.work[j], w)
		}
		s := m.AddVar(milp.Var{Upper: length, Cost: 100 * float64(p.n)})
		m.AddRow("", length, length, append(all, milp.Term{Var: s, Coef: 1})...)
	}
}

// addEnds adds the rows of the requests that end no sooner than after their arrival and their work.
func (p *queueProgram) addEnds() {
	inf := math.Inf(1)
	for k := 1; k <= p.n; k++ {
		var row []milp.Term
		for l := range p.spent {
			for i := range k {
				row = append(row, p.spent[l][i]...)
			}
		}
		sum := 0.0
		for j := range p.n {
			e := p.unit(p.arrival[j] + p.length[j])
			if k < p.n {
				row = append(row, milp.Term{Var: p.ended[j][k], Coef: -e})
			} else {
				sum += e
			}
			if k > 1 {
				row = append(row, milp.Term{Var: p.ended[j][k-1], Coef: e})
			}
		}
		p.elastic(sum, inf, p.horizon, row...)
	}
}

// addFirst adds the rows of the requests that can't have ended when an interval begins, and of the requests that go
// first.
func (p *queueProgram) addFirst() {
	inf := math.Inf(1)
	for j := range p.n {
		l, _ := slices.BinarySearch(p.begins, p.arrival[j]+p.length[j])
		l-- // the last one that begins before
		for k := 1; l > 0 && k < p.n && k <= p.count(l); k++ {
			p.elastic(-inf, 1, 1, milp.Term{Var: p.ended[j][k], Coef: 1}, milp.Term{Var: p.past[l][k], Coef: 1})
		}
		for i := range p.n {
			if p.off&devQueueOrder == 0 && p.first(i, j) {
				for k := 1; k < p.n; k++ {
					p.elastic(-inf, 0, 1, milp.Term{Var: p.ended[j][k], Coef: 1}, milp.Term{Var: p.ended[i][k], Coef: -1})
				}
			}
		}
	}
}

// addOrder adds the rows of ended and past by themselves.
func (p *queueProgram) addOrder() {
	m, n := p.model, p.n
	less := func(a, b int) { m.AddRow("", math.Inf(-1), 0, milp.Term{Var: a, Coef: 1}, milp.Term{Var: b, Coef: -1}) }
	for k := 1; k < n; k++ {
		var row []milp.Term
		for j := range n {
			row = append(row, milp.Term{Var: p.ended[j][k], Coef: 1})
			if k > 1 {
				less(p.ended[j][k-1], p.ended[j][k])
			}
		}
		price := milp.Var{Upper: float64(n), Cost: 100 * float64(n) * queueScale}
		m.AddRow("", float64(k), float64(k), append(row, milp.Term{Var: m.AddVar(price), Coef: 1}, milp.Term{Var: m.AddVar(price), Coef: -1})...)
	}
	for l := 1; l < len(p.past); l++ {
		for k := 1; k <= p.count(l); k++ {
			if k > 1 {
				less(p.past[l][k], p.past[l][k-1])
			}
			if l > 1 && k <= p.count(l-1) {
				less(p.past[l-1][k], p.past[l][k])
			}
		}
	}
}

// fix fixes a variable, and the ones that follow by the rows of order.
func (p *queueProgram) fix(low, high []float64, w *queueWhole, value float64) {
	set := func(x int) { low[x], high[x] = value, value }
	if w.ended {
		for k := 1; k < p.n; k++ {
			if value == 1 && k >= w.k || value == 0 && k <= w.k {
				set(p.ended[w.at][k])
			}
		}
		return
	}
	for l := 1; l < len(p.past); l++ {
		for k := 1; k <= p.count(l); k++ {
			if value == 1 && l >= w.at && k <= w.k || value == 0 && l <= w.at && k >= w.k {
				set(p.past[l][k])
			}
		}
	}
}

// solve returns a lower bound in ticks on the sum of the responses of the schedules within the bounds of the whole
// variables, and the point that HiGHS finds, nil if there is none. Without HiGHS it uses our own simplex method, which
// takes longer.
func (p *queueProgram) solve(ctx context.Context, low, high []float64) (bound float64, x []float64, err error) {
	m := *p.model
	m.Vars = slices.Clone(m.Vars)
	for _, w := range p.whole {
		m.Vars[w.x].Lower, m.Vars[w.x].Upper = low[w.x], high[w.x]
	}
	if !highs.Available() {
		lower, x := p.simplex.Solve(ctx, &m, simplex.Options{Cutoff: float64(p.value) / p.scale, Pivots: mostPivots, Bounded: true})
		return lower * p.scale, x, nil
	}
	r, err := highs.Solve(ctx, &m, milp.Options{Relax: true})
	if err != nil || r.Duals == nil || r.X == nil {
		return 0, nil, err
	}
	return duals.SafeLower(&m, r.Duals) * p.scale, r.X, nil
}
