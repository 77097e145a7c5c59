// SPDX-License-Identifier: MIT

// Package covering solves the masters of column generation: linear programs of covering whose columns come in between.
package covering

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/run/meter"
)

// Entry is a coefficient of a column.
type Entry struct {
	Row  int32
	Coef float64
}

// Program minimises Σ_j c_j x_j subject to Σ_j a_jk x_j ≥ b_k for each row k and x ≥ 0, over the columns so far. The
// first columns are one unit of each row, at a price, with which it begins: for demands b_k ≥ 0. Others limit columns
// that have negative coefficients, and are met at first.
//
// It is the revised simplex method with the inverse of the basis in product form (Dantzig, Orchard-Hays 1954). After
// new columns it goes on by the primal method with Devex prices (Harris 1973), and after changed demands by the dual
// one (Lemke 1954). A pivot takes O(rows + entries of the inverse and of all columns).
type Program struct {
	demand  []float64 // [row], with a perturbation
	limit   []bool    // [row]: it limits columns
	columns [][]Entry // the surplus of each row, then the columns
	price   []float64 // [column]: c
	cost    []float64 // [column]: reduced
	devex   []float64 // [column]: its weight
	basic   []bool    // [column]
	basis   []int     // [position]: a column
	value   []float64 // [position]
	duals   []float64 // [row]
	inverse []factor  // their product, the last one at the left
	fresh   int       // factors of the last refresh
	alpha   []float64 // [position]: the inverse times the column that comes in
	row     []float64 // of the inverse
	filled  int       // about the entries of a factor
	work    int64     // products since the last look at the context
}

// factor is a matrix that differs from the unit matrix in one column.
type factor struct {
	at    int
	pivot float64
	rest  []Entry
}

// Zeros of the method, and its limits.
const (
	zeroCost, zeroValue, zeroPivot = 1e-9, 1e-9, 1e-7
	freshPivots                    = 60   // after which the inverse is made anew
	productsPerEffort              = 1000 // in about a microsecond
)

// New returns a program of the demands, of which some are positive. A unit of a row costs its price.
func New(demand, price []float64) *Program {
	n := len(demand)
	p := &Program{demand: make([]float64, n), limit: make([]bool, n), basis: make([]int, n), value: make([]float64, n), duals: make([]float64, n), alpha: make([]float64, n), row: make([]float64, n)}
	for k, d := range demand {
		if p.limit[k] = d < 0; !p.limit[k] {
			p.duals[k] = price[k] // in the first basis
		}
	}
	for k := range n {
		p.Add([]Entry{{int32(k), -1}}, 0)
	}
	for k := range n {
		p.Add([]Entry{{int32(k), 1}}, price[k])
		if p.basis[k] = n + k; p.limit[k] {
			p.basis[k] = k
			p.inverse = append(p.inverse, factor{at: k, pivot: -1})
		}
		p.basic[p.basis[k]] = true
	}
	p.fresh = len(p.inverse)
	p.Demand(demand)
	return p
}

// Add appends a column of a cost, whose entries have different rows.
func (p *Program) Add(column []Entry, cost float64) {
	c := p.reduced(column, cost)
	p.columns, p.price, p.cost, p.devex, p.basic = append(p.columns, column), append(p.price, cost), append(p.cost, c), append(p.devex, 1), append(p.basic, false)
}

// reduced returns a column's cost less the prices of its entries.
func (p *Program) reduced(column []Entry, cost float64) float64 {
	for _, e := range column {
		cost -= e.Coef * p.duals[e.Row]
	}
	return cost
}

// Demand changes the demands, but not whether a row limits columns. A demand of 0 of another row asks for nothing, so
// that it has no price. The others grow by less than a millionth, each by another share: few bases are degenerate then.
func (p *Program) Demand(demand []float64) {
	for k, d := range demand {
		if p.demand[k] = -1; d > 0 || p.limit[k] {
			p.demand[k] = d * (1 + 1e-6*float64((k*7919+1)%10007)/10007)
		}
	}
	p.evaluate()
}

