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

// Pattern is a set of tasks that one host can take: numbers of tasks by type.
type Pattern struct {
	Items []PatternItem
	Load  int64
}

// PatternItem is a number of tasks of one type.
type PatternItem struct {
	Type, Count int32
}

// Patterns tests by column generation whether the tasks fit in H hosts of a
// given CPU load and one memory each (Gilmore and Gomory 1961, with two
// resources): the linear program that covers all tasks by as few patterns as
// possible, patterns priced by a two-dimensional knapsack. More than H is a
// proof that no placement has that largest load.
//
// The proof doesn't rest on floating-point arithmetic: the duals are rounded
// down to integers w, the knapsack is solved exactly, and if no pattern's
// weight exceeds z, every cover has at least sum(w)/z patterns (the duals
// scaled by 1/z are feasible; Farley 1990), which is compared with H in
// integers.
type Patterns struct {
	t    *Tasks
	pool []Pattern
}

// NewPatterns starts with the patterns of one task each.
func NewPatterns(t *Tasks) *Patterns {
	p := &Patterns{t: t}
	for k := range t.CPU {
		p.pool = append(p.pool, Pattern{[]PatternItem{{int32(k), 1}}, t.CPU[k]})
	}
	return p
}

// Add puts the hosts' contents of a placement into the pool.
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

// Pool is the patterns of at most the given load.
func (p *Patterns) Pool(load int64) []Pattern {
	var pool []Pattern
	for _, q := range p.pool {
		if q.Load <= load {
			pool = append(pool, q)
		}
	}
	return pool
}

// weightScale is the integer value of a dual of 1.
const weightScale = 1 << 32

// maxPricing bounds the nodes of one knapsack search.
const maxPricing = 20_000_000

// Refute reports whether it is proved that the tasks don't fit at the load.
// False means that the linear program has a cover, or that ctx or the limit
// on the knapsack ended the attempt.
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
		// Closer than HiGHS's tolerance on duals no new pattern may come up.
		if r.Objective <= float64(p.t.Hosts)*(1+1e-7) {
			return false, nil
		}
		var total int64
		for k, d := range r.Duals {
			weights[k] = int64(min(max(d, 0), 1) * weightScale)
			total += weights[k] * int64(p.t.Count[k])
		}
		if total <= 0 {
			return false, nil // duals of another sign than they have at an optimum
		}
		// Refuted if no pattern weighs more than this: H of them weigh less than
		// all tasks.
		threshold := (total - 1) / p.t.Hosts
		found, complete := p.price(ctx, weights, load, threshold)
		if len(found) == 0 {
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

// price looks for patterns whose weight exceeds the threshold: the best that
// starts with each type of tasks, by depth-first search over types in the order
// of weight per need. complete is false if it was cut off.
func (p *Patterns) price(ctx context.Context, weights []int64, load, threshold int64) (found []Pattern, complete bool) {
	s := &pricer{ctx: ctx, cap: [2]int64{load, p.t.Cap}}
	for k := range weights {
		if weights[k] > 0 {
			s.items = append(s.items, pricerItem{int32(k), p.t.Count[k], weights[k], [2]int64{p.t.CPU[k], p.t.Mem[k]}})
		}
	}
	// The resources weigh as much as the tasks need of them.
	need := [2]float64{}
	for k := range weights {
		need[0] += float64(p.t.CPU[k]) * float64(p.t.Count[k]) / float64(load)
		need[1] += float64(p.t.Mem[k]) * float64(p.t.Count[k]) / float64(p.t.Cap)
	}
	size := func(it *pricerItem) float64 {
		return need[0]*float64(it.size[0])/float64(load) + need[1]*float64(it.size[1])/float64(p.t.Cap)
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
	s.share = [2]float64{need[0] / (need[0] + need[1]) / float64(load), need[1] / (need[0] + need[1]) / float64(p.t.Cap)}
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
	// Best first for each leading type: diverse columns end the column
	// generation sooner than the single best one.
	for k := range s.items {
		s.best, s.bestTaken = threshold, nil
		s.lead(k)
		if s.bestTaken != nil {
			q := Pattern{}
			for i, c := range s.bestTaken {
				if c > 0 {
					q.Items = append(q.Items, PatternItem{s.items[i].kind, c})
					q.Load += int64(c) * s.items[i].size[0]
				}
			}
			slices.SortFunc(q.Items, func(a, b PatternItem) int { return int(a.Type - b.Type) })
			found = append(found, q)
		}
		if s.cut {
			break
		}
	}
	return found, !s.cut
}

type pricerItem struct {
	kind, count int32
	weight      int64
	size        [2]int64
}

type pricer struct {
	ctx       context.Context
	items     []pricerItem
	cap       [2]int64
	density   [2][]float64 // largest weight per size of the items from k on
	both      []float64    // the same for the sizes' weighted sum
	share     [2]float64
	taken     []int32
	best      int64
	bestTaken []int32
	nodes     int64
	cut       bool
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
		// Widened by more than the rounding of the three products.
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

// Raise raises lower, a load that no placement's largest load is below, by
// bisection of the loads up to upper to a relative width (0: as far as the
// linear program can); the result is a bound of the same kind.
func (p *Patterns) Raise(ctx context.Context, lower, upper int64, width float64) (int64, error) {
	unit := p.t.Unit
	for ctx.Err() == nil && upper > lower && float64(upper-lower) > width*float64(lower) {
		load := lower + (upper-lower)/2
		load -= load % unit
		no, err := p.Refute(ctx, load)
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

// ColumnGeneration is the bound by column generation over host patterns, to a
// relative width of 1e-4. It proves infeasibility where the tasks don't fit in
// memory at any load.
func ColumnGeneration(ctx context.Context, in *model.VCSched) (bounds.Bound, error) {
	b := bounds.Bound{Name: "patterns"}
	t := NewTasks(in.Units())
	lower, why := t.PackingLoad()
	if why != "" {
		b.Infeasible, b.Reason = true, why
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
		return b, nil
	}
	if lower = max(lower, t.units.Scale); lower < all {
		if lower, err = p.Raise(ctx, lower, all, 1e-4); err != nil {
			return b, err
		}
	}
	b.Value = t.units.YieldBound(lower)
	return b, nil
}

// TotalLoad is the CPU needs of all tasks: a load that every host can take.
func (t *Tasks) TotalLoad() int64 {
	var sum int64
	for k := range t.CPU {
		sum += t.CPU[k] * int64(t.Count[k])
	}
	return sum
}
