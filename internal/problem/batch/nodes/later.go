// SPDX-License-Identifier: MIT

package nodes

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// Later is the state of the nodes at a later moment, with a reservation or without one.
type Later struct {
	*State
	head  *view.NodeNeeds // of the job that has the reservation; nil: there is none
	times []int32         // of each node, how many processes of it are there, unless one is set
	one   bool            // no node has more than one
	ones  []uint64        // if so, the nodes that have one, 64 in a word
	room1 []uint64        // scratch: the nodes that have room for one
	left  []left
	taken []int64 // scratch of Reserve, by class
}

// left is some nodes of a class when the reservation was made, with as many processes of it each.
type left struct {
	group        int32
	state        occupancy
	free         []int64
	times, count int64
}

// NewLater returns the state of idle nodes, without a reservation.
func NewLater(n *view.BatchNodes) *Later {
	return &Later{State: New(n), times: make([]int32, len(n.Group))}
}

// Later returns a copy, without a reservation.
func (s *State) Later() *Later { return &Later{State: s.Clone(), times: make([]int32, len(s.class))} }

// Reserve makes a reservation for a job and reports whether it fits: on nodes that have the least free now, so that most
// is left for jobs that run now and then. No other one may be there. O(classes + nodes)
func (l *Later) Reserve(now *State, needs *view.NodeNeeds, processes int) bool {
	now.sort()
	l.look(needs)
	l.taken = slices.Grow(l.taken[:0], len(l.classes))[:len(l.classes)]
	for _, groups := range needs.Alternatives {
		if l.room(needs, groups, int64(processes)) < int64(processes) {
			continue
		}
		clear(l.taken)
		l.head, l.left = needs, l.left[:0]
		l.one = !slices.ContainsFunc(l.order, func(d int32) bool { return l.each[d] > 1 })
		rest, last := int64(0), int32(-1)
		if l.one {
			l.spreadOnes(now, processes)
		} else {
			rest, last = l.spread(now, int64(processes))
		}
		if rest > 0 { // the last node could take more
			y := &l.classes[last]
			l.taken[last]++
			l.left = append(l.left, left{y.group, y.state, y.free, rest, 1})
		}
		for _, d := range l.order {
			y, taken := &l.classes[d], l.taken[d]
			if y.count > taken {
				l.left = append(l.left, left{y.group, y.state, y.free, 0, y.count - taken})
			}
			if d == last && rest > 0 {
				taken--
			}
			if taken > 0 {
				l.left = append(l.left, left{y.group, y.state, y.free, l.each[d], taken})
			}
		}
		return true
	}
	return false
}

// spread puts processes of the reservation on nodes of the groups that room has chosen, which hold them, and counts the
// nodes of each class that are full of them. If the last node isn't, it returns how many it has, and its class.
func (l *Later) spread(now *State, processes int64) (rest int64, last int32) {
	for _, c := range now.order {
		x := &now.classes[c]
		if !l.chosen[x.group] {
			continue
		}
		for i, word := range x.set {
			for base := (x.low + int32(i)) << 6; word != 0; word &= word - 1 {
				p := base + int32(bits.TrailingZeros64(word))
				d := l.class[p]
				each := l.each[d]
				if each > processes {
					l.times[p] = int32(processes)
					return processes, d
				}
				l.times[p] = int32(each)
				if each > 0 {
					l.taken[d]++
				}
				if processes -= each; processes == 0 {
					return 0, d
				}
			}
		}
	}
	return 0, -1
}

