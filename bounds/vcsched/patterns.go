package vcsched

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Pattern is a multiset of tasks that fits on one host.
type Pattern struct {
	Items []PatternItem // by increasing type
	Load  int64         // CPU needs of its tasks, in the units of Tasks.CPU
}

// PatternItem is a number of tasks of one type.
type PatternItem struct {
	Type, Count int32
}

// Patterns tests by column generation whether the tasks fit on H hosts of a given
// CPU load and one memory each (Gilmore, Gomory: A linear programming approach to the
// cutting-stock problem, 1961, with two resources). The master is min Σ_q x_q subject
// to Σ_q count_qk x_q ≥ count_k for each type k, over the patterns q of at most the
// load; the pricing problem is a two-dimensional knapsack. An optimum > H proves that
// no placement has that load.
//
// The proof doesn't rest on floating-point arithmetic: the duals are rounded down to
// integers w ≥ 0 and the knapsack is solved exactly. If Σ_k w_k count_qk ≤ z for every
// pattern q, then w/z is feasible for the dual, so every cover has ≥ Σ_k w_k count_k / z
// patterns (Farley: A note on bounding a class of linear programming problems, 1990),
// which is compared with H in integers.
type Patterns struct {
	t    *Tasks
	pool []Pattern
	// The last load that was refuted and the weights by type that did; nil: none.
	refuted int64
	weights []int64
}

// NewPatterns returns a pool with the patterns of one task each.
func NewPatterns(t *Tasks) *Patterns {
	p := &Patterns{t: t}
	for k := range t.CPU {
		p.pool = append(p.pool, Pattern{[]PatternItem{{int32(k), 1}}, t.CPU[k]})
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
		var q Pattern
		for k, n := range c {
			q.Items = append(q.Items, PatternItem{k, n})
			q.Load += int64(n) * p.t.CPU[k]
		}
		slices.SortFunc(q.Items, func(a, b PatternItem) int { return int(a.Type - b.Type) })
		if len(q.Items) > 0 {
			p.pool = append(p.pool, q)
		}
	}
}

// Pool returns the patterns of at most the given load.
func (p *Patterns) Pool(load int64) []Pattern {
	var pool []Pattern
	for _, q := range p.pool {
		if q.Load <= load {
			pool = append(pool, q)
		}
	}
	return pool
}

// weightScale is the integer weight of a dual value of 1.
const weightScale = 1 << 32

// maxPricing limits the nodes of one pricing problem.
const maxPricing = 20_000_000

// Refute reports whether no placement has L ≤ load, proved. False means that there
// is a fractional cover, or that ctx or maxPricing ended the attempt, or that there
// is no HiGHS.
func (p *Patterns) Refute(ctx context.Context, load int64) (bool, error) {
	n := len(p.t.CPU)
	m := &milp.Model{Rows: make([]milp.Row, n)}
	for k := range m.Rows {
		m.Rows[k] = milp.Row{Lower: float64(p.t.Count[k]), Upper: milp.Inf}
		if p.t.CPU[k] > load {
			return true, nil
		}
	}
	for _, q := range p.pool {
		if q.Load > load {
			continue
		}
		v := m.AddVar(milp.Var{Upper: milp.Inf, Cost: 1})
		for _, it := range q.Items {
			m.Rows[it.Type].Terms = append(m.Rows[it.Type].Terms, milp.Term{Var: v, Coef: float64(it.Count)})
		}
	}
	if !highs.Built {
		return false, nil
	}
	lp, err := highs.NewLP(m)
	if err != nil {
		return false, fmt.Errorf("patterns: %w", err)
	}
	defer lp.Close()
	weights := make([]int64, n)
	for ctx.Err() == nil {
		r, err := lp.Solve(ctx)
		if err != nil {
			return false, fmt.Errorf("patterns: %w", err)
		}
		if r.Status != highs.Optimal {
			return false, nil
		}
		// Within HiGHS's tolerance on duals no new pattern may be found.
		if r.Objective <= float64(p.t.Hosts)*(1+1e-7) {
			return false, nil
		}
		var total int64
		for k, d := range r.Duals {
			weights[k] = int64(min(max(d, 0), 1) * weightScale)
			total += weights[k] * int64(p.t.Count[k])
		}
		if total <= 0 {
			return false, nil // no optimum has duals of this sign
		}
		// If no pattern weighs more, H patterns weigh less than all tasks.
		threshold := (total - 1) / p.t.Hosts
		found, complete := p.t.price(ctx, weights, load, threshold)
		if len(found) == 0 {
			if complete {
				p.refuted, p.weights = load, slices.Clone(weights)
			}
			return complete, nil
		}
		var cols []highs.Column
		for _, q := range found {
			p.pool = append(p.pool, q)
			c := highs.Column{Cost: 1, Upper: milp.Inf}
			for _, it := range q.Items {
				c.Terms = append(c.Terms, highs.RowTerm{Row: int(it.Type), Coef: float64(it.Count)})
			}
			cols = append(cols, c)
		}
		if err := lp.AddColumns(cols); err != nil {
			return false, fmt.Errorf("patterns: %w", err)
		}
	}
	return false, nil
}

