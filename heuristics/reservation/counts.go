package reservation

import (
	"math"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
)

// counts are those of reservations.
type counts struct{ resbounds.Counts }

func (c *counts) clone() *counts { return &counts{*c.Clone()} }

// peak is the fullest moment of a window, and how many PEs are busy then.
func (c *counts) peak(w window) (at int64, most int) {
	most = -1
	c.Steps(w.start, w.end, func(from, _ int64, used int) bool {
		if used > most {
			at, most = from, used
		}
		return true
	})
	return at, most
}

// starts are the candidates of a query.
func (c *counts) starts(q Query) []int64 { return candidates(c.Times(), q) }

// place finds the window with the least load.
func (c *counts) place(q Query) (Interval, bool) {
	best, found := Interval{PEs: q.PEs}, false
	least := math.Inf(1)
	for _, start := range c.starts(q) {
		w := q.at(start)
		load := 0.0
		c.Steps(w.start, w.end, func(from, to int64, used int) bool {
			if used+q.PEs > c.PEs {
				load = math.Inf(1)
			}
			load += float64(used) * float64(to-from)
			return load < least
		})
		if load < least {
			best.Start, best.End, least, found = w.start, w.end, load, true
		}
	}
	return best, found
}
