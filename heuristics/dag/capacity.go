// SPDX-License-Identifier: MIT

package dag

import (
	"math"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/core/view"
)

// capacity holds what the tasks of one machine with a capacity use over time, and finds the earliest time at which
// another one has room: insertion for machines that run several tasks at a time.
//
// It is a step function from time to the use of each resource, 0 before its first step and after its last. Steps lie in
// blocks that know the least and the most that their steps use. So a search passes a block in one step if a task fits
// into all of its steps, or into none. For n steps, finding takes O(log n + R n/blockSteps) for the blocks that it
// passes, and O(R blockSteps) for each block in which some steps have room and others haven't. A change takes
// O(R (log n + steps passed + blockSteps) + n/blockSteps). package profile holds whole times and one amount, for
// engines that count in ticks.
//
// It is canonical: neighbouring steps differ. So a task that is put and taken away again leaves no trace.
type capacity struct {
	has    []int64 // by resource
	blocks []useBlock
	spare  useBlock // its arrays are used again
}

// useBlock is some consecutive steps. From times[i] on used[i*R:][:R] are in use, up to the next step.
type useBlock struct {
	times       []float64
	used        []int64
	least, most []int64 // of used, by resource
}

// blockSteps is the most steps of a block. On 10^5 tasks and 64 machines, 32 to 128 make little difference.
const blockSteps = 64

// newRooms returns the machines' capacities, all free; nil if machines run one task at a time.
func newRooms(g *view.Graph) []capacity {
	if g.Room == nil {
		return nil
	}
	all := make([]capacity, g.Machines)
	for m := range all {
		all[m].has = g.Room.Of(int32(m))
	}
	return all
}

// step is the place of a step. Block -1 is the time before all steps.
type step struct{ block, index int }

// at returns the step that holds at t.
func (c *capacity) at(t float64) step {
	b := sort.Search(len(c.blocks), func(k int) bool { return c.blocks[k].times[0] > t }) - 1
	if b < 0 {
		return step{-1, 0}
	}
	times := c.blocks[b].times
	return step{b, sort.Search(len(times), func(k int) bool { return times[k] > t }) - 1}
}

// find returns the earliest start at ready or later from which need is free for length; ready if length is 0, or infinite
// since the task can't run. A start is moved to the end of each step that has too little left: no start before has room.
func (c *capacity) find(need []int64, ready, length float64) float64 {
	if length <= 0 || math.IsInf(length, 1) {
		return ready
	}
	s, free := c.at(ready), true // free: need is free from ready up to the step at hand
	i := s.index
	for b := max(0, s.block); b < len(c.blocks); b++ {
		x := &c.blocks[b]
		switch end := ready + length; {
		case free && x.times[i] >= end && x.times[i] > ready:
			return ready
		case c.fits(need, x.most):
			if !free {
				ready, free = x.times[i], true
			}
		case !c.fits(need, x.least):
			free = false
		default:
			for ; i < len(x.times); i++ {
				t := x.times[i]
				if free && t >= end && t > ready {
					return ready
				}
				fits := c.fits(need, x.used[i*len(need):][:len(need)])
				if fits && !free {
					ready, end = t, t+length
				}
				free = fits
			}
		}
		i = 0
	}
	return ready // nothing runs after the last step
}

// fits reports whether need and what is used are at most what the machine has.
func (c *capacity) fits(need, used []int64) bool {
	for r, n := range need {
		if used[r] > c.has[r]-n {
			return false
		}
	}
	return true
}

// add puts a task of the given need into [start, end), or takes it away if sign is -1.
func (c *capacity) add(need []int64, start, end float64, sign int64) {
	if start >= end {
		return
	}
	c.cut(end)
	s := c.cut(start)
	for i := s.index; s.block < len(c.blocks); i, s.block = 0, s.block+1 {
		x := &c.blocks[s.block]
		if x.times[i] >= end {
			break
		}
		for ; i < len(x.times) && x.times[i] < end; i++ {
			for r, n := range need {
				x.used[i*len(need)+r] += sign * n
			}
		}
		x.bound(len(need))
	}
	c.merge(start)
	c.merge(end)
}

// cut begins a step at t, and returns its place.
func (c *capacity) cut(t float64) step {
	s, n := c.at(t), len(c.has)
	switch {
	case s.block >= 0 && c.blocks[s.block].times[s.index] == t:
		return s
	case s.block >= 0:
		s.index++
	default:
		if s.block = 0; len(c.blocks) == 0 {
			c.blocks = append(c.blocks, useBlock{c.spare.times[:0], c.spare.used[:0], make([]int64, n), make([]int64, n)})
		}
	}
	x := &c.blocks[s.block]
	if len(x.times) == blockSteps {
		const half = blockSteps / 2
		rest := useBlock{slices.Clone(x.times[half:]), slices.Clone(x.used[half*n:]), make([]int64, n), make([]int64, n)}
		x.times, x.used = x.times[:half], x.used[:half*n]
		x.bound(n)
		rest.bound(n)
		c.blocks = slices.Insert(c.blocks, s.block+1, rest)
		if s.index > half {
			s = step{s.block + 1, s.index - half}
		}
		x = &c.blocks[s.block]
	}
	x.times = slices.Insert(x.times, s.index, t)
	end, i := len(x.used), s.index*n
	x.used = slices.Grow(x.used, n)[:end+n]
	copy(x.used[i+n:], x.used[i:end])
	if i > 0 {
		copy(x.used[i:i+n], x.used[i-n:]) // as the step before it, which holds its bounds
		return s
	}
	clear(x.used[:n]) // before all steps
	for r := range n {
		x.least[r], x.most[r] = min(x.least[r], 0), max(x.most[r], 0)
	}
	return s
}

// merge removes the step at t if it equals the one before it.
func (c *capacity) merge(t float64) {
	s, n := c.at(t), len(c.has)
	x := &c.blocks[s.block]
	i, before := s.index*n, x.used[max(0, s.index-1)*n:]
	if s.index == 0 && s.block > 0 {
		last := c.blocks[s.block-1].used
		before = last[len(last)-n:]
	}
	for r, u := range x.used[i:][:n] {
		if first := s.index == 0 && s.block == 0; first && u != 0 || !first && u != before[r] {
			return
		}
	}
	x.times = slices.Delete(x.times, s.index, s.index+1)
	x.used = slices.Delete(x.used, i, i+n)
	switch {
	case len(x.times) == 0:
		c.blocks = slices.Delete(c.blocks, s.block, s.block+1)
	case s.index == 0:
		x.bound(n)
	}
}

// clear takes all tasks away.
func (c *capacity) clear() {
	if len(c.blocks) > 0 {
		c.spare, c.blocks = c.blocks[0], c.blocks[:0]
	}
}

// bound computes the least and the most that the steps use of n resources.
func (x *useBlock) bound(n int) {
	copy(x.least, x.used[:n])
	copy(x.most, x.used[:n])
	for i := n; i < len(x.used); i += n {
		for r, u := range x.used[i:][:n] {
			x.least[r], x.most[r] = min(x.least[r], u), max(x.most[r], u)
		}
	}
}
