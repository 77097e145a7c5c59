// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// jobSet is a set of at most mostJobs jobs, as bits.
type jobSet [2]uint64

// mostJobs is the number of jobs up to which sets of them are bits of a jobSet.
const mostJobs = 128

// mostInTree is the number of jobs up to which one tree has all; more are in parts.
const mostInTree = 64

func (s *jobSet) has(k int) bool { return s[k>>6]>>(k&63)&1 != 0 }

func (s *jobSet) add(k int) { s[k>>6] |= 1 << (k & 63) }

// holds reports whether all jobs of another set are in s.
func (s *jobSet) holds(other *jobSet) bool { return other[0]&^s[0]|other[1]&^s[1] == 0 }

// count returns the number of jobs in s.
func (s *jobSet) count() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

// tree is a branch and bound on the order of the starts. A node is a partial schedule;
// its children start one more job each, no earlier than the one before, as early as it
// fits.
//
// Some leaf is an optimum: take the jobs of one by their starts. Suppose one could start earlier beside those before
// it, and no earlier than the last of these. Then it could do so beside those after it, too, which start no earlier
// than it did: the optimum could be improved.
//
// Nodes that aren't explored yet lie in layers by the number of jobs that they have started. Each round explores the
// best nodes of each layer, twice as many as the round before (Kao, Sewell, Jacobson: A branch, bound, and remember
// algorithm for the 1|r_i|Σt_i scheduling problem, Journal of Scheduling 12, 2009). So most nodes that others of the
// same jobs dominate are never explored: depth first, 420,473 of 719,981 nodes of an instance of 30 jobs were found to
// be dominated when it was too late. If there is no room for more, the deepest layer goes first, so that layers don't
// grow.
type tree struct {
	*jobs
	ctx    context.Context
	off    deviceSet
	before []jobSet // the identical jobs that start before each job, see expand
	memo   memo
	bound  *remaining
	layers []heap.Heap[*node] // by the number of jobs

	best    int64   // the least weighted sum of responses known
	starts  []int64 // that has it; nil: a solution from elsewhere
	target  int64   // only smaller sums are looked for
	slack   func(best int64) int64
	dropped int64 // the least bound of the nodes dropped because of target
	nodes   int64 // explored
	made    int64 // nodes that ever were in layers
	most    int64 // effort after which the search ends; 0: with ctx alone
	open    int   // nodes that are

	children []child // scratch of expand
	report   func()
}

// node is a partial schedule.
type node struct {
	set   jobSet
	now   int64 // the last start
	cost  int64 // the weighted responses of the jobs in set
	ends  []end // of the jobs that run after now, ascending
	bound int64
	from  *node // without its last job
	job   int32 // the last
	dead  bool  // it is dominated
	made  int64
}

// end is when a running job gives its processors back.
type end struct {
	at  int64
	job int32
}

// child is a job to start next.
type child struct {
	job   int32
	start int64
}

