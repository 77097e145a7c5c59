// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// depart returns the transfers that share links, in the order of their starts.
func (j *dagJudge) depart(p *paths) (starts []transfer) {
	for k := range j.flying() {
		if stopped(j.ctx, k) {
			return nil
		}
		x := j.flight(k)
		if math.IsNaN(x.at) || x.from == x.to || x.data == 0 {
			continue
		}
		if w := p.way(int(x.from), int(x.to)); w.class >= 0 {
			starts = append(starts, transfer{int32(k), int32(w.class), twoSum(x.at, w.startup), x.data})
		}
	}
	sortFunc(j.ctx, starts, func(a, b transfer) int { return a.at.compare(b.at) })
	return starts
}

// alone returns the arrival, in fractions, of a flight that shares no link.
func (j *dagJudge) alone(p *paths, k int) *big.Rat {
	x := j.flight(k)
	at, data := exact(x.at), exact(x.data)
	if x.from == x.to {
		return at
	}
	if data.Sign() > 0 {
		data.Quo(data, p.alone(int(x.from), int(x.to)))
	}
	return at.Add(at, data.Add(data, exact(p.startup(int(x.from), int(x.to)))))
}

// replay simulates the transfers under the instance's transfer model, each from
// its start on, and returns the arrivals by flight, nil for edges not sent.
//
// It computes in fractions. Each event under contention divides by a number of transfers, so the fractions grow. Beyond
// maxBits they are rounded to keptBits significant bits (see trim), an error far below any tolerance but 0. It serves a
// tolerance of 0 and cases that flows leaves in doubt: 40,000 transfers on 64 links take a minute.
func (j *dagJudge) replay() []*big.Rat {
	p := newPaths(j.in)
	shared := j.depart(p)
	arrived, shares := make([]*big.Rat, j.flying()), make([]bool, j.flying())
	type start struct {
		transfer
		at *big.Rat
	}
	starts := make([]start, len(shared))
	for k, x := range shared {
		starts[k], shares[x.flight] = start{x, x.at.rat()}, true
	}
	for k := range arrived {
		if stopped(j.ctx, k) {
			return arrived
		}
		if !shares[k] && !math.IsNaN(j.flight(k).at) {
			arrived[k] = j.alone(p, k)
		}
	}
	for (len(starts) > 0 || len(p.busy) > 0) && j.ctx.Err() == nil {
		// The next event is a start or the first end.
		next, isStart := p.firstEnd(), false
		if len(starts) > 0 && (next == nil || starts[0].at.Cmp(next) <= 0) {
			next, isStart = starts[0].at, true
		}
		now := new(big.Rat).Set(next)
		if !isStart {
			trim(now) // not a start: rounded down it would never be reached
		}
		for _, c := range p.busy {
			if c.endsAbout > above(floor(next)) || c.ends.Cmp(next) > 0 {
				continue
			}
			// Set exactly, whatever was rounded: the transfer ends, and the
			// clock goes on.
			c.served.Set(c.due[0].end)
			c.since, c.stale = now, true
			for len(c.due) > 0 && c.due[0].end.Cmp(c.served) <= 0 {
				arrived[heap.Pop(&c.due).(due).flight] = now
			}
		}
		for len(starts) > 0 && starts[0].at.Cmp(now) <= 0 {
			x := starts[0]
			starts = starts[1:]
			c := p.classes[x.class]
			c.serve(now)
			heap.Push(&c.due, due{new(big.Rat).Add(c.served, exact(x.data)), int(x.flight)})
			c.stale = true
		}
		p.share()
		for _, c := range p.busy {
			// A class with the same rate and the same first transfer keeps its
			// end. At most events these are most classes of a large network.
			if !c.stale && c.was.Cmp(c.rate) == 0 {
				continue
			}
			rate := c.rate
			c.rate = c.was
			c.serve(now)
			c.rate, c.stale = rate, false
			left := new(big.Rat).Sub(c.due[0].end, c.served)
			c.ends = left.Add(now, left.Quo(left, rate))
			c.endsAbout = floor(c.ends)
		}
	}
	return arrived
}

// approx is far above the relative error of rounding a fraction to a float64: two
// float64s further apart than that come from fractions in the same order.
const approx = 1e-12

// above returns more than any fraction that rounds to x. x may be negative, as a
// wrong start is.
func above(x float64) float64 { return x + approx*math.Abs(x) }

