package batch

import "math"

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

// branch makes a node's widths one cache line.
const branch = 16

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

// add puts a job at position i, which must be free.
func (q *waiting) add(i, width int32, estimate int64) {
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

// next returns the first position at or after from of a job that can be
// backfilled: width ≤ free, and estimate ≤ slack or width ≤ extra. It returns -1
// if there is none.
//
// A subtree with least width w and least estimate e is skipped if w > free, or e >
// slack and w > extra. Each of its jobs has a width ≥ w and an estimate ≥ e, so it
// fails the same condition. The reverse doesn't hold: w and e may be those of
// different jobs. A search therefore takes O(log n) steps if it enters no subtree
// in vain, and O(n) at worst.
func (q *waiting) next(from, free, extra int32, slack int64) int32 {
	extra = min(extra, free)
	i := from
	for level := 0; level < len(q.levels); {
		l := &q.levels[level]
		if int(i) >= len(l.width) {
			return -1
		}
		end := i/branch*branch + branch
		for i < end && !(l.width[i] <= extra || l.width[i] <= free && l.estimate[i] <= slack) {
			i++
		}
		switch {
		case i == end:
			level++
			i = end / branch
		case level == 0:
			return i
		default:
			level--
			i *= branch
		}
	}
	return -1
}
