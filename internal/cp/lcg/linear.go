// SPDX-License-Identifier: MIT

package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// linear enforces Σ_g min {value : its choice is possible} + Σ_t times·var ≤ AtMost,
// with each variable at the bound that makes the sum least. A choice, or a bound of
// a variable, that would bring the sum above AtMost is excluded.
//
// The explanation of a bound is that the rest is large: for each group the excluded choices of less value than its
// least possible one, for each variable its bound. As far as the sum exceeds AtMost by more than needed, choices and
// variables are left out. The ones that add least go first, so that as many as possible go, and the remaining excess
// weakens a bound.
//
// The sum is kept up to date, by events that are looked at and undone (summand). A call comes only when the slack is
// below the most that one choice or variable can add, and takes time linear in the number of those that can add more
// than the slack.
type linear struct {
	self   int32
	atMost int64
	groups []group // by decreasing span
	terms  []term  // by decreasing span
	sum    int64   // at least, by the events looked at
	widest int64   // largest span
}

// group is a group of choices; one of them holds.
type group struct {
	choices  []cp.Choice
	possible int   // choices, by the events looked at
	least    int64 // value of these; 0 without any
	span     int64 // of the values
	scratch  int64 // of explain
}

// term is a summand |times|·(signed variable), which is at least its bound.
type term struct {
	times int64 // above 0
	sv    int32
	span  int64 // the most that it can add to the sum, above its bound of the beginning
	low   int64 // the bound of the beginning
}

// summand says that a signed variable's bound is in a sum: by a term, if the group is -1,
// or as a choice that is excluded when the bound is reached.
type summand struct {
	row          *linear
	group        int32
	value, bound int64 // of the term: the factor; of the choice: its value and bound
}

// newLinear returns the propagator of a constraint in a kernel.
func newLinear(k *Kernel, c *cp.Linear) *linear {
	p := &linear{atMost: c.AtMost}
	for _, choices := range c.Groups {
		if len(choices) == 0 {
			continue
		}
		g := group{choices: choices}
		low, high := choices[0].Value, choices[0].Value
		for _, x := range choices {
			low, high = min(low, x.Value), max(high, x.Value)
		}
		g.span = high - low
		p.groups = append(p.groups, g)
	}
	for _, t := range c.Terms {
		x := term{times: max(t.Times, -t.Times), sv: 2 * int32(t.Var)}
		if t.Times < 0 {
			x.sv++
		}
		if x.times == 0 {
			continue
		}
		x.low = k.low[x.sv]
		x.span = x.times * (-k.low[x.sv^1] - x.low)
		p.terms = append(p.terms, x)
	}
	slices.SortStableFunc(p.groups, func(a, b group) int { return cmp.Compare(b.span, a.span) })
	slices.SortStableFunc(p.terms, func(a, b term) int { return cmp.Compare(b.span, a.span) })
	if len(p.groups) > 0 {
		p.widest = p.groups[0].span
	}
	if len(p.terms) > 0 {
		p.widest = max(p.widest, p.terms[0].span)
	}
	return p
}

func (p *linear) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	// Waiting events are counted when they are looked at.
	head := int32(k.head)
	for g := range p.groups {
		for _, x := range p.groups[g].choices {
			not := x.If.Not()
			if !k.heldAt(not, head) {
				p.groups[g].allow(x.Value)
			}
			if not.SV >= 0 {
				k.sums[not.SV] = append(k.sums[not.SV], summand{p, int32(g), x.Value, not.B})
			}
		}
		p.sum += p.groups[g].least
	}
	for _, t := range p.terms {
		p.sum += t.times * k.lowAt(t.sv, head)
		k.sums[t.sv] = append(k.sums[t.sv], summand{p, -1, t.times, 0})
	}
}

// allow counts a choice as possible.
func (g *group) allow(value int64) {
	if g.possible == 0 || value < g.least {
		g.least = value
	}
	g.possible++
}

