// SPDX-License-Identifier: MIT

package vcsched

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
)

// leastLoad finds the host with the least load with a task among the hosts that have the rigid resources for it. It is
// a segment tree of the least load and the most that is left of each rigid resource below each node. The hosts of a
// node may not have both; then it is entered in vain: a query is O(log H) in the good case and O(H) in the worst.
// Putting a task is O(log H). Few hosts are looked at one by one.
type leastLoad struct {
	*stock
	one   bool      // all hosts are of one class
	leaf  int       // index of the first leaf, a power of two; 0: no tree
	load  []int64   // [node], the root at 1: of the hosts' own CPU if one, else relative
	free  [][]int64 // [resource][node]
	nodes int       // entered so far, for a watch
	most  int       // nodes to enter in all; 0: no limit
}

// fewHosts are looked at one by one as fast as by a tree.
const fewHosts = 32

func newLeastLoad(u *view.VCSched) *leastLoad {
	t := &leastLoad{stock: newStock(u), one: len(u.Classes) == 1}
	if u.Hosts <= fewHosts {
		return t
	}
	for t.leaf = 1; t.leaf < u.Hosts; {
		t.leaf *= 2
	}
	t.load, t.free = make([]int64, 2*t.leaf), make([][]int64, len(u.Rigid))
	for r := range t.free {
		t.free[r] = make([]int64, 2*t.leaf)
	}
	for h := range t.leaf {
		t.set(h)
	}
	for k := t.leaf - 1; k > 0; k-- {
		t.update(k)
	}
	return t
}

// set computes the leaf of a host; those beyond the last host have room for nothing.
func (t *leastLoad) set(h int) {
	k := t.leaf + h
	if h >= t.u.Hosts {
		t.load[k] = math.MaxInt64
		for r := range t.free {
			t.free[r][k] = -1
		}
		return
	}
	c := &t.u.Classes[t.u.ClassOf(int32(h))]
	if t.load[k] = t.stock.load[h]; !t.one {
		t.load[k] = c.Load(t.stock.load[h])
	}
	for r := range t.free {
		t.free[r][k] = c.Cap[r] - t.use[r][h]
	}
}

// update computes a node from its children.
func (t *leastLoad) update(k int) {
	t.load[k] = min(t.load[2*k], t.load[2*k+1])
	for _, f := range t.free {
		f[k] = max(f[2*k], f[2*k+1])
	}
}

// put puts task i on host h.
func (t *leastLoad) put(i int32, h int) {
	t.stock.put(i, h, 1)
	if t.leaf == 0 {
		return
	}
	t.set(h)
	for k := (t.leaf + h) / 2; k > 0; k /= 2 {
		t.update(k)
	}
}

// best returns the host of least load with task i among the hosts that have the rigid resources for it, the lowest of
// equals; -1 if there is none. Beyond the limit of nodes it is the best of the few looked at.
func (t *leastLoad) best(i int32) int {
	best, least := -1, int64(0)
	look := func(h int) {
		if load := t.loadWith(i, h); best < 0 || load < least || load == least && h < best {
			best, least = h, load
		}
	}
	if t.leaf == 0 {
		t.nodes += t.u.Hosts
		for h := range t.u.Hosts {
			if t.fits(i, h) {
				look(h)
			}
		}
		return best
	}
	var enter func(k, first, width int)
	begun := t.nodes
	enter = func(k, first, width int) {
		t.nodes++
		if best >= 0 && t.most > 0 && t.nodes > t.most && t.nodes-begun > 1<<8 {
			return
		}
		for r, f := range t.free {
			if t.u.Rigid[r][i] > f[k] {
				return
			}
		}
		if width == 1 {
			look(first)
			return
		}
		// No host below has a load less than this with the task.
		if best >= 0 {
			bound := t.load[k]
			if t.one {
				bound = t.u.Classes[0].Load(bound + t.u.CPU[i])
			}
			if bound > least || bound == least && first > best {
				return
			}
		}
		width /= 2
		if t.load[2*k] <= t.load[2*k+1] {
			enter(2*k, first, width)
			enter(2*k+1, first+width, width)
		} else {
			enter(2*k+1, first+width, width)
			enter(2*k, first, width)
		}
	}
	enter(1, 0, t.leaf)
	return best
}