// Drop removes columns outside the basis, but none of the first, and returns the numbers so far of the others.
func (p *Program) Drop(useless func(column int) bool) (kept []int) {
	n := len(p.basis)
	to := make([]int, len(p.columns))
	at := 0
	for j := range p.columns {
		if j >= 2*n && !p.basic[j] && useless(j-n) {
			continue
		}
		p.columns[at], p.price[at], p.cost[at], p.devex[at], p.basic[at] = p.columns[j], p.price[j], p.cost[j], p.devex[j], p.basic[j]
		if to[j] = at; j >= n {
			kept = append(kept, j-n)
		}
		at++
	}
	p.columns, p.price, p.cost, p.devex, p.basic = p.columns[:at], p.price[:at], p.cost[:at], p.devex[:at], p.basic[:at]
	for i, j := range p.basis {
		p.basis[i] = to[j]
	}
	return kept
}

// evaluate computes the values of the basis.
func (p *Program) evaluate() {
	copy(p.value, p.demand)
	p.forward(p.value)
}

// Clone returns a program that goes on from here by itself.
func (p *Program) Clone() *Program {
	q := *p
	q.demand, q.columns, q.price, q.cost, q.devex, q.basic = slices.Clone(p.demand), slices.Clone(p.columns), slices.Clone(p.price), slices.Clone(p.cost), slices.Clone(p.devex), slices.Clone(p.basic)
	q.basis, q.value, q.duals, q.inverse = slices.Clone(p.basis), slices.Clone(p.value), slices.Clone(p.duals), slices.Clone(p.inverse)
	q.alpha, q.row = make([]float64, len(p.alpha)), make([]float64, len(p.row))
	return &q
}

// Solve solves the program from the last basis, and returns the optimum, whose duals and values can be read then. It
// returns false if ctx or rounding ended it.
func (p *Program) Solve(ctx context.Context) (optimum float64, solved bool) {
	for most := 50 * (len(p.basis) + 100); most > 0; most-- {
		if len(p.inverse)-p.fresh >= freshPivots && !p.refresh() {
			return 0, false
		}
		if p.work >= 20*productsPerEffort {
			effort := p.work / productsPerEffort
			if p.work = 0; meter.Stop(ctx, effort) {
				return 0, false
			}
		}
		out, in := p.least(), -1
		if out >= 0 {
			p.inverseRow(out)
			in = p.replacement()
		} else {
			if in = p.entering(); in < 0 {
				return p.objective(), true
			}
		}
		if in < 0 {
			return 0, false
		}
		clear(p.alpha)
		for _, e := range p.columns[in] {
			p.alpha[e.Row] = e.Coef
		}
		p.forward(p.alpha)
		if out < 0 {
			if out = p.leaving(); out < 0 {
				return 0, false
			}
			p.inverseRow(out)
		}
		if math.Abs(p.alpha[out]) < zeroPivot/10 {
			return 0, false
		}
		p.pivot(out, in)
	}
	return 0, false
}

func (p *Program) objective() float64 {
	sum := 0.0
	for i, j := range p.basis {
		sum += p.price[j] * p.value[i]
	}
	return sum
}

// Duals returns the prices of the rows, until the next change.
func (p *Program) Duals() []float64 { return p.duals }

// Values calls each with every column that has a positive value, in the order of the basis.
func (p *Program) Values(each func(column int, x float64)) {
	for i, j := range p.basis {
		if j >= len(p.basis) && p.value[i] > zeroValue {
			each(j-len(p.basis), p.value[i])
		}
	}
}

// forward multiplies a vector by the inverse.
func (p *Program) forward(v []float64) {
	for k := range p.inverse {
		f := &p.inverse[k]
		t := v[f.at]
		if t == 0 {
			continue
		}
		v[f.at] = t * f.pivot
		for _, e := range f.rest {
			v[e.Row] += t * e.Coef
		}
		p.work += int64(len(f.rest))
	}
	p.work += int64(len(p.inverse) + len(v))
}

