package tvc

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/model"
)

// mostRequests is the number of requests of a component up to which its sets are
// searched.
const mostRequests = 256

// set is a set of requests of one component, numbered in the order of arrival.
type set [mostRequests / 64]uint64

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s set) with(i int) set {
	s[i/64] |= 1 << (i % 64)
	return s
}

func (s set) without(i int) set {
	s[i/64] &^= 1 << (i % 64)
	return s
}

func (s set) or(x set) set {
	for w := range s {
		s[w] |= x[w]
	}
	return s
}

// in reports whether all of s is in x.
func (s set) in(x set) bool {
	for w := range s {
		if s[w]&^x[w] != 0 {
			return false
		}
	}
	return true
}

func (s set) all(yield func(int) bool) {
	for w, x := range s {
		for ; x != 0; x &= x - 1 {
			if !yield(w*64 + bits.TrailingZeros64(x)) {
				return
			}
		}
	}
}

// component is the search for the requests to accept among those of one
// component (tvcbounds.Components).
//
// Russian doll search (Verfaillie, Lemaitre, Schiex 1996): the optimum of the
// last requests, from the i-th on, is found for i = n-1, ..., 0. Each either is
// that of the requests after i or accepts i. A depth-first search decides on the
// requests in the order of arrival, accepted first. A set of accepted requests
// must be embedded together (packer). It goes back where no more can be had than
// the best so far, by one of these bounds:
//
//   - the weight accepted plus the optimum of the requests to come, which is known
//     (devSuffix); without it, plus all their weight;
//   - Lagrangian multipliers of the component's linear relaxation, with the covers
//     found so far (devMultipliers).
type component struct {
	*packer
	requests []int // of the instance, in order of arrival
	weight   []int64
	rank     []int32 // the packer's number of each request
	order    []int   // the request of each of the packer's numbers
	span     []tvcbounds.Span
	before   []set // by request: those to accept if it is (devDominance)
	relax    *tvcbounds.Relaxation
	bounds   *tvcbounds.Multipliers
	tail     []float64 // by request: the multipliers' part of those from it on
	most     []int64   // by request: what those from it on can bring
	covers   [][]set   // by request: the minimal sets with it that don't fit together
	found    []placed
	top      placed // the best of all that were found
	choices  []tvcbounds.Choice
	best     int64
	chosen   set
	report   func()
}

// placed is a set that fits, and how.
type placed struct {
	set
	placement
}

func newComponent(ctx context.Context, t *model.TVCTicks, w *tvcbounds.Weights, requests []int, r *tvcbounds.Relaxation, off deviceSet) *component {
	c := &component{requests: requests, relax: r, weight: make([]int64, len(requests)), covers: make([][]set, len(requests)),
		before: make([]set, len(requests)), most: make([]int64, len(requests)+1), tail: make([]float64, len(requests)+1),
		choices: make([]tvcbounds.Choice, len(requests))}
	c.packer, c.rank = newPacker(ctx, t, requests, off)
	c.order, c.span = make([]int, len(requests)), make([]tvcbounds.Span, len(requests))
	for i, k := range requests {
		c.weight[i] = w.Of[k]
		c.order[c.rank[i]] = i
		c.span[i] = c.packer.requests[c.rank[i]].span
	}
	if off&devDominance == 0 {
		c.dominate(t)
	}
	for i := len(requests) - 1; i >= 0; i-- {
		c.most[i] = c.most[i+1] + c.weight[i]
	}
	return c
}

// dominate notes the requests that may be accepted first. Request i dominates j
// if it runs within the time of j, asks for no more VMs and no more bandwidth and
// weighs no less; of equal ones the first dominates. Then some optimal solution
// accepts i if it accepts j:
//
// Let it accept j and not i. Take j's embedding without N_j - N_i of its VMs for
// i instead of j. Taking away one VM of n, m of them below a link, changes min(m,
// n-m) to min(m-1, n-m) or min(m, n-1-m), which is no more; loads are multiples of
// these numbers, or sums of them over servers with HosePerPath, with i's bandwidth
// instead of j's. So i fits where j was, for a part of its time, and the objective
// is no less. Dominance is a strict partial order; so exchanges come to an end.
func (c *component) dominate(t *model.TVCTicks) {
	for j := range c.requests {
		y := &t.Requests[c.requests[j]]
		for i := range c.requests {
			x := &t.Requests[c.requests[i]]
			if i == j || x.Arrival < y.Arrival || x.Arrival+x.Duration > y.Arrival+y.Duration ||
				x.VMs > y.VMs || x.Bandwidth > y.Bandwidth || c.weight[i] < c.weight[j] {
				continue
			}
			same := x.Arrival == y.Arrival && x.Duration == y.Duration && x.VMs == y.VMs && x.Bandwidth == y.Bandwidth && c.weight[i] == c.weight[j]
			if !same || i < j {
				c.before[j] = c.before[j].with(i)
			}
		}
	}
}

// value returns the weight of a set.
func (c *component) value(s set) (sum int64) {
	for i := range s.all {
		sum += c.weight[i]
	}
	return sum
}

