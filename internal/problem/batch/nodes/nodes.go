// SPDX-License-Identifier: MIT

// Package nodes places the processes of jobs on the nodes of a machine, by best fit.
package nodes

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// State is what is free on the nodes of a machine at a moment. Nodes of one group with the same resources free are of
// one class: a job is looked at with classes, not with nodes.
type State struct {
	nodes   *view.BatchNodes
	class   []int32 // of each node
	jobs    []int32 // on each node; -1: one that has it alone
	classes []class
	order   []int32          // classes with nodes: those with the least free first, ties by group and then by node
	known   map[string]int32 // classes by group, whether jobs are there, and free resources
	spare   []int32          // classes that aren't known
	// The rest is scratch.
	key    []byte
	free   []int64
	found  []found
	chosen []bool  // by group
	each   []int64 // by class
	count  []int64 // by node; 0 between calls
	list   []int32
}

// class is the nodes of a group that have the same resources free, and either all have jobs or none has.
type class struct {
	group int32
	state occupancy
	free  []int64
	full  float64 // what is free, as parts of the group's capacity: the less, the better it fits
	count int64   // of the nodes
	low   int32   // nodes from 64·low on are in set: node p has bit p%64 of word p/64-low
	set   []uint64
	key   string
	born  uint32 // of the classes that had its number: hops to it are of one
	hops  []hop  // the last ones from here, at most mostHops
	hop   int    // the next to be forgotten
}

const mostHops = 8

// hop is the class to which nodes of a class come by a change.
type hop struct {
	needs *view.NodeNeeds
	taken int64 // processes, below 0 if they are given back
	state occupancy
	to    int32
	born  uint32
}

// occupancy is whether jobs hold a node.
type occupancy byte

const (
	idle   occupancy = iota // no job is there
	shared                  // jobs are there
	alone                   // a job has the node alone
)

// occupancyOf returns whether a number of jobs, as State counts them, holds a node.
func occupancyOf(jobs int32) occupancy {
	switch {
	case jobs < 0:
		return alone
	case jobs == 0:
		return idle
	}
	return shared
}

// open reports whether a job may come to a node.
func (o occupancy) open(needs *view.NodeNeeds) bool {
	return o == idle || o == shared && !needs.Exclusive
}

// New returns the state of idle nodes.
func New(n *view.BatchNodes) *State {
	s := &State{nodes: n, class: make([]int32, len(n.Group)), jobs: make([]int32, len(n.Group)), known: map[string]int32{},
		free: make([]int64, len(n.Resources)), chosen: make([]bool, len(n.Capacity))}
	for g := range n.Capacity {
		c := s.of(int32(g), idle, n.Capacity[g])
		for p := n.First[g]; p < n.First[g+1]; p++ {
			s.class[p] = c
			s.enter(c, p>>6, 1<<(p&63))
		}
	}
	return s
}

// Clone returns a copy. O(nodes + classes)
func (s *State) Clone() *State {
	c := &State{nodes: s.nodes, class: make([]int32, len(s.class)), jobs: slices.Clone(s.jobs), classes: make([]class, len(s.order)),
		order: make([]int32, len(s.order)), known: make(map[string]int32, len(s.order)), free: make([]int64, len(s.free)), chosen: make([]bool, len(s.chosen))}
	words := 0
	for _, k := range s.order {
		words += len(s.classes[k].set)
	}
	set := make([]uint64, 0, words)
	s.each = slices.Grow(s.each[:0], len(s.classes))[:len(s.classes)]
	for i, k := range s.order {
		x := s.classes[k]
		first := len(set)
		set = append(set, x.set...)
		x.set, x.hops, x.hop = set[first:len(set):len(set)], nil, 0 // hops have the numbers of s
		c.classes[i], c.order[i], c.known[x.key], s.each[k] = x, int32(i), int32(i), int64(i)
	}
	for p, k := range s.class {
		c.class[p] = int32(s.each[k])
	}
	return c
}