// floor returns a fraction rounded to a float64.
func floor(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// transfer is a transfer that shares links and hasn't begun.
type transfer struct {
	flight, class int32
	at            double // exact
	data          float64
}

// due is a transfer under way. It ends when its class has served end.
type due struct {
	end    *big.Rat
	flight int
}

type dueHeap []due

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(a, b int) bool { return h[a].end.Cmp(h[b].end) < 0 }
func (h dueHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// See trim.
const (
	maxBits  = 512
	keptBits = 256
)

// trim rounds x towards 0, in place, if its denominator is longer than maxBits. It rounds to a multiple of 2^-keptBits
// or, if x is small, to keptBits significant bits, as an instance may count in any unit.
func trim(x *big.Rat) *big.Rat {
	if x.Denom().BitLen() <= maxBits {
		return x
	}
	shift := uint(keptBits + max(0, x.Denom().BitLen()-x.Num().BitLen()))
	n := new(big.Int).Lsh(x.Num(), shift)
	return x.SetFrac(n.Quo(n, x.Denom()), new(big.Int).Lsh(big.NewInt(1), shift))
}

// pathClass holds the transfers with the same links, weight and path rate:
// their rates are always equal.
type pathClass struct {
	links  []int
	weight int64
	limit  *big.Rat // of a weight of 1
	rate   *big.Rat // of a transfer
	was    *big.Rat // the rate before share
	served *big.Rat // data that a transfer there since the class became busy has got at since
	since  *big.Rat
	ends   *big.Rat // when the first transfer ends at this rate
	due    dueHeap
	// endsAbout and limitAbout are ends and limit as float64s, which decide most
	// comparisons.
	endsAbout, limitAbout float64
	stale                 bool // ends must be computed again
}

// serve advances served to now.
func (c *pathClass) serve(now *big.Rat) {
	switch {
	case len(c.due) == 0:
		c.served.SetInt64(0)
	case c.since != now:
		step := new(big.Rat).Sub(now, c.since)
		trim(c.served.Add(c.served, step.Mul(c.rate, step)))
	}
	c.since = now
}

// ratOf returns a whole number as a fraction.
func ratOf(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// share computes the max-min fair rate of every busy class, in proportion to its weight, from the tightest
// link or limit up, and sets busy.
func (p *paths) share() {
	left := make([]*big.Rat, len(p.capacity))
	perLink := make([]*big.Rat, len(p.capacity))
	about := make([]float64, len(p.capacity)) // perLink as float64s
	open := make([]int64, len(p.capacity))    // weights
	p.busy = p.busy[:0]
	for _, c := range p.classes {
		if len(c.due) == 0 {
			continue
		}
		p.busy = append(p.busy, c)
		for _, l := range c.links {
			open[l] += c.weight * int64(len(c.due))
		}
	}
	divide := func(l int) {
		perLink[l] = new(big.Rat).Quo(left[l], ratOf(open[l]))
		about[l] = floor(perLink[l])
	}
	for l, n := range open {
		if n == 0 {
			continue
		}
		left[l] = new(big.Rat).Set(p.capacity[l])
		if p.in.Transfers() != model.TransferFair {
			left[l].Mul(left[l], together(int(n)))
		}
		divide(l)
	}
	frozen := make([]int64, len(p.capacity))
	for rest := slices.Clone(p.busy); len(rest) > 0; {
		// shareOf returns a class's share for a weight of 1, approximately; tightest returns it exactly.
		shareOf := func(c *pathClass) float64 {
			x := c.limitAbout
			for _, l := range c.links {
				x = min(x, about[l])
			}
			return x
		}
		tightest := func(c *pathClass) *big.Rat {
			x := c.limit
			for _, l := range c.links {
				if about[l] <= floor(x)*(1+approx) && perLink[l].Cmp(x) < 0 {
					x = perLink[l]
				}
			}
			return x
		}
		lowest := math.Inf(1)
		for _, c := range rest {
			lowest = min(lowest, shareOf(c))
		}
		var least *big.Rat
		for _, c := range rest {
			if shareOf(c) <= lowest*(1+approx) {
				if x := tightest(c); least == nil || x.Cmp(least) < 0 {
					least = x
				}
			}
		}
		var others []*pathClass
		for _, c := range rest {
			if shareOf(c) > lowest*(1+approx) || tightest(c).Cmp(least) > 0 {
				others = append(others, c)
				continue
			}
			if c.was, c.rate = c.rate, least; c.weight > 1 {
				c.rate = new(big.Rat).Mul(least, ratOf(c.weight))
			}
			for _, l := range c.links {
				frozen[l] += c.weight * int64(len(c.due))
			}
		}
		for l, n := range frozen {
			if n == 0 {
				continue
			}
			frozen[l] = 0
			left[l].Sub(left[l], new(big.Rat).Mul(least, ratOf(n)))
			if open[l] -= n; open[l] > 0 {
				divide(l)
			}
		}
		rest = others
	}
}
