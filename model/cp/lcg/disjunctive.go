package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/model/cp"
)

// noOverlap adds the propagators of activities that don't overlap.
func (k *Kernel) noOverlap(c *cp.NoOverlap) {
	if k.pairs == nil {
		k.pairs = &pairs{orders: map[cp.Var][]int32{}}
		k.pairs.self = k.add(k.pairs)
	}
	k.pairs.post(k, c)
	k.add(&disjunctive{c: c})
}

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
