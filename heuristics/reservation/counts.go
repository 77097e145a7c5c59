package reservation

import (
	"math"

	"github.com/gapwise/gapwise/bounds"
)

// counts are those of reservations in seconds.
type counts struct{ bounds.Counts[float64] }

func (c *counts) clone() *counts { return &counts{*c.Clone()} }

// steps calls f with each step within a window, cut to it, until f returns false.
func (c *counts) steps(w window, f func(from, to float64, used int) bool) {
	k := c.At(w.start)
	for from := w.start; from < w.end; k++ {
		to, used := w.end, 0
		if k+1 < len(c.Times) {
			to = min(to, c.Times[k+1])
		}
		if k >= 0 {
			used = c.Used[k]
		}
		if !f(from, to, used) {
			return
		}
		from = to
	}
}

// peak is the fullest moment of a window, and how many PEs are busy then.
func (c *counts) peak(w window) (at float64, most int) {
	most = -1
	c.steps(w, func(from, _ float64, used int) bool {
		if used > most {
			at, most = from, used
		}
		return true
	})
	return at, most
}

// windows are the candidates of a query, by start.
func (c *counts) windows(q Query) []window { return candidates(c.Times, q) }

// place finds the window with the least load.
func (c *counts) place(q Query) (Interval, bool) {
	best, found := Interval{PEs: q.PEs}, false
	least := math.Inf(1)
	for _, w := range c.windows(q) {
		load := 0.0
		c.steps(w, func(from, to float64, used int) bool {
			if used+q.PEs > c.PEs {
				load = math.Inf(1)
			}
			load += float64(used) * (to - from)
			return load < least
		})
		if load < least {
			best.Start, best.End, least, found = w.start, w.end, load, true
		}
	}
	return best, found
}