// of returns the class of a group's nodes in a state, with so much free. Classes without nodes stay known, for they
// come again, until there are twice as many classes as nodes.
func (s *State) of(group int32, state occupancy, free []int64) int32 {
	s.key = append(s.key[:0], byte(group), byte(group>>8), byte(group>>16), byte(state))
	for _, x := range free {
		for shift := 0; shift < 56; shift += 8 { // capacities are below 2^50
			s.key = append(s.key, byte(x>>shift))
		}
	}
	if c, ok := s.known[string(s.key)]; ok {
		return c
	}
	if len(s.known) > 2*len(s.class)+64 {
		for c := range s.classes {
			if x := &s.classes[c]; x.count == 0 {
				delete(s.known, x.key)
				x.born++
				s.spare = append(s.spare, int32(c))
			}
		}
	}
	x := class{group: group, state: state, free: slices.Clone(free), full: fullness(free, s.nodes.Capacity[group]), key: string(s.key)}
	c := int32(len(s.classes))
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
		x.set, x.born, x.hops = s.classes[c].set, s.classes[c].born, s.classes[c].hops[:0]
		s.classes[c] = x
	} else {
		s.classes = append(s.classes, x)
	}
	s.known[x.key] = c
	return c
}

// fullness returns what is free as parts of a capacity, summed up.
func fullness(free, capacity []int64) (full float64) {
	for r, c := range capacity {
		if c > 0 {
			full += float64(free[r]) / float64(c)
		}
	}
	return full
}

// enter puts the nodes of a word that mask has into a class; there is one.
func (s *State) enter(c, word int32, mask uint64) {
	x := &s.classes[c]
	switch {
	case x.count == 0:
		x.low, x.set = word, append(x.set[:0], 0)
		at, _ := slices.BinarySearchFunc(s.order, c, s.compare)
		s.order = slices.Insert(s.order, at, c)
	case word < x.low:
		x.set = slices.Insert(x.set, 0, make([]uint64, x.low-word)...)
		x.low = word
	}
	for int(word-x.low) >= len(x.set) {
		x.set = append(x.set, 0)
	}
	x.set[word-x.low] |= mask
	x.count += int64(bits.OnesCount64(mask))
}

// leave takes nodes of a word out of their class.
func (s *State) leave(c, word int32, mask uint64) {
	x := &s.classes[c]
	x.set[word-x.low] &^= mask
	if x.count -= int64(bits.OnesCount64(mask)); x.count == 0 {
		at := slices.Index(s.order, c)
		s.order = slices.Delete(s.order, at, at+1)
	}
}

// compare compares classes by what fits best, but for their nodes.
func (s *State) compare(a, b int32) int {
	x, y := &s.classes[a], &s.classes[b]
	return cmp.Or(cmp.Compare(x.full, y.full), cmp.Compare(x.group, y.group))
}

// lowest returns the lowest node of a class.
func (x *class) lowest() int32 {
	for i, word := range x.set {
		if word != 0 {
			return (x.low+int32(i))<<6 + int32(bits.TrailingZeros64(word))
		}
	}
	return -1
}

// sort sorts classes that fit equally well by their lowest nodes, which change. O(classes) if there are none.
func (s *State) sort() {
	for i := 1; i < len(s.order); i++ {
		for k := i; k > 0; k-- {
			x, y := &s.classes[s.order[k-1]], &s.classes[s.order[k]]
			if x.full != y.full || x.group != y.group || x.lowest() < y.lowest() {
				break
			}
			s.order[k-1], s.order[k] = s.order[k], s.order[k-1]
		}
	}
}

// Take gives a job the nodes of its processes, on which it must fit. O(processes), and O(classes) for each class of
// nodes that they are on or come to
func (s *State) Take(needs *view.NodeNeeds, list []int32) { s.change(needs, list, 1) }

// Give gives the nodes of a job's processes back.
func (s *State) Give(needs *view.NodeNeeds, list []int32) { s.change(needs, list, -1) }

