// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

// among enforces that X has one of some values: no bound of X is below the least one
// that is left. With X ≥ L and T the least of At and Of[i] + By[i] that can be L or
// more,
//
//	X ≥ T
//
// The explanation is that each i either is T or more by its lower bound, or below L by
// its upper bound; and X ≥ L, for the least L that serves. Upper bounds of X follow from
// nothing: a value that isn't there is refused when X is fixed. A call takes time linear
// in the number of values.
type among struct {
	c *cp.Among
	lazy
}

func (p *among) attach(k *Kernel, self int32) {
	p.self = self
	k.watch(2*int32(p.c.X), self, 0)
	for _, v := range p.c.Of {
		k.watch(2*int32(v), self, 0)
		k.watch(2*int32(v)+1, self, 0)
	}
}

func (p *among) propagate(k *Kernel) {
	k.work += int64(len(p.c.Of)) / 2
	from := k.low[2*p.c.X]
	least := 1 - k.low[2*p.c.X+1] // above all
	if p.c.At >= from {
		least = min(least, p.c.At)
	}
	for i, v := range p.c.Of {
		if -k.low[2*v+1]+p.c.By[i] >= from {
			least = min(least, k.low[2*v]+p.c.By[i])
		}
	}
	if least > from {
		k.set(p.c.X.AtLeast(least), p.self, 0)
	}
}

func (p *among) explain(k *Kernel, l cp.Lit, _, at int32, out []cp.Lit) []cp.Lit {
	from := int64(-infinite)
	if p.c.At < l.B {
		from = p.c.At + 1
	}
	for i, v := range p.c.Of {
		late := v.AtLeast(l.B - p.c.By[i])
		if k.heldAt(late, at) {
			out = append(out, late)
		} else {
			from = max(from, -k.lowAt(2*int32(v)+1, at)+p.c.By[i]+1)
		}
	}
	for i, v := range p.c.Of {
		if !k.heldAt(v.AtLeast(l.B-p.c.By[i]), at) {
			out = append(out, v.AtMost(from-1-p.c.By[i]))
		}
	}
	if from > -infinite {
		out = append(out, p.c.X.AtLeast(from))
	}
	return out
}
