// SPDX-License-Identifier: MIT

package batch

// estimatedEnds is a set of running jobs, ordered by estimated end, with sums of
// their widths: a treap, whose priorities are hashes of the jobs' indices. All
// methods take O(log running jobs) on average.
type estimatedEnds struct {
	root  int32     // job + 1; 0: none
	nodes []endNode // of job k at k + 1
}

type endNode struct {
	at          int64
	width, sum  int32 // sum: of the subtree's widths
	left, right int32 // at ≤, at ≥ (ties by index)
	priority    uint32
}

func newEstimatedEnds(jobs int) *estimatedEnds {
	return &estimatedEnds{nodes: make([]endNode, jobs+1)}
}

// hash mixes the bits of x (the finaliser of MurmurHash3).
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

// before reports whether node x comes before node y.
func (e *estimatedEnds) before(x, y int32) bool {
	a, b := e.nodes[x].at, e.nodes[y].at
	return a < b || a == b && x < y
}

func (e *estimatedEnds) add(k int32, at int64, width int32) {
	x := k + 1
	n := &e.nodes[x]
	*n = endNode{at: at, width: width, sum: width, priority: hash(uint32(x))}
	p := &e.root
	for *p != 0 && e.nodes[*p].priority >= n.priority {
		y := &e.nodes[*p]
		y.sum += width
		if e.before(x, *p) {
			p = &y.left
		} else {
			p = &y.right
		}
	}
	n.left, n.right = e.split(*p, x)
	n.sum += e.nodes[n.left].sum + e.nodes[n.right].sum
	*p = x
}

// split splits the tree below r into the nodes before x and those after it.
func (e *estimatedEnds) split(r, x int32) (left, right int32) {
	if r == 0 {
		return 0, 0
	}
	n := &e.nodes[r]
	if e.before(r, x) {
		n.right, right = e.split(n.right, x)
		left = r
	} else {
		left, n.left = e.split(n.left, x)
		right = r
	}
	n.sum = n.width + e.nodes[n.left].sum + e.nodes[n.right].sum
	return left, right
}

// remove removes job k, which must be in the set.
func (e *estimatedEnds) remove(k int32) {
	x := k + 1
	width := e.nodes[x].width
	p := &e.root
	for *p != x {
		y := &e.nodes[*p]
		y.sum -= width
		if e.before(x, *p) {
			p = &y.left
		} else {
			p = &y.right
		}
	}
	*p = e.merge(e.nodes[x].left, e.nodes[x].right)
}

// merge joins two trees; all nodes of a come before those of b.
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

// until returns the width of all jobs whose estimated end is at or before t.
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
