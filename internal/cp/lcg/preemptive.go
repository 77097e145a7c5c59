// SPDX-License-Identifier: MIT

package lcg

import (
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// preemptive looks, for a cp.Preemptive, for windows of time that hold more work than their length. An activity lies in
// a window if it is released no sooner and due no later. An activity with a single open literal is excluded if it would
// be too much.
//
// The explanation of a window is its content: the literals of these activities, and their bounds as far as the window.
// Anything not needed to exceed its length is left out. O(n²) for n activities that are there, and as much for each of
// those that may be.
type preemptive struct {
	c *cp.Preemptive
	lazy
	k     *Kernel
	items []windowed // that are there, by falling release
	dues  []int64
}

// windowed is an activity with its window now.
type windowed struct {
	i            int32
	release, due int64
}

func (p *preemptive) attach(k *Kernel, self int32) {
	p.self, p.k = self, k
	for i := range p.c.Items {
		x := &p.c.Items[i]
		for _, l := range x.If {
			k.watch(l.SV, self, 0)
		}
		k.watch(2*int32(x.From), self, 0)
		k.watch(2*int32(x.To)+1, self, 0)
	}
}

func (p *preemptive) propagate(k *Kernel) {
	k.work += int64(len(p.c.Items))
	p.items = p.items[:0]
	for i := range p.c.Items {
		if _, open := p.state(k, i); open == 0 {
			p.insert(p.window(k, i))
		}
	}
	if begin, end, over := p.overload(k); over {
		k.fail(p.premises(begin, end, -1)...)
		return
	}
	for i := range p.c.Items {
		l, open := p.state(k, i)
		if open != 1 {
			continue
		}
		at := p.insert(p.window(k, i))
		begin, end, over := p.overload(k)
		fails := over && !k.imply(p.c.Items[i].If[l].Not(), p.premises(begin, end, int32(i)))
		if p.items = slices.Delete(p.items, at, at+1); fails {
			return
		}
	}
}

// insert adds an activity to those that are there, and returns its place.
func (p *preemptive) insert(x windowed) int {
	at := 0
	for at < len(p.items) && p.items[at].release >= x.release {
		at++
	}
	p.items = slices.Insert(p.items, at, x)
	return at
}

// state returns the number of open literals of an activity, and the last of them; 2 if it isn't there.
func (p *preemptive) state(k *Kernel, i int) (at, open int) {
	for j, l := range p.c.Items[i].If {
		switch {
		case k.refuted(l):
			return 0, 2
		case !k.holds(l):
			at, open = j, open+1
		}
	}
	return at, open
}

// window returns the window of an activity. If it may be absent, so may its bounds: they hold if it is there.
func (p *preemptive) window(k *Kernel, i int) windowed {
	x := &p.c.Items[i]
	return windowed{int32(i), k.low[2*x.From] + x.After, -k.low[2*x.To+1]}
}

// overload returns the first window with more work than its length.
func (p *preemptive) overload(k *Kernel) (begin, end int64, over bool) {
	p.dues = p.dues[:0]
	for _, x := range p.items {
		p.dues = append(p.dues, x.due)
	}
	slices.Sort(p.dues)
	p.dues = slices.Compact(p.dues)
	k.work += int64(len(p.items) * len(p.dues) / 4)
	for _, end := range p.dues {
		sum := int64(0)
		for _, x := range p.items {
			if x.due <= end {
				if sum += p.c.Items[x.i].Length; sum > end-x.release {
					return x.release, end, true
				}
			}
		}
	}
	return 0, 0, false
}

// premises says why there is too much work in a window: the activities there, and their bounds. The literal of open
// that is open isn't among them. The work of the named activities would be too much up to a later end, too, so the
// explanation says that they are due at that end.
func (p *preemptive) premises(begin, end int64, open int32) (out []cp.Lit) {
	spare := -max(0, end-begin) - 1
	for _, x := range p.items {
		if x.release >= begin && x.due <= end {
			spare += p.c.Items[x.i].Length
		}
	}
	var named []*cp.Windowed
	last := begin - 1
	for _, x := range p.items {
		if x.release < begin || x.due > end {
			continue
		}
		item := &p.c.Items[x.i]
		if item.Length <= spare && x.i != open {
			spare -= item.Length
			continue
		}
		named, last = append(named, item), last+item.Length
		for _, l := range item.If {
			if x.i != open || p.k.holds(l) {
				out = append(out, l)
			}
		}
	}
	for _, item := range named {
		out = append(out, item.From.AtLeast(begin-item.After), item.To.AtMost(last))
	}
	return out
}

// explain is never asked: premises are stored.
func (p *preemptive) explain(_ *Kernel, _ cp.Lit, _, _ int32, out []cp.Lit) []cp.Lit { return out }
