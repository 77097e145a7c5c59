// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
)

// mostQueued is the number of requests of a part of a queue up to which it is searched: the sets of them that can be
// embedded together are listed.
const mostQueued = 12

// queueSets finds out which requests of a part of a queue can be embedded at once. Sets are bits by position in the
// part.
type queueSets struct {
	c       *component
	fits    []bool   // by set
	maximal []uint32 // sets that fit and that nothing can be added to
}

// newQueueSets lists the sets of at most mostQueued requests, nil if it is stopped. A set fits only if all sets with
// one request less do: the rest of an embedding of some is an embedding of the others.
func newQueueSets(ctx context.Context, t *view.TVC, part []int, off deviceSet) *queueSets {
	once := *t // all requests at one instant
	once.Requests = append([]view.TVCRequest(nil), t.Requests...)
	w := &tvcrelax.Weights{Of: make([]int64, len(t.Requests))}
	for _, k := range part {
		once.Requests[k].Arrival, once.Requests[k].Duration = 0, 1
		w.Of[k] = 1
	}
	q := &queueSets{c: newComponent(ctx, &once, w, part, tvcrelax.NewRelaxation(&once, part, w, false), off),
		fits: make([]bool, 1<<len(part))}
	q.fits[0] = true
	for s := uint32(1); s < uint32(len(q.fits)); s++ {
		below := true
		for rest := s; rest != 0 && below; rest &= rest - 1 {
			below = q.fits[s&^(rest&-rest)]
		}
		if !below {
			continue
		}
		_, q.fits[s] = q.c.fits(setOf(s))
		if q.c.stopped || ctx.Err() != nil {
			return nil
		}
	}
	for s := range uint32(len(q.fits)) {
		if q.fits[s] && q.add(s, uint32(len(q.fits)-1)) == s {
			q.maximal = append(q.maximal, s)
		}
	}
	return q
}

// add returns s with the others that fit, added one after the other.
func (q *queueSets) add(s, others uint32) uint32 {
	for rest := others &^ s; rest != 0; rest &= rest - 1 {
		if more := s | rest&-rest; q.fits[more] {
			s = more
		}
	}
	return s
}

// alike reports whether two requests are interchangeable: a set without them fits with one if and only if it fits with
// the other.
func (q *queueSets) alike(i, j int) bool {
	for s := range uint32(len(q.fits)) {
		if (s>>i|s>>j)&1 == 0 && q.fits[s|1<<i] != q.fits[s|1<<j] {
			return false
		}
	}
	return true
}

// among returns the largest sets of the requests in all that have none of the barred sets in them.
func (q *queueSets) among(all uint32, barred []uint32) (largest []uint32) {
	seen := map[uint32]bool{}
	for _, s := range q.maximal {
		if s &= all; !seen[s] && q.add(s, all) == s {
			seen[s] = true
			largest = append(largest, s)
		}
	}
	for _, b := range barred { // each set with it leaves those without one of its requests
		var next []uint32
		for _, s := range largest {
			if s&b != b {
				next = append(next, s)
				continue
			}
			for rest := b; rest != 0; rest &= rest - 1 {
				next = append(next, s&^(rest&-rest))
			}
		}
		slices.Sort(next)
		next = slices.Compact(next)
		largest = nil
		for _, s := range next {
			if !slices.ContainsFunc(next, func(x uint32) bool { return s != x && s&^x == 0 }) {
				largest = append(largest, s)
			}
		}
	}
	return largest
}

// setOf returns bits as a set.
func setOf(s uint32) (x set) {
	for ; s != 0; s &= s - 1 {
		x = x.with(bits.TrailingZeros32(s))
	}
	return x
}
