// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/covering"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/vectors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// pattern is a multiset of tasks that fits on one host.
type pattern struct {
	Items []patternItem // by increasing type
	Load  int64         // CPU needs of its tasks, in the units of Tasks.CPU
}

// patternItem is a number of tasks of one type.
type patternItem struct {
	Type, Count int32
}

// Patterns tests by column generation whether the tasks fit on H equal hosts at a given CPU load (Gilmore, Gomory: A
// linear programming approach to the cutting-stock problem, 1961, with several resources). The master is min Σ_q x_q
// subject to Σ_q count_qk x_q ≥ count_k for each type k, over the patterns q of at most the load. The pricing problem
// is a knapsack of as many dimensions as there are resources. An optimum > H proves that no placement has that load. If
// hosts differ, Moves does the test.
//
// The proof doesn't rest on floating-point arithmetic: the duals are rounded down to integers w ≥ 0 and the knapsack is
// solved exactly. If Σ_k w_k count_qk ≤ z for every pattern q, then w/z is feasible for the dual. So every cover has ≥
// Σ_k w_k count_k / z patterns (Farley: A note on bounding a class of linear programming problems, 1990), which is
// compared with H in integers. The program is covering.Program's, so no HiGHS is needed.
type Patterns struct {
	t    *Tasks
	pool []pattern
	// The last refuted load and the weights by type that refuted it; nil: none.
	refuted int64
	weights []int64
}

// NewPatterns returns a pool with the patterns of one task each.
func NewPatterns(t *Tasks) *Patterns {
	p := &Patterns{t: t}
	for k := range t.CPU {
		p.pool = append(p.pool, pattern{[]patternItem{{int32(k), 1}}, t.CPU[k]})
	}
	return p
}

// Add puts the patterns of a placement's hosts into the pool; hosts is [task].
func (p *Patterns) Add(hosts []int32) {
	counts := make([]map[int32]int32, p.t.units.Hosts)
	for k, tasks := range p.t.Tasks {
		for _, i := range tasks {
			if counts[hosts[i]] == nil {
				counts[hosts[i]] = map[int32]int32{}
			}
			counts[hosts[i]][int32(k)]++
		}
	}
	for _, c := range counts {
		var q pattern
		for k, n := range c {
			q.Items = append(q.Items, patternItem{k, n})
			q.Load += int64(n) * p.t.CPU[k]
		}
		slices.SortFunc(q.Items, func(a, b patternItem) int { return int(a.Type - b.Type) })
		if len(q.Items) > 0 {
			p.pool = append(p.pool, q)
		}
	}
}

// weightScale is the integer weight of a dual value of 1.
const weightScale = 1 << 32

// maxPricing limits the nodes of one pricing problem.
const maxPricing = 20_000_000

// Refute reports whether no placement has L ≤ load, proved. False means that there is a fractional cover, that ctx or
// maxPricing ended the attempt, or that there are more than mostTypes types.
func (p *Patterns) Refute(ctx context.Context, load int64) bool {
	for k := range p.t.CPU {
		if p.t.CPU[k] > p.t.class[0].Room(load) {
			return true
		}
	}
	if len(p.t.CPU) > mostTypes {
		return false
	}
	m := p.master(load)
	if hosts, weights := m.generate(ctx, p.t.Hosts, p.t.Hosts+1); hosts > p.t.Hosts {
		p.refuted, p.weights = load, weights
		return true
	}
	return false
}

// master is the linear program over the patterns of at most a load.
type master struct {
	*covering.Program
	p     *Patterns
	t     *Tasks // of which Count is left to cover
	load  int64
	index []int // [column]: its pattern in the pool
}

// master returns the program over the pool.
func (p *Patterns) master(load int64) *master {
	m := &master{p: p, t: p.t, load: load}
	m.Program = covering.New(m.demand(), slices.Repeat([]float64{1}, len(p.t.CPU)))
	for q := range p.pool {
		if q < len(p.t.CPU) { // the columns that the program begins with
			m.index = append(m.index, q)
		} else if p.pool[q].Load <= p.t.class[0].Room(load) {
			m.add(q)
		}
	}
	return m
}

// demand returns how many tasks of each type are to be covered.
func (m *master) demand() []float64 {
	demand := make([]float64, len(m.t.Count))
	for k, n := range m.t.Count {
		demand[k] = float64(n)
	}
	return demand
}

// add takes a pattern of the pool as a column.
func (m *master) add(q int) {
	var column []covering.Entry
	for _, it := range m.p.pool[q].Items {
		column = append(column, covering.Entry{Row: it.Type, Coef: float64(it.Count)})
	}
	m.Add(column, 1)
	m.index = append(m.index, q)
}

