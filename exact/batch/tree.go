// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/turns"
)

// mostJobs is the number of jobs up to which sets of them are bits of a word.
const mostJobs = 64

// tree is a depth-first branch and bound on the order of the starts. A node is a
// partial schedule; its children start one more job each, no earlier than the one
// before, as early as it fits.
//
// Some leaf is an optimum: take the jobs of one by their starts. If one could start
// earlier beside those before it, and no earlier than the last of these, it could do
// so beside those after it, too, which start no earlier than it did: the optimum
// could be improved.
type tree struct {
	*jobs
	ctx    context.Context
	off    deviceSet
	before []uint64 // the identical jobs that start before each job, see expand
	memo   memo
	bound  *remaining
	levels []level

	best    int64   // the least weighted sum of responses known
	starts  []int64 // that has it; nil: a solution from elsewhere
	target  int64   // only smaller sums are looked for
	slack   func(best int64) int64
	dropped int64 // the least bound of the nodes dropped because of target
	nodes   int64
	report  func()
	stopped bool
}

// level is what the search knows of a node on its way, and its children.
type level struct {
	node
	children []child
	next     int // the child that is being searched
}

// node is a partial schedule.
type node struct {
	set  uint64
	now  int64   // the last start
	cost int64   // the weighted responses of the jobs in set
	paid float64 // what they cost and pay, see paid
	ends []end   // of those that run after now, ascending
}

// end is when a running job gives its processors back.
type end struct {
	at  int64
	job int32
}

// child is a job to start next.
type child struct {
	job          int32
	start, bound int64
}

func newTree(ctx context.Context, j *jobs, off deviceSet) *tree {
	n := len(j.release)
	t := &tree{jobs: j, ctx: ctx, off: off, before: make([]uint64, n), levels: make([]level, n+1), best: 1 << 62, target: 1 << 62, dropped: 1 << 62}
	t.bound = newRemaining(j, off)
	t.memo.off = off&devMemo != 0
	for k := range n {
		for i := range n {
			if off&devIdentical == 0 && j.length[i] == j.length[k] && j.width[i] == j.width[k] && j.release[i] <= j.release[k] && j.weight[i] >= j.weight[k] &&
				(j.release[i] < j.release[k] || j.weight[i] > j.weight[k] || i < k) {
				t.before[k] |= 1 << i
			}
		}
	}
	return t
}

// know notes that there is a solution with that sum; starts may be nil.
func (t *tree) know(sum int64, starts []int64) {
	if sum < t.best {
		t.best, t.starts = sum, starts
		t.target = sum - t.slack(sum)
	}
}

// lower returns a bound of the sum: no solution is below it.
func (t *tree) lower() int64 {
	low := min(t.best, t.dropped)
	for d := range t.levels {
		l := &t.levels[d]
		if l.next < len(l.children) {
			low = min(low, l.children[l.next].bound) // they are sorted
		}
	}
	return low
}

// search explores all. When ctx ends it stops, and lower is what is proved.
func (t *tree) search() {
	t.levels[0].children = []child{{}} // as long as nothing is known, 0 is the bound
	t.visit(0)
}

// visit explores the node at a level.
func (t *tree) visit(depth int) {
	if turns.Stop(t.ctx, 5*int64(len(t.release))/8+1) {
		t.stopped = true
		return
	}
	if t.nodes++; t.nodes%(1<<12) == 0 {
		t.report()
	}
	if t.nodes == nodesBeforePrices && t.off&devPrices == 0 {
		t.usePrices(depth)
	}
	l := &t.levels[depth]
	l.children, l.next = l.children[:0], 0
	if depth == len(t.release) {
		t.know(l.cost, t.path())
		return
	}
	t.expand(l)
	for ; l.next < len(l.children); l.next++ {
		c := l.children[l.next]
		if c.bound >= t.target {
			t.dropped = min(t.dropped, c.bound)
			continue
		}
		t.step(&l.node, c, &t.levels[depth+1].node)
		if t.memo.dominates(&t.levels[depth+1].node, t) {
			continue
		}
		if t.visit(depth + 1); t.stopped {
			return // next stays: the child isn't done
		}
	}
}

// nodesBeforePrices is the node at which prices are made; they take as long as some
// hundred nodes.
const nodesBeforePrices = 20