// count brings the sums up to date with a bound of sv that rises.
func (k *Kernel) count(sv int32, before, bound int64) {
	k.work += int64(len(k.sums[sv]))
	for i := range k.sums[sv] {
		s := &k.sums[sv][i]
		p := s.row
		if s.group < 0 {
			p.sum += s.value * (bound - before)
		} else {
			if s.bound <= before || s.bound > bound {
				continue
			}
			g := &p.groups[s.group]
			g.possible--
			if s.value > g.least {
				continue
			}
			p.sum -= g.least
			if g.least = 0; g.possible > 0 {
				g.least = infinite
				k.work += int64(len(g.choices))
				for _, x := range g.choices {
					if x.Value < g.least && !k.heldAt(x.If.Not(), int32(k.head)) {
						g.least = x.Value
					}
				}
			}
			p.sum += g.least
		}
		if p.atMost-p.sum < p.widest {
			k.schedule(p.self)
		}
	}
}

// uncount undoes count.
func (k *Kernel) uncount(sv int32, before, bound int64) {
	for i := range k.sums[sv] {
		s := &k.sums[sv][i]
		p := s.row
		if s.group < 0 {
			p.sum -= s.value * (bound - before)
		} else if s.bound > before && s.bound <= bound {
			g := &p.groups[s.group]
			p.sum -= g.least
			g.allow(s.value)
			p.sum += g.least
		}
	}
}

func (p *linear) wake(*Kernel, int32, int32) {}
func (p *linear) cancel()                    {}

func (p *linear) propagate(k *Kernel) {
	// The bounds set here may raise the sum later on, when they are looked at.
	slack := p.atMost - p.sum
	if slack < 0 {
		k.set(cp.False, p.self, -1)
		return
	}
	for g := range p.groups {
		if p.groups[g].span <= slack {
			break
		}
		k.work += int64(len(p.groups[g].choices))
		for _, x := range p.groups[g].choices {
			if x.Value > p.groups[g].least+slack && !k.set(x.If.Not(), p.self, int32(g)) {
				return
			}
		}
	}
	for i, t := range p.terms {
		if t.span <= slack {
			break
		}
		if !k.set(cp.Lit{SV: t.sv ^ 1, B: -(k.low[t.sv] + slack/t.times)}, p.self, int32(len(p.groups)+i)) {
			return
		}
	}
}

func (p *linear) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	// spare is the excess of the sum over atMost + 1, with l's opposite for l's own group or variable.
	spare := -p.atMost - 1
	k.work += int64(len(p.groups)+len(p.terms)) / 2
	for i := range p.groups {
		g := &p.groups[i]
		least := int64(infinite)
		for _, x := range g.choices {
			if int32(i) == tag && x.If.Not() == l {
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
		g.scratch = least
		spare += least
	}
	own := int(tag) - len(p.groups)
	for i, t := range p.terms {
		if i == own {
			spare += t.times * (1 - l.B)
		} else {
			spare += t.times * k.lowAt(t.sv, at)
		}
	}
	for i := len(p.groups) - 1; i >= 0; i-- {
		if int32(i) == tag {
			continue
		}
		g := &p.groups[i]
		from := g.scratch // choices of at least this value are left out
		for _, x := range g.choices {
			if x.Value < from && x.Value >= g.scratch-spare {
				from = x.Value
			}
		}
		spare -= g.scratch - from
		for _, x := range g.choices {
			if x.Value < from {
				out = append(out, x.If.Not())
			}
		}
	}
	for i := len(p.terms) - 1; i >= 0; i-- {
		if i == own {
			continue
		}
		t := &p.terms[i]
		b := k.lowAt(t.sv, at)
		less := min(spare/t.times, b-t.low)
		spare -= less * t.times
		if b-less > t.low {
			out = append(out, cp.Lit{SV: t.sv, B: b - less})
		}
	}
	return out
}