// improving is the least weight of a pattern that is worth a column.
const improving = weightScale + weightScale>>20

// worthless is a weight that patterns in the program may have, up to the zeros of the method.
const worthless = weightScale + weightScale>>28

// variety is in how many of the patterns of one pricing a type is. With all patterns above the weight a program of 500
// types takes twice the rounds, for most of them have the same few types, and with one pattern for each, three times.
const variety = 3

// generate adds patterns to the pool and to the program until so many hosts are proved to be too few, or enough are
// proved to be needed. It returns how many are needed, and the weights that prove it; nil if they are the given ones.
func (m *master) generate(ctx context.Context, needed, enough int64) (hosts int64, proof []int64) {
	hosts = needed
	for hosts < enough {
		optimum, solved := m.Solve(ctx)
		if !solved || optimum <= float64(hosts)*(1+1e-7) {
			break
		}
		weights, total := m.weights()
		found, heaviest, complete := m.t.price(ctx, weights, m.t.class[0], m.load, improving, variety)
		if !complete {
			break
		}
		// The most hosts that the weights can refute.
		target := min(max(hosts, int64(math.Ceil(optimum-1e-6))-1), enough-1)
		limit := (total - 1) / target
		if limit < worthless {
			break // up to the perturbation of the program the optimum is target
		}
		if heaviest <= limit {
			more, _, complete := m.t.price(ctx, weights, m.t.class[0], m.load, limit, 0)
			if !complete {
				break
			}
			if len(more) == 0 {
				// So many hosts hold limit each, which is less than all tasks weigh.
				hosts, proof = target+1, weights
				continue
			}
			found = append(found, more...)
		}
		if !m.take(found) {
			break
		}
	}
	return hosts, proof
}

// weights returns the duals as integers, and the sum over all tasks.
func (m *master) weights() (weights []int64, total int64) {
	weights = make([]int64, len(m.t.CPU))
	for k, d := range m.Duals() {
		weights[k] = int64(min(max(d, 0), 1) * weightScale)
		total += weights[k] * int64(m.t.Count[k])
	}
	return weights, total
}

// take adds patterns to the pool and the program, and reports whether there are any.
func (m *master) take(found []pattern) bool {
	for _, q := range found {
		m.p.pool = append(m.p.pool, q)
		m.add(len(m.p.pool) - 1)
	}
	return len(found) > 0
}

// price returns patterns of a class of hosts that weigh more than the threshold, and the largest weight of any. It
// searches by depth-first branch and bound over types in the order of weight per need. For each type it looks for the
// best pattern that has this type as its first: among all if most is 0, and it ends with the first pattern found; else
// among types that are in fewer than most of the patterns found so far. complete is false if it was cut off.
func (t *Tasks) price(ctx context.Context, weights []int64, c class, load, threshold int64, most int32) (found []pattern, heaviest int64, complete bool) {
	s := t.newPricer(ctx, weights, c, load)
	if most > 0 {
		s.vary(most)
	}
	for k := range s.leads() {
		if w, q, ok := s.lead(k, threshold); ok {
			found, heaviest = append(found, q), max(heaviest, w)
		}
		if s.isCut() || most == 0 && len(found) > 0 {
			break
		}
	}
	return found, heaviest, !s.isCut()
}

// pricing is a search for patterns of the largest weight.
type pricing interface {
	// leads returns the number of items that can be first in a pattern.
	leads() int
	// lead returns the best pattern with first item k, if its weight is above the given one.
	lead(k int, above int64) (weight int64, q pattern, found bool)
	// vary keeps types out of patterns that are in so many of the patterns returned from now on.
	vary(most int32)
	// isCut reports whether maxPricing or the context ended the search early.
	isCut() bool
	// searched returns the number of nodes so far.
	searched() int64
}

// newPricer prepares the search for patterns of a class of hosts of at most the given
// relative load.
func (t *Tasks) newPricer(ctx context.Context, weights []int64, c class, load int64) pricing {
	switch vectors.Size(1 + len(t.Rigid)) {
	case 2:
		return newVectorPricer[[2]int64](ctx, t, weights, c, load)
	case 3:
		return newVectorPricer[[3]int64](ctx, t, weights, c, load)
	case 4:
		return newVectorPricer[[4]int64](ctx, t, weights, c, load)
	case 6:
		return newVectorPricer[[6]int64](ctx, t, weights, c, load)
	case 11:
		return newVectorPricer[[11]int64](ctx, t, weights, c, load)
	case 24:
		return newVectorPricer[[24]int64](ctx, t, weights, c, load)
	}
	return newVectorPricer[[vectors.Most]int64](ctx, t, weights, c, load)
}

