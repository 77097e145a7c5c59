// SPDX-License-Identifier: MIT

package verify

import (
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// The largest start and the least data, other than 0, that flows takes. Rates
// and durations are the instance's, which Validate bounds.
const (
	latestStart = 1e100
	leastData   = 1e-100
)

// flows replays transfers under contention in doubles. replay does the same in
// fractions, by other code; the cost of flows doesn't grow with the figures.
//
// The error: at every event a rate, a clock and an end each have a relative
// error of a few 2^-100. So the replay is exact for an instance with data and capacities that differ from the given
// ones beyond the 25th digit (for 10^5 events). Two events in the wrong order add no more: the rates between them hold
// for no time. Rates are computed without cancellation. If transfers with m of the weights n on a link have no rate yet, at
// least m/n of the capacity is left, as the others got no more for their weights than these will. So the arrivals are continuous in all
// figures: an arrival later by d moves another one by at most d times the ratio of the other's largest to its least
// rate.
//
// Links that routes join, directly or by other links, form a part: rates in one
// part don't depend on another. O(E (log E + B L + K)) for B busy classes in a
// part, on L links each, and K links of that part.
type flows struct {
	links   []flowLink
	class   []flowClass // by ascending limit
	of      []int       // index in class, by index in paths.classes
	busy    []int       // classes with transfers under way, ascending
	open    []int       // scratch: links with transfers that have no rate
	touched []int       // scratch: links with given transfers
	fresh   []double    // scratch, by class: the rate that share computes
	dirty   []bool      // by part: its rates must be computed again
	parts   []int       // the dirty parts
	tcp     bool
}

type flowLink struct {
	capacity double
	left     double  // capacity for the transfers without a rate
	about    float64 // left/open, rounded
	open     int64   // weight of the transfers without a rate
	given    int64   // weight of the ones of these that have just got one
	classes  []int   // busy ones
}

// flowClass holds the transfers with the same links, weight and path rate:
// their rates are always equal.
type flowClass struct {
	links   []int
	part    int
	weight  int64
	limit   double // of a weight of 1
	rate    double // of a transfer
	served  double // data that a transfer there from the beginning has got at since
	since   double
	ends    double // when the first transfer ends at this rate
	due     flowHeap
	without bool // it has no rate yet
	stale   bool // ends must be computed again
}

// flow is a transfer under way. It ends when its class has served end.
type flow struct {
	end    double
	flight int
}

type flowHeap []flow

func (h flowHeap) Len() int           { return len(h) }
func (h flowHeap) Less(a, b int) bool { return h[a].end.less(h[b].end) }
func (h flowHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *flowHeap) Push(x any)        { *h = append(*h, x.(flow)) }
func (h *flowHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func newFlows(p *paths) *flows {
	f := &flows{tcp: p.in.Transfers() != model.TransferFair, dirty: make([]bool, len(p.capacity)), links: make([]flowLink, len(p.capacity)), class: make([]flowClass, len(p.classes)),
		of: make([]int, len(p.classes)), fresh: make([]double, len(p.classes))}
	for l, c := range p.capacity {
		f.links[l].capacity = doubleOf(c)
	}
	order := make([]int, len(p.classes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return p.classes[a].limit.Cmp(p.classes[b].limit) })
	part := make([]int, len(f.links)) // union-find over the links
	for l := range part {
		part[l] = l
	}
	root := func(l int) int {
		for part[l] != l {
			part[l] = part[part[l]]
			l = part[l]
		}
		return l
	}
	for k, x := range order {
		c := p.classes[x]
		f.of[x] = k
		f.class[k] = flowClass{links: c.links, weight: c.weight, limit: doubleOf(c.limit)}
		for _, l := range c.links {
			part[root(l)] = root(c.links[0])
		}
	}
	for k := range f.class {
		f.class[k].part = root(f.class[k].links[0])
	}
	return f
}

// touch marks a part for which rates must be computed again.
func (f *flows) touch(part int) {
	if !f.dirty[part] {
		f.dirty[part] = true
		f.parts = append(f.parts, part)
	}
}

// play computes the arrivals, by flight, of transfers given in the order of their
// starts.
func (f *flows) play(ctx context.Context, starts []transfer, arrived []arrival) {
	for (len(starts) > 0 || len(f.busy) > 0) && ctx.Err() == nil {
		now := double{hi: math.Inf(1)}
		var next double // the first start
		if len(starts) > 0 {
			next = starts[0].at
			now = next
		}
		for _, k := range f.busy {
			if f.class[k].ends.less(now) {
				now = f.class[k].ends
			}
		}
		kept := f.busy[:0]
		for _, k := range f.busy {
			c := &f.class[k]
			if now.less(c.ends) {
				kept = append(kept, k)
				continue
			}
			// Set exactly, whatever was rounded: the transfer ends.
			c.served, c.since, c.stale = c.due[0].end, now, true
			for len(c.due) > 0 && !c.served.less(c.due[0].end) {
				arrived[heap.Pop(&c.due).(flow).flight] = arrival{now, 0}
			}
			f.touch(c.part)
			if len(c.due) > 0 {
				kept = append(kept, k)
			}
		}
		f.busy = kept
		for len(starts) > 0 && !now.less(next) {
			x := starts[0]
			k := f.of[x.class]
			c := &f.class[k]
			if len(c.due) == 0 {
				i, _ := slices.BinarySearch(f.busy, k)
				f.busy = slices.Insert(f.busy, i, k)
				c.served, c.since, c.rate = double{}, now, double{}
			}
			c.serve(now)
			heap.Push(&c.due, flow{c.served.add(double{hi: x.data}), int(x.flight)})
			c.stale = true
			f.touch(c.part)
			if starts = starts[1:]; len(starts) > 0 {
				next = starts[0].at
			}
		}
		f.share()
		for _, k := range f.busy {
			c := &f.class[k]
			if !f.dirty[c.part] || !c.stale && c.rate == f.fresh[k] {
				continue
			}
			c.serve(now)
			c.rate, c.stale = f.fresh[k], false
			left := c.due[0].end.sub(c.served)
			if left.hi < 0 {
				left = double{}
			}
			c.ends = now.add(left.div(c.rate))
		}
		for _, part := range f.parts {
			f.dirty[part] = false
		}
		f.parts = f.parts[:0]
	}
}

// serve advances served to now.
func (c *flowClass) serve(now double) {
	if c.since != now {
		c.served = c.served.add(c.rate.mul(now.sub(c.since)))
		c.since = now
	}
}

// share computes the max-min fair rates in the dirty parts by progressive filling. The link with the least capacity
// left per transfer is the bottleneck of its transfers, unless a transfer has a lower limit of its own.
func (f *flows) share() {
	f.open = f.open[:0]
	for _, k := range f.busy {
		c := &f.class[k]
		if !f.dirty[c.part] {
			continue
		}
		c.without = true
		for _, l := range c.links {
			x := &f.links[l]
			if x.open == 0 {
				f.open = append(f.open, l)
				x.classes = x.classes[:0]
			}
			x.open += c.weight * int64(len(c.due))
			x.classes = append(x.classes, k)
		}
	}
	for _, l := range f.open {
		x := &f.links[l]
		x.left = x.capacity
		if n := float64(x.open); f.tcp {
			x.left = x.left.times(3 * n).over(3*n + 1)
		}
	}
	limited := 0 // index in busy: earlier ones have a rate
	for {
		tightest, least := f.bottleneck()
		if tightest < 0 {
			return
		}
		for limited < len(f.busy) && !f.class[f.busy[limited]].without {
			limited++
		}
		f.touched = f.touched[:0]
		if k := f.busy[limited]; !least.less(f.class[k].limit) {
			least = f.class[k].limit
			f.give(k, least)
		} else {
			for _, k := range f.links[tightest].classes {
				if f.class[k].without {
					f.give(k, least)
				}
			}
		}
		for _, l := range f.touched {
			x := &f.links[l]
			x.left, x.open, x.given = x.left.sub(least.times(float64(x.given))), x.open-x.given, 0
		}
	}
}

// bottleneck returns the link with the least capacity left per transfer without a rate, -1
// without such transfers, and how much that is. Quotients of floats, off by 2^-52 at most,
// choose those that are divided as doubles.
func (f *flows) bottleneck() (tightest int, least double) {
	about, kept := math.Inf(1), f.open[:0]
	for _, l := range f.open {
		x := &f.links[l]
		if x.open == 0 {
			continue
		}
		kept = append(kept, l)
		x.about = x.left.hi / float64(x.open)
		about = min(about, x.about)
	}
	f.open = kept
	tightest, least = -1, double{hi: math.Inf(1)}
	for _, l := range kept {
		x := &f.links[l]
		if x.about > about*(1+0x1p-50) {
			continue
		}
		if each := x.left.over(float64(x.open)); each.less(least) {
			least, tightest = each, l
		}
	}
	return tightest, least
}

// give sets a class's rate for a weight of 1. Its links give it when touched is gone through.
func (f *flows) give(k int, rate double) {
	c := &f.class[k]
	if f.fresh[k], c.without = rate, false; c.weight > 1 {
		f.fresh[k] = rate.times(float64(c.weight))
	}
	n := c.weight * int64(len(c.due))
	for _, l := range c.links {
		x := &f.links[l]
		if x.given == 0 {
			f.touched = append(f.touched, l)
		}
		x.given += n
	}
}
