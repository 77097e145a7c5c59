// SPDX-License-Identifier: MIT

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

// fits returns a placement of s.
func (c *component) fits(s set) (placement, bool) {
	for k := range c.found {
		if f := &c.found[k]; s.in(f.set) {
			return f.only(func(r int32) bool { return s.has(c.order[r]) }), true
		}
	}
	if c.overfull(s) {
		return placement{}, false
	}
	p, ok := c.place(c.ranks(s))
	if ok {
		c.know(s, p)
	}
	return p, ok
}

// overfull reports whether s exceeds a resource or a cut of the relaxation: a sum that shows it saves a search.
func (c *component) overfull(s set) bool { return c.relax.Exceeded(s.has) }
