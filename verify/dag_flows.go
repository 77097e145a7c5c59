package verify

import (
	"container/heap"
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// The figures between which flows counts: a start, an amount of data that isn't
// 0. Rates and lengths are the instance's, which Validate bounds.
const (
	latestStart = 1e100
	leastData   = 1e-100
)

// flows is the transfers under contention, played in doubles: what replay does in
// fractions, by other code and at a cost that doesn't grow with the figures.
//
// The error. A rate, a clock and an end are each off by a few 2^-100 of
// themselves at every event, so what is played is exactly the replay of an instance
// whose data and capacities differ from the given ones behind the 25th digit
// (for 10^5 events). Two events in the wrong order are no more than that, either: rates between
// them last for no time. Rates are found without cancellation, because of a link with n
// transfers, of which m have no rate yet, at least m/n of the capacity is left
// (those with a rate got no more than the others will). So the arrivals are continuous in
// all figures, and one that comes later by d moves another by at most d times the ratio of that one's
// largest to its least rate.
//
// O(E (log E + B L + K)) for B classes under way in a part of the network whose links
// are joined by routes, on L links each, and K links of that part.
type flows struct {
	links []flowLink
	class []flowClass // in the order of their limits
	of    []int       // class of paths' class
	busy  []int       // classes with transfers under way, ascending
	open  []int       // scratch: links with transfers that have no rate
	fresh []double    // scratch, by class: the rate that share finds
	dirty []bool      // parts, by number, whose rates are to be found again,
	parts []int       // and a list of them
	tcp   bool
}

type flowLink struct {
	capacity, left, each double // left, each: of the capacity, for all and one of the transfers without a rate
	open                 int
	classes              []int // under way
	stale                bool  // each isn't left/open
}

// flowClass is the transfers that share one list of links and one path rate.
type flowClass struct {
	links          []int
	part           int // classes whose links are joined, directly or by others
	limit, rate    double
	served, since  double // data that a transfer has got that was there all the time, and when that was
	ends           double // when the first of them does at this rate
	due            flowHeap
	without, stale bool // a rate; what ends was computed for
}

type flow struct {
	end  double // of the class's service
	edge int
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
	part := make([]int, len(f.links)) // a link that its part's links lead to
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
		f.class[k] = flowClass{links: c.links, limit: doubleOf(c.limit)}
		for _, l := range c.links {
			part[root(l)] = root(c.links[0])
		}
	}
	for k := range f.class {
		f.class[k].part = root(f.class[k].links[0])
	}
	return f
}

// touch says that a part's rates are to be found again.
func (f *flows) touch(part int) {
	if !f.dirty[part] {
		f.dirty[part] = true
		f.parts = append(f.parts, part)
	}
}

// play fills in when the transfers arrive, which are given in the order of
// their starts.
func (f *flows) play(ctx context.Context, starts []transfer, arrived []*big.Rat) {
	for (len(starts) > 0 || len(f.busy) > 0) && ctx.Err() == nil {
		now := double{hi: math.Inf(1)}
		var next double // the first start
		if len(starts) > 0 {
			next = doubleOf(starts[0].at)
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
			// Exactly this much, whatever was rounded: the transfer ends.
			c.served, c.since, c.stale = c.due[0].end, now, true
			at := now.rat()
			for len(c.due) > 0 && !c.served.less(c.due[0].end) {
				arrived[heap.Pop(&c.due).(flow).edge] = at
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
			heap.Push(&c.due, flow{c.served.add(doubleOf(x.data)), x.edge})
			c.stale = true
			f.touch(c.part)
			if starts = starts[1:]; len(starts) > 0 {
				next = doubleOf(starts[0].at)
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

// serve brings served up to date.
func (c *flowClass) serve(now double) {
	if c.since != now {
		c.served = c.served.add(c.rate.mul(now.sub(c.since)))
		c.since = now
	}
}

// share finds the max-min fair rates in the parts that changed: the link that
// can give each of its transfers the least is the bottleneck of those without a rate yet,
// unless one of them has a lower limit of its own.
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
			x.open += len(c.due)
			x.classes = append(x.classes, k)
		}
	}
	for _, l := range f.open {
		x := &f.links[l]
		x.left, x.stale = x.capacity, true
		if n := float64(x.open); f.tcp {
			x.left = x.left.times(3 * n).div(double{hi: 3*n + 1})
		}
	}
	limited := 0 // of busy: those before it have a rate
	for {
		least, tightest := double{hi: math.Inf(1)}, -1
		kept := f.open[:0]
		for _, l := range f.open {
			x := &f.links[l]
			if x.open == 0 {
				continue
			}
			kept = append(kept, l)
			if x.stale {
				x.each, x.stale = x.left.div(double{hi: float64(x.open)}), false
			}
			if x.each.less(least) {
				least, tightest = x.each, l
			}
		}
		f.open = kept
		if tightest < 0 {
			return
		}
		for limited < len(f.busy) && !f.class[f.busy[limited]].without {
			limited++
		}
		if k := f.busy[limited]; !least.less(f.class[k].limit) {
			f.give(k, f.class[k].limit)
			continue
		}
		for _, k := range f.links[tightest].classes {
			if f.class[k].without {
				f.give(k, least)
			}
		}
	}
}

// give settles a class's rate.
func (f *flows) give(k int, rate double) {
	c := &f.class[k]
	f.fresh[k], c.without = rate, false
	n := len(c.due)
	used := rate.times(float64(n))
	for _, l := range c.links {
		x := &f.links[l]
		x.left, x.open, x.stale = x.left.sub(used), x.open-n, true
	}
}