// price returns patterns whose weight exceeds the threshold, for each type the best
// one that has this type as its first, by depth-first branch and bound over types in
// the order of weight per need. complete is false if it was cut off.
func (t *Tasks) price(ctx context.Context, weights []int64, load, threshold int64) (found []Pattern, complete bool) {
	s := t.newPricer(ctx, weights, load)
	// Diverse columns end the column generation sooner than the single best one.
	for k := range s.items {
		s.best, s.bestTaken = threshold, nil
		s.lead(k)
		if s.bestTaken != nil {
			found = append(found, s.pattern())
		}
		if s.cut {
			break
		}
	}
	return found, !s.cut
}

// newPricer prepares the search for patterns of at most the given load.
func (t *Tasks) newPricer(ctx context.Context, weights []int64, load int64) *pricer {
	s := &pricer{ctx: ctx, cap: [2]int64{load, t.Cap}}
	for k := range weights {
		if weights[k] > 0 {
			s.items = append(s.items, pricerItem{int32(k), t.Count[k], weights[k], [2]int64{t.CPU[k], t.Mem[k]}})
		}
	}
	// A resource counts by what the tasks need of it, as a share of one host.
	need := [2]float64{}
	for k := range weights {
		need[0] += float64(t.CPU[k]) * float64(t.Count[k]) / float64(load)
		need[1] += float64(t.Mem[k]) * float64(t.Count[k]) / float64(t.Cap)
	}
	size := func(it *pricerItem) float64 {
		return need[0]*float64(it.size[0])/float64(load) + need[1]*float64(it.size[1])/float64(t.Cap)
	}
	slices.SortStableFunc(s.items, func(a, b pricerItem) int {
		x, y := float64(a.weight)*size(&b), float64(b.weight)*size(&a)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a.kind - b.kind)
	})
	n := len(s.items)
	s.density[0], s.density[1] = make([]float64, n+1), make([]float64, n+1)
	s.both = make([]float64, n+1)
	s.share = [2]float64{need[0] / (need[0] + need[1]) / float64(load), need[1] / (need[0] + need[1]) / float64(t.Cap)}
	for k := n - 1; k >= 0; k-- {
		it := &s.items[k]
		w := float64(it.weight) * (1 + 1e-12)
		for r := range s.density {
			d := math.Inf(1)
			if it.size[r] > 0 {
				d = w / float64(it.size[r])
			}
			s.density[r][k] = max(s.density[r][k+1], d)
		}
		d := math.Inf(1)
		if z := s.share[0]*float64(it.size[0]) + s.share[1]*float64(it.size[1]); z > 0 {
			d = w / z
		}
		s.both[k] = max(s.both[k+1], d)
	}
	s.taken = make([]int32, n)
	return s
}

// pattern returns the best pattern found.
func (s *pricer) pattern() Pattern {
	q := Pattern{}
	for i, c := range s.bestTaken {
		if c > 0 {
			q.Items = append(q.Items, PatternItem{s.items[i].kind, c})
			q.Load += int64(c) * s.items[i].size[0]
		}
	}
	slices.SortFunc(q.Items, func(a, b PatternItem) int { return int(a.Type - b.Type) })
	return q
}

// pricerItem is a type of tasks with a positive weight.
type pricerItem struct {
	kind, count int32
	weight      int64
	size        [2]int64 // CPU, memory
}

// pricer is the search for a pattern of the largest weight. Its bound relaxes the
// knapsack to one resource, or to the weighted sum of both: what is left of it times
// the largest weight per size of the items to come.
type pricer struct {
	ctx       context.Context
	items     []pricerItem // by decreasing weight per size
	cap       [2]int64     // CPU, memory
	density   [2][]float64 // [resource][k]: largest weight per size of the items from k on
	both      []float64    // [k]: the same for the weighted sum of the sizes
	share     [2]float64   // the weights of that sum
	taken     []int32      // [k]: number of tasks in the pattern
	best      int64        // the weight to exceed
	bestTaken []int32
	nodes     int64
	cut       bool // maxPricing or ctx ended the search
}

