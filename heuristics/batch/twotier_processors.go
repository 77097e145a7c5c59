// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/processors"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// process is what runs in one tier of a processor.
type process struct {
	job int32 // -1: none
	use int32 // 0: none
}

var noProcess = process{-1, 0}

// twoTiers are the processors. A processor is in foreIdle, at the use of its
// background, while its foreground is idle. It is in backIdle, at the use of its
// foreground, while its background is idle and that use is below the threshold.
type twoTiers struct {
	fore, back         []process
	foreIdle, backIdle idleSet
	threshold          int32
	busy               []int32 // of each job in the background: its processors with a foreground process
	touched            []int32 // jobs in the background whose foreground has changed at this instant
	isTouched          []bool
	// promotable is called when all processors of a job in the background get idle
	// in the foreground, and when they no longer are.
	promotable func(job int32, is bool)
}

// newTwoTiers returns the processors, all idle. If uses are unknown, all processes
// are alike to idle sets. The error wraps model.ErrUnsupported: there are too many
// for idle sets.
func newTwoTiers(t *view.Batch, unknown bool) (twoTiers, error) {
	ranks := make([]int32, view.FullRate+1)
	for k := range t.Jobs {
		for _, u := range t.Jobs[k].Use {
			ranks[u] = 1
		}
	}
	uses := int32(1) // no process
	for u, is := range ranks {
		if is == 1 {
			ranks[u] = uses
			if !unknown {
				uses++
			}
		}
	}
	if unknown {
		uses = 2
	}
	if bits := int64(uses) * 2 * int64(t.Processors); bits > math.MaxInt32 {
		return twoTiers{}, fmt.Errorf("%w: %d processors times %d different CPU uses, the most is %d; round the uses", model.ErrUnsupported, t.Processors, uses, math.MaxInt32/2)
	}
	n := len(t.Jobs)
	x := twoTiers{fore: make([]process, t.Processors), back: make([]process, t.Processors), foreIdle: newIdleSet(t.Processors, uses, ranks),
		backIdle: newIdleSet(t.Processors, uses, ranks), threshold: int32(t.Threshold), busy: make([]int32, n), isTouched: make([]bool, n)}
	for p := range x.fore {
		x.fore[p], x.back[p] = noProcess, noProcess
		x.foreIdle.add(0, int32(p))
		x.backIdle.add(0, int32(p))
	}
	return x, nil
}

// touch notes that the rate of job k in the background may have changed.
func (x *twoTiers) touch(k int32) {
	if !x.isTouched[k] {
		x.isTouched[k] = true
		x.touched = append(x.touched, k)
	}
}

// setFore puts a process into the foreground of p, which has been taken from
// foreIdle.
func (x *twoTiers) setFore(p int32, by process) {
	x.fore[p] = by
	if b := x.back[p].job; b >= 0 {
		x.touch(b)
		if x.busy[b]++; x.busy[b] == 1 {
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
		if x.busy[b]--; x.busy[b] == 0 {
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
		x.busy[by.job]++
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

// rate returns the rate of a job in the background on the given processors: that of
// its slowest process.
func (x *twoTiers) rate(j *view.BatchJob, list []int32) int64 {
	if len(j.Use) == 1 {
		most := int32(0)
		for _, p := range list {
			most = max(most, x.fore[p].use)
		}
		return j.BackgroundRate(j.Use[0], view.FullRate-int64(most))
	}
	rate := int64(view.FullRate)
	for i, p := range list {
		rate = min(rate, j.BackgroundRate(j.Use[i], view.FullRate-int64(x.fore[p].use)))
	}
	return rate
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

// take removes the first processors and writes them to list; there must be as many.
func (s *idleSet) take(list []int32) {
	s.count -= int32(len(list))
	s.free.Take(list)
	for i := range list {
		list[i] &= 1<<s.shift - 1
	}
}
