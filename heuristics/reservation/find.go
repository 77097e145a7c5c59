// SPDX-License-Identifier: MIT

package reservation

import (
	"math/bits"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
)

// Find looks for a start and PEs (Algorithm 3) and books nothing. ok is false if
// the request doesn't fit anywhere in its window.
func (l *availability) Find(q query, p policy) (allocation, bool) {
	s := &l.scan
	q, ok := q.from(l.now)
	if !ok {
		return allocation{}, false
	}
	s.begin(q, p.load)
	best, found := allocation{}, false
	var score float64
	for _, start := range s.starts {
		w := q.windowOf(start)
		free := s.slide(w)
		if free < q.PEs {
			continue
		}
		c := candidate{pes: float64(free)}
		if p.rectangle {
			r := s.rectangle(free, p.open)
			c.length = r.length()
		}
		if p.load {
			c.load = s.load(w)
		}
		x := p.score(c)
		if !found || x < score {
			best, found, score = allocation{Start: w.start, End: w.end, Rectangle: rectangle{PEs: free}}, true, x
			copy(s.best, s.free)
			s.bestLo, s.bestHi = s.lo, s.hi
			if p.first {
				break
			}
		}
	}
	if !found {
		return best, false
	}
	copy(s.free, s.best)
	s.lo, s.hi = s.bestLo, s.bestHi
	best.Rectangle = s.rectangle(best.Rectangle.PEs, p.open)
	best.PEs = bookings.LowestPEs(s.free, q.PEs)
	return best, true
}

// scan visits the candidate windows of a query in the order of their starts, with
// the union of the busy PEs over each.
//
// The records that a window overlaps slide: both ends of that range only move forward. Their union is kept by two
// stacks: suffix[i] is the union of the records i to mid-1, back the union of the records mid to hi-1. Each record
// enters each stack once.
type scan struct {
	list     *availability
	deadline int64
	starts   []int64
	recs     []ref    // the record that holds at the ready time, and all until the deadline
	suffix   []uint64 // [i*words:(i+1)*words] is the union of recs[i..mid-1]
	mid      int
	back     bitset.Set // union of recs[mid..hi-1]
	lo, hi   int        // recs[lo..hi-1] are those of the window
	free     bitset.Set // over the window
	taken    []int      // busy PEs of recs[i], for policies that look at the load
	sum      []float64  // PE-ticks taken from recs[0] to recs[i]

	best           bitset.Set // free over the best window
	bestLo, bestHi int
}

func (s *scan) init(l *availability) {
	s.list = l
	s.back, s.free, s.best = bitset.New(l.pes), bitset.New(l.pes), bitset.New(l.pes)
}

// begin prepares the candidate starts of a query.
func (s *scan) begin(q query, load bool) {
	s.deadline = q.Deadline
	s.recs = s.recs[:0]
	for r, ok := s.list.recordAt(q.Ready), true; ok && (len(s.recs) == 0 || r.time <= q.Deadline); r, ok = s.list.next(r) {
		s.recs = append(s.recs, r)
	}
	if n := len(s.recs) * s.list.words; cap(s.suffix) < n {
		s.suffix = make([]uint64, n+n/2)
	}
	s.suffix = s.suffix[:cap(s.suffix)]
	s.lo, s.hi, s.mid = 0, 0, 0
	clear(s.back)

	if load {
		s.taken, s.sum = s.taken[:0], s.sum[:0]
		for i, r := range s.recs {
			sum := 0.0
			if i > 0 {
				sum = s.sum[i-1] + float64(s.taken[i-1])*float64(r.time-s.recs[i-1].time)
			}
			s.taken, s.sum = append(s.taken, s.list.busyAt(r).Len()), append(s.sum, sum)
		}
	}

	// Two ascending lists, merged: slots, and slots less the duration.
	s.starts = append(s.starts[:0], q.Ready)
	last := q.latest()
	add := func(start int64) {
		if start > s.starts[len(s.starts)-1] {
			s.starts = append(s.starts, start)
		}
	}
	for a, b := 0, 0; a < len(s.recs); { // the slots less the duration, b, are used up first
		start := s.recs[a].time
		if b < len(s.recs) && s.recs[b].time-q.Duration < start {
			start = s.recs[b].time - q.Duration
			b++
		} else {
			a++
		}
		if start >= last {
			break
		}
		add(start)
	}
	add(last)
}

