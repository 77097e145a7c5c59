// SPDX-License-Identifier: MIT

package lcg

import (
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// charges enforces Σ_i least_i + Σ_t times·var ≤ AtMost, where least_i is the least that activity i can pay: the least
// of its payment if it is absent and its payments for starts within its bounds. So an activity is excluded, or made to
// run, if its other choice is too dear; starts at the ends of the bounds are excluded likewise. If the rates are
// multipliers of a capacity, and AtMost is the most that these multipliers earn, it is a Lagrangian bound (Geoffrion:
// Lagrangean relaxation for integer programming, 1974) and the fixing by reduced costs of any partial solution.
//
// For activities that pay more than without any bounds, the explanation names the presence or absence and the bounds.
// As far as the sum exceeds AtMost by more than needed, activities are left out, then bounds are weakened.
//
// The payment of an activity is linear between corners, two for each time of the rate: O(corners) for each activity
// with a changed bound, else O(1).
type charges struct {
	c *cp.Charges
	lazy
	items []charged
}

// charged is the state of an activity.
type charged struct {
	*cp.Charged
	first, last int64   // bounds of the model
	corners     []int64 // between which the cost is linear, with the bounds of the model
	costs       []int64 // at the corners
	index       []int32 // of each start from first on, the first corner there or later; nil if they are many
	free        int64   // the least without any bounds
	from, to    int64   // for which cost holds the least
	cost        int64
	least       int64
}

func newCharges(k *Kernel, c *cp.Charges) *charges {
	p := &charges{c: c}
	for i := range c.Items {
		x := charged{Charged: &c.Items[i]}
		x.first, x.last = k.model.Low[x.At], k.model.High[x.At]
		x.corners = append(x.corners, x.first, x.last)
		for _, t := range x.Rate.Times {
			for _, s := range [...]int64{t, t - x.Length} {
				if x.first < s && s < x.last {
					x.corners = append(x.corners, s)
				}
			}
		}
		slices.Sort(x.corners)
		x.corners = slices.Compact(x.corners)
		for _, s := range x.corners {
			x.costs = append(x.costs, x.Cost(s))
		}
		if x.last-x.first < maxIndexed {
			x.index = make([]int32, 0, x.last-x.first+1)
			for n, s := 0, x.first; s <= x.last; s++ {
				if x.corners[n] < s {
					n++
				}
				x.index = append(x.index, int32(n))
			}
		}
		x.from, x.to = x.first, x.last
		x.cost = slices.Min(x.costs)
		if x.free = x.cost; x.If != cp.True {
			x.free = min(x.free, x.Absent)
		}
		p.items = append(p.items, x)
	}
	return p
}

func (p *charges) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	for _, x := range p.c.Items {
		k.watch(2*int32(x.At), self, 0)
		k.watch(2*int32(x.At)+1, self, 0)
		k.watch(x.If.SV, self, 0)
		k.watch(x.If.Not().SV, self, 0)
	}
	for _, t := range p.c.Terms {
		k.watch(side(t), self, 0)
	}
}

// maxIndexed is the number of starts up to which each has its corner noted.
const maxIndexed = 1 << 14

// corner returns the first corner at or after a start.
func (x *charged) corner(s int64) int {
	if x.index != nil {
		return int(x.index[s-x.first])
	}
	n, _ := slices.BinarySearch(x.corners, s)
	return n
}

// costAt returns the cost of a start.
func (x *charged) costAt(s int64) int64 {
	n := x.corner(s)
	if x.corners[n] == s {
		return x.costs[n]
	}
	from := x.corners[n-1]
	return x.costs[n-1] + (x.costs[n]-x.costs[n-1])/(x.corners[n]-from)*(s-from)
}

// within returns the least cost of starts from a to b, a ≤ b, both in the bounds of
// the model.
func (x *charged) within(a, b int64) int64 {
	if a == x.from && b == x.to {
		return x.cost
	}
	least := min(x.costAt(a), x.costAt(b))
	for n := x.corner(a); n < len(x.corners) && x.corners[n] < b; n++ {
		least = min(least, x.costs[n])
	}
	x.from, x.to, x.cost = a, b, least
	return least
}

// paid returns the least payment of an activity by its bounds, and by its presence and absence if they are known.
func (x *charged) paid(low, high int64, runs, absent bool) int64 {
	switch {
	case absent || low > high:
		return x.Absent
	case runs:
		return x.within(low, high)
	}
	return min(x.Absent, x.within(low, high))
}

// Tags are 4i for activity i and one of these; -1 for a conflict, -2 and less for the
// terms.
const (
	runs = iota
	absent
	notBefore
	notAfter
)

func (p *charges) propagate(k *Kernel) {
	k.work += 10 * int64(len(p.items))
	slack := p.c.AtMost
	for i := range p.items {
		x := &p.items[i]
		x.least = x.paid(k.low[2*x.At], -k.low[2*x.At+1], k.holds(x.If), k.fails(x.If))
		slack -= x.least
	}
	for _, t := range p.c.Terms {
		slack -= abs(t.Times) * k.low[side(t)]
	}
	if slack < 0 {
		k.set(cp.False, p.self, -1)
		return
	}
	for i := range p.items {
		x := &p.items[i]
		if k.fails(x.If) {
			continue
		}
		tag, most := int32(4*i), x.least+slack
		low, high := k.low[2*x.At], -k.low[2*x.At+1]
		if !k.holds(x.If) {
			if x.Absent > most && !k.set(x.If, p.self, tag+runs) {
				return
			}
			if x.within(low, high) > most {
				if !k.set(x.If.Not(), p.self, tag+absent) {
					return
				}
				continue
			}
		}
		if s := x.next(low, high, most); s > low && !k.set(x.At.AtLeast(s), p.self, tag+notBefore) {
			return
		}
		if k.fails(x.If) {
			continue
		}
		if s := x.previous(low, high, most); s < high && !k.set(x.At.AtMost(s), p.self, tag+notAfter) {
			return
		}
	}
	for i, t := range p.c.Terms {
		sv := side(t)
		if !k.set(cp.Lit{SV: sv ^ 1, B: -(k.low[sv] + slack/abs(t.Times))}, p.self, int32(-2-i)) {
			return
		}
	}
}