// change takes (sign 1) or gives back (-1) the needs of processes, which lie side by side if they are on one node. Nodes
// that stand side by side in the list and in a word move from class to class together.
func (s *State) change(needs *view.NodeNeeds, list []int32, sign int64) {
	from, to, state, times := int32(-1), int32(-1), idle, 0
	word, mask := int32(-1), uint64(0)
	move := func() {
		if mask != 0 && from != to {
			s.leave(from, word, mask)
			s.enter(to, word, mask)
		}
		mask = 0
	}
	for first := 0; first < len(list); {
		p, last := list[first], first+1
		for last < len(list) && list[last] == p {
			last++
		}
		jobs := held(s.jobs[p], needs, sign)
		c, o := s.class[p], occupancyOf(jobs)
		same := c == from && o == state && last-first == times
		if !same || p>>6 != word {
			move()
			word = p >> 6
		}
		if !same {
			from, state, times = c, o, last-first
			to = s.after(c, needs, sign*int64(times), o)
		}
		s.jobs[p], s.class[p], first = jobs, to, last
		mask |= 1 << (p & 63)
	}
	move()
}

// after returns the class to which nodes of class c come if so many processes with some needs come to each, and leave
// them in a state.
func (s *State) after(c int32, needs *view.NodeNeeds, taken int64, state occupancy) int32 {
	x := &s.classes[c]
	for k := range x.hops {
		if h := &x.hops[k]; h.needs == needs && h.taken == taken && h.state == state && s.classes[h.to].born == h.born {
			return h.to
		}
	}
	for r, need := range needs.Each {
		s.free[r] = x.free[r] - taken*need
	}
	to := s.of(x.group, state, s.free)
	x = &s.classes[c] // the list may be another one
	h := hop{needs, taken, state, to, s.classes[to].born}
	if len(x.hops) < mostHops {
		x.hops = append(x.hops, h)
		return to
	}
	x.hops[x.hop] = h
	x.hop = (x.hop + 1) % mostHops
	return to
}

// held returns how many jobs a node holds after another one has come (sign 1) or gone (-1); -1: one that has it alone.
func held(jobs int32, needs *view.NodeNeeds, sign int64) int32 {
	switch {
	case needs.Exclusive && sign > 0:
		return -1
	case needs.Exclusive:
		return 0
	}
	return jobs + int32(sign)
}

// Refuse says why the processes of a job can't take some nodes now, "" if they can. O(processes · alternatives)
func (s *State) Refuse(needs *view.NodeNeeds, list []int32) string {
	if s.count == nil {
		s.count = make([]int64, len(s.class))
	}
	defer func() {
		for _, p := range list {
			if p >= 0 && int(p) < len(s.count) {
				s.count[p] = 0
			}
		}
	}()
	for _, p := range list {
		if p < 0 || int(p) >= len(s.class) {
			return fmt.Sprintf("there is no node %d, there are 0 to %d", p, len(s.class)-1)
		}
		s.count[p]++
		count, x := s.count[p], &s.classes[s.class[p]]
		switch {
		case !x.state.open(needs):
			return fmt.Sprintf("node %d is held by a job, and one of the two has its nodes alone", p)
		case needs.Spread && count > 1:
			return fmt.Sprintf("node %d has two of its processes, it spreads them", p)
		}
		for r, need := range needs.Each {
			if need > 0 && (x.free[r] < need || count > 1 && x.free[r]/need < count) {
				return fmt.Sprintf("node %d has %d of %s left, its %d processes there need %d each", p, x.free[r], s.nodes.Resources[r], count, need)
			}
		}
	}
	for _, groups := range needs.Alternatives {
		s.choose(groups)
		if !slices.ContainsFunc(list, func(p int32) bool { return !s.chosen[s.nodes.Group[p]] }) {
			return ""
		}
	}
	return "the nodes aren't all of one partition that it may use, with its features"
}
