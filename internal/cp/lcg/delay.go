// SPDX-License-Identifier: MIT

package lcg

import "github.com/gapwise/gapwise/internal/cp"

// delays enforces the delays of a model: for each l that is possible
//
//	To[l] ≥ min over possible k of From[k] + By[k][l]
//	From[k] ≤ max over possible l of To[l] - By[k][l]
//
// Each alternative k explains itself: it is excluded, or starts so late; of two reasons the earlier one. A call takes
// O(m²) for each delay with m alternatives, if one of them changed.
type delays struct {
	all    []*cp.Delay
	owners []int32 // constraint of each
	self   int32
	noted  []bool // of 2e forwards and 2e+1 backwards
	queue  []int32
	stride int32 // above the number of alternatives
}

// delay adds a delay to the kernel's propagator of delays.
func (k *Kernel) delay(c *cp.Delay) {
	p := k.delays
	if p == nil {
		p = &delays{stride: 1}
		k.delays, p.self = p, k.add(p)
	}
	e := int32(len(p.all))
	p.all, p.owners = append(p.all, c), append(p.owners, k.posted)
	p.noted = append(p.noted, false, false)
	p.stride = max(p.stride, int32(len(c.From)+1), int32(len(c.To)+1))
	for _, s := range c.From {
		k.watch(2*int32(s.At), p.self, 2*e)
		k.watch(s.If.Not().SV, p.self, 2*e)
	}
	for _, s := range c.To {
		k.watch(2*int32(s.At)+1, p.self, 2*e+1)
		k.watch(s.If.Not().SV, p.self, 2*e+1)
	}
	p.wake(k, 0, 2*e)
	p.wake(k, 0, 2*e+1)
}

func (p *delays) wake(k *Kernel, _, tag int32) {
	if !p.noted[tag] {
		p.noted[tag] = true
		p.queue = append(p.queue, tag)
		k.schedule(p.self)
	}
}

func (p *delays) cancel() {
	for _, tag := range p.queue {
		p.noted[tag] = false
	}
	p.queue = p.queue[:0]
}

func (p *delays) propagate(k *Kernel) {
	for len(p.queue) > 0 {
		tag := p.queue[len(p.queue)-1]
		p.queue = p.queue[:len(p.queue)-1]
		p.noted[tag] = false
		c := p.all[tag/2]
		if tag&1 == 0 {
			for l, to := range c.To {
				if k.fails(to.If) {
					continue
				}
				least := int64(infinite)
				for i, from := range c.From {
					if !k.fails(from.If) {
						least = min(least, k.low[2*from.At]+c.By[i][l])
					}
				}
				if least < infinite && !k.set(to.At.AtLeast(least), p.self, tag*p.stride+int32(l)) {
					return
				}
			}
			continue
		}
		for i, from := range c.From {
			if k.fails(from.If) {
				continue
			}
			least := int64(infinite) // of the negative
			for l, to := range c.To {
				if !k.fails(to.If) {
					least = min(least, k.low[2*to.At+1]+c.By[i][l])
				}
			}
			if least < infinite && !k.set(from.At.AtMost(-least), p.self, tag*p.stride+int32(i)) {
				return
			}
		}
	}
}

func (p *delays) explain(k *Kernel, l cp.Lit, tag, at int32, out []cp.Lit) []cp.Lit {
	i := tag % p.stride
	tag /= p.stride
	c := p.all[tag/2]
	if tag&1 == 0 {
		for j, from := range c.From {
			out = append(out, k.earlier(from.If.Not(), from.At.AtLeast(l.B-c.By[j][i]), at))
		}
		return out
	}
	for j, to := range c.To {
		out = append(out, k.earlier(to.If.Not(), cp.Lit{SV: 2*int32(to.At) + 1, B: l.B - c.By[i][j]}, at))
	}
	return out
}

// earlier returns the literal of two that came to hold first; one of them held before the event at.
func (k *Kernel) earlier(a, b cp.Lit, at int32) cp.Lit {
	switch {
	case !k.heldAt(a, at):
		return b
	case !k.heldAt(b, at):
		return a
	case k.eventOf(a) <= k.eventOf(b):
		return a
	}
	return b
}

func (p *delays) owner(tag int32) int32 { return p.owners[tag/p.stride/2] }
