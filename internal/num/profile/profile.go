// SPDX-License-Identifier: MIT

// Package profile holds the amount of a resource in use over time.
package profile

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Profile is a step function time → amount in use, 0 before its first step. Times are whole numbers (ticks). It holds
// amounts and no identities: which user gets which unit of the resource is decided afterwards. The zero value with a
// Capacity is an empty profile.
//
// It is canonical: no two neighbouring steps are equal. Steps lie in blocks, so that a change doesn't move all later
// ones. For n steps, finding a moment takes O(log n), a change O(log n + steps passed + n/blockSteps).
type Profile struct {
	Capacity int // the limit for First and Last; Add doesn't look at it
	blocks   []block
}

// block is some consecutive steps: used[i] from times[i] on.
type block struct {
	times []int64
	used  []int
}

// blockSteps is the most steps of a block.
const blockSteps = 128

// place is the place of a step. Block -1 is the time before all steps.
type place struct{ block, index int }

// stepAt returns the step that holds at t.
func (p *Profile) stepAt(t int64) place {
	if len(p.blocks) > 0 { // the first step is asked for often
		if times := p.blocks[0].times; times[0] <= t && len(times) > 1 && t < times[1] {
			return place{0, 0}
		}
	}
	b := sort.Search(len(p.blocks), func(k int) bool { return p.blocks[k].times[0] > t }) - 1
	if b < 0 {
		return place{-1, 0}
	}
	i, found := slices.BinarySearch(p.blocks[b].times, t)
	if !found {
		i--
	}
	return place{b, i}
}

// next and before return the neighbours of a step; ok is false if there is none.
func (p *Profile) next(s place) (_ place, ok bool) {
	if s.block < 0 {
		return place{0, 0}, len(p.blocks) > 0
	}
	if s.index+1 < len(p.blocks[s.block].times) {
		return place{s.block, s.index + 1}, true
	}
	return place{s.block + 1, 0}, s.block+1 < len(p.blocks)
}

func (p *Profile) before(s place) (_ place, ok bool) {
	if s.index > 0 {
		return place{s.block, s.index - 1}, true
	}
	if s.block <= 0 {
		return place{-1, 0}, false
	}
	return place{s.block - 1, len(p.blocks[s.block-1].times) - 1}, true
}

func (p *Profile) time(s place) int64 { return p.blocks[s.block].times[s.index] }

func (p *Profile) used(s place) int {
	if s.block < 0 {
		return 0
	}
	return p.blocks[s.block].used[s.index]
}

// Steps calls f with each step of [from, to), cut to it, until f returns false.
func (p *Profile) Steps(from, to int64, f func(from, to int64, used int) bool) {
	for s := p.stepAt(from); from < to; {
		end := to
		n, more := p.next(s)
		if more {
			end = min(end, p.time(n))
		}
		if !f(from, end, p.used(s)) || !more {
			return
		}
		from, s = end, n
	}
}

// Peak returns the first moment of [from, to) at which the most is in use, and that amount.
func (p *Profile) Peak(from, to int64) (at int64, used int) {
	at, used = from, p.used(p.stepAt(from))
	p.Steps(from, to, func(start, _ int64, u int) bool {
		if u > used {
			at, used = start, u
		}
		return true
	})
	return at, used
}

// Add takes an amount over [start, end), or gives it back if it is negative.
func (p *Profile) Add(start, end int64, amount int) {
	if start >= end || amount == 0 {
		return
	}
	s := p.stepAt(start)
	before := p.used(s) // the start
	if s.block >= 0 && p.time(s) == start {
		previous, _ := p.before(s)
		before = p.used(previous)
	} else {
		s = p.insert(s, start, before)
	}
	first := p.used(s) + amount
	last, more := s, true
	for more && p.time(s) < end {
		p.blocks[s.block].used[s.index] += amount
		last = s
		s, more = p.next(s)
	}
	switch used := p.used(last); {
	case !more || p.time(s) > end:
		p.insert(last, end, used-amount)
	case p.used(s) == used:
		p.remove(s)
	}
	if first == before {
		p.remove(p.stepAt(start))
	}
}

// insert adds a step after s and returns its place.
func (p *Profile) insert(s place, t int64, used int) place {
	switch {
	case len(p.blocks) == 0:
		p.blocks = []block{{}}
		s = place{0, 0}
	case s.block < 0:
		s = place{0, 0}
	default:
		s.index++
	}
	b := &p.blocks[s.block]
	if len(b.times) == blockSteps {
		const half = blockSteps / 2
		rest := block{slices.Clone(b.times[half:]), slices.Clone(b.used[half:])}
		b.times, b.used = b.times[:half], b.used[:half]
		p.blocks = slices.Insert(p.blocks, s.block+1, rest)
		if s.index > half {
			s = place{s.block + 1, s.index - half}
		}
		b = &p.blocks[s.block]
	}
	b.times = slices.Insert(b.times, s.index, t)
	b.used = slices.Insert(b.used, s.index, used)
	return s
}