func newTree(ctx context.Context, j *jobs, off deviceSet) *tree {
	n := len(j.release)
	t := &tree{jobs: j, ctx: ctx, off: off, before: make([]jobSet, n), layers: make([]heap.Heap[*node], n+1), best: 1 << 62, target: 1 << 62, dropped: 1 << 62}
	t.bound = newRemaining(j)
	t.memo.off = off&devMemo != 0
	for d := range t.layers {
		t.layers[d].Less = func(a, b *node) bool { return a.bound < b.bound || a.bound == b.bound && a.made < b.made }
	}
	for k := range n {
		for i := range n {
			if off&devIdentical == 0 && j.length[i] == j.length[k] && j.width[i] == j.width[k] && j.release[i] <= j.release[k] && j.weight[i] >= j.weight[k] &&
				(j.release[i] < j.release[k] || j.weight[i] > j.weight[k] || i < k) {
				t.before[k].add(i)
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
	for d := range t.layers {
		if l := &t.layers[d]; l.Len() > 0 {
			low = min(low, l.Items[0].bound)
		}
	}
	return low
}

// push puts a node into a layer; it keeps a leaf aside.
func (t *tree) push(x *node) {
	d := x.set.count()
	if d == len(t.release) {
		t.know(x.cost, t.path(x))
		return
	}
	x.made = t.made
	t.made++
	t.open++
	t.layers[d].Push(x)
}

// firstRound is the number of nodes of each layer that the first round explores.
const firstRound = 16

// search explores all. When ctx ends it stops, and lower is the bound proved so far.
func (t *tree) search() {
	t.push(&node{}) // as long as nothing is known, 0 is the bound
	for most := firstRound; ; most = min(2*most, 1<<20) {
		open := false
		for d := 0; d < len(t.layers); d++ {
			for i := 0; i < most && t.layers[d].Len() > 0; i++ {
				if !t.next(d) {
					return
				}
				open = true
			}
			if t.full() {
				break
			}
		}
		for d := len(t.layers) - 1; d >= 0 && t.full(); d-- {
			if t.layers[d].Len() > 0 {
				if !t.next(d) {
					return
				}
				open, d = true, min(d+2, len(t.layers))
			}
		}
		if !open {
			return
		}
	}
}

// mostOpen is the number of nodes that layers may hold before the deepest goes first.
const mostOpen = 1 << 20

// full reports whether there is no room for more nodes.
func (t *tree) full() bool { return t.memo.size > mostMemo || t.open > mostOpen }

// next explores the best node of a layer that has one. It is false when ctx has ended or the effort is spent.
func (t *tree) next(d int) bool {
	l := &t.layers[d]
	x := l.Items[0]
	if x.bound >= t.target { // and so are all others
		t.dropped = min(t.dropped, x.bound)
		t.open -= l.Len()
		l.Items = l.Items[:0]
		return true
	}
	if x.dead {
		l.Pop()
		t.open--
		return true
	}
	effort := 5*int64(len(t.release))/8 + 1
	if meter.Stop(t.ctx, effort) || t.most > 0 && t.nodes*effort > t.most {
		return false
	}
	l.Pop()
	t.open--
	if t.nodes++; t.nodes%(1<<12) == 0 {
		t.report()
	}
	if t.nodes == nodesBeforePrices && t.off&devPrices == 0 {
		t.usePrices()
	}
	t.expand(x)
	return true
}

// nodesBeforePrices is the node at which prices are made; they take as long as some
// thousand nodes.
const nodesBeforePrices = 200

// usePrices makes prices for the nodes to come, and for the nodes in layers.
func (t *tree) usePrices() {
	t.bound.paid = newPaid(t.ctx, t.jobs, t.target)
	for d := range t.layers {
		l := &t.layers[d]
		all := slices.Clone(l.Items)
		l.Items = l.Items[:0]
		for _, x := range all {
			x.bound = max(x.bound, t.bound.bound(t, x))
			l.Push(x)
		}
	}
}

// path returns the starts of the jobs of a leaf.
func (t *tree) path(x *node) []int64 {
	starts := make([]int64, len(t.release))
	for ; x.from != nil; x = x.from {
		starts[x.job] = x.now
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

// expand makes the children of a node that may lead to a smaller sum. Apart from dominated children (memo), it leaves
// out
//
//   - active schedules: job k that starts at s although another job i could start at e and end by s, e + p_i ≤ s. Since
//     starts ascend, i starts at s or later in each completion. At e it ends earlier, and it fits: only the running
//     jobs are there before s. So no completion is optimal among the completions of the node.
//   - identical jobs: job k if i, as long and as wide, has r_i ≤ r_k, ω_i ≥ ω_k, ω the weights, and isn't started; if
//     all are equal, if i < k. Let k start before i in a completion. Then r_i ≤ r_k ≤ s_k ≤ s_i, so both may swap their
//     starts. That adds (ω_k - ω_i)(s_i - s_k) ≤ 0 to the sum. This is a partial order of the jobs. A swap brings their
//     order nearer to any order that contains it, so the swaps end.
//
// Both leave one of the node's best completions.
func (t *tree) expand(x *node) {
	limit := int64(1 << 62)
	n := len(t.release)
	earliest := t.bound.earliest
	for k := range n {
		if !x.set.has(k) {
			earliest[k] = t.earliest(x, k)
			limit = min(limit, earliest[k]+t.length[k])
		}
	}
	if t.off&devActive != 0 {
		limit = 1 << 62
	}
	t.children = t.children[:0] // bounds overwrite earliest
	for k := range n {
		if !x.set.has(k) && earliest[k] < limit && x.set.holds(&t.before[k]) {
			t.children = append(t.children, child{int32(k), earliest[k]})
		}
	}
	next := &node{}
	for _, c := range t.children {
		t.step(x, c, next)
		next.bound = max(x.bound, t.bound.bound(t, next))
		if next.bound >= t.target {
			t.dropped = min(t.dropped, next.bound)
			continue
		}
		if !t.memo.dominates(next, t) {
			t.push(next)
			next = &node{}
		}
	}
}

// step makes next the node x with one more job.
func (t *tree) step(x *node, c child, next *node) {
	next.set, next.now, next.from, next.job = x.set, c.start, x, c.job
	next.set.add(int(c.job))
	stop := c.start + t.length[c.job]
	next.cost = x.cost + t.weight[c.job]*(stop-t.release[c.job])
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
