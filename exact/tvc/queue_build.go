// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// pieces makes a schedule from a point. Sets run in the order of intervals, then of how many requests have ended, for
// as many whole ticks as the point says; any request that isn't done then, for rounding, goes on. Any other request
// with room beside them runs, too, the one that ends soonest in the point first.
func (p *queueProgram) pieces(x []float64) []queuePiece {
	b := &queueBuilder{queuePart: p.queuePart, left: slices.Clone(p.queuePart.length)}
	rank := make([]float64, p.n)
	for j := range p.n {
		b.order = append(b.order, j)
		for k := 1; k < p.n; k++ {
			rank[j] -= x[p.ended[j][k]]
		}
	}
	order.Stable(b.order, func(i, j int) int { return cmp.Compare(rank[i], rank[j]) })
	at := 0.0
	for k, s := range p.states {
		if k == 0 || p.states[k-1].interval != s.interval {
			at = float64(p.begins[s.interval])
			b.until(p.begins[s.interval], 0)
		}
		if x[k] > 1e-9 {
			at += x[k] * p.scale
			end := int64(math.Round(at))
			if s.interval+1 < len(p.begins) {
				end = min(end, p.begins[s.interval+1])
			}
			b.until(end, s.set)
		}
		if k+1 == len(p.states) || p.states[k+1].interval == s.interval && p.states[k+1].ended != s.ended {
			for j, i := range p.ended { // those that end now
				if done := s.ended+1 == p.n || x[i[s.ended+1]] > 1-1e-6; done && b.left[j] > 0 && b.left[j] < mostRounding {
					b.until(b.now+b.left[j], 1<<j)
				}
			}
		}
	}
	for b.unfinished() != 0 {
		b.until(math.MaxInt64, 0)
	}
	return b.pieces
}

// mostRounding is the number of ticks that rounding can take from a request.
const mostRounding = 1000

// queueBuilder makes a schedule from sets that run one after the other.
type queueBuilder struct {
	*queuePart
	now    int64
	left   []int64
	order  []int // requests in the order in which they run beside the others
	pieces []queuePiece
}

func (b *queueBuilder) unfinished() (s uint32) {
	for j, left := range b.left {
		if left > 0 {
			s |= 1 << j
		}
	}
	return s
}

// until runs the requests of a set that are there and not done, and others with room beside them, up to a time.
func (b *queueBuilder) until(end int64, s uint32) {
	for b.now < end && b.unfinished() != 0 {
		next, here := end, b.unfinished()
		for j, a := range b.arrival {
			if a > b.now && here>>j&1 != 0 {
				here &^= 1 << j
				next = min(next, a)
			}
		}
		run := s & here
		for _, j := range b.order {
			if here>>j&1 != 0 && b.sets.fits[run|1<<j] {
				run |= 1 << j
			}
		}
		for r := run; r != 0; r &= r - 1 {
			next = min(next, b.now+b.left[bits.TrailingZeros32(r)])
		}
		for r := run; r != 0; r &= r - 1 {
			b.left[bits.TrailingZeros32(r)] -= next - b.now
		}
		if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].set == run && b.pieces[last].to == b.now {
			b.pieces[last].to = next
		} else if run != 0 {
			b.pieces = append(b.pieces, queuePiece{b.now, next, run})
		}
		b.now = next
	}
}

// moving returns embeddings of a schedule's pieces: a request that runs in two consecutive pieces stays where it is if
// there is room. They are nil if the run has ended.
func (q *queuePart) moving(pieces []queuePiece) (places []map[int32]*model.Embedding) {
	c := q.sets.c
	var before placement
	for i, x := range pieces {
		a, ok := placement{}, false
		if i > 0 {
			stays := before.only(func(r int32) bool { return x.set>>c.order[r]&1 != 0 })
			a, ok = c.extend(c.ranks(setOf(x.set)), stays)
		}
		if !ok {
			if a, ok = c.fits(setOf(x.set)); !ok {
				return nil // it is stopped
			}
		}
		before = a
		mine := map[int32]*model.Embedding{}
		for r, e := range c.embeddings(a) {
			mine[int32(c.order[r])] = e
		}
		places = append(places, mine)
	}
	return places
}

// ends returns when the best schedule's last request ends.
func (q *queuePart) ends() (last int64) {
	for _, run := range q.best {
		last = max(last, run[len(run)-1].to)
	}
	return last
}

// store makes the best schedule's segments the runs of its requests.
func (q *queuePart) store() {
	for j, k := range q.requests {
		r := model.Run[model.Embedding]{ID: q.in.Requests[k].ID}
		for _, x := range q.best[j] {
			start, end := q.t.Seconds(q.base+x.from), q.t.Seconds(q.base+x.to)
			if last := len(r.Segments) - 1; last >= 0 && r.Segments[last].EndS == start &&
				r.Segments[last].Place.Switch == x.place.Switch && r.Segments[last].Place.SameServers(x.place) {
				r.Segments[last].EndS = end
			} else {
				r.Segments = append(r.Segments, model.Segment[model.Embedding]{StartS: start, EndS: end, Place: *x.place})
			}
		}
		q.runs[k] = r
	}
}