// lead searches the patterns whose first item in the order is k.
func (s *pricer) lead(k int) {
	it := &s.items[k]
	left := s.cap
	weight := int64(0)
	for c := int32(1); c <= it.count && !s.cut; c++ {
		left[0] -= it.size[0]
		left[1] -= it.size[1]
		weight += it.weight
		if left[0] < 0 || left[1] < 0 {
			break
		}
		s.taken[k] = c
		s.grow(k+1, weight, left)
	}
	s.taken[k] = 0
}

// grow adds items from k on to the pattern, of the given weight, with left capacity.
func (s *pricer) grow(k int, weight int64, left [2]int64) {
	if weight > s.best {
		s.best = weight
		s.bestTaken = slices.Clone(s.taken)
	}
	if s.nodes++; s.nodes&0xffff == 0 && (s.ctx.Err() != nil || s.nodes > maxPricing) {
		s.cut = true
	}
	for ; k < len(s.items) && !s.cut; k++ {
		room := min(s.density[0][k]*float64(left[0]), s.density[1][k]*float64(left[1]),
			s.both[k]*(s.share[0]*float64(left[0])+s.share[1]*float64(left[1])))
		if math.IsNaN(room) { // no room and no size: an infinite density times 0
			room = math.Inf(1)
		}
		// With a margin for the rounding of the products.
		if float64(weight)+room*(1+1e-9)+1 <= float64(s.best) {
			return
		}
		it := &s.items[k]
		l, w := left, weight
		var c int32
		for c < it.count && l[0] >= it.size[0] && l[1] >= it.size[1] {
			c++
			l[0] -= it.size[0]
			l[1] -= it.size[1]
			w += it.weight
		}
		for ; c > 0 && !s.cut; c-- {
			s.taken[k] = c
			s.grow(k+1, w, l)
			l[0] += it.size[0]
			l[1] += it.size[1]
			w -= it.weight
		}
		s.taken[k] = 0
	}
}

// Raise returns a lower bound on L that is at least lower, which is one, by bisection
// of the loads up to upper, to a relative width (0: as far as the linear program can).
func (p *Patterns) Raise(ctx context.Context, lower, upper int64, width float64) (int64, error) {
	return raise(ctx, p.t.Unit, lower, upper, width, func(load int64) (bool, error) { return p.Refute(ctx, load) })
}

// raise returns a lower bound on L that is at least lower, by bisection of the loads up
// to upper with a test that refutes some of them, to a relative width.
func raise(ctx context.Context, unit, lower, upper int64, width float64, refute func(load int64) (bool, error)) (int64, error) {
	for ctx.Err() == nil && upper > lower && float64(upper-lower) > width*float64(lower) {
		load := lower + (upper-lower)/2
		load -= load % unit
		no, err := refute(load)
		if err != nil {
			return lower, err
		}
		if no {
			lower = max(load+unit, lower)
		} else {
			upper = load
		}
	}
	return lower, nil
}

// ColumnGeneration returns the bound by column generation over host patterns, to a
// relative width of 1e-4. It proves infeasibility if there is no fractional cover by
// patterns of any load.
func ColumnGeneration(ctx context.Context, in *model.VCSched) (bounds.Bound, error) {
	b := bounds.Bound{Name: "patterns"}
	t := NewTasks(in.Units())
	lower, why := t.PackingLoad()
	reasons := newReasons(in, t.units)
	if why != "" {
		b.Infeasible, b.Reason, b.Evidence = true, why, reasons.evidence(0, true)
		return b, nil
	}
	p := NewPatterns(t)
	all := t.TotalLoad()
	no, err := p.Refute(ctx, all)
	if err != nil {
		return b, err
	}
	if no {
		b.Infeasible, b.Reason = true, "the memory needs fit in no number of host patterns up to the number of hosts"
		if p.weights != nil {
			b.Evidence = patternEvidence(in, t, all, p.weights)
		}
		return b, nil
	}
	if lower = max(lower, t.units.Scale); lower < all {
		if lower, err = p.Raise(ctx, lower, all, 1e-4); err != nil {
			return b, err
		}
	}
	b.Value = t.units.YieldBound(lower)
	if b.Evidence = reasons.evidence(lower, false); p.weights != nil && p.refuted < lower && lower-p.refuted <= t.Unit {
		b.Evidence = patternEvidence(in, t, p.refuted, p.weights)
	}
	return b, nil
}

// TotalLoad returns the sum of all CPU needs, which no host's load exceeds.
func (t *Tasks) TotalLoad() int64 {
	var sum int64
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	return sum
}