// next returns the first start from low to high that costs at most so much, high if there is none.
func (x *charged) next(low, high, most int64) int64 {
	s, cost := low, x.costAt(low)
	if cost <= most || low == high {
		return low
	}
	for n := x.corner(low + 1); s < high; n++ {
		t := min(x.corners[n], high)
		c := x.costAt(t)
		if c <= most {
			// The start is on a line that falls by (cost - c)/(t - s) a unit.
			fall := (cost - c) / (t - s)
			return s + (cost-most+fall-1)/fall
		}
		s, cost = t, c
	}
	return high
}

// previous returns the last start from low to high that costs at most so much, low if
// there is none.
func (x *charged) previous(low, high, most int64) int64 {
	s, cost := high, x.costAt(high)
	if cost <= most {
		return high
	}
	for n := x.corner(high) - 1; s > low; n-- {
		t := max(x.corners[n], low)
		c := x.costAt(t)
		if c <= most {
			fall := (cost - c) / (s - t)
			return s - (cost-most+fall-1)/fall
		}
		s, cost = t, c
	}
	return low
}

func (p *charges) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	k.work += 20 * int64(len(p.items))
	own := int32(-1)
	if tag >= 0 {
		own = tag / 4
	}
	spare := -p.c.AtMost - 1
	for i, t := range p.c.Terms {
		if int32(-2-i) == tag {
			spare += abs(t.Times) * (1 - l.B)
		} else {
			spare += abs(t.Times) * k.lowAt(side(t), at)
		}
	}
	for i := range p.items {
		x := &p.items[i]
		low, high := k.lowAt(2*int32(x.At), at), -k.lowAt(2*int32(x.At)+1, at)
		if int32(i) != own {
			x.least = x.paid(low, high, k.heldAt(x.If, at), k.heldAt(x.If.Not(), at))
		} else {
			switch tag % 4 {
			case runs:
				x.least = x.Absent
			case absent:
				x.least = x.within(low, high)
			case notBefore:
				x.least = x.within(low, l.B-1)
			case notAfter:
				x.least = x.within(-l.B+1, high)
			}
		}
		spare += x.least
	}
	for i := range p.items {
		if x := &p.items[i]; int32(i) != own && x.least-x.free <= spare {
			spare -= x.least - x.free
			x.least = x.free
		}
	}
	for i := range p.items {
		x := &p.items[i]
		low, high := k.lowAt(2*int32(x.At), at), -k.lowAt(2*int32(x.At)+1, at)
		if int32(i) == own {
			switch tag % 4 {
			case notBefore:
				high = l.B - 1
			case notAfter:
				low = -l.B + 1
			case runs:
				continue
			}
			if low <= high {
				before := x.least
				out = p.bounds(out, x, low, high, spare, tag%4)
				spare -= before - x.least
			}
			continue
		}
		switch {
		case x.least == x.free:
			continue
		case k.heldAt(x.If.Not(), at):
			out = append(out, x.If.Not())
			continue
		case x.least > x.Absent:
			out = append(out, x.If)
		}
		if low <= high {
			before := x.least
			out = p.bounds(out, x, low, high, spare, -1)
			spare -= before - x.least
		}
	}
	for i, t := range p.c.Terms {
		if int32(-2-i) != tag {
			sv := side(t)
			less := spare / abs(t.Times)
			spare -= less * abs(t.Times)
			out = append(out, cp.Lit{SV: sv, B: k.lowAt(sv, at) - less})
		}
	}
	return out
}

// bounds appends the bounds between which an activity costs at least x.least, weakened to x.least less spare at most,
// and stores that cost. The bound of the kind that is explained is none of them.
func (p *charges) bounds(out []cp.Lit, x *charged, low, high, spare int64, kind int32) []cp.Lit {
	need := x.least - spare
	if kind != notAfter {
		if low = x.reach(low, x.first, need); low > x.first {
			out = append(out, x.At.AtLeast(low))
		}
	}
	if kind != notBefore {
		if high = x.reach(high, x.last, need); high < x.last {
			out = append(out, x.At.AtMost(high))
		}
	}
	x.least = min(x.least, x.within(low, high))
	return out
}

// reach returns the last start on the way from one to another such that all starts on the way cost at least so much.
func (x *charged) reach(from, to, least int64) int64 {
	for from != to {
		n := x.corner(from)
		next := to
		if to < from {
			next = max(to, x.corners[n-1])
		} else {
			if x.corners[n] == from {
				n++
			}
			next = min(to, x.corners[n])
		}
		cost, there := x.costAt(from), x.costAt(next)
		if there >= least {
			from = next
			continue
		}
		// The start is on a line that falls by (cost - there)/|next - from| a unit.
		steps := (cost - least) / ((cost - there) / abs(next-from))
		if next < from {
			return from - steps
		}
		return from + steps
	}
	return from
}

// side returns the signed variable with the bound that makes a term large.
func side(t cp.Term) int32 {
	if t.Times > 0 {
		return 2 * int32(t.Var)
	}
	return 2*int32(t.Var) + 1
}

func abs(x int64) int64 { return max(x, -x) }
