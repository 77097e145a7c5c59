// SPDX-License-Identifier: MIT

package batch

import "math"

// ordered is a queue of jobs in a given order, with the least width and the least estimate of each subtree. It is a
// treap with hashes of the jobs' indices as priorities. Unlike a waiting it knows nothing of jobs to come, for their
// places in the order aren't known. add and remove take O(log waiting jobs) on average.
type ordered struct {
	before func(a, b int32) bool // a total order
	root   int32                 // job + 1; 0: none
	nodes  []orderedNode         // of job k at k + 1
}

type orderedNode struct {
	estimate, leastEstimate int64 // least: of the subtree
	width, leastWidth       int32
	left, right             int32
	priority                uint32
}

func newOrdered(before func(a, b int32) bool) *ordered {
	return &ordered{before: before, nodes: []orderedNode{{leastEstimate: math.MaxInt64, leastWidth: math.MaxInt32}}}
}

// add adds job k.
func (q *ordered) add(k, width int32, estimate int64) {
	for len(q.nodes) <= int(k)+1 {
		q.nodes = append(q.nodes, orderedNode{})
	}
	x := k + 1
	n := &q.nodes[x]
	*n = orderedNode{estimate: estimate, width: width, priority: hash(uint32(x))}
	p := &q.root
	for *p != 0 && q.nodes[*p].priority >= n.priority {
		y := &q.nodes[*p]
		y.leastEstimate, y.leastWidth = min(y.leastEstimate, estimate), min(y.leastWidth, width)
		if q.before(k, *p-1) {
			p = &y.left
		} else {
			p = &y.right
		}
	}
	n.left, n.right = q.split(*p, k)
	q.sum(n)
	*p = x
}

// sum computes the least values of the subtree of n.
func (q *ordered) sum(n *orderedNode) {
	l, r := &q.nodes[n.left], &q.nodes[n.right]
	n.leastEstimate = min(n.estimate, l.leastEstimate, r.leastEstimate)
	n.leastWidth = min(n.width, l.leastWidth, r.leastWidth)
}

// split splits the tree below r into the jobs before k and those after it.
func (q *ordered) split(r, k int32) (left, right int32) {
	if r == 0 {
		return 0, 0
	}
	n := &q.nodes[r]
	if q.before(r-1, k) {
		n.right, right = q.split(n.right, k)
		left = r
	} else {
		left, n.left = q.split(n.left, k)
		right = r
	}
	q.sum(n)
	return left, right
}

// remove removes job k, which must be in the queue.
func (q *ordered) remove(k int32) { q.root = q.without(q.root, k) }

// without removes job k from the tree below r.
func (q *ordered) without(r, k int32) int32 {
	n := &q.nodes[r]
	switch {
	case r == k+1:
		return q.merge(n.left, n.right)
	case q.before(k, r-1):
		n.left = q.without(n.left, k)
	default:
		n.right = q.without(n.right, k)
	}
	q.sum(n)
	return r
}

// merge joins two trees; all jobs of a come before all jobs of b.
func (q *ordered) merge(a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	x, y := &q.nodes[a], &q.nodes[b]
	if x.priority >= y.priority {
		x.right = q.merge(x.right, b)
		q.sum(x)
		return a
	}
	y.left = q.merge(a, y.left)
	q.sum(y)
	return b
}

// next returns the first job after job k (-1: of all) that can be backfilled, by the condition of waiting.next; -1:
// there is none. It skips subtrees by the same rule. k needn't be in the queue.
func (q *ordered) next(k, free, extra int32, slack int64) int32 {
	return q.find(q.root, k, free, min(extra, free), slack)
}

// find is next below r.
func (q *ordered) find(r, k, free, extra int32, slack int64) int32 {
	for r != 0 {
		n := &q.nodes[r]
		if n.leastWidth > free || n.leastWidth > extra && n.leastEstimate > slack {
			return -1
		}
		if k < 0 || q.before(k, r-1) {
			if found := q.find(n.left, k, free, extra, slack); found >= 0 {
				return found
			}
			if n.width <= extra || n.width <= free && n.estimate <= slack {
				return r - 1
			}
			k = -1 // all that follow come after it
		}
		r = n.right
	}
	return -1
}