func (p *Profile) remove(s place) {
	b := &p.blocks[s.block]
	b.times = slices.Delete(b.times, s.index, s.index+1)
	b.used = slices.Delete(b.used, s.index, s.index+1)
	if len(b.times) == 0 {
		p.blocks = slices.Delete(p.blocks, s.block, s.block+1)
	}
}

// First returns the first start in [from, to] from which the amount is free for
// length ticks; ok is false if there is none.
//
// A start is moved to the end of each step that has too little left: no start
// before that end has the amount free.
func (p *Profile) First(amount int, length, from, to int64) (start int64, ok bool) {
	if amount > p.Capacity || from > to {
		return 0, false
	}
	if length <= 0 {
		return from, true
	}
	for s, more := p.stepAt(from), true; more; {
		if s.block >= 0 && p.time(s) >= from+length {
			break
		}
		free := p.used(s)+amount <= p.Capacity
		if s, more = p.next(s); free {
			continue
		}
		if !more || p.time(s) > to {
			return 0, false
		}
		from = p.time(s)
	}
	return from, true
}

// Gap returns the first start in [from, to) from which the amount is free for length ticks or up to the time to,
// whichever is less; ok is false if there is none. It answers whether the amount in use from the time to on can be
// moved to an earlier time, without taking it out first.
func (p *Profile) Gap(amount int, length, from, to int64) (start int64, ok bool) {
	most, s := p.Capacity-amount, p.stepAt(from)
	start, free := from, most >= 0
	for i, b := s.index, max(0, s.block); b < len(p.blocks); i, b = 0, b+1 {
		used, times := p.blocks[b].used, p.blocks[b].times
		for times = times[:len(used)]; i < len(used); i++ {
			at := times[i]
			if at >= to || free && at-start >= length {
				return start, free && start < to
			}
			if fits := used[i] <= most; fits != free {
				start, free = max(from, at), fits
			}
		}
	}
	return start, free && start < to
}

// Holes calls f, for each class c from least on, with each longest span from the time
// first on in which 2^c are free and that meets [from, to). The last of a class may
// end at math.MaxInt64. It passes the steps of the longest spans of the class least
// once for all classes.
func (p *Profile) Holes(first, from, to int64, least int, f func(class int, start, end int64)) {
	var starts [64]int64
	class := func(used int) int { return bits.Len(uint(max(0, p.Capacity-used))) - 1 }
	s := p.stepAt(from)
	top := class(p.used(s))
	for x, c := s, top; c >= least; {
		if x.block < 0 || p.time(x) <= first {
			for ; c >= least; c-- {
				starts[c] = first
			}
			break
		}
		t := p.time(x)
		x, _ = p.before(x)
		for below := class(p.used(x)); c > below && c >= least; c-- {
			starts[c] = t
		}
	}
	open := top // spans of classes up to open meet [from, to) and haven't ended
	i, b := s.index+1, s.block
	if b < 0 {
		i, b = 0, 0
	}
	for ; b < len(p.blocks); i, b = 0, b+1 {
		used, times := p.blocks[b].used, p.blocks[b].times
		for times = times[:len(used)]; i < len(used); i++ {
			c, t := class(used[i]), times[i]
			switch {
			case t < to:
				for ; open < c; open++ {
					starts[open+1] = t
				}
			case open < least:
				return
			}
			for ; open > c; open-- {
				if open >= least {
					f(open, starts[open], t)
				}
			}
		}
	}
	for ; open >= least; open-- {
		f(open, starts[open], math.MaxInt64)
	}
}

// Last returns the last such start.
func (p *Profile) Last(amount int, length, from, to int64) (start int64, ok bool) {
	if amount > p.Capacity || from > to {
		return 0, false
	}
	if length <= 0 {
		return to, true
	}
	s := p.stepAt(to + length)
	if s.block >= 0 && p.time(s) >= to+length {
		s, _ = p.before(s)
	}
	for s.block >= 0 {
		switch {
		case p.used(s)+amount > p.Capacity:
			if to = p.time(s) - length; to < from {
				return 0, false
			}
		case p.time(s) <= to:
			return to, true
		}
		s, _ = p.before(s)
	}
	return to, true
}
