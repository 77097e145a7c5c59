// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// board holds pinned intervals, numbered in the order of their starts, and finds
// those that end no earlier than a time and touch given blocks of PEs. It is a
// segment tree over the numbers; a node holds the latest end and the union of
// the blocks below it. pin and unpin take O(log n).
type board struct {
	leaves int
	nodes  []boardNode // the root is 1, node i's children 2i and 2i+1
}

type boardNode struct {
	end    int64 // math.MinInt64: nothing is pinned below
	blocks uint64
}

func newBoard(n int) *board {
	t := &board{leaves: 1}
	for t.leaves < n {
		t.leaves *= 2
	}
	t.nodes = make([]boardNode, 2*t.leaves)
	for i := range t.nodes {
		t.nodes[i].end = math.MinInt64
	}
	return t
}

func (t *board) pin(at int, end int64, blocks uint64) { t.set(at, boardNode{end, blocks}) }

func (t *board) unpin(at int) { t.set(at, boardNode{end: math.MinInt64}) }

func (t *board) set(at int, x boardNode) {
	i := t.leaves + at
	t.nodes[i] = x
	for i /= 2; i > 0; i /= 2 {
		a, b := &t.nodes[2*i], &t.nodes[2*i+1]
		t.nodes[i] = boardNode{max(a.end, b.end), a.blocks | b.blocks}
	}
}

// search visits the intervals found with numbers less than before, in ascending order, until visit returns false. It
// reports whether none did.
func (t *board) search(before int, end int64, blocks uint64, visit func(at int) bool) bool {
	return t.below(1, 0, t.leaves, before, end, blocks, visit)
}

func (t *board) below(node, first, width, before int, end int64, blocks uint64, visit func(at int) bool) bool {
	x := &t.nodes[node]
	if first >= before || x.end < end || x.blocks&blocks == 0 {
		return true
	}
	if width == 1 {
		return visit(first)
	}
	width /= 2
	return t.below(2*node, first, width, before, end, blocks, visit) &&
		t.below(2*node+1, first+width, width, before, end, blocks, visit)
}

// blocksOf returns the 64ths of n PEs that a list touches, as bits.
func blocksOf(l model.PEList, n int) (blocks uint64) {
	for _, s := range l {
		first, last := s.First*64/n, s.Last*64/n
		blocks |= ^uint64(0) << first & (^uint64(0) >> (63 - last))
	}
	return blocks
}

// peBits is a set of PEs: PE p is bit p%64 of word p/64.
type peBits []uint64

// word returns the bits of a range in word w.
func word(s model.PERange, w int) uint64 {
	bits := ^uint64(0)
	if w == s.First/64 {
		bits <<= s.First % 64
	}
	if w == s.Last/64 {
		bits &= ^uint64(0) >> (63 - s.Last%64)
	}
	return bits
}

func (p peBits) add(l model.PEList) {
	for _, s := range l {
		for w := s.First / 64; w <= s.Last/64; w++ {
			p[w] |= word(s, w)
		}
	}
}

func (p peBits) remove(l model.PEList) {
	for _, s := range l {
		for w := s.First / 64; w <= s.Last/64; w++ {
			p[w] &^= word(s, w)
		}
	}
}

func (p peBits) meets(l model.PEList) bool {
	for _, s := range l {
		for w := s.First / 64; w <= s.Last/64; w++ {
			if p[w]&word(s, w) != 0 {
				return true
			}
		}
	}
	return false
}

// inWords lists the PEs common to two lists: the first ranges, and how many more.
func inWords(a, b model.PEList) string {
	const most = 16
	var l model.PEList
	more := 0
	for len(a) > 0 && len(b) > 0 {
		s := model.PERange{First: max(a[0].First, b[0].First), Last: min(a[0].Last, b[0].Last)}
		switch {
		case s.First > s.Last:
		case len(l) > 0 && more == 0 && l[len(l)-1].Last == s.First-1:
			l[len(l)-1].Last = s.Last
		case len(l) < most:
			l = append(l, s)
		default:
			more += s.Last - s.First + 1
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	if more > 0 {
		return fmt.Sprintf("%s and %d more", l, more)
	}
	return l.String()
}
