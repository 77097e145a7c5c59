// SPDX-License-Identifier: MIT

package batch

import (
	"math"
	"slices"
)

// waiting is a queue of jobs at fixed positions: a tree of branch children to a node
// that holds the least width and the least estimate of each subtree.
type waiting struct {
	levels []waitingLevel // leaves first; the last has at most branch nodes
}

// waitingLevel is the nodes of one depth, a multiple of branch.
type waitingLevel struct {
	width    []int32 // math.MaxInt32: no job
	estimate []int64
}

// branch children to a node: of 4, 8 and 16, 8 take the least time for 200,000 jobs.
const (
	branchBits = 3
	branch     = 1 << branchBits
)

func newWaiting(positions int) *waiting {
	q := new(waiting)
	for n := positions; ; n = n / branch {
		n = max(1, (n+branch-1)/branch) * branch
		l := waitingLevel{make([]int32, n), make([]int64, n)}
		for i := range n {
			l.width[i], l.estimate[i] = math.MaxInt32, math.MaxInt64
		}
		q.levels = append(q.levels, l)
		if n == branch {
			return q
		}
	}
}

// grow makes room for twice as many positions.
func (q *waiting) grow() {
	old := q.levels
	q.levels = newWaiting(2 * len(old[0].width)).levels
	for l := range old {
		copy(q.levels[l].width, old[l].width)
		copy(q.levels[l].estimate, old[l].estimate)
	}
	for l := len(old); l < len(q.levels); l++ { // all old nodes are below the first one
		below := q.levels[l-1]
		q.levels[l].width[0], q.levels[l].estimate[0] = slices.Min(below.width[:branch]), slices.Min(below.estimate[:branch])
	}
}

// add puts a job at position i, which must be free.
func (q *waiting) add(i, width int32, estimate int64) {
	for int(i) >= len(q.levels[0].width) {
		q.grow()
	}
	for _, l := range q.levels {
		if width >= l.width[i] && estimate >= l.estimate[i] {
			return
		}
		l.width[i], l.estimate[i] = min(l.width[i], width), min(l.estimate[i], estimate)
		i /= branch
	}
}

// remove removes the job at position i. It goes up as long as minima change.
func (q *waiting) remove(i int32) {
	width, estimate := int32(math.MaxInt32), int64(math.MaxInt64)
	for _, l := range q.levels {
		oldWidth, oldEstimate := l.width[i], l.estimate[i]
		if width == oldWidth && estimate == oldEstimate {
			return
		}
		l.width[i], l.estimate[i] = width, estimate
		first := i / branch * branch
		width, estimate = l.width[first], l.estimate[first]
		for _, w := range l.width[first+1 : first+branch] {
			width = min(width, w)
		}
		for _, e := range l.estimate[first+1 : first+branch] {
			estimate = min(estimate, e)
		}
		i /= branch
	}
}

// next returns the first position from from up to to of a job that can be
// backfilled: width ≤ free, and estimate ≤ slack or width ≤ extra. It returns -1 if
// there is none. No job is at or beyond to, and there is room below it.
//
// A subtree with least width w and least estimate e is skipped if w > free, or e > slack and w > extra. Each of its
// jobs has a width ≥ w and an estimate ≥ e, so it fails the same condition. The reverse doesn't hold: w and e may
// belong to different jobs. A search therefore takes O(log(to-from)) steps if it enters no subtree in vain, and
// O(to-from) at worst.
func (q *waiting) next(from, to, free, extra int32, slack int64) int32 {
	extra = min(extra, free)
	i, level := from, 0
	if from == 0 { // down from the top, not up first
		level = len(q.levels) - 1
	}
	for level < len(q.levels) {
		l := &q.levels[level]
		end := min(i/branch*branch+branch, (to-1)>>(branchBits*level)+1)
		if i >= end {
			return -1
		}
		width := l.width[:end]
		for i < end && (width[i] > free || width[i] > extra && l.estimate[i] > slack) {
			i++
		}
		switch {
		case i == end:
			level++
			i = (end + branch - 1) / branch
		case level == 0:
			return i
		default:
			level--
			i *= branch
		}
	}
	return -1
}
