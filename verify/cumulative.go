// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"slices"
)

// room is the cumulative resources of a place, a node or a machine: at any time the activities that run there need
// together no more of each than it has. Judges of placed activities visit them in the order of their starts, and take
// and give their needs; proofs state the same as proofCumulative, of activities whose times aren't known.
type room struct{ capacity, used []int64 }

func newRoom(capacity []int64) room { return room{capacity, make([]int64, len(capacity))} }

// take adds needs of each resource. It reports whether all of them have room; they are taken in any case.
func (r *room) take(needs []int64) bool {
	fits := true
	for i, n := range needs {
		r.used[i] += n
		fits = fits && r.used[i] <= r.capacity[i]
	}
	return fits
}

// give takes back what take has added.
func (r *room) give(needs []int64) {
	for i, n := range needs {
		r.used[i] -= n
	}
}

// over returns how much more of a resource is used than there is, 0 if there is enough.
func (r *room) over(i int) int64 { return max(0, r.used[i]-r.capacity[i]) }

// proofCumulative states that at any time the demands of the running activities sum to at most the capacity. It is
// violated if for a time t
//
//	Σ demand of those that run, start by t and end after t > capacity
//
// or, if the claim is about an activity p that runs, if each of its possible starts has
// it run at such a time, which leaves too little room for p beside the others; or, for
// the window [a, b) that the proof names, with each activity's least part of its length
// in it, be it as early or as late as it can be,
//
//	Σ demand · min(b - a, length, earliest end - a, b - latest start)⁺ > capacity (b - a).
type proofCumulative struct {
	starts           []proofStart
	lengths, demands []int64
	capacity         int64             // at least any demand
	about            func(v int32) int // the activity that a claim on a variable is about, or -1
}

func (c *proofCumulative) entries() int { return len(c.starts) }

func (c *proofCumulative) violated(s *proofState, claim bound, window [2]int64) bool {
	type step struct{ at, by int64 }
	var steps []step
	var over wideSum // Σ demand · part - capacity (b - a)
	from, to, about := window[0], window[1], -1
	over.add(-c.capacity, to-from)
	if claim.sv >= 0 {
		if about = c.about(claim.sv >> 1); about >= 0 && !s.holds(c.starts[about].on) {
			about = -1
		}
	}
	for i, x := range c.starts {
		if !s.holds(x.on) {
			continue
		}
		first, last, length := s.least(x.at), s.most(x.at), c.lengths[i]
		if last < first+length && i != about {
			steps = append(steps, step{last, c.demands[i]}, step{first + length, -c.demands[i]})
		}
		over.add(c.demands[i], max(0, min(to-from, length, first+length-from, to-last)))
	}
	if from < to && over.positive() {
		return true
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	height := int64(0)
	if about < 0 {
		for _, x := range steps {
			if height += x.by; height > c.capacity {
				return true
			}
		}
		return false
	}
	// The least start that isn't excluded yet: at, while what is excluded by the times
	// [from, to) without room is (from - length, to).
	p := c.starts[about]
	at, last, length := s.least(p.at), s.most(p.at), c.lengths[about]
	for k, x := range steps {
		if height += x.by; height > c.capacity {
			return true
		}
		if height+c.demands[about] > c.capacity && k+1 < len(steps) && x.at < steps[k+1].at && x.at-length < at {
			at = max(at, steps[k+1].at)
		}
	}
	return at > last
}
