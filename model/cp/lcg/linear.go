package lcg

import "github.com/gapwise/gapwise/model/cp"

// linear enforces Σ_g min {value : its choice is possible} + Σ_t times·var ≤ AtMost,
// with each variable at the bound that makes the sum least. A choice, or a bound of
// a variable, that would bring the sum above AtMost is excluded.
//
// The explanation of a bound is that the rest is large: for each group the excluded
// choices of less value than its least possible one, for each variable its bound. By
// what the sum exceeds AtMost more than needed, choices are left out and bounds are
// weakened, in this order. A call takes time linear in the constraint's size.
type linear struct {
	c     *cp.Linear
	self  int32
	least []int64 // of each group
}

func newLinear(c *cp.Linear) *linear { return &linear{c: c, least: make([]int64, len(c.Groups))} }

func (p *linear) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	for _, g := range p.c.Groups {
		for _, x := range g {
			k.watch(x.If.Not().SV, self, 0)
		}
	}
	for _, t := range p.c.Terms {
		k.watch(side(t), self, 0)
	}
}

// side returns the signed variable whose bound makes a term large.
func side(t cp.Term) int32 {
	if t.Times > 0 {
		return 2 * int32(t.Var)
	}
	return 2*int32(t.Var) + 1
}

func (p *linear) wake(k *Kernel, _, _ int32) { k.schedule(p.self) }
func (p *linear) cancel()                    {}

func (p *linear) propagate(k *Kernel) {
	slack := p.c.AtMost
	for g, choices := range p.c.Groups {
		least := int64(infinite)
		for _, x := range choices {
			if x.Value < least && !k.fails(x.If) {
				least = x.Value
			}
		}
		if least == infinite {
			least = 0
		}
		p.least[g] = least
		slack -= least
	}
	for _, t := range p.c.Terms {
		slack -= abs(t.Times) * k.low[side(t)]
	}
	if slack < 0 {
		k.set(cp.False, p.self, -1)
		return
	}
	for g, choices := range p.c.Groups {
		for _, x := range choices {
			if x.Value > p.least[g]+slack && !k.set(x.If.Not(), p.self, int32(g)) {
				return
			}
		}
	}
	for i, t := range p.c.Terms {
		sv := side(t)
		most := k.low[sv] + slack/abs(t.Times)
		if !k.set(cp.Lit{SV: sv ^ 1, B: -most}, p.self, int32(len(p.c.Groups)+i)) {
			return
		}
	}
}

func (p *linear) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	// The sum without what l is about, and what l's opposite adds to it.
	spare := -p.c.AtMost - 1
	for g, choices := range p.c.Groups {
		least := int64(infinite)
		for _, x := range choices {
			if x.If.Not() == l && int32(g) == tag {
				least = x.Value
				break
			}
			if x.Value < least && !k.heldAt(x.If.Not(), at) {
				least = x.Value
			}
		}
		if least == infinite {
			least = 0
		}
		p.least[g] = least
		spare += least
	}
	own := int(tag) - len(p.c.Groups)
	for i, t := range p.c.Terms {
		if i == own {
			spare += abs(t.Times) * (1 - l.B)
		} else {
			spare += abs(t.Times) * k.lowAt(side(t), at)
		}
	}
	for g, choices := range p.c.Groups {
		if int32(g) == tag {
			continue
		}
		from := p.least[g] // choices of at least this value are left out
		for _, x := range choices {
			if x.Value < from && x.Value >= p.least[g]-spare {
				from = x.Value
			}
		}
		spare -= p.least[g] - from
		for _, x := range choices {
			if x.Value < from {
				out = append(out, x.If.Not())
			}
		}
	}
	for i, t := range p.c.Terms {
		if i != own {
			sv := side(t)
			less := spare / abs(t.Times)
			spare -= less * abs(t.Times)
			out = append(out, cp.Lit{SV: sv, B: k.lowAt(sv, at) - less})
		}
	}
	return out
}

func abs(x int64) int64 { return max(x, -x) }
