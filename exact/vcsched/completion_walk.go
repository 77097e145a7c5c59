package vcsched

import "math/bits"

// memoEntry says that a set of items doesn't fit in that many bins.
type memoEntry struct {
	items  uint64
	bins   int32
	marker uint32 // of the decision that found it
}

// walker is the depth-first search of one thread.
type walker struct {
	p       *partition
	memo    []memoEntry
	marker  uint32
	nodes   int64
	limit   int64
	stop    func() bool
	stopped bool
	chosen  []uint64
}

func (w *walker) begin(p *partition, stop func() bool, limit int64) {
	w.p, w.stop, w.limit = p, stop, limit
	w.nodes, w.stopped, w.chosen = 0, false, w.chosen[:0]
	w.marker++ // forgets the memo of another capacity
}

func (w *walker) answer(s state) answer {
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
func (w *walker) fill(left uint64, bins int, slack [2]int64) bool {
	if left == 0 {
		return true
	}
	if bins == 1 { // slack ≥ 0 says that they fit
		if w.p.off&devWaste != 0 && !w.p.fits(left) {
			return false
		}
		w.chosen = append(w.chosen, left)
		return true
	}
	if w.nodes++; w.nodes >= w.limit || w.nodes&0xfff == 0 && w.stop() {
		w.stopped = true
		return false
	}
	if w.remembered(left, bins) {
		return false
	}
	first := bits.TrailingZeros64(left)
	if !w.p.listed {
		b := bin{left: left, bins: bins, slack: slack, items: 1 << first}
		for r := range b.free {
			b.free[r] = w.p.cap[r] - w.p.size[r][first]
			for rest := left &^ b.items; rest != 0; rest &= rest - 1 {
				b.rest[r] += w.p.size[r][bits.TrailingZeros64(rest)]
			}
		}
		if w.grow(b, first+1) {
			return true
		}
		if !w.stopped {
			w.remember(left, bins)
		}
		return false
	}
	list := w.p.lists[first]
	tight, other := w.p.tight, 1-w.p.tight
	for i := range list {
		s := &list[i]
		if s.waste[tight] > slack[tight] {
			break
		}
		if s.items&^left != 0 || s.better&left != 0 || s.waste[other] > slack[other] {
			continue
		}
		w.chosen = append(w.chosen, s.items)
		if w.fill(left&^s.items, bins-1, [2]int64{slack[0] - s.waste[0], slack[1] - s.waste[1]}) {
			return true
		}
		w.chosen = w.chosen[:len(w.chosen)-1]
		if w.stopped {
			return false
		}
	}
	w.remember(left, bins)
	return false
}

// bin is the bin that a node fills.
type bin struct {
	left  uint64 // items left at the node, those of the bin among them
	bins  int    // left at the node, this one among them
	slack [2]int64
	items uint64
	free  [2]int64
	rest  [2]int64 // sums of the items left that are undecided
}

// grow decides which of the items from k on go into the bin, "in" before "out",
// fills the other bins for each subset that isn't dropped, and reports success.
func (w *walker) grow(b bin, k int) bool {
	if w.nodes++; w.nodes >= w.limit || w.nodes&0xfff == 0 && w.stop() {
		w.stopped = true
		return false
	}
	for {
		if b.free[0]-b.rest[0] > b.slack[0] || b.free[1]-b.rest[1] > b.slack[1] {
			return false // even all of them leave too much waste
		}
		open := b.left >> k << k
		if open == 0 {
			break
		}
		i := bits.TrailingZeros64(open)
		c, m := w.p.size[0][i], w.p.size[1][i]
		b.rest[0] -= c
		b.rest[1] -= m
		k = i + 1
		if c <= b.free[0] && m <= b.free[1] {
			with := b
			with.items |= 1 << i
			with.free[0] -= c
			with.free[1] -= m
			if w.grow(with, k) {
				return true
			}
			if w.stopped {
				return false
			}
		}
	}
	s := subset{items: b.items, waste: b.free}
	if w.p.betterItems(&s, bits.TrailingZeros64(b.left))&b.left != 0 {
		return false
	}
	w.chosen = append(w.chosen, b.items)
	if w.fill(b.left&^b.items, b.bins-1, [2]int64{b.slack[0] - b.free[0], b.slack[1] - b.free[1]}) {
		return true
	}
	w.chosen = w.chosen[:len(w.chosen)-1]
	return false
}

func (w *walker) slot(left uint64) *memoEntry {
	return &w.memo[(left*0x9e3779b97f4a7c15)>>(64-bits.TrailingZeros(uint(len(w.memo))))]
}

func (w *walker) remembered(left uint64, bins int) bool {
	e := w.slot(left)
	return e.items == left && e.marker == w.marker && int(e.bins) >= bins
}

// remember stores that the items left don't fit in the bins left. The table grows
// with the search, up to 2^22 entries; a new entry replaces an older one.
func (w *walker) remember(left uint64, bins int) {
	if w.p.off&devMemo != 0 {
		return
	}
	if int64(len(w.memo)) < w.nodes && len(w.memo) < 1<<22 {
		old := w.memo
		w.memo = make([]memoEntry, 4*len(old))
		for _, e := range old {
			if e.marker == w.marker {
				*w.slot(e.items) = e
			}
		}
	}
	*w.slot(left) = memoEntry{left, int32(bins), w.marker}
}
