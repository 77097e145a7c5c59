// SPDX-License-Identifier: MIT

package verify

import (
	"math"
)

// proofLinear says that
//
//	Σ_groups (the value of the choice that holds) + Σ_terms times·variable ≤ most
//
// where of each group exactly one choice holds. It is violated if the least value of the left side is above most. That
// takes the least value of a choice that can hold for each group, and each term at its variable's lower or upper bound.
//
// All sums are wide, and most is only known as one: no row wraps.
type proofLinear struct {
	groups [][]proofChoice
	terms  []proofTerm
	over   wideSum // -most
}

type proofChoice struct {
	if_   bound
	value int64
}

type proofTerm struct {
	times int64
	v     int32
}

// allow adds a·b to most.
func (c *proofLinear) allow(a, b int64) { c.over.add(-a, b) }

func (c *proofLinear) entries() int {
	n := len(c.terms)
	for _, g := range c.groups {
		n += len(g)
	}
	return n
}

func (c *proofLinear) violated(s *proofState, _ bound, _ [2]int64) bool {
	sum := c.over
	for _, g := range c.groups {
		least, known := int64(math.MaxInt64), int64(math.MinInt64)
		for _, x := range g {
			if s.holds(x.if_) {
				known = max(known, x.value)
			}
			if !s.fails(x.if_) {
				least = min(least, x.value)
			}
		}
		switch {
		case known > math.MinInt64:
			sum.add(known, 1) // the value of any that is known to hold
		case least == math.MaxInt64:
			return true // none can hold
		default:
			sum.add(least, 1)
		}
	}
	for _, t := range c.terms {
		if t.times > 0 {
			sum.add(t.times, s.least(t.v))
		} else {
			sum.add(t.times, s.most(t.v))
		}
	}
	return sum.positive()
}
