// SPDX-License-Identifier: MIT

package plain

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// tvcSearch decides the requests in the order of their arrival: it embeds each one next to the running ones, or rejects
// it. The use grows at arrivals alone, so an embedding that has room at its arrival has it to its end. It tries only
// one of several equivalent embeddings (see each).
type tvcSearch struct {
	*counter
	tvcFigures
	beat, value float64 // the value to pass, and the value of the places
	places      []*tvcPlace
	dense       []int             // requests by weight per slot, the largest first
	best        *model.Embeddings // nil while there is none
}

func solveTVC(in *model.TVC, beat float64, c *counter) (*model.Embeddings, error) {
	if in.Queue {
		return solveQueue(in, beat, c)
	}
	f := readTVC(in)
	s := &tvcSearch{counter: c, tvcFigures: f, places: make([]*tvcPlace, len(f.requests))}
	s.beat = s.threshold(model.Maximise, beat, s.whole)
	for k := range s.requests { // requests that never fit have no weight
		if !s.possible(k) && !s.cut {
			s.requests[k].weight = 0
		}
	}
	s.dense = ascending(len(s.requests), func(k int) float64 { return -s.requests[k].weight / float64(s.requests[k].vms) })
	s.next(0)
	return s.best, nil
}

// possible reports whether request k fits the empty data centre.
func (s *tvcSearch) possible(k int) bool {
	found := false
	s.each(k, s.state(-1), func(*tvcPlace) bool { found = true; return false })
	return found
}

// Fits reports whether a request fits the empty data centre.
func Fits(in *model.TVC, request int) bool {
	s := &tvcSearch{counter: &counter{limit: math.MaxInt64}, tvcFigures: readTVC(in)}
	return s.possible(request)
}

// next decides the requests from number k on.
func (s *tvcSearch) next(k int) {
	if s.stop() {
		return
	}
	if s.value > s.beat { // all others are rejected
		s.best, s.beat = s.embeddings(s.places), s.threshold(model.Maximise, s.value, s.whole)
	}
	if k == len(s.requests) || s.value+s.room(k) <= s.beat {
		return
	}
	q := &s.requests[k]
	if q.weight > 0 {
		s.each(k, s.state(k), func(p *tvcPlace) bool {
			value := s.value
			s.places[k], s.value = p, value+q.weight
			s.next(k + 1)
			s.places[k], s.value = nil, value
			return !s.cut && s.value+s.room(k) > s.beat
		})
	}
	s.next(k + 1)
}

// room returns an upper bound on the weight of the requests from number k on. The requests that would run at an arrival
// share the slots that the placed ones leave. The best choice of fractions of requests is by weight per slot (Dantzig
// 1957). The others may all be accepted.
func (s *tvcSearch) room(k int) float64 {
	least := s.totalWeight
	for i := k; i < len(s.requests); i++ {
		now, left, sum := s.requests[i].arrival, s.servers*s.in.FatTree.Slots, 0.0
		for r, p := range s.places[:k] {
			if p != nil && s.requests[r].end > now {
				left -= s.requests[r].vms
			}
		}
		for _, r := range s.dense {
			switch q := &s.requests[r]; {
			case r < k:
			case q.arrival > now || q.end <= now:
				sum += q.weight
			default:
				part := min(left, q.vms)
				sum += q.weight * float64(part) / float64(q.vms)
				left -= part
			}
		}
		least = min(least, sum)
	}
	return least
}
