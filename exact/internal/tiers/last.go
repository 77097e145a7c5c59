// SPDX-License-Identifier: MIT

package tiers

import (
	"encoding/binary"
	"slices"
)

// parts adds a job's arrival at processors twice: they are its last ones, or it migrates again. Each schedule is one or
// the other.
//
// Between two points of the plan that are to come, a job at its last processors is known to be there, so fewer rates
// are possible (mixesAt). A job that migrates again does nothing for as long as the migration takes (program.plan).
func (s *Search) parts(c *node, k int32, all []*node) []*node {
	if s.Undecided || s.migration == 0 {
		return append(all, c)
	}
	if len(s.groups[k]) > 1 || s.t.Jobs[k].Processes < s.t.Processors { // else there are no others
		x := *c
		x.again |= 1 << k
		all = append(all, &x)
	}
	c.again &^= 1 << k
	c.last |= 1 << k
	return append(all, c)
}

// stand holds the jobs that run between two points of a plan, and the known facts about the processors that they share.
type stand struct {
	set   uint32
	pairs []pair
	never []uint32 // by job: the jobs that aren't in the background under it, see Search.under
}

// pair counts the processes of a job, for one of its uses, that share processors with processes of another job, for one
// of its uses.
type pair struct {
	front, back int // in the order in which they would be in the tiers
	group       int // of the back's uses
	use         int64
	count       int
}

// stand returns the stand after the last point.
func (s *Search) stand(n *node) (x stand) {
	for k, phase := range n.phase {
		if phase != waits && phase != over {
			x.set |= 1 << k
		}
	}
	x.never = make([]uint32, s.n)
	for k := range s.n {
		if x.set>>k&1 == 1 {
			x.never[k] = s.under(n, k)
		}
	}
	use := make([]int64, s.t.Processors) // of a job there; -1: it isn't there
	for f := range s.n {
		if n.last&x.set>>f&1 == 0 {
			continue
		}
		for q := range use {
			use[q] = -1
		}
		for i, q := range n.on[f] {
			use[q] = s.t.Jobs[f].CPU(i)
		}
		for b := range s.n {
			if b == f || n.last&x.set>>b&1 == 0 {
				continue
			}
			from := len(x.pairs)
			for g := range s.groups[b] {
				for _, i := range s.groups[b][g].processes {
					u := use[n.on[b][i]]
					if u < 0 {
						continue
					}
					at := from
					for at < len(x.pairs) && (x.pairs[at].group != g || x.pairs[at].use != u) {
						at++
					}
					if at == len(x.pairs) {
						x.pairs = append(x.pairs, pair{f, b, g, u, 0})
					}
					x.pairs[at].count++
				}
			}
		}
	}
	return x
}

// pass goes on by an event of the plan.
func (x *stand) pass(s *Search, e int8) {
	if k := int(e); k < s.n {
		x.set &^= 1 << k
		x.pairs = slices.DeleteFunc(x.pairs, func(p pair) bool { return p.front == k || p.back == k })
		x.never[k] = 0
		for f := range x.never {
			x.never[f] &^= 1 << k
		}
		return
	}
	k := int(e) - s.n
	for f := range s.n {
		if x.set>>f&1 == 1 && !s.Unbarred {
			x.never[f] |= s.barred[f] & (1 << k)
		}
	}
	x.set |= 1 << k
}

// forbids reports whether one of the jobs isn't allowed in the background under one of the jobs in the foreground.
func (x *stand) forbids(front uint32) bool {
	for f, never := range x.never {
		if front>>f&1 == 1 && never&x.set&^front != 0 {
			return true
		}
	}
	return false
}

// mixesAt returns the maximal mixes of the jobs that run then; the idle jobs do nothing. No two jobs that share
// processors are in the same tier, and a job in the background below another one has at most the rest that this leaves.
// No job is in the background under a job that never allows it.
func (s *Search) mixesAt(x *stand, idle uint32) [][]float64 {
	key := binary.LittleEndian.AppendUint32(s.bytes[:0], x.set)
	key = binary.LittleEndian.AppendUint32(key, idle)
	for _, p := range x.pairs {
		key = append(key, byte(p.front), byte(p.back))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.group))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.count))
		key = binary.LittleEndian.AppendUint64(key, uint64(p.use))
	}
	barred := false
	for f, never := range x.never {
		if never != 0 {
			barred = true
			key = binary.LittleEndian.AppendUint32(append(key, byte(f)), never)
		}
	}
	s.bytes = key
	all, ok := s.known[string(key)]
	if ok {
		return all
	}
	kept := string(key)
	switch {
	case idle != 0:
		for _, y := range s.mixesAt(x, 0) {
			y = slices.Clone(y)
			for k := range y {
				if idle>>k&1 == 1 {
					y[k] = 0
				}
			}
			all = add(all, y)
		}
	case len(x.pairs) == 0 && !barred:
		all = s.mixes(x.set)
	default:
		for front := x.set; ; front = (front - 1) & x.set {
			if !x.forbids(front) {
				all = s.mix(all, front, x.set&^front, x.pairs)
			}
			if front == 0 {
				break
			}
		}
	}
	s.known[kept] = all
	return all
}