// inverseRow sets row to a row of the inverse.
func (p *Program) inverseRow(i int) {
	clear(p.row)
	p.row[i] = 1
	p.backward(p.row)
}

// backward multiplies a row vector by the inverse.
func (p *Program) backward(v []float64) {
	for k := len(p.inverse) - 1; k >= 0; k-- {
		f := &p.inverse[k]
		sum := v[f.at] * f.pivot
		for _, e := range f.rest {
			sum += v[e.Row] * e.Coef
		}
		v[f.at] = sum
		p.work += int64(len(f.rest))
	}
	p.work += int64(len(p.inverse) + len(v))
}

// entering returns the column of the best Devex price, -1 if none lowers the objective.
func (p *Program) entering() int {
	in, best := -1, 0.0
	for j, c := range p.cost {
		if c < -zeroCost && !p.basic[j] && c*c > best*p.devex[j] {
			in, best = j, c*c/p.devex[j]
		}
	}
	p.work += int64(len(p.cost))
	return in
}

// least returns the position of the least value, -1 if none is negative.
func (p *Program) least() int {
	out, least := -1, -1e-7
	for i, x := range p.value {
		if x < least {
			out, least = i, x
		}
	}
	return out
}

// along returns the entry of a column in the row.
func (p *Program) along(j int) float64 {
	a := 0.0
	for _, e := range p.columns[j] {
		a += e.Coef * p.row[e.Row]
	}
	return a
}

// replacement returns the column that replaces the row's negative value by the dual method, -1 if there is none.
func (p *Program) replacement() int {
	in, ratio, best := -1, math.Inf(1), 0.0
	for j := range p.columns {
		if p.basic[j] {
			continue
		}
		if a := -p.along(j); a > zeroPivot {
			if q := max(0, p.cost[j]) / a; q < ratio-zeroCost || q < ratio+zeroCost && a > best {
				in, ratio, best = j, min(q, ratio), a
			}
		}
	}
	p.work += 4 * int64(len(p.columns))
	return in
}

// leaving returns the position whose value reaches 0 first as alpha comes in, of about equal ones the one with the
// largest alpha; -1 if there is none.
func (p *Program) leaving() int {
	out, ratio := -1, math.Inf(1)
	for i, a := range p.alpha {
		if a > zeroPivot {
			ratio = min(ratio, (max(0, p.value[i])+zeroValue)/a)
		}
	}
	for i, a := range p.alpha {
		if a > zeroPivot && max(0, p.value[i])/a <= ratio && (out < 0 || a > p.alpha[out]) {
			out = i
		}
	}
	return out
}

// pivot replaces the basis at a position by a column with its product alpha; row is the inverse's at the position.
func (p *Program) pivot(out, in int) {
	by, cost, weight := p.alpha[out], p.cost[in], p.devex[in]
	for k := range p.row {
		p.row[k] /= by
		p.duals[k] += cost * p.row[k]
	}
	for j, basic := range p.basic {
		if basic {
			continue
		}
		if a := p.along(j); a != 0 {
			p.cost[j] -= cost * a
			p.devex[j] = max(p.devex[j], a*a*weight)
		}
	}
	p.work += 5 * int64(len(p.columns))
	gone := p.basis[out]
	p.cost[gone], p.devex[gone], p.basic[gone] = -cost/by, max(1, weight/by/by), false
	p.cost[in], p.basic[in], p.basis[out] = 0, true, in
	x := p.value[out] / by
	for i, a := range p.alpha {
		p.value[i] -= a * x
	}
	p.value[out] = x
	p.factor(out)
}

// factor makes alpha the unit vector of a position, in the inverse.
func (p *Program) factor(at int) {
	f := factor{at: at, pivot: 1 / p.alpha[at], rest: make([]Entry, 0, p.filled)}
	for i, a := range p.alpha {
		if i != at && math.Abs(a) > 1e-13 {
			f.rest = append(f.rest, Entry{int32(i), -a * f.pivot})
		}
	}
	p.inverse, p.filled = append(p.inverse, f), len(f.rest)+16
}