// newVectorPricer is newPricer for vectors of CPU and the rigid resources, and zeros.
func newVectorPricer[V vectors.Vector](ctx context.Context, t *Tasks, weights []int64, c class, load int64) *pricer[V] {
	s := &pricer[V]{ctx: ctx, n: 1 + len(t.Rigid)}
	s.cap[0] = c.Room(load)
	for r, x := range c.Cap {
		s.cap[1+r] = x
	}
	for k := range weights {
		it := pricerItem[V]{kind: int32(k), count: t.Count[k], weight: weights[k]}
		it.size[0] = t.CPU[k]
		for r, needs := range t.Rigid {
			it.size[1+r] = needs[k]
		}
		// A task that fits on no host of the class by itself is in no pattern.
		if weights[k] > 0 && (len(t.class) == 1 || within(&it.size, &s.cap, s.n)) {
			s.items = append(s.items, it)
		}
	}
	s.setShares()
	size := func(it *pricerItem[V]) float64 {
		sum := 0.0
		for r, x := range s.share {
			sum += x * float64(it.size[r])
		}
		return sum
	}
	order.Stable(s.items, func(a, b pricerItem[V]) int {
		x, y := float64(a.weight)*size(&b), float64(b.weight)*size(&a)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a.kind - b.kind)
	})
	s.fill()
	s.used, s.most = make([]int32, len(s.items)), math.MaxInt32
	s.taken = make([]int32, len(s.items))
	return s
}

// priceSteps is the number of subgradients for the prices of the resources.
const priceSteps = 100

// setShares sets the shares of the resources in the weighted sum; a host has 1 of the sum. They are prices λ for which
// the Lagrangian relaxation of the knapsack is small, found by subgradients (Held, Wolfe, Crowder 1974):
//
//	Σ_r λ_r + Σ_k count_k max(0, weight_k - Σ_r λ_r size_kr / cap_r)
//
// Any shares are valid; the better they are, the fewer nodes the search has.
func (s *pricer[V]) setShares() {
	// It begins with the tasks' need of each resource, as a share of one host.
	price, needs, most := make([]float64, s.n), 0.0, 0.0
	rel := make([]float64, s.n*len(s.items))
	for k := range s.items {
		it := &s.items[k]
		for r := range s.n {
			x := float64(it.size[r]) / float64(max(1, s.cap[r]))
			rel[k*s.n+r] = x
			price[r] += x * float64(it.count)
			needs += x * float64(it.count)
		}
		most += float64(it.weight) * float64(it.count)
	}
	s.share = make([]float64, s.n)
	for r := range price {
		s.share[r] = price[r] // if all tasks fit, there are no better ones
		price[r] *= most / max(needs, needs*needs)
	}
	best, step, slope := math.Inf(1), 0.05, make([]float64, s.n)
	for range priceSteps {
		value, norm := 0.0, 0.0
		for r, x := range price {
			value += x
			slope[r] = 1
		}
		for k := range s.items {
			gain, n := float64(s.items[k].weight), float64(s.items[k].count)
			for r, x := range rel[k*s.n : (k+1)*s.n] {
				gain -= price[r] * x
			}
			if gain > 0 {
				value += gain * n
				for r, x := range rel[k*s.n : (k+1)*s.n] {
					slope[r] -= n * x
				}
			}
		}
		if value < best*(1-1e-4) {
			if best = value; slices.Max(price) > 0 {
				copy(s.share, price)
			}
		} else {
			step *= 0.85
		}
		for _, x := range slope {
			norm += x * x
		}
		if norm < 1e-12 {
			break
		}
		for r := range price {
			price[r] = max(0, price[r]-step*value/norm*slope[r])
		}
	}
	sum := 0.0
	for _, x := range s.share {
		sum += x
	}
	for r := range s.share {
		s.share[r] /= sum * float64(max(1, s.cap[r]))
	}
}

// mostGrid and mostCells limit the table. With 256 cells instead of 2048 there were ten times the nodes on hosts of
// four resources.
const mostGrid, mostCells = 2048, 1 << 20

// cellsPerEffort is the number of cells that are filled in about a microsecond.
const cellsPerEffort = 300

// cells returns a weighted sum of sizes in cells of the grid, of 1 + margin times the sum, rounded down.
func (s *pricer[V]) cells(size *V, margin float64) int {
	sum := 0.0
	for r, share := range s.share {
		sum += share * float64((*size)[r])
	}
	return int(sum * float64(s.grid) * (1 + margin))
}

