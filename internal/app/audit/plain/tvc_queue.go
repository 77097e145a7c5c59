// SPDX-License-Identifier: MIT

package plain

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// mostQueued is the number of requests of a queue up to which it is searched.
const mostQueued = 12

// tvcQueue searches the schedules of a queue that change at arrivals and ends alone: which of the requests
// that are there run until the next one. The best schedule may change at other times, too, so a search that finds nothing
// proves nothing.
type tvcQueue struct {
	*tvcSearch
	length []int64
	known  map[uint32][]*tvcPlace // of a set that fits, by request; nil: it doesn't fit
	least  int64                  // the sum of responses to be below
	pieces []tvcPiece             // the pieces that led here
	found  []tvcPiece
}

// tvcPiece is a time in which a set runs.
type tvcPiece struct {
	from, to int64
	set      uint32
}

func solveQueue(in *model.TVC, beat float64, c *counter) (*model.Embeddings, error) {
	n := len(in.Requests)
	if n > mostQueued {
		return nil, fmt.Errorf("%w: the plain engine knows queues of up to %d requests", model.ErrUnsupported, mostQueued)
	}
	f := readTVC(in)
	q := &tvcQueue{tvcSearch: &tvcSearch{counter: c, tvcFigures: f, places: make([]*tvcPlace, n)}, known: map[uint32][]*tvcPlace{}, least: math.MaxInt64}
	left := make([]int64, n)
	q.length = make([]int64, n)
	q.requests = slices.Clone(f.requests)
	for k := range q.requests { // all at one instant
		q.length[k] = f.requests[k].end - f.requests[k].arrival
		q.requests[k].arrival, q.requests[k].end = 0, 1
	}
	run := 0
	for k := range left {
		if q.fits(1<<k) != nil {
			left[k] = q.length[k]
			run++
		}
	}
	if !math.IsNaN(beat) {
		q.least = int64(math.Floor(beat * (1 - c.slack) * 1e6 * float64(run)))
	}
	if in.MigrationS > 0 {
		m := &tvcMoves{tvcQueue: q, migration: int64(math.Round(in.MigrationS * 1e6)), arrivals: f.requests}
		best := m.search(left)
		if q.cut = true; best == nil {
			return nil, nil
		}
		return m.movesOf(in), nil
	}
	q.walk(f.requests, 0, left, 0)
	found := q.found
	if q.cut = true; found == nil {
		return nil, nil
	}
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	for k := range left {
		r := model.Run[model.Embedding]{ID: in.Requests[k].ID}
		for _, x := range found {
			if x.set>>k&1 != 0 {
				s := q.embeddings([]*tvcPlace{q.known[x.set][k]}).Runs[0].Segments[0]
				s.StartS, s.EndS = float64(x.from)/1e6, float64(x.to)/1e6
				r.Segments = append(r.Segments, s)
			}
		}
		if r.Segments != nil {
			e.Runs = append(e.Runs, r)
		}
	}
	return e, nil
}

// fits returns the places of a set of requests, nil if they can't be embedded together.
func (q *tvcQueue) fits(s uint32) []*tvcPlace {
	places, ok := q.known[s]
	if ok {
		return places
	}
	var put func(k int) bool
	put = func(k int) bool {
		for ; k < len(q.places); k++ {
			if s>>k&1 != 0 {
				found := false
				q.each(k, q.state(k), func(p *tvcPlace) bool {
					q.places[k] = p
					found = put(k + 1)
					return !found
				})
				if !found {
					q.places[k] = nil
				}
				return found
			}
			q.places[k] = nil
		}
		return true
	}
	if put(0) {
		places = slices.Clone(q.places)
	}
	clear(q.places)
	q.known[s] = places
	return places
}

// walk decides what runs from now on; sum is the sum of the responses of the finished requests.
func (q *tvcQueue) walk(requests []tvcRequest, now int64, left []int64, sum int64) {
	here, next, rest := uint32(0), int64(math.MaxInt64), sum
	for k, w := range left {
		switch a := requests[k].arrival; {
		case w == 0:
		case a > now:
			next = min(next, a)
			rest += w
		default:
			here |= 1 << k
			rest += now + w - a
		}
	}
	switch {
	case rest >= q.least || q.stop():
		return
	case here == 0 && next == math.MaxInt64:
		q.found, q.least = append([]tvcPiece{}, q.pieces...), sum
		return
	case here == 0:
		q.walk(requests, next, left, sum)
		return
	}
	for s := here; s != 0; s = (s - 1) & here {
		if q.fits(s) == nil || q.cut {
			continue
		}
		whole := false // one more could run
		for more := here &^ s; more != 0 && !whole; more &= more - 1 {
			whole = q.fits(s|more&-more) != nil
		}
		if whole {
			continue
		}
		to, then, done := next, slices.Clone(left), sum
		for r := s; r != 0; r &= r - 1 {
			to = min(to, now+left[bits.TrailingZeros32(r)])
		}
		for r := s; r != 0; r &= r - 1 {
			k := bits.TrailingZeros32(r)
			if then[k] -= to - now; then[k] == 0 {
				done += to - requests[k].arrival
			}
		}
		q.pieces = append(q.pieces, tvcPiece{now, to, s})
		q.walk(requests, to, then, done)
		q.pieces = q.pieces[:len(q.pieces)-1]
	}
}