// refresh makes the inverse of the basis anew, which drops the errors of rounding so far. It returns false if the basis
// is singular up to them. It is Gaussian elimination: the basis is L U, and first come the factors of L's inverse, then
// U's. Columns come in the order of fewest entries in rows without a pivot, and take the row that fewest others have,
// so that the factors have few entries (Markowitz 1957).
func (p *Program) refresh() bool {
	n := len(p.basis)
	in := slices.Clone(p.basis)
	users := make([][]int, n) // of each row
	active := make([]int, n)  // rows of each column without a pivot
	waiting := make([]int, n) // columns of each row
	var queue [][]int         // columns by active, and some that are done or have fewer by now
	push := func(c int) {
		for len(queue) <= active[c] {
			queue = append(queue, nil)
		}
		queue[active[c]] = append(queue[active[c]], c)
	}
	for c, j := range in {
		active[c] = len(p.columns[j])
		for _, e := range p.columns[j] {
			waiting[e.Row]++
		}
		push(c)
	}
	all := 0
	for _, m := range waiting {
		all += m
	}
	room := make([]int, 0, all)
	for k, m := range waiting {
		users[k] = room[len(room) : len(room) : len(room)+m]
		room = room[:len(room)+m]
	}
	for c, j := range in {
		for _, e := range p.columns[j] {
			users[e.Row] = append(users[e.Row], c)
		}
	}
	entries := make([]Entry, 0, 16*n)
	taken, done, upper := make([]bool, n), make([]bool, n), make([]factor, 0, n)
	p.inverse, p.work = make([]factor, 0, 2*n+freshPivots), p.work+int64(n)*int64(n)
	var filled []int
	for least := 0; len(upper) < n; {
		for len(queue[least]) == 0 {
			least++
		}
		last := len(queue[least]) - 1
		c := queue[least][last]
		queue[least] = queue[least][:last]
		if done[c] || active[c] != least {
			continue
		}
		done[c] = true
		clear(p.alpha)
		for _, e := range p.columns[in[c]] {
			p.alpha[e.Row] = e.Coef
			waiting[e.Row]--
		}
		p.forward(p.alpha)
		most := 0.0
		filled = filled[:0]
		for i, a := range p.alpha {
			if a != 0 {
				if filled = append(filled, i); !taken[i] {
					most = max(most, math.Abs(a))
				}
			}
		}
		out := -1
		for _, i := range filled {
			a := math.Abs(p.alpha[i])
			if !taken[i] && a >= 0.1*most && a > zeroPivot && (out < 0 || waiting[i] < waiting[out]) {
				out = i
			}
		}
		if out < 0 {
			return false
		}
		taken[out], p.basis[out] = true, in[c]
		for _, k := range users[out] {
			if active[k]--; !done[k] {
				push(k)
				least = min(least, active[k])
			}
		}
		by := p.alpha[out]
		for _, above := range []bool{true, false} {
			from := len(entries)
			for _, i := range filled {
				if i != out && taken[i] == above {
					entries = append(entries, Entry{int32(i), -p.alpha[i] / by})
				}
			}
			rest := entries[from:len(entries):len(entries)]
			if above {
				upper = append(upper, factor{out, 1 / by, rest})
			} else if len(rest) > 0 {
				p.inverse = append(p.inverse, factor{out, 1, rest})
			}
		}
	}
	slices.Reverse(upper)
	p.inverse = append(p.inverse, upper...)
	p.fresh = len(p.inverse)
	for i, j := range p.basis {
		p.duals[i] = p.price[j]
	}
	p.backward(p.duals)
	for j, column := range p.columns {
		if p.cost[j] = p.reduced(column, p.price[j]); p.basic[j] {
			p.cost[j] = 0
		}
	}
	p.evaluate()
	return true
}