// spreadOnes is spread where no node has room for more than one process: 64 nodes at once.
func (l *Later) spreadOnes(now *State, processes int) {
	words := (len(l.class) + 63) / 64
	l.ones, l.room1 = slices.Grow(l.ones[:0], words)[:words], slices.Grow(l.room1[:0], words)[:words]
	clear(l.ones)
	clear(l.room1)
	for _, d := range l.order {
		if y := &l.classes[d]; l.each[d] > 0 && l.chosen[y.group] {
			for i, word := range y.set {
				l.room1[int(y.low)+i] |= word
			}
		}
	}
	for _, c := range now.order {
		x := &now.classes[c]
		if !l.chosen[x.group] {
			continue
		}
		for i, word := range x.set {
			word &= l.room1[int(x.low)+i]
			for n := bits.OnesCount64(word) - processes; n > 0; n-- { // the lowest nodes
				word &^= 1 << (63 - bits.LeadingZeros64(word))
			}
			l.ones[int(x.low)+i] |= word
			processes -= bits.OnesCount64(word)
		}
		if processes == 0 {
			break
		}
	}
	for _, d := range l.order {
		if y := &l.classes[d]; l.each[d] > 0 {
			for i, word := range y.set {
				l.taken[d] += int64(bits.OnesCount64(word & l.ones[int(y.low)+i]))
			}
		}
	}
}

// at returns how many processes of a reservation are on a node.
func (l *Later) at(p int32) int32 {
	if l.one {
		return int32(l.ones[p>>6] >> (p & 63) & 1)
	}
	return l.times[p]
}

// Cancel takes the reservation back. O(nodes)
func (l *Later) Cancel() {
	if l.head != nil && !l.one {
		clear(l.times)
	}
	l.head, l.one = nil, false
}

// Room returns how many processes of a job fitted at most when the reservation was made, which must be there, beside it.
// More don't fit since, unless jobs have given nodes back. O(classes)
func (l *Later) Room(needs *view.NodeNeeds) (most int64) {
	for _, groups := range needs.Alternatives {
		l.choose(groups)
		room := int64(0)
		for i := range l.left {
			if x := &l.left[i]; l.chosen[x.group] && x.state.open(needs) {
				room += l.beside(needs, x.free, x.times) * x.count
			}
		}
		most = max(most, room)
	}
	return most
}

// beside returns how many processes of a job fit on a node that is open to it, with so much free but for the given
// number of processes of the reservation.
func (l *Later) beside(needs *view.NodeNeeds, free []int64, times int64) int64 {
	if times == 0 {
		return Each(needs, free, math.MaxInt64)
	}
	if l.head.Exclusive || needs.Exclusive {
		return 0
	}
	for r, x := range l.head.Each {
		l.free[r] = free[r] - times*x
	}
	return Each(needs, l.free, math.MaxInt64)
}

// FitBoth returns nodes that have room now, as Fit does, and then, too, beside the reservation. If there are none, it
// returns how many processes would fit. O(classes + nodes)
func (l *Later) FitBoth(now *State, needs *view.NodeNeeds, processes int) (on []int32, room int64) {
	now.sort()
	l.look(needs)
	for _, groups := range needs.Alternatives {
		now.choose(groups)
		list := l.list[:0]
		class, times, beside := int32(-1), int32(0), int64(0) // of the last node of the reservation
		for _, c := range now.order {
			x := &now.classes[c]
			if !now.chosen[x.group] || !x.state.open(needs) {
				continue
			}
			each := Each(needs, x.free, math.MaxInt64)
			if each == 0 {
				continue
			}
			for i, word := range x.set {
				for base := (x.low + int32(i)) << 6; word != 0; word &= word - 1 {
					p := base + int32(bits.TrailingZeros64(word))
					d, t := l.class[p], l.at(p)
					both := l.each[d]
					if t > 0 && both > 0 {
						if d != class || t != times {
							class, times, beside = d, t, l.beside(needs, l.classes[d].free, int64(t))
						}
						both = beside
					}
					for range min(each, both, int64(processes-len(list))) {
						list = append(list, p)
					}
				}
				if len(list) == processes {
					l.list = list
					return slices.Clone(list), int64(processes)
				}
			}
		}
		l.list, room = list, max(room, int64(len(list)))
	}
	return nil, room
}
