package reservation

import (
	"math"
	"slices"
)

// counts tells how many PEs are busy when: busy[i] from times[i] to times[i+1],
// the last for ever.
type counts struct {
	pes   int
	times []float64
	busy  []int
}

func newCounts(pes int, from float64) *counts { return &counts{pes, []float64{from}, []int{0}} }

func (c *counts) clone() *counts {
	return &counts{c.pes, slices.Clone(c.times), slices.Clone(c.busy)}
}

// at is the index that holds at time t.
func (c *counts) at(t float64) int {
	i, found := slices.BinarySearch(c.times, t)
	if !found {
		i--
	}
	return max(i, 0)
}

func (c *counts) split(t float64) int {
	i := c.at(t)
	if c.times[i] == t {
		return i
	}
	c.times = slices.Insert(c.times, i+1, t)
	c.busy = slices.Insert(c.busy, i+1, c.busy[i])
	return i + 1
}

// add books PEs over [start, end), or frees them if pes is negative.
func (c *counts) add(start, end float64, pes int) {
	i := c.split(start)
	for j := c.split(end); i < j; i++ {
		c.busy[i] += pes
	}
}

// peak is the fullest moment of a window, and how many PEs are busy then.
func (c *counts) peak(w window) (at float64, most int) {
	most = -1
	for i := c.at(w.start); i < len(c.times) && c.times[i] < w.end; i++ {
		if c.busy[i] > most {
			at, most = max(c.times[i], w.start), c.busy[i]
		}
	}
	return at, most
}

// windows are the candidates of a query, by start.
func (c *counts) windows(q Query) []window { return candidates(c.times, q) }

// place finds the window with the least load.
func (c *counts) place(q Query) (Interval, bool) {
	best, found := Interval{PEs: q.PEs}, false
	least := math.Inf(1)
next:
	for _, w := range c.windows(q) {
		load := 0.0
		for i := c.at(w.start); i < len(c.times) && c.times[i] < w.end; i++ {
			if c.busy[i]+q.PEs > c.pes {
				continue next
			}
			end := w.end
			if i+1 < len(c.times) {
				end = min(end, c.times[i+1])
			}
			if load += float64(c.busy[i]) * (end - max(c.times[i], w.start)); load >= least {
				continue next
			}
		}
		best.Start, best.End, least, found = w.start, w.end, load, true
	}
	return best, found
}
