package tvc

import "slices"

// value returns the weight of a set.
func (c *component) value(s set) (sum int64) {
	for i := range s.all {
		sum += c.weight[i]
	}
	return sum
}

// know notes a set that fits together, and how.
func (c *component) know(s set, p placement) {
	if c.top.held == nil || c.value(s) > c.value(c.top.set) {
		c.top = placed{s, p}
	}
	for _, f := range c.found {
		if s.in(f.set) {
			return
		}
	}
	c.found = slices.DeleteFunc(c.found, func(f placed) bool { return f.set.in(s) })
	if len(c.found) >= mostFound {
		c.found = c.found[1:]
	}
	c.found = append(c.found, placed{s, p})
}

// mostFound limits the sets that are known to fit.
const mostFound = 256

// ranks returns the packer's numbers of a set, ascending.
func (c *component) ranks(s set) []int32 {
	var all []int32
	for i := range s.all {
		all = append(all, c.rank[i])
	}
	slices.Sort(all)
	return all
}

// blocked reports whether a known cover is in s; it must have i.
func (c *component) blocked(s set, i int) bool {
	for _, x := range c.covers[i] {
		if x.in(s) {
			return true
		}
	}
	return false
}

// fits returns a placement of s, which is that of before and the request i.
func (c *component) fits(s set, i int, before placement) (placement, bool) {
	if c.blocked(s, i) {
		return placement{}, false
	}
	for k := range c.found {
		if f := &c.found[k]; s.in(f.set) {
			return f.only(func(r int32) bool { return s.has(c.order[r]) }), true
		}
	}
	if p, fits := c.search(s, i, before); fits || c.stopped {
		return p, fits
	}
	if c.off&devCovers == 0 && !c.blocked(s, i) { // a cover of one instant may be known now
		c.cover(s, i)
	}
	return placement{}, false
}

// search is fits for a set of which nothing is known.
func (c *component) search(s set, i int, before placement) (placement, bool) {
	if c.overfull(s) {
		return placement{}, false
	}
	if c.off&devExtend == 0 && before.held != nil {
		if p, ok := c.extend(c.ranks(s), before); ok {
			c.know(s, p)
			return p, true
		}
	}
	// What doesn't fit at one instant doesn't fit; the requests active then are
	// fewer.
	for t := c.span[i].From; t <= c.span[i].To && c.off&devInstants == 0; t++ {
		now := set{}
		for j := range s.all {
			if c.span[j].From <= t && t <= c.span[j].To {
				now = now.with(j)
			}
		}
		if now == s || c.stopped {
			continue
		}
		if _, ok := c.fits(now, i, before.only(func(r int32) bool { return now.has(c.order[r]) })); !ok {
			return placement{}, false
		}
	}
	p, ok := c.place(c.ranks(s))
	if ok {
		c.know(s, p)
	}
	return p, ok
}

// overfull reports whether s exceeds a resource or a cut of the relaxation: what a
// sum shows need not be searched.
func (c *component) overfull(s set) bool { return c.relax.Exceeded(s.has) }

// cover notes a minimal set of s, in which the request i doesn't fit beside the
// others, that can't be embedded together: requests are left out, the farthest in
// time from i first, as long as the others still don't fit. A part of a set that
// fits together does so, too; thus no set with the cover in it fits.
func (c *component) cover(s set, i int) {
	var others []int
	for j := range s.all {
		if j != i {
			others = append(others, j)
		}
	}
	apart := func(j int) int { return max(c.span[j].From-c.span[i].To, c.span[i].From-c.span[j].To, 0) }
	slices.SortStableFunc(others, func(a, b int) int { return apart(b) - apart(a) })
	limit := c.limit
	for _, j := range others {
		less := s.without(j)
		known := false
		for k := range c.found {
			known = known || less.in(c.found[k].set)
		}
		if known {
			continue
		}
		if !c.blocked(less, i) && !c.overfull(less) {
			c.limit = min(limit, c.nodes+coverNodes)
			p, ok := c.place(c.ranks(less))
			c.limit = limit
			if ok {
				c.know(less, p)
				continue
			}
			if c.stopped {
				c.stopped = c.nodes > limit || c.ctx.Err() != nil
				continue
			}
		}
		s = less
	}
	var members []int
	for j := range s.all {
		c.covers[j] = append(c.covers[j], s)
		members = append(members, j)
	}
	if c.added < mostCovers {
		c.added++
		c.relax.AddCover(members)
	}
}

// mostCovers limits the covers in the relaxation, which is solved at every node.
const mostCovers = 500

// coverNodes limits the search for a placement of a part of a cover.
const coverNodes = 20_000
