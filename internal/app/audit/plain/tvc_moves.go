// SPDX-License-Identifier: MIT

package plain

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tvcMoves searches the schedules of a queue with migrations that cost something, as tvcQueue does those without.
// A request that goes on is tried in its last place and in the places that each gives, which leaves out some equivalent
// ones.
type tvcMoves struct {
	*tvcQueue
	migration int64
	arrivals  []tvcRequest
	now       []tvcRun   // by request
	steps     []tvcMoved // the steps that led here
	best      []tvcMoved
}

// tvcRun is how far a request is.
type tvcRun struct {
	left, owed int64     // of its work, of its last migration
	last       *tvcPlace // nil: it hasn't run
}

// tvcMoved is a time in which requests run in places, nil: not.
type tvcMoved struct {
	from, to int64
	places   []*tvcPlace
}

// search returns the best schedule below the sum of responses, nil if it finds none.
func (q *tvcMoves) search(left []int64) []tvcMoved {
	for _, l := range left {
		q.now = append(q.now, tvcRun{left: l})
	}
	q.walk(0, 0)
	return q.best
}

// walk decides what runs from a time on; sum is the sum of the responses of the finished requests.
func (q *tvcMoves) walk(at, sum int64) {
	here, next, rest := false, int64(math.MaxInt64), sum
	for k, r := range q.now {
		switch a := q.arrivals[k].arrival; {
		case r.left == 0:
		case a > at:
			next = min(next, a)
			rest += r.left
		default:
			here = true
			rest += at + r.owed + r.left - a
		}
	}
	switch {
	case rest >= q.least || q.stop():
	case !here && next == math.MaxInt64:
		q.best, q.least = append([]tvcMoved{}, q.steps...), sum
	case !here:
		q.walk(next, sum)
	default:
		q.choose(0, at, next, sum)
	}
}

// choose decides where request k and those after it run from a time on, up to the next arrival or end.
func (q *tvcMoves) choose(k int, at, next, sum int64) {
	if k == len(q.now) {
		q.run(at, next, sum)
		return
	}
	if r := &q.now[k]; r.left > 0 && q.arrivals[k].arrival <= at {
		put := func(p *tvcPlace) bool {
			q.places[k] = p
			q.choose(k+1, at, next, sum)
			q.places[k] = nil
			return !q.cut
		}
		free := q.state(k)
		if p := r.last; p != nil && q.room(free, p) && !put(p) {
			return
		}
		q.each(k, free, func(p *tvcPlace) bool {
			return r.last != nil && slices.Equal(p.vms, r.last.vms) && p.at == r.last.at || put(p)
		})
	}
	q.choose(k+1, at, next, sum)
}

// room reports whether a place is free.
func (q *tvcMoves) room(free *tvcState, p *tvcPlace) bool {
	for s, m := range p.vms {
		if m > free.slots[s] {
			return false
		}
	}
	for l, load := range p.load {
		if load > free.left[l] {
			return false
		}
	}
	return true
}

// run goes on to the next arrival or end with the placed requests.
func (q *tvcMoves) run(at, next, sum int64) {
	places, before := slices.Clone(q.places), slices.Clone(q.now)
	to, ran := next, false
	for k, p := range places {
		if r := &q.now[k]; p != nil {
			if ran = true; r.last != nil && !slices.Equal(r.last.vms, p.vms) {
				r.owed = q.migration
			}
			r.last = p
			to = min(to, at+r.owed+r.left)
		}
	}
	if ran {
		for k, p := range places {
			if r := &q.now[k]; p != nil {
				idle := min(r.owed, to-at)
				r.owed -= idle
				if r.left -= to - at - idle; r.left == 0 {
					sum += to - q.arrivals[k].arrival
				}
			}
		}
		q.steps = append(q.steps, tvcMoved{at, to, places})
		clear(q.places)
		q.walk(to, sum)
		copy(q.places, places)
		q.steps = q.steps[:len(q.steps)-1]
	} else if next < math.MaxInt64 {
		q.walk(next, sum)
	}
	copy(q.now, before)
}

// movesOf returns the runs of the search's result.
func (q *tvcMoves) movesOf(in *model.TVC) *model.Embeddings {
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	for k := range q.now {
		r := model.Run[model.Embedding]{ID: in.Requests[k].ID}
		for _, x := range q.best {
			if p := x.places[k]; p != nil {
				s := q.embeddings([]*tvcPlace{p}).Runs[0].Segments[0]
				s.StartS, s.EndS = float64(x.from)/1e6, float64(x.to)/1e6
				r.Segments = append(r.Segments, s)
			}
		}
		if r.Segments != nil {
			e.Runs = append(e.Runs, r)
		}
	}
	return e
}
