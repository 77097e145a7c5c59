// SPDX-License-Identifier: MIT

// Package nodes places the processes of jobs on the nodes of a machine, by best fit.
package nodes

import (
	"cmp"
	"fmt"
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
	known   map[string]int32 // classes by group, whether jobs are there, and free resources
	spare   []int32          // classes without nodes
	key     []byte
	found   []found // scratch of Fit
}

// class is the nodes of a group that have the same resources free, and either all have jobs or none has.
type class struct {
	group  int32
	state  occupancy
	free   []int64
	full   float64 // what is free, as parts of the group's capacity: the less, the better it fits
	nodes  []int32 // ascending
	key    string
	unused bool
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

// found is a class that has room for some processes a node.
type found struct {
	class, each int32
}

// New returns the state of idle nodes.
func New(n *view.BatchNodes) *State {
	s := &State{nodes: n, class: make([]int32, len(n.Group)), jobs: make([]int32, len(n.Group)), known: map[string]int32{}}
	for g := range n.Capacity {
		c := s.of(int32(g), idle, n.Capacity[g])
		for p := n.First[g]; p < n.First[g+1]; p++ {
			s.class[p] = c
			s.classes[c].nodes = append(s.classes[c].nodes, p)
		}
	}
	return s
}

// of returns the class of a group's nodes in a state, with so much free.
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
	x := class{group: group, state: state, free: slices.Clone(free), full: fullness(free, s.nodes.Capacity[group]), key: string(s.key)}
	c := int32(len(s.classes))
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
		x.nodes = s.classes[c].nodes[:0]
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

// Fit returns the nodes of the processes of a job, nil if they don't fit. Of the ways to choose groups it takes the
// first that has room. There the classes with the least free come first, and of a class the lowest nodes; each node
// takes as many processes as it holds. O(classes log classes + processes)
func (s *State) Fit(needs *view.NodeNeeds, processes int) []int32 {
	for _, groups := range needs.Alternatives {
		if !s.room(needs, groups, processes) {
			continue
		}
		return s.fill(processes, func(f found, _ int32) int64 { return int64(f.each) })
	}
	return nil
}

// fill puts processes on nodes of the classes found, as many on each as it takes: classes by what fits best, of a class
// the lowest nodes. It returns nil if the nodes don't take all.
func (s *State) fill(processes int, takes func(f found, p int32) int64) []int32 {
	s.sortFound()
	list := make([]int32, 0, processes)
	for _, f := range s.found {
		for _, p := range s.classes[f.class].nodes {
			for range min(takes(f, p), int64(processes-len(list))) {
				list = append(list, p)
			}
			if len(list) == processes {
				return list
			}
		}
	}
	return nil
}

// FitBoth is Fit for nodes that have room at a later moment, too. O(classes log classes + nodes)
func (s *State) FitBoth(then *Later, needs *view.NodeNeeds, processes int) []int32 {
	free, r := make([]int64, len(needs.Each)), len(needs.Each)
	for _, groups := range needs.Alternatives {
		if !s.room(needs, groups, processes) {
			continue
		}
		list := s.fill(processes, func(f found, p int32) int64 {
			if !occupancyOf(then.jobs[p]).open(needs) {
				return 0
			}
			for x, left := range then.free[int(p)*r : int(p)*r+r] {
				free[x] = min(s.classes[f.class].free[x], left)
			}
			return Each(needs, free, processes)
		})
		if list != nil {
			return list
		}
	}
	return nil
}

// sortFound sorts the classes that have room by what fits best.
func (s *State) sortFound() {
	slices.SortFunc(s.found, func(a, b found) int {
		x, y := &s.classes[a.class], &s.classes[b.class]
		return cmp.Or(cmp.Compare(x.full, y.full), cmp.Compare(x.group, y.group), cmp.Compare(x.nodes[0], y.nodes[0]))
	})
}

// Fits reports whether the processes of a job fit. O(classes)
func (s *State) Fits(needs *view.NodeNeeds, processes int) bool {
	return slices.ContainsFunc(needs.Alternatives, func(groups []int) bool { return s.room(needs, groups, processes) })
}

// room finds the classes of some groups that have room for processes of a job, and reports whether all have room.
func (s *State) room(needs *view.NodeNeeds, groups []int, processes int) bool {
	s.found = s.found[:0]
	left := int64(processes)
	for c := range s.classes {
		x := &s.classes[c]
		if x.unused || !x.state.open(needs) || !slices.Contains(groups, int(x.group)) {
			continue
		}
		if each := Each(needs, x.free, processes); each > 0 {
			s.found = append(s.found, found{int32(c), int32(each)})
			left -= int64(each) * int64(len(x.nodes))
		}
	}
	return left <= 0
}

// Each returns how many of at most so many processes of a job fit on a node with so much free.
func Each(needs *view.NodeNeeds, free []int64, most int) int64 {
	n := int64(most)
	if needs.Spread {
		n = min(n, 1)
	}
	for r, need := range needs.Each {
		if need > 0 {
			n = min(n, free[r]/need)
		}
	}
	return n
}

// Take gives a job the nodes of its processes, on which it must fit.
func (s *State) Take(needs *view.NodeNeeds, list []int32) { s.change(needs, list, 1) }

// Give gives the nodes of a job's processes back.
func (s *State) Give(needs *view.NodeNeeds, list []int32) { s.change(needs, list, -1) }

// change takes (sign 1) or gives back (-1) the needs of processes, which lie side by side if they are on one node.
func (s *State) change(needs *view.NodeNeeds, list []int32, sign int64) {
	free := make([]int64, len(needs.Each))
	for first := 0; first < len(list); {
		p, last := list[first], first+1
		for last < len(list) && list[last] == p {
			last++
		}
		x := &s.classes[s.class[p]]
		for r, need := range needs.Each {
			free[r] = x.free[r] - sign*need*int64(last-first)
		}
		first = last
		s.jobs[p] = held(s.jobs[p], needs, sign)
		s.move(p, s.of(x.group, occupancyOf(s.jobs[p]), free))
	}
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

// move puts a node into another class.
func (s *State) move(p, to int32) {
	from := s.class[p]
	x := &s.classes[from]
	k, _ := slices.BinarySearch(x.nodes, p)
	if x.nodes = slices.Delete(x.nodes, k, k+1); len(x.nodes) == 0 && from != to {
		delete(s.known, x.key)
		x.unused = true
		s.spare = append(s.spare, from)
	}
	y := &s.classes[to]
	k, _ = slices.BinarySearch(y.nodes, p)
	y.nodes, s.class[p] = slices.Insert(y.nodes, k, p), to
}

// Refuse says why the processes of a job can't take some nodes now, "" if they can.
func (s *State) Refuse(needs *view.NodeNeeds, list []int32) string {
	count := map[int32]int64{}
	for _, p := range list {
		if p < 0 || int(p) >= len(s.class) {
			return fmt.Sprintf("there is no node %d, there are 0 to %d", p, len(s.class)-1)
		}
		count[p]++
		x := &s.classes[s.class[p]]
		switch {
		case !x.state.open(needs):
			return fmt.Sprintf("node %d is held by a job, and one of the two has its nodes alone", p)
		case needs.Spread && count[p] > 1:
			return fmt.Sprintf("node %d has two of its processes, it spreads them", p)
		}
		for r, need := range needs.Each {
			if need > 0 && x.free[r]/need < count[p] {
				return fmt.Sprintf("node %d has %d of %s left, its %d processes there need %d each", p, x.free[r], s.nodes.Resources[r], count[p], need)
			}
		}
	}
	if !slices.ContainsFunc(needs.Alternatives, func(groups []int) bool {
		return !slices.ContainsFunc(list, func(p int32) bool { return !slices.Contains(groups, int(s.nodes.Group[p])) })
	}) {
		return "the nodes aren't all of one partition that it may use, with its features"
	}
	return ""
}