// fill makes the table by dynamic programming over the items from the last one on. With sizes rounded down to the grid,
// and the rest, too, it relaxes the knapsack: Σ ⌊x⌋ ≤ ⌊Σ x⌋. A margin covers the rounding of the sums. O(cells times
// the most tasks of a type on a host).
func (s *pricer[V]) fill() {
	n := len(s.items)
	s.grid = min(mostGrid, mostCells/(n+1))
	to, from := make([]int64, s.grid+1), make([]int64, s.grid+1)
	s.room = make([]int64, (n+1)*(s.grid+1))
	for k := n - 1; k >= 0; k-- {
		it := &s.items[k]
		size := s.cells(&it.size, -roundingShare)
		copy(to, from)
		for j := 1; j <= int(it.count) && j*size < len(to); j++ {
			weight := int64(j) * it.weight
			if size == 0 { // all fit at once
				j, weight = int(it.count), int64(it.count)*it.weight
			}
			for c, x := range from[:len(to)-j*size] {
				to[c+j*size] = max(to[c+j*size], weight+x)
			}
		}
		for c, x := range to {
			s.room[c*(n+1)+k] = x
		}
		to, from = from, to
	}
	s.cut = meter.Stop(s.ctx, int64(len(s.room))/cellsPerEffort)
}

// roundingShare is above the relative rounding of a sum of shares.
const roundingShare = 1e-12

// within reports whether each of the first n amounts of a is at most the same amount of b.
func within[V vectors.Vector](a, b *V, n int) bool {
	for r := range n {
		if (*a)[r] > (*b)[r] {
			return false
		}
	}
	return true
}

// pattern returns the best pattern found.
func (s *pricer[V]) pattern() pattern {
	q := pattern{}
	for i, c := range s.bestTaken {
		if c > 0 {
			q.Items = append(q.Items, patternItem{s.items[i].kind, c})
			q.Load += int64(c) * s.items[i].size[0]
		}
	}
	slices.SortFunc(q.Items, func(a, b patternItem) int { return int(a.Type - b.Type) })
	return q
}

// pricerItem is a type of tasks with a positive weight.
type pricerItem[V vectors.Vector] struct {
	kind, count int32
	weight      int64
	size        V // CPU, rigid resources
}

// pricer is the search for a pattern of the largest weight. Its bound is the knapsack of a weighted sum of all resources
// over the items to come.
type pricer[V vectors.Vector] struct {
	ctx       context.Context
	n         int             // resources; the amounts behind are 0
	items     []pricerItem[V] // by decreasing weight per size
	cap       V               // CPU, rigid resources
	share     []float64       // of a resource in the weighted sum
	grid      int
	room      []int64 // [cells*(items+1)+k]: the largest weight of items from k on in so many cells
	taken     []int32 // [k]: number of tasks in the pattern
	best      int64   // the weight to exceed
	bestTaken []int32
	nodes     int64
	looks     int64   // at items
	used      []int32 // [k]: the patterns that it was in, see vary
	most      int32
	cut       bool // maxPricing or ctx ended the search
}

func (s *pricer[V]) leads() int  { return len(s.items) }
func (s *pricer[V]) isCut() bool { return s.cut }

func (s *pricer[V]) searched() int64 { return s.nodes }

// lead searches the patterns that start with item k in the order.
func (s *pricer[V]) lead(k int, above int64) (int64, pattern, bool) {
	s.best, s.bestTaken = above, nil
	it := &s.items[k]
	left := s.cap
	weight := int64(0)
	for c := int32(1); c <= it.count && s.used[k] < s.most && !s.cut && s.fits(it, &left); c++ {
		s.put(it, &left)
		weight += it.weight
		s.taken[k] = c
		s.grow(k+1, weight, left)
	}
	s.taken[k] = 0
	if s.bestTaken == nil {
		return 0, pattern{}, false
	}
	for i, c := range s.bestTaken {
		s.used[i] += min(c, 1)
	}
	return s.best, s.pattern(), true
}

func (s *pricer[V]) vary(most int32) { s.most = most }

// fits reports whether one task of the type fits in the rest.
func (s *pricer[V]) fits(it *pricerItem[V], left *V) bool {
	for r := range len(*left) {
		if it.size[r] > (*left)[r] {
			return false
		}
	}
	return true
}

// put takes the needs of a task of the type from the rest.
func (s *pricer[V]) put(it *pricerItem[V], left *V) {
	for r := range len(*left) {
		(*left)[r] -= it.size[r]
	}
}