// slide moves on to a window, sets s.free to the PEs that are free over it, and
// returns their number.
func (s *scan) slide(w window) int {
	words := s.list.words
	for ; s.hi < len(s.recs) && s.recs[s.hi].time < w.end; s.hi++ {
		for k, x := range s.list.busyAt(s.recs[s.hi]) {
			s.back[k] |= x
		}
	}
	for s.lo+1 < len(s.recs) && s.recs[s.lo+1].time <= w.start {
		s.lo++
	}
	if s.lo >= s.mid {
		// The older stack is used up: turn the younger one over.
		s.mid = s.hi
		clear(s.back)
		for i := s.hi - 1; i >= s.lo; i-- {
			to := s.suffix[i*words : (i+1)*words]
			if i == s.hi-1 {
				clear(to)
			} else {
				copy(to, s.suffix[(i+1)*words:])
			}
			for k, x := range s.list.busyAt(s.recs[i]) {
				to[k] |= x
			}
		}
	}
	n := 0
	front := s.suffix[s.lo*words : (s.lo+1)*words]
	for k := range s.free {
		x := s.list.all[k] &^ (front[k] | s.back[k])
		s.free[k] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// load returns the PE-ticks that are taken over the current window.
func (s *scan) load(w window) float64 {
	until := func(i int, t int64) float64 { return s.sum[i] + float64(s.taken[i])*float64(t-s.recs[i].time) }
	return until(s.hi-1, w.end) - until(s.lo, w.start)
}

// rectangle stretches the current window over the records in which its free PEs stay free. It goes record by record
// within a block, and past a whole block if its union has none of them.
func (s *scan) rectangle(free int, open bool) rectangle {
	r := rectangle{End: forever, PEs: free}
	if s.hi < len(s.recs) {
		r.End = s.list.firstBusy(s.recs[s.hi], s.free)
	} else if after, ok := s.list.next(s.recs[len(s.recs)-1]); ok && open {
		r.End = s.list.firstBusy(after, s.free)
	}
	if !open {
		r.End = min(r.End, s.deadline)
	}
	r.Begin = s.list.lastBusy(s.recs[s.lo], s.free)
	return r
}

// firstBusy returns the time of the first record from r on in which one of the
// PEs is busy; forever without any.
func (l *availability) firstBusy(r ref, pes bitset.Set) int64 {
	i := max(0, int(r.index))
	for k := int(r.block); k < len(l.blocks); k, i = k+1, 0 {
		b := l.blocks[k]
		if !b.union.Meets(pes) {
			continue
		}
		for ; i < len(b.times); i++ {
			if b.set(i, l.words).Meets(pes) {
				return b.times[i]
			}
		}
	}
	return forever
}

// lastBusy returns when the last record before r in which one of the PEs is busy
// ends; now without any.
func (l *availability) lastBusy(r ref, pes bitset.Set) int64 {
	if r.index < 0 {
		return l.now
	}
	end := r.time
	i := int(r.index) - 1
	for k := int(r.block); k >= 0; k-- {
		b := l.blocks[k]
		if i = min(i, len(b.times)-1); i >= 0 && !b.union.Meets(pes) {
			i, end = blockSize, b.times[0]
			continue
		}
		for ; i >= 0; i-- {
			if b.set(i, l.words).Meets(pes) {
				return end
			}
			end = b.times[i]
		}
		i = blockSize
	}
	return l.now
}
