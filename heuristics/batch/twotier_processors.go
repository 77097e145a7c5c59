// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// process is the process in one tier of a processor.
type process struct {
	job int32 // -1: none
	use int32 // 0: none
}

var noProcess = process{-1, 0}

// tierJob is where a job is.
type tierJob struct {
	phase            phase
	up               bool  // it is in the background, and lifted (see PEASY)
	touched, changed bool  // it is in twoTiers.touched, in twoTierScheduler.changed
	busy             int32 // in the background: its processors with a foreground process
	list             []int32
	use              []int64 // of each process, or one for all
	told             phase   // the tier in which the simulation has it; waits: none
	toldList         []int32
}

// useOf returns the use of process i.
func (j *tierJob) useOf(i int) int32 {
	if len(j.use) == 1 {
		return int32(j.use[0])
	}
	return int32(j.use[i])
}

// twoTiers are the processors. A processor is in foreIdle, at the use of its
// background, while its foreground is idle. It is in backIdle, at the use of its
// foreground, while its background is idle and that use is below the threshold.
type twoTiers struct {
	state              []tierJob // of jobs that have arrived
	fore, back         []process
	foreIdle, backIdle idleSet
	uses               []int32 // row of each use in idle sets
	threshold          int32
	every              bool    // there are rows for all uses, or no use matters
	touches            bool    // touched is kept
	touched            []int32 // jobs in the background whose foreground has changed at this instant
	// promotable is called when all processors of a job in the background get idle
	// in the foreground, and when they no longer are.
	promotable func(job int32, is bool)
}

// newTwoTiers returns the processors, all idle. If uses are unknown, all processes
// are alike to idle sets. Else these have rows for all uses, if there are not too many
// processors for that.
func newTwoTiers(n int, threshold int64, unknown bool) twoTiers {
	x := twoTiers{fore: make([]process, n), back: make([]process, n), threshold: int32(threshold), uses: make([]int32, view.FullRate+1)}
	for p := range x.fore {
		x.fore[p], x.back[p] = noProcess, noProcess
	}
	x.every = unknown || (view.FullRate+1)*2*int64(n) <= math.MaxInt32
	for u := range x.uses {
		switch {
		case unknown && u > 0:
			x.uses[u] = 1
		case x.every:
			x.uses[u] = int32(u)
		}
	}
	x.idle()
	return x
}

// idle makes the idle sets.
func (x *twoTiers) idle() {
	rows := slices.Max(x.uses) + 1
	x.foreIdle, x.backIdle = newIdleSet(len(x.fore), rows, x.uses), newIdleSet(len(x.fore), rows, x.uses)
	for p := range x.fore {
		if x.fore[p].job < 0 {
			x.foreIdle.add(x.back[p].use, int32(p))
		}
		if x.back[p].job < 0 && x.fore[p].use < x.threshold {
			x.backIdle.add(x.fore[p].use, int32(p))
		}
	}
}

// learn makes room for the uses of a job in the idle sets. The error wraps
// model.ErrUnsupported: there are too many. O(processors times uses) for a new use.
func (x *twoTiers) learn(uses []int64) error {
	if x.every {
		return nil
	}
	known := true
	for _, u := range uses {
		if x.uses[u] == 0 {
			x.uses[u], known = 1, false
		}
	}
	if known {
		return nil
	}
	rows := int32(1) // no process
	for u, row := range x.uses {
		if row > 0 {
			x.uses[u] = rows
			rows++
		}
	}
	if bits := int64(rows) * 2 * int64(len(x.fore)); bits > math.MaxInt32 {
		return fmt.Errorf("%w: %d processors times %d different CPU uses, the most is %d; round the uses", model.ErrUnsupported, len(x.fore), rows, math.MaxInt32/2)
	}
	x.idle()
	return nil
}

// touch notes that the foreground of job k, in the background, may have changed.
func (x *twoTiers) touch(k int32) {
	if x.touches && !x.state[k].touched {
		x.state[k].touched = true
		x.touched = append(x.touched, k)
	}
}

// setFore puts a process into the foreground of p, which has been taken from
// foreIdle.
func (x *twoTiers) setFore(p int32, by process) {
	x.fore[p] = by
	if b := x.back[p].job; b >= 0 {
		x.touch(b)
		if x.state[b].busy++; x.state[b].busy == 1 {
			x.promotable(b, false)
		}
		return
	}
	x.backIdle.remove(0, p)
	if by.use < x.threshold {
		x.backIdle.add(by.use, p)
	}
}

func (x *twoTiers) clearFore(p int32) {
	use := x.fore[p].use
	x.fore[p] = noProcess
	x.foreIdle.add(x.back[p].use, p)
	if b := x.back[p].job; b >= 0 {
		x.touch(b)
		if x.state[b].busy--; x.state[b].busy == 0 {
			x.promotable(b, true)
		}
		return
	}
	if use < x.threshold {
		x.backIdle.remove(use, p)
	}
	x.backIdle.add(0, p)
}

// setBack puts a process into the background of p, which has been taken from
// backIdle.
func (x *twoTiers) setBack(p int32, by process) {
	x.back[p] = by
	if x.fore[p].job >= 0 {
		x.state[by.job].busy++
		return
	}
	x.foreIdle.remove(0, p)
	x.foreIdle.add(by.use, p)
}

func (x *twoTiers) clearBack(p int32) {
	use := x.back[p].use
	x.back[p] = noProcess
	if x.fore[p].job < 0 {
		x.foreIdle.remove(use, p)
		x.foreIdle.add(0, p)
	}
	if f := x.fore[p].use; f < x.threshold {
		x.backIdle.add(f, p)
	}
}

// idleSet is a set of processors, ordered by a use and then by number: a bitset
// of a row for each use that occurs in the instance. Adding, removing and taking a
// processor take O(levels of the bitset); it has one bit for each use and
// processor.
type idleSet struct {
	free  processors.Free
	ranks []int32 // row of each use in ten-thousandths
	shift int     // rows have 1 << shift bits
	count int32
}

func newIdleSet(processors int, uses int32, ranks []int32) idleSet {
	s := idleSet{ranks: ranks}
	for 1<<s.shift < processors {
		s.shift++
	}
	for words := int(uses) << s.shift; len(s.free.Levels) == 0 || words > 1; {
		words = (words + 63) / 64
		s.free.Levels = append(s.free.Levels, make([]uint64, words))
	}
	return s
}

func (s *idleSet) key(use, p int32) int32 { return s.ranks[use]<<s.shift | p }

func (s *idleSet) add(use, p int32) {
	s.count++
	s.free.Add(s.key(use, p))
}

func (s *idleSet) remove(use, p int32) {
	s.count--
	s.free.Remove(s.key(use, p))
}

// removeFirst removes the first processors and writes them to list; there must be as many.
func (s *idleSet) removeFirst(list []int32) {
	s.count -= int32(len(list))
	s.free.Take(list)
	for i := range list {
		list[i] &= 1<<s.shift - 1
	}
}
