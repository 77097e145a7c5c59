package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/model/cp"
)

// noOverlap adds the propagators of activities that don't overlap.
func (k *Kernel) noOverlap(c *cp.NoOverlap) {
	p := k.pairs
	if p == nil {
		p = &pairs{orders: map[cp.Var][]int32{}}
		k.pairs, p.self = p, k.add(p)
	}
	for i := range c.Starts {
		for j := range i {
			p.post(k, pair{[2]cp.Start{c.Starts[i], c.Starts[j]}, [2]int64{c.Lengths[i], c.Lengths[j]}, c.Before[i][j]})
		}
	}
	k.add(&disjunctive{c: c})
}

// pair is two activities: the order says that the first one goes first if both run.
type pair struct {
	starts  [2]cp.Start
	lengths [2]int64
	order   cp.Lit
}

// first returns the literal that activity a of a pair, 0 or 1, goes first.
func (x *pair) first(a int) cp.Lit {
	if a == 0 {
		return x.order
	}
	return x.order.Not()
}

// pairs enforces, for two activities a and b of which a goes first,
//
//	start b ≥ start a + length a       if a runs
//	start a ≤ start b - length a       if b runs
//	b goes first                       if both run and earliest start a + length a > latest start b
//
// The bounds are of optional starts: they hold if the activity runs. An explanation is
// made of presences, the order, and bounds, which are weakened by half of what they
// exceed each. O(1) for each pair of which something changed.
type pairs struct {
	self   int32
	all    []pair
	owners []int32            // constraint of each
	orders map[cp.Var][]int32 // the pairs with this order
}

func (p *pairs) post(k *Kernel, x pair) {
	n := int32(len(p.all))
	p.all, p.owners = append(p.all, x), append(p.owners, k.posted)
	for _, s := range x.starts {
		k.watch(2*int32(s.At), p.self, n)
		k.watch(2*int32(s.At)+1, p.self, n)
		k.watch(s.If.SV, p.self, n)
	}
	k.watch(x.order.SV, p.self, n)
	if x.order.SV >= 0 {
		k.watch(x.order.Not().SV, p.self, n)
		v := x.order.Var()
		if p.orders[v] == nil {
			k.guards[v] = func() bool { return p.matters(k, v) }
			k.decisions.is[v] = true
		}
		p.orders[v] = append(p.orders[v], n)
	}
	p.wake(k, 0, n)
}

// matters reports whether both activities of a pair with order v run.
func (p *pairs) matters(k *Kernel, v cp.Var) bool {
	for _, n := range p.orders[v] {
		if x := &p.all[n]; k.holds(x.starts[0].If) && k.holds(x.starts[1].If) {
			return true
		}
	}
	return false
}

func (p *pairs) cancel()           {}
func (p *pairs) propagate(*Kernel) {}

// Tags are 8n, the pair, and which activity goes first, times 4, and one of these.
const (
	later   = iota // the second one starts later
	sooner         // the first one starts sooner
	exclude        // the order
)

func (p *pairs) wake(k *Kernel, _, n int32) {
	x := &p.all[n]
	if k.fails(x.starts[0].If) || k.fails(x.starts[1].If) {
		return
	}
	both := k.holds(x.starts[0].If) && k.holds(x.starts[1].If)
	for a := range 2 {
		from, to := x.starts[a], x.starts[1-a]
		tag := 8*n + 4*int32(a)
		if k.holds(x.first(a)) {
			if k.holds(from.If) && !k.set(to.At.AtLeast(k.low[2*from.At]+x.lengths[a]), p.self, tag+later) {
				return
			}
			if k.holds(to.If) && !k.set(from.At.AtMost(-k.low[2*to.At+1]-x.lengths[a]), p.self, tag+sooner) {
				return
			}
		} else if both && !k.fails(x.first(a)) {
			if k.low[2*from.At]+x.lengths[a] > -k.low[2*to.At+1] {
				if !k.set(x.first(a).Not(), p.self, tag+exclude) {
					return
				}
			} else if a == 0 {
				k.decisions.undo(x.order.SV)
			}
		}
	}
}

func (p *pairs) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	x, a := &p.all[tag/8], int(tag/4)&1
	from, to, length := x.starts[a], x.starts[1-a], x.lengths[a]
	switch tag % 4 {
	case later:
		return append(out, x.first(a), from.If, from.At.AtLeast(l.B-length))
	case sooner:
		return append(out, x.first(a), to.If, to.At.AtMost(-l.B+length))
	}
	least := k.lowAt(2*int32(from.At), at)
	least -= (least + length - 1 + k.lowAt(2*int32(to.At)+1, at)) / 2
	return append(out, from.If, to.If, from.At.AtLeast(least), to.At.AtMost(least+length-1))
}

func (p *pairs) owner(tag int32) int32 { return p.owners[tag/8] }

// disjunctive enforces what follows for activities that don't overlap from more than
// two of them. For a set C of them that run, each from t0 at the soonest to T at the
// latest, with lengths that sum to p(C):
//
//	t0 + p(C) > T                        can't be: overload
//	... with one that may run added      it doesn't run
//	all of C go before b                 start b ≥ t0 + p(C); mirrored
//
// (Vilím: Global constraints in scheduling, 2007). The explanation names the
// presences of C and the bounds that are needed. O(n²) a call.
type disjunctive struct {
	c    *cp.NoOverlap
	self int32
	// Of those that may run, by their earliest start, the latest first:
	items []item
	ends  []int64
}

type item struct {
	number int
	low    int64 // earliest start
	end    int64 // latest end
	length int64
	runs   bool
}

