// SPDX-License-Identifier: MIT

package batch

import "cmp"

// completion is the end of a running job, by its estimate or real. Ends of one instant come by job.
type completion struct {
	at  int64
	job int32
}

func (x completion) before(y completion) bool { return x.at < y.at || x.at == y.at && x.job < y.job }

func (x completion) compare(y completion) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.job, y.job))
}

// estimatedEnds is a set of running jobs, ordered by estimated end, with sums of their widths. It is a treap with
// hashes of the jobs' indices as priorities. All methods take O(log running jobs) on average.
type estimatedEnds struct {
	root  int32     // index in nodes; 0: none
	nodes []endNode // the first isn't used
	spare int32     // the first node that isn't in the tree, linked by left; 0: none
}

type endNode struct {
	at          int64
	job         int32
	width, sum  int32 // sum: of the subtree's widths
	left, right int32 // at ≤, at ≥ (ties by job)
	priority    uint32
}

func newEstimatedEnds() *estimatedEnds { return &estimatedEnds{nodes: make([]endNode, 1)} }

// hash mixes the bits of x (the finaliser of MurmurHash3).
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

// before reports whether the node comes before the end of job k at an instant.
func (n *endNode) before(k int32, at int64) bool { return n.at < at || n.at == at && n.job < k }

// add adds job k, which isn't in the set.
func (e *estimatedEnds) add(k int32, at int64, width int32) {
	x := e.spare
	if x > 0 {
		e.spare = e.nodes[x].left
	} else {
		x, e.nodes = int32(len(e.nodes)), append(e.nodes, endNode{})
	}
	n := &e.nodes[x]
	*n = endNode{at: at, job: k, width: width, sum: width, priority: hash(uint32(k) + 1)}
	p := &e.root
	for *p != 0 && e.nodes[*p].priority >= n.priority {
		y := &e.nodes[*p]
		y.sum += width
		if y.before(k, at) {
			p = &y.right
		} else {
			p = &y.left
		}
	}
	n.left, n.right = e.split(*p, k, at)
	n.sum += e.nodes[n.left].sum + e.nodes[n.right].sum
	*p = x
}

// split splits the tree below r into the nodes before the end of job k at an instant and
// those after it.
func (e *estimatedEnds) split(r, k int32, at int64) (left, right int32) {
	if r == 0 {
		return 0, 0
	}
	n := &e.nodes[r]
	if n.before(k, at) {
		n.right, right = e.split(n.right, k, at)
		left = r
	} else {
		left, n.left = e.split(n.left, k, at)
		right = r
	}
	n.sum = n.width + e.nodes[n.left].sum + e.nodes[n.right].sum
	return left, right
}

// remove removes job k, which must be in the set with this instant and width.
func (e *estimatedEnds) remove(k int32, at int64, width int32) {
	p := &e.root
	for e.nodes[*p].job != k {
		y := &e.nodes[*p]
		y.sum -= width
		if y.before(k, at) {
			p = &y.right
		} else {
			p = &y.left
		}
	}
	x := *p
	*p = e.merge(e.nodes[x].left, e.nodes[x].right)
	e.nodes[x].left, e.spare = e.spare, x
}

// merge joins two trees; all nodes of a come before all nodes of b.
func (e *estimatedEnds) merge(a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	x, y := &e.nodes[a], &e.nodes[b]
	if x.priority >= y.priority {
		x.sum += y.sum
		x.right = e.merge(x.right, b)
		return a
	}
	y.sum += x.sum
	y.left = e.merge(a, y.left)
	return b
}

// reach returns the earliest estimated end at or before which jobs of at least the
// given width end in all. There must be as many.
func (e *estimatedEnds) reach(width int32) (at int64) {
	for x := e.root; x != 0; {
		n := &e.nodes[x]
		left := e.nodes[n.left].sum
		switch {
		case left >= width:
			x = n.left
		case left+n.width >= width:
			return n.at
		default:
			width -= left + n.width
			x = n.right
		}
	}
	return never
}

// until returns the width of all jobs with an estimated end at or before t.
func (e *estimatedEnds) until(t int64) (width int32) {
	for x := e.root; x != 0; {
		n := &e.nodes[x]
		if n.at > t {
			x = n.left
			continue
		}
		width += e.nodes[n.left].sum + n.width
		x = n.right
	}
	return width
}
