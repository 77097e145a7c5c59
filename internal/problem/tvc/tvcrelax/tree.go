// SPDX-License-Identifier: MIT

// Package tvcrelax holds the Lagrangian relaxation of virtual clusters: a data centre as a tree of resources, the
// requests' demands for them, and multipliers that bound the weight of the accepted requests.
package tvcrelax

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
)

// Tree is a data centre as a tree with equal subtrees on each level. Level 0 are the servers. For the one-path fabric
// the levels above are edge switches, pods and, as the root, all pods. For the non-blocking fabric the servers are the
// children of the root, since no other links bind.
//
// A node has as many parallel links upwards as there are lanes. An edge switch has h, one to each aggregation switch a.
// A pod has h², from aggregation switch a to core switch c of group a, numbered a·h + c. A request uses one lane of
// each node (its route): in the one-path fabric the switch that hosts its virtual switch fixes them.
//
// It may be assumed that this switch is the lowest one above all VMs: any other
// above them loads the same links below that one and, with HosePerPath, more
// links above. With HoseCut the links above carry nothing.
type Tree struct {
	Fan   []int   // by level: children of a node, 0 for servers
	Slots []int   // by level: slots below a node
	Rate  []int64 // by level below the root: bit/s of a link up
	Lanes []int   // by level below the root: links up
}

// NewTree returns the tree of an instance.
func NewTree(t *view.TVC) *Tree {
	h := t.Half
	if t.NonBlocking {
		return &Tree{[]int{0, t.Servers}, []int{t.Slots, t.Servers * t.Slots}, []int64{t.ServerRate}, []int{1}}
	}
	return &Tree{[]int{0, h, h, t.K}, []int{t.Slots, h * t.Slots, h * h * t.Slots, t.Servers * t.Slots},
		[]int64{t.ServerRate, t.EdgeRate, t.AggregationRate}, []int{1, h, h * h}}
}

// Root returns the level of the root.
func (t *Tree) Root() int { return len(t.Fan) - 1 }

// Servers returns the number of servers below a node of a level.
func (t *Tree) Servers(level int) int { return t.Slots[level] / t.Slots[0] }

// Part is a cluster's share of one node: a number of VMs, and the load of its links up in multiples of the cluster's
// bandwidth.
type Part struct{ VMs, Load int32 }

// Compare orders parts by VMs, then by Load.
func (p Part) Compare(x Part) int {
	return cmp.Or(cmp.Compare(p.VMs, x.VMs), cmp.Compare(p.Load, x.Load))
}

// Parts returns, for every level below the root, the parts with VMs that a node of an empty data centre can have of a
// cluster of n VMs at b bit/s, in ascending order. All VMs below one node make no load on its links. If HosePerPath is
// set, the parts of a number of VMs may differ in their load, which is then the load of the servers below.
func (t *Tree) Parts(n int, b int64, perPath bool) [][]Part {
	parts := make([][]Part, t.Root())
	for level := range parts {
		most := int32(min(t.Rate[level]/b, int64(n)))
		var all []Part
		if level == 0 {
			for m := 1; m <= min(n, t.Slots[0]); m++ {
				all = append(all, Part{int32(m), int32(min(m, n-m))})
			}
		} else {
			below := slices.Clone(parts[level-1])
			for k := range below {
				if !perPath { // the load depends only on the VMs
					below[k].Load = 0
				}
			}
			all = sums(slices.Compact(below), t.Fan[level], int32(n))
		}
		for k := range all {
			switch m := all[k].VMs; {
			case int(m) == n:
				all[k].Load = 0
			case !perPath:
				all[k].Load = min(m, int32(n)-m)
			}
		}
		all = slices.DeleteFunc(all, func(p Part) bool { return p.Load > most })
		slices.SortFunc(all, Part.Compare)
		parts[level] = slices.Compact(all)
	}
	return parts
}

// sums returns the sums of 1 to count parts, in order, of at most n VMs, each once;
// loads are at most n. O(sums · parts).
func sums(parts []Part, count int, n int32) []Part {
	loads := int32(1) // and one more than any sum of loads
	for _, p := range parts {
		if p.Load > 0 {
			loads = n + 1
		}
	}
	seen := make([]bool, (n+1)*loads)
	var all []Part
	fresh := []Part{{}}
	for range count {
		var next []Part
		for _, a := range fresh {
			for _, p := range parts {
				s := Part{a.VMs + p.VMs, a.Load + p.Load}
				if s.VMs > n {
					break
				}
				if at := s.VMs*loads + s.Load; !seen[at] {
					seen[at] = true
					next = append(next, s)
				}
			}
		}
		all, fresh = append(all, next...), next
	}
	return all
}

// Span is a range of instants, both ends included.
type Span struct{ From, To int }

// Instants returns the instants at which the given requests, in the order of their arrival, compete, as a number and
// the span of each request. They are the arrivals after which the next event is a departure: the requests active at any
// other time are active at one of these, too. The load by the requests only changes at starts and ends, so requests
// that fit at these instants always fit.
func Instants(t *view.TVC, requests []int) (spans []Span, count int) {
	spans = make([]Span, len(requests))
	ends := make([]int64, len(requests))
	for i, k := range requests {
		ends[i] = t.Requests[k].Arrival + t.Requests[k].Duration
	}
	slices.Sort(ends)
	var at []int64 // the arrivals that are kept
	next := 0      // the first departure after the arrival at hand
	for i, k := range requests {
		now := t.Requests[k].Arrival
		for next < len(ends) && ends[next] <= now {
			next++
		}
		if i+1 == len(requests) || ends[next] <= t.Requests[requests[i+1]].Arrival {
			at = append(at, now)
		}
	}
	for i, k := range requests {
		q := &t.Requests[k]
		from, _ := slices.BinarySearch(at, q.Arrival)
		to, _ := slices.BinarySearch(at, q.Arrival+q.Duration)
		spans[i] = Span{from, to - 1}
	}
	return spans, len(at)
}

// Components splits the requests that fit an empty data centre into runs with times that don't overlap. No request of
// one is active together with one of another, so each is an instance by itself.
func Components(t *view.TVC) (all [][]int) {
	end := int64(-1)
	for k := range t.Requests {
		q := &t.Requests[k]
		if !q.Fits {
			continue
		}
		if q.Arrival >= end {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], k)
		end = max(end, q.Arrival+q.Duration)
	}
	return all
}
