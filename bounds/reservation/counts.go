package reservation

import (
	"slices"
	"sort"
)

// Counts is how many PEs are in use over time, in ticks, as a step
// function: none before the first step. No two neighbours are equal. The PEs
// are numbered after (see reservation.Number). The steps lie in blocks, so that long
// schedules don't move in memory with each job; finding a moment is O(log n),
// a change O(log n + steps passed + n/blockSteps).
type Counts struct {
	PEs    int // that there are
	blocks []countBlock
}

// countBlock is some consecutive steps: used[i] from times[i] on.
type countBlock struct {
	times []int64
	used  []int
}

// blockSteps is the most steps of a block.
const blockSteps = 128

// place is where a step lies; before all with block -1.
type place struct{ block, index int }

// Clone is a copy.
func (c *Counts) Clone() *Counts {
	d := &Counts{PEs: c.PEs, blocks: make([]countBlock, len(c.blocks))}
	for k, b := range c.blocks {
		d.blocks[k] = countBlock{slices.Clone(b.times), slices.Clone(b.used)}
	}
	return d
}

// Times is when the steps begin.
func (c *Counts) Times() []int64 {
	var all []int64
	for _, b := range c.blocks {
		all = append(all, b.times...)
	}
	return all
}

// at is the step that holds at t.
func (c *Counts) at(t int64) place {
	b := sort.Search(len(c.blocks), func(k int) bool { return c.blocks[k].times[0] > t }) - 1
	if b < 0 {
		return place{-1, 0}
	}
	i, found := slices.BinarySearch(c.blocks[b].times, t)
	if !found {
		i--
	}
	return place{b, i}
}

// next and before are the neighbours of a step; ok is false where there is none.
func (c *Counts) next(p place) (_ place, ok bool) {
	if p.block < 0 {
		return place{0, 0}, len(c.blocks) > 0
	}
	if p.index+1 < len(c.blocks[p.block].times) {
		return place{p.block, p.index + 1}, true
	}
	return place{p.block + 1, 0}, p.block+1 < len(c.blocks)
}

func (c *Counts) before(p place) (_ place, ok bool) {
	if p.index > 0 {
		return place{p.block, p.index - 1}, true
	}
	if p.block <= 0 {
		return place{-1, 0}, false
	}
	return place{p.block - 1, len(c.blocks[p.block-1].times) - 1}, true
}

func (c *Counts) time(p place) int64 { return c.blocks[p.block].times[p.index] }

func (c *Counts) used(p place) int {
	if p.block < 0 {
		return 0
	}
	return c.blocks[p.block].used[p.index]
}

// Steps calls f with each step of [from, to), cut to it, until f returns false.
func (c *Counts) Steps(from, to int64, f func(from, to int64, used int) bool) {
	for p := c.at(from); from < to; {
		end, n, more := to, place{}, false
		if n, more = c.next(p); more {
			end = min(end, c.time(n))
		}
		if !f(from, end, c.used(p)) || !more {
			return
		}
		from, p = end, n
	}
}

// Most is the most PEs in use at a time, and the first time that they are.
func (c *Counts) Most() (at int64, used int) {
	for _, b := range c.blocks {
		for i, u := range b.used {
			if u > used {
				at, used = b.times[i], u
			}
		}
	}
	return at, used
}

// Add takes PEs over [start, end), or gives them back if pes is negative.
func (c *Counts) Add(start, end int64, pes int) {
	if start >= end || pes == 0 {
		return
	}
	c.split(start)
	c.split(end)
	for p, ok := c.at(start), true; ok && c.time(p) < end; p, ok = c.next(p) {
		c.blocks[p.block].used[p.index] += pes
	}
	c.join(end)
	c.join(start)
}

// split makes a step begin at t.
func (c *Counts) split(t int64) {
	p := c.at(t)
	used := c.used(p)
	switch {
	case p.block >= 0 && c.time(p) == t:
		return
	case len(c.blocks) == 0:
		c.blocks = []countBlock{{}}
		p = place{0, 0}
	case p.block < 0:
		p = place{0, 0}
	default:
		p.index++
	}
	b := &c.blocks[p.block]
	if len(b.times) == blockSteps {
		const half = blockSteps / 2
		rest := countBlock{slices.Clone(b.times[half:]), slices.Clone(b.used[half:])}
		b.times, b.used = b.times[:half], b.used[:half]
		c.blocks = slices.Insert(c.blocks, p.block+1, rest)
		if p.index > half {
			p = place{p.block + 1, p.index - half}
		}
		b = &c.blocks[p.block]
	}
	b.times = slices.Insert(b.times, p.index, t)
	b.used = slices.Insert(b.used, p.index, used)
}

// join removes the step at t if it is like the one before.
func (c *Counts) join(t int64) {
	p := c.at(t)
	if q, _ := c.before(p); c.used(p) != c.used(q) {
		return
	}
	b := &c.blocks[p.block]
	b.times = slices.Delete(b.times, p.index, p.index+1)
	b.used = slices.Delete(b.used, p.index, p.index+1)
	if len(b.times) == 0 {
		c.blocks = slices.Delete(c.blocks, p.block, p.block+1)
	}
}

// First is the first start in [from, to] at which pes PEs are free for length.
func (c *Counts) First(pes int, length, from, to int64) (start int64, ok bool) {
	if pes > c.PEs || from > to {
		return 0, false
	}
	if length <= 0 {
		return from, true
	}
	for p, more := c.at(from), true; more; {
		if p.block >= 0 && c.time(p) >= from+length {
			break
		}
		free := c.used(p)+pes <= c.PEs
		if p, more = c.next(p); free {
			continue
		}
		if !more || c.time(p) > to {
			return 0, false
		}
		from = c.time(p)
	}
	return from, true
}

// Last is the last such start.
func (c *Counts) Last(pes int, length, from, to int64) (start int64, ok bool) {
	if pes > c.PEs || from > to {
		return 0, false
	}
	if length <= 0 {
		return to, true
	}
	p := c.at(to + length)
	if p.block >= 0 && c.time(p) >= to+length {
		p, _ = c.before(p)
	}
	for p.block >= 0 {
		switch {
		case c.used(p)+pes > c.PEs:
			if to = c.time(p) - length; to < from {
				return 0, false
			}
		case c.time(p) <= to:
			return to, true
		}
		p, _ = c.before(p)
	}
	return to, true
}