// know notes a set that fits together, and how.
func (c *component) know(s set, p placement) {
	if c.top.held == nil || c.value(s) > c.value(c.top.set) {
		c.top = placed{s, p}
	}
	for _, f := range c.found {
		if s.in(f.set) {
			return
		}
	}
	c.found = slices.DeleteFunc(c.found, func(f placed) bool { return f.set.in(s) })
	if len(c.found) >= mostFound {
		c.found = c.found[1:]
	}
	c.found = append(c.found, placed{s, p})
}

// mostFound limits the sets that are known to fit.
const mostFound = 256

// ranks returns the packer's numbers of a set, ascending.
func (c *component) ranks(s set) []int32 {
	var all []int32
	for i := range s.all {
		all = append(all, c.rank[i])
	}
	slices.Sort(all)
	return all
}

// blocked reports whether a known cover is in s; it must have i.
func (c *component) blocked(s set, i int) bool {
	for _, x := range c.covers[i] {
		if x.in(s) {
			return true
		}
	}
	return false
}

// fits returns a placement of s, which is that of before and the request i.
func (c *component) fits(s set, i int, before placement) (placement, bool) {
	if c.blocked(s, i) {
		return placement{}, false
	}
	for k := range c.found {
		if f := &c.found[k]; s.in(f.set) {
			return f.only(func(r int32) bool { return s.has(c.order[r]) }), true
		}
	}
	if p, fits := c.search(s, i, before); fits || c.stopped {
		return p, fits
	}
	if c.off&devCovers == 0 && !c.blocked(s, i) { // a cover of one instant may be known now
		c.cover(s, i)
	}
	return placement{}, false
}

// search is fits for a set of which nothing is known.
func (c *component) search(s set, i int, before placement) (placement, bool) {
	if c.overfull(s) {
		return placement{}, false
	}
	if c.off&devExtend == 0 && before.held != nil {
		if p, ok := c.extend(c.ranks(s), before); ok {
			c.know(s, p)
			return p, true
		}
	}
	// What doesn't fit at one instant doesn't fit; the requests active then are
	// fewer.
	for t := c.span[i].From; t <= c.span[i].To && c.off&devInstants == 0; t++ {
		now := set{}
		for j := range s.all {
			if c.span[j].From <= t && t <= c.span[j].To {
				now = now.with(j)
			}
		}
		if now == s || c.stopped {
			continue
		}
		if _, ok := c.fits(now, i, before.only(func(r int32) bool { return now.has(c.order[r]) })); !ok {
			return placement{}, false
		}
	}
	p, ok := c.place(c.ranks(s))
	if ok {
		c.know(s, p)
	}
	return p, ok
}

// overfull reports whether s exceeds a resource or a cut of the relaxation: what a
// sum shows need not be searched.
func (c *component) overfull(s set) bool { return c.relax.Exceeded(s.has) }

// cover notes a minimal set of s, in which the request i doesn't fit beside the
// others, that can't be embedded together: requests are left out, the farthest in
// time from i first, as long as the others still don't fit. A part of a set that
// fits together does so, too; thus no set with the cover in it fits.
func (c *component) cover(s set, i int) {
	var others []int
	for j := range s.all {
		if j != i {
			others = append(others, j)
		}
	}
	apart := func(j int) int { return max(c.span[j].From-c.span[i].To, c.span[i].From-c.span[j].To, 0) }
	slices.SortStableFunc(others, func(a, b int) int { return apart(b) - apart(a) })
	limit := c.limit
	for _, j := range others {
		less := s.without(j)
		known := false
		for k := range c.found {
			known = known || less.in(c.found[k].set)
		}
		if known {
			continue
		}
		if !c.blocked(less, i) && !c.overfull(less) {
			c.limit = min(limit, c.nodes+coverNodes)
			p, ok := c.place(c.ranks(less))
			c.limit = limit
			if ok {
				c.know(less, p)
				continue
			}
			if c.stopped {
				c.stopped = c.nodes > limit || c.ctx.Err() != nil
				continue
			}
		}
		s = less
	}
	var members []int
	for j := range s.all {
		c.covers[j] = append(c.covers[j], s)
		members = append(members, j)
	}
	c.relax.AddCover(members)
}

// coverNodes limits the search for a placement of a part of a cover.
const coverNodes = 20_000

// solve finds the optimum from a set that is known to fit, if any. It returns
// false if it was stopped; then most[0] is what it has proved.
func (c *component) solve() (bool, error) {
	n := len(c.requests)
	c.limit = math.MaxInt64
	c.best, c.chosen = 0, set{}
	if err := c.multiply(0); err != nil {
		return false, err
	}
	if c.off&devConstruct == 0 {
		c.construct()
	}
	for i := n - 1; i >= 0; i-- {
		if err := c.multiply(i); err != nil {
			return false, err
		}
		// The best so far of the requests from i on.
		for _, f := range c.found {
			s := f.set
			for j := range i {
				s = s.without(j)
			}
			if v := c.value(s); v > c.best {
				c.best, c.chosen = v, s
			}
		}
		if c.best < c.most[i+1]+c.weight[i] || c.off&devSuffix != 0 {
			if p, ok := c.fits(set{}.with(i), i, placement{}); ok {
				c.walk(i+1, i, set{}.with(i), c.before[i], c.weight[i], p)
			}
		}
		if c.stopped {
			// What is proved of the requests before i is that of the relaxation.
			sum := c.most[i+1]
			for j := range i + 1 {
				sum += c.weight[j]
			}
			c.most[0] = min(sum, c.most[0])
			return false, nil
		}
		if c.off&devSuffix == 0 || i == 0 {
			c.most[i] = c.best
		}
		c.report()
	}
	return true, nil
}