func (p *disjunctive) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	for i, s := range p.c.Starts {
		k.watch(2*int32(s.At), self, 0)
		k.watch(2*int32(s.At)+1, self, 0)
		k.watch(s.If.SV, self, 0)
		for j := range i {
			k.watch(p.c.Before[i][j].SV, self, 0)
			k.watch(p.c.Before[j][i].SV, self, 0)
		}
	}
}

func (p *disjunctive) wake(k *Kernel, _, _ int32) { k.schedule(p.self) }
func (p *disjunctive) cancel()                    {}

func (p *disjunctive) propagate(k *Kernel) {
	if p.load(k); p.overload(k) {
		p.sets(k)
	}
}

// load reads the activities.
func (p *disjunctive) load(k *Kernel) {
	p.items, p.ends = p.items[:0], p.ends[:0]
	for i, s := range p.c.Starts {
		if k.fails(s.If) {
			continue
		}
		x := item{number: i, low: k.low[2*s.At], end: -k.low[2*s.At+1] + p.c.Lengths[i], length: p.c.Lengths[i], runs: k.holds(s.If)}
		p.items = append(p.items, x)
		p.ends = append(p.ends, x.end)
	}
	slices.SortFunc(p.items, func(a, b item) int { return cmp.Or(cmp.Compare(b.low, a.low), cmp.Compare(a.number, b.number)) })
	slices.Sort(p.ends)
	p.ends = slices.Compact(p.ends)
}

// overload looks at all windows that begin with an earliest start and end with a latest
// end.
func (p *disjunctive) overload(k *Kernel) bool {
	for _, end := range p.ends {
		sum, longest := int64(0), -1
		for i := range p.items {
			x := &p.items[i]
			if x.end > end {
				continue
			}
			if x.runs {
				sum += x.length
			} else if longest < 0 || x.length > p.items[longest].length {
				longest = i
			}
			excess := x.low + sum - end
			if excess > 0 {
				k.fail(p.block(nil, x.low, end, excess-1, -1)...)
				return false
			}
			if longest >= 0 && excess+p.items[longest].length > 0 {
				o := &p.items[longest]
				premises := p.block(k.analysis.block[:0], x.low, end, excess+o.length-1, longest)
				k.analysis.block = premises
				if !k.imply(p.c.Starts[o.number].If.Not(), premises) {
					return false
				}
				o.end = infinite // it is out of all windows
				longest = -1     // a shorter one is found by the next call
				k.schedule(p.self)
			}
		}
	}
	return true
}

// block appends the premises of an overload of the window [from, end): the items that
// run within it do so, and the bounds of another one that may run. The window may be
// wider by spare.
func (p *disjunctive) block(out []cp.Lit, from, end, spare int64, other int) []cp.Lit {
	early, late := from-spare/2, end+spare-spare/2
	for i := range p.items {
		x := &p.items[i]
		if x.low < from || x.end > end || !x.runs && i != other {
			continue
		}
		s := p.c.Starts[x.number]
		if x.runs {
			out = append(out, s.If)
		}
		out = append(out, s.At.AtLeast(early), s.At.AtMost(late-x.length))
	}
	return out
}

// sets packs all that run and go before an activity before it, and all that go after
// it after it.
func (p *disjunctive) sets(k *Kernel) {
	for _, x := range p.items {
		b := p.c.Starts[x.number]
		if k.fails(b.If) {
			continue
		}
		sum, best := int64(0), int64(-infinite)
		for _, y := range p.items {
			if y.runs && y.number != x.number && k.holds(p.c.Before[y.number][x.number]) {
				sum += y.length
				best = max(best, y.low+sum)
			}
		}
		if best > k.low[2*b.At] && !k.set(b.At.AtLeast(best), p.self, int32(2*x.number)) {
			return
		}
	}
	slices.SortFunc(p.items, func(a, b item) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.number, b.number)) })
	for _, x := range p.items {
		b := p.c.Starts[x.number]
		if k.fails(b.If) {
			continue
		}
		sum, best := int64(0), int64(infinite)
		for _, y := range p.items {
			if y.runs && y.number != x.number && k.holds(p.c.Before[x.number][y.number]) {
				sum += y.length
				best = min(best, y.end-sum)
			}
		}
		if best < infinite && !k.set(b.At.AtMost(best-x.length), p.self, int32(2*x.number+1)) {
			return
		}
	}
}

func (p *disjunctive) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	b, back := int(tag/2), tag&1 == 1
	p.items = p.items[:0]
	for i, s := range p.c.Starts {
		if i == b || !k.heldAt(s.If, at) {
			continue
		}
		x := item{number: i, length: p.c.Lengths[i]}
		if back {
			x.low = k.lowAt(2*int32(s.At)+1, at) - x.length // of the mirrored start, which is minus the end
			if k.heldAt(p.c.Before[b][i], at) {
				p.items = append(p.items, x)
			}
		} else {
			x.low = k.lowAt(2*int32(s.At), at)
			if k.heldAt(p.c.Before[i][b], at) {
				p.items = append(p.items, x)
			}
		}
	}
	slices.SortFunc(p.items, func(x, y item) int { return cmp.Or(cmp.Compare(y.low, x.low), cmp.Compare(x.number, y.number)) })
	need := l.B // of the start, or of minus the end
	if back {
		need -= p.c.Lengths[b]
	}
	sum := int64(0)
	for n, x := range p.items {
		sum += x.length
		if x.low+sum < need {
			continue
		}
		for _, y := range p.items[:n+1] {
			s := p.c.Starts[y.number]
			if back {
				out = append(out, s.If, p.c.Before[b][y.number], cp.Lit{SV: 2*int32(s.At) + 1, B: need - sum + y.length})
			} else {
				out = append(out, s.If, p.c.Before[y.number][b], s.At.AtLeast(need-sum))
			}
		}
		return out
	}
	panic("lcg: a bound without an explanation")
}