// usePrices makes prices for the nodes to come, and for those that wait on the way to
// a depth.
func (t *tree) usePrices(depth int) {
	t.bound.paid = newPaid(t.ctx, t.jobs)
	for d := range depth {
		l := &t.levels[d]
		c := l.children[l.next]
		t.levels[d+1].paid = l.paid + t.bound.paid.cost(int(c.job), c.start)
		waiting := l.children[l.next+1:]
		for i := range waiting {
			var x node
			t.step(&l.node, waiting[i], &x)
			waiting[i].bound = max(waiting[i].bound, t.bound.of(t, &x))
		}
		sortChildren(waiting)
	}
}

// path returns the starts of the jobs of a leaf.
func (t *tree) path() []int64 {
	starts := make([]int64, len(t.release))
	for d := range len(t.release) {
		c := t.levels[d].children[t.levels[d].next]
		starts[c.job] = c.start
	}
	return starts
}

// earliest returns the first time from now and the job's release on at which it
// fits beside the running jobs. Nothing starts after now, so it fits from then on.
func (t *tree) earliest(x *node, k int) int64 {
	at, free := max(x.now, t.release[k]), t.processors
	for _, e := range x.ends {
		free -= t.width[e.job]
	}
	for _, e := range x.ends {
		if e.at <= at || free < t.width[k] {
			at = max(at, e.at)
			free += t.width[e.job]
		} else {
			break
		}
	}
	return at
}

// expand lists the children of a node that may lead to a smaller sum, by their
// bounds. Left out are
//
//   - active schedules: job k that starts at s although another job i could start
//     at e and end by s, e + p_i ≤ s. In each completion i starts at s or later, for
//     starts ascend. At e it ends earlier, and it fits: only the running jobs are
//     there before s. So no completion is optimal among those of the node.
//   - identical jobs: job k if i, as long and as wide, has r_i ≤ r_k, ω_i ≥ ω_k, ω the
//     weights, and isn't started; if all are equal, if i < k. In a completion k starts
//     before i, and r_i ≤ r_k ≤ s_k ≤ s_i, so both may swap their starts. That adds
//     (ω_k - ω_i)(s_i - s_k) ≤ 0 to the sum. This is a partial order of the jobs; a swap
//     brings their order nearer to any order that it is a part of, so that swaps end.
//
// Both leave one of the node's best completions.
func (t *tree) expand(l *level) {
	limit := int64(1 << 62)
	n := len(t.release)
	earliest := t.bound.earliest
	for k := range n {
		if l.set>>k&1 == 0 {
			earliest[k] = t.earliest(&l.node, k)
			limit = min(limit, earliest[k]+t.length[k])
		}
	}
	if t.off&devActive != 0 {
		limit = 1 << 62
	}
	for k := range n {
		if l.set>>k&1 == 0 && earliest[k] < limit && t.before[k]&^l.set == 0 {
			l.children = append(l.children, child{job: int32(k), start: earliest[k]})
		}
	}
	next := &node{}
	if d := bits.OnesCount64(l.set) + 1; d < len(t.levels) {
		next = &t.levels[d].node
	}
	for i := range l.children {
		c := &l.children[i]
		t.step(&l.node, *c, next)
		c.bound = t.bound.of(t, next)
	}
	sortChildren(l.children)
}

func sortChildren(children []child) {
	slices.SortStableFunc(children, func(a, b child) int {
		return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.start, b.start), cmp.Compare(a.job, b.job))
	})
}

// step makes next the node x with one more job.
func (t *tree) step(x *node, c child, next *node) {
	next.set, next.now = x.set|1<<c.job, c.start
	stop := c.start + t.length[c.job]
	next.cost = x.cost + t.weight[c.job]*(stop-t.release[c.job])
	if t.bound.paid != nil {
		next.paid = x.paid + t.bound.paid.cost(int(c.job), c.start)
	}
	next.ends = next.ends[:0]
	placed := false
	for _, e := range x.ends {
		if e.at <= c.start {
			continue
		}
		if !placed && stop < e.at {
			next.ends = append(next.ends, end{stop, c.job})
			placed = true
		}
		next.ends = append(next.ends, e)
	}
	if !placed {
		next.ends = append(next.ends, end{stop, c.job})
	}
}