// constructNodes limits the search for a placement of each set of construct.
const constructNodes = 8000

// construct looks for good sets: requests are added in several orders, each if
// the packer soon finds a placement of it with those before. The orders are by
// the reduced weight, by the weight, by the weight per VM and instant.
func (c *component) construct() {
	n := len(c.requests)
	key := func(f func(i int) float64) (order []int) {
		for i := range n {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f(b), f(a)) })
		return order
	}
	orders := [][]int{
		key(func(i int) float64 { return float64(c.weight[i]) }),
		key(func(i int) float64 {
			return float64(c.weight[i]) / float64(int(c.packer.requests[c.rank[i]].vms)*(c.span[i].To-c.span[i].From+1))
		}),
	}
	if c.bounds != nil {
		orders = append(orders, key(func(i int) float64 { return c.bounds.Reduced[i] }))
	}
	for _, order := range orders {
		var s set
		var p placement
		p.held = &held{}
		for _, i := range order {
			if c.ctx.Err() != nil {
				return
			}
			more := s.with(i)
			if c.overfull(more) {
				continue
			}
			ranks := c.ranks(more)
			c.limit = c.nodes + constructNodes
			q, ok := c.extend(ranks, p)
			if !ok && !c.stopped {
				q, ok = c.place(ranks)
			}
			c.limit, c.stopped = math.MaxInt64, false
			if ok {
				s, p = more, q
			}
		}
		c.know(s, p)
	}
}

// multiply computes multipliers for the requests from first on, first accepted.
func (c *component) multiply(first int) error {
	if c.off&devMultipliers != 0 {
		return nil
	}
	for i := range c.choices {
		c.choices[i] = tvcbounds.Open
		if i < first {
			c.choices[i] = tvcbounds.Rejected
		}
	}
	m, err := c.relax.Solve(c.ctx, c.choices)
	if err != nil || m == nil {
		return err
	}
	c.bounds = m
	for i := len(c.requests) - 1; i >= 0; i-- {
		c.tail[i] = c.tail[i+1] + max(0, m.Reduced[i])
	}
	return nil
}

// beaten reports whether the linear relaxation, solved for what is accepted and
// rejected before i, proves that nothing better than the best can come.
func (c *component) beaten(i, first int, accepted set) bool {
	for j := range c.choices {
		switch {
		case j < first || j < i && !accepted.has(j):
			c.choices[j] = tvcbounds.Rejected
		case j < i:
			c.choices[j] = tvcbounds.Accepted
		default:
			c.choices[j] = tvcbounds.Open
		}
	}
	m, err := c.relax.Solve(c.ctx, c.choices)
	if err != nil || m == nil {
		return false // the other bounds stand
	}
	bound := m.Base
	for j, x := range c.choices {
		switch x {
		case tvcbounds.Accepted:
			bound += m.Reduced[j]
		case tvcbounds.Open:
			bound += max(0, m.Reduced[j])
		}
	}
	return math.Floor(bound) <= float64(c.best)
}

// walk decides on the requests from i on, beside those accepted, of the weight
// sum, placed by p. The first of all is the request first; forced are those that
// must be accepted (devDominance).
func (c *component) walk(i, first int, accepted, forced set, sum int64, p placement) {
	if sum > c.best {
		c.best, c.chosen = sum, accepted
		c.know(accepted, p)
		c.report()
	}
	if i == len(c.requests) || c.stopped {
		return
	}
	if c.nodes++; c.nodes%64 == 0 && c.ctx.Err() != nil {
		c.stopped = true
		return
	}
	if sum+c.most[i] <= c.best {
		return
	}
	if c.bounds != nil {
		bound := c.bounds.Base + c.tail[i]
		for j := range accepted.all {
			bound += c.bounds.Reduced[j]
		}
		if math.Floor(bound) <= float64(c.best) {
			return
		}
		if c.off&devRelaxation == 0 && c.beaten(i, first, accepted) {
			return
		}
	}
	s := accepted.with(i)
	if !c.refused(s, i, first) {
		if q, ok := c.fits(s, i, p); ok {
			c.walk(i+1, first, s, forced.or(c.before[i]), sum+c.weight[i], q)
		}
	}
	if forced.has(i) || c.stopped {
		return
	}
	c.walk(i+1, first, accepted, forced, sum, p)
}

// refused reports whether a request that dominates i has been rejected.
func (c *component) refused(accepted set, i, first int) bool {
	for j := range c.before[i].all {
		if j >= first && j < i && !accepted.has(j) {
			return true
		}
	}
	return false
}
