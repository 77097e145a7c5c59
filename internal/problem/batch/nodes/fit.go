// SPDX-License-Identifier: MIT

package nodes

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// found is a class that has room for some processes a node.
type found struct {
	class int32
	each  int64
}

// choose marks the groups that are chosen.
func (s *State) choose(groups []int) {
	clear(s.chosen)
	for _, g := range groups {
		s.chosen[g] = true
	}
}

// Fit returns the nodes of the processes of a job, nil if they don't fit. Of the ways to choose groups it takes the
// first that has room. There the classes with the least free come first, and of a class the lowest nodes; each node
// takes as many processes as it holds. O(classes + processes)
func (s *State) Fit(needs *view.NodeNeeds, processes int) []int32 {
	s.sort()
	for _, groups := range needs.Alternatives {
		if s.room(needs, groups, int64(processes)) < int64(processes) {
			continue
		}
		list := make([]int32, 0, processes)
		for _, f := range s.found {
			x := &s.classes[f.class]
			for i, word := range x.set {
				for base := (x.low + int32(i)) << 6; word != 0; word &= word - 1 {
					p := base + int32(bits.TrailingZeros64(word))
					for range min(f.each, int64(processes-len(list))) {
						list = append(list, p)
					}
					if len(list) == processes {
						return list
					}
				}
			}
		}
	}
	return nil
}

// Fits reports whether the processes of a job fit. O(classes)
func (s *State) Fits(needs *view.NodeNeeds, processes int) bool {
	for _, groups := range needs.Alternatives {
		if s.room(needs, groups, int64(processes)) >= int64(processes) {
			return true
		}
	}
	return false
}

// Room returns how many processes of a job fit at most. O(classes)
func (s *State) Room(needs *view.NodeNeeds) (most int64) {
	for _, groups := range needs.Alternatives {
		most = max(most, s.room(needs, groups, math.MaxInt64))
	}
	return most
}

// room returns how many processes of a job fit on the nodes of some groups, and finds the classes that have room, best
// fit first, until there is enough. Capacities sum to 1e18 at most, so it doesn't overflow.
func (s *State) room(needs *view.NodeNeeds, groups []int, enough int64) (room int64) {
	s.choose(groups)
	s.found = s.found[:0]
	for _, c := range s.order {
		x := &s.classes[c]
		if !s.chosen[x.group] || !x.state.open(needs) {
			continue
		}
		if each := Each(needs, x.free, math.MaxInt64); each > 0 {
			s.found = append(s.found, found{c, each})
			if room += each * x.count; room >= enough {
				break
			}
		}
	}
	return room
}

// look computes how many processes of a job fit on a node of each class.
func (s *State) look(needs *view.NodeNeeds) {
	s.each = slices.Grow(s.each[:0], len(s.classes))[:len(s.classes)]
	for _, c := range s.order {
		s.each[c] = 0
		if x := &s.classes[c]; x.state.open(needs) {
			s.each[c] = Each(needs, x.free, math.MaxInt64)
		}
	}
}

// Through returns nodes that have room in each of some states, nil if there are too few: those that fit best in the
// first. O(classes + states · nodes)
func Through(all []*State, needs *view.NodeNeeds, processes int) []int32 {
	s := all[0]
	s.look(needs)
	s.sort()
	for _, groups := range needs.Alternatives {
		s.choose(groups)
		list := s.list[:0]
		for _, c := range s.order {
			x := &s.classes[c]
			if !s.chosen[x.group] || s.each[c] == 0 {
				continue
			}
			for i, word := range x.set {
				for base := (x.low + int32(i)) << 6; word != 0; word &= word - 1 {
					p, each := base+int32(bits.TrailingZeros64(word)), min(s.each[c], int64(processes-len(list)))
					for k := 1; k < len(all) && each > 0; k++ {
						if x := &all[k].classes[all[k].class[p]]; x.state.open(needs) {
							each = Each(needs, x.free, each)
						} else {
							each = 0
						}
					}
					for range each {
						list = append(list, p)
					}
				}
				if len(list) == processes {
					s.list = list
					return slices.Clone(list)
				}
			}
		}
		s.list = list
	}
	return nil
}

// Each returns how many of at most so many processes of a job fit on a node with so much free.
func Each(needs *view.NodeNeeds, free []int64, most int64) int64 {
	if needs.Spread {
		most = min(most, 1)
	}
	free = free[:len(needs.Each)]
	for r, need := range needs.Each {
		switch {
		case free[r] < need:
			return 0
		case need > 0 && most > 1: // a division takes long
			most = min(most, free[r]/need)
		}
	}
	return most
}