// grow adds items from k on to the pattern, of the given weight, with left capacity.
func (s *pricer[V]) grow(k int, weight int64, left V) {
	if weight > s.best {
		s.best = weight
		s.bestTaken = slices.Clone(s.taken)
	}
	if s.nodes++; s.nodes > maxPricing {
		s.cut = true
	}
	room := s.room[min(s.grid, s.cells(&left, roundingShare))*(len(s.items)+1):]
	for ; k < len(s.items) && !s.cut; k++ {
		// A node looks at many items if there are many.
		if s.looks++; s.looks&0x3fff == 0 && meter.Stop(s.ctx, 1<<8) {
			s.cut = true
		}
		if room[k] <= s.best-weight {
			break
		}
		it := &s.items[k]
		if s.used[k] >= s.most || !s.fits(it, &left) {
			continue
		}
		l, w := left, weight
		var c int32
		for c < it.count && s.fits(it, &l) {
			c++
			s.put(it, &l)
			w += it.weight
		}
		for ; c > 0 && !s.cut; c-- {
			s.taken[k] = c
			s.grow(k+1, w, l)
			for r := range len(l) {
				l[r] += it.size[r]
			}
			w -= it.weight
		}
		s.taken[k] = 0
	}
}

// Raise returns a lower bound on L that is at least lower, itself a lower bound. It bisects the loads up to upper, to a
// relative width (0: to the limit of the linear program).
func (p *Patterns) Raise(ctx context.Context, lower, upper int64, width float64) int64 {
	return raise(ctx, p.t.Unit, lower, upper, width, func(load int64) bool { return p.Refute(ctx, load) })
}

// raise returns a lower bound on L that is at least lower, by bisection of the loads up
// to upper with a test that refutes some of them, to a relative width.
func raise(ctx context.Context, unit, lower, upper int64, width float64, refute func(load int64) bool) int64 {
	for ctx.Err() == nil && upper > lower && float64(upper-lower) > width*float64(lower) {
		load := lower + (upper-lower)/2
		load -= load % unit
		if refute(load) {
			lower = max(load+unit, lower)
		} else {
			upper = load
		}
	}
	return lower
}

// NoPatterns is the reason why there is no placement if patterns of no load cover the tasks.
const NoPatterns = "the memory needs fit in no number of host patterns up to the number of hosts"

// mostTypes limits the types of tasks, so the rows of the linear program: each round solves one knapsack a type, and a
// pivot takes their number squared now and then.
const mostTypes = 1 << 11

// ColumnGeneration returns the bound by column generation over host patterns, to a relative width of 1e-4. It proves
// infeasibility if there is no fractional cover by patterns of any load. For more than mostTypes types it is the bound
// of Packing.
func ColumnGeneration(ctx context.Context, in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "patterns"}
	t := NewTasks(view.Shared(ctx, in, view.OfVCSched))
	packing := t.packing(ctx, in)
	if b.Evidence = packing.by(in); packing.why != "" {
		b.Infeasible, b.Reason = true, packing.why
		return b
	}
	lower := packing.load
	if len(t.CPU) > mostTypes {
		b.Value = t.units.YieldBound(max(lower, t.units.Scale))
		return b
	}
	var p interface {
		Refute(ctx context.Context, load int64) bool
		Raise(ctx context.Context, lower, upper int64, width float64) int64
	}
	patterns, moves := NewPatterns(t), (*Moves)(nil)
	p = patterns
	if len(t.class) > 1 {
		moves = newMoves(t, nil)
		p = moves
	}
	all := t.TotalLoad()
	if p.Refute(ctx, all) {
		b.Infeasible, b.Reason, b.Evidence = true, NoPatterns, nil
		if moves != nil {
			b.Evidence = moves.evidence(in, false)
		} else if patterns.weights != nil {
			b.Evidence = patternEvidence(in, t, all, patterns.weights)
		}
		return b
	}
	if lower = max(lower, t.units.Scale); lower < all {
		lower = p.Raise(ctx, lower, all, 1e-4)
	}
	b.Value = t.units.YieldBound(lower)
	if patterns.weights != nil && patterns.refuted < lower && lower-patterns.refuted <= t.Unit {
		b.Evidence = patternEvidence(in, t, t.judged(in, patterns.refuted), patterns.weights)
	}
	if moves != nil && moves.refuted > 0 && moves.refuted < lower && lower-moves.refuted <= t.Unit {
		b.Evidence = moves.evidence(in, true)
	}
	return b
}

// TotalLoad returns a load that no host exceeds: with all CPU needs on the host of
// least CPU.
func (t *Tasks) TotalLoad() int64 {
	var sum int64
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	most := int64(0)
	for _, c := range t.class {
		most = max(most, c.Load(sum))
	}
	return most
}
