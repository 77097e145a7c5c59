// SPDX-License-Identifier: MIT

package vcsched

import (
	"math/bits"

	"github.com/gapwise/gapwise/internal/num/vectors"
)

// walker is the depth-first search of one thread.
type walker[V vectors.Vector] struct {
	p       *partition[V]
	nodes   int64
	limit   int64
	stop    func() bool
	stopped bool
	chosen  []filled
}

func (w *walker[V]) begin(p *partition[V], stop func() bool, limit int64) {
	w.p, w.stop, w.limit = p, stop, limit
	w.nodes, w.stopped, w.chosen = 0, false, w.chosen[:0]
}

func (w *walker[V]) answer(s state[V]) answer {
	switch {
	case w.fill(s.left, s.bins, s.slack):
		return yes
	case w.stopped:
		return unknown
	}
	return no
}

// fill places the items left in the bins left and reports whether they fit. It is
// children with the loop written out, since the time goes here.
func (w *walker[V]) fill(left uint64, bins binsLeft, slack V) bool {
	if left == 0 {
		return true
	}
	if bins&(bins-1) == 0 && bins&0x01010101 != 0 { // one: slack ≥ 0 says that they fit
		class := bits.TrailingZeros32(uint32(bins)) / 8
		if w.p.off&devWaste != 0 && !w.p.fits(left, class) {
			return false
		}
		w.chosen = append(w.chosen, filled{left, class})
		return true
	}
	if w.nodes++; w.nodes >= w.limit || w.nodes&0xfff == 0 && w.stop() {
		w.stopped = true
		return false
	}
	first := bits.TrailingZeros64(left)
	for class := range w.p.bins {
		if bins.count(class) == 0 {
			continue
		}
		if !w.p.listed {
			if w.fillBin(left, bins, &slack, class) {
				return true
			}
			if w.stopped {
				return false
			}
			continue
		}
		list, tight := w.p.lists[class][first], w.p.tight
		for i := range list {
			s := &list[i]
			if s.waste[tight] > slack[tight] {
				break
			}
			if s.items&^left != 0 || s.better&left != 0 || exceeds(&s.waste, &slack) {
				continue
			}
			w.chosen = append(w.chosen, filled{s.items, class})
			if w.fill(left&^s.items, bins-one(class), minus(&slack, &s.waste)) {
				return true
			}
			w.chosen = w.chosen[:len(w.chosen)-1]
			if w.stopped {
				return false
			}
		}
	}
	return false
}

// fillBin is fill for a bin of a class without listed subsets.
func (w *walker[V]) fillBin(left uint64, bins binsLeft, slack *V, class int) bool {
	first := bits.TrailingZeros64(left)
	b := bin[V]{left: left, bins: bins, class: class, slack: *slack, items: 1 << first, free: w.p.cap[class]}
	if !take(&b.free, &w.p.size[first]) {
		return false
	}
	for rest := left &^ b.items; rest != 0; rest &= rest - 1 {
		size := &w.p.size[bits.TrailingZeros64(rest)]
		for r := range len(b.rest) {
			b.rest[r] += (*size)[r]
		}
	}
	return w.grow(b, first+1)
}

// bin is the bin that a node fills.
type bin[V vectors.Vector] struct {
	left  uint64   // items left at the node, including the bin's
	bins  binsLeft // left at the node, this one among them
	class int
	slack V
	items uint64
	free  V
	rest  V // sums of the items left that are undecided
}

// grow decides which of the items from k on go into the bin, "in" before "out",
// fills the other bins for each subset that isn't dropped, and reports success.
func (w *walker[V]) grow(b bin[V], k int) bool {
	if w.nodes++; w.nodes >= w.limit || w.nodes&0xfff == 0 && w.stop() {
		w.stopped = true
		return false
	}
	for {
		if waste := minus(&b.free, &b.rest); exceeds(&waste, &b.slack) {
			return false // even all of them leave too much waste
		}
		open := b.left >> k << k
		if open == 0 {
			break
		}
		i := bits.TrailingZeros64(open)
		b.rest = minus(&b.rest, &w.p.size[i])
		k = i + 1
		if !exceeds(&w.p.size[i], &b.free) {
			with := b
			with.items |= 1 << i
			with.free = minus(&b.free, &w.p.size[i])
			if w.grow(with, k) {
				return true
			}
			if w.stopped {
				return false
			}
		}
	}
	s := subset[V]{items: b.items, waste: b.free}
	if w.p.betterItems(&s, bits.TrailingZeros64(b.left))&b.left != 0 {
		return false
	}
	w.chosen = append(w.chosen, filled{b.items, b.class})
	if w.fill(b.left&^b.items, b.bins-one(b.class), minus(&b.slack, &b.free)) {
		return true
	}
	w.chosen = w.chosen[:len(w.chosen)-1]
	return false
}
