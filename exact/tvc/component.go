// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// component is the search for the requests to accept within one component (tvcrelax.Components).
//
// A depth-first search decides on the requests in the order of arrival, accepted first. A set of accepted requests must
// be embedded together (packer). It goes back if no more can be had than the best so far, by one of these bounds:
//
//   - the weight accepted plus the weight of the requests to come;
//   - Lagrangian multipliers of the component's linear relaxation (devMultipliers), a
//     sum for each set;
//   - the linear relaxation, solved again for the requests accepted and rejected so far (devRelaxation).
//
// The relaxation has cuts by patterns (devPatterns).
type component struct {
	*packer
	requests []int // of the instance, in order of arrival
	weight   []int64
	rank     []int32 // the packer's number of each request
	order    []int   // the request of each of the packer's numbers
	span     []tvcrelax.Span
	relax    *tvcrelax.Relaxation
	bounds   *tvcrelax.Multipliers
	tail     []float64 // by request: the multipliers' part of those from it on
	rest     []int64   // by request: the weight of those from it on
	upper    int64     // bound on the value of any set
	found    []placed
	top      placed // the best of all that were found
	choices  []tvcrelax.Choice
	best     int64
	report   func()
	enough   func(value int64) bool // a solution of this value needs no search
}

// placed is a set that fits, and how.
type placed struct {
	set
	placement
}

func newComponent(ctx context.Context, t *view.TVC, w *tvcrelax.Weights, requests []int, r *tvcrelax.Relaxation, off deviceSet) *component {
	c := &component{requests: requests, relax: r, weight: make([]int64, len(requests)),
		rest: make([]int64, len(requests)+1), tail: make([]float64, len(requests)+1),
		choices: make([]tvcrelax.Choice, len(requests))}
	c.packer, c.rank = newPacker(ctx, t, requests, off)
	c.order, c.span = make([]int, len(requests)), make([]tvcrelax.Span, len(requests))
	for i, k := range requests {
		c.weight[i] = w.Of[k]
		c.order[c.rank[i]] = i
		c.span[i] = c.packer.requests[c.rank[i]].span
	}
	for i := len(requests) - 1; i >= 0; i-- {
		c.rest[i] = c.rest[i+1] + c.weight[i]
	}
	c.upper = c.rest[0]
	return c
}

// solve finds the optimum. It returns false if it was stopped or the best set is
// enough; then upper bounds the optimum.
func (c *component) solve() (bool, error) {
	c.limit = math.MaxInt64
	if err := c.multiply(); err != nil {
		return false, err
	}
	if c.off&devConstruct == 0 {
		c.construct()
	}
	for _, f := range c.found {
		c.best = max(c.best, c.value(f.set))
	}
	if c.top.held != nil && c.enough(c.value(c.top.set)) {
		return false, nil
	}
	c.walk(0, set{}, 0, placement{})
	if c.stopped {
		return false, nil
	}
	c.upper = c.best
	c.report()
	return true, nil
}

// constructNodes limits the search for a placement of each set of construct.
const constructNodes = 8000

// construct looks for good sets: requests are added in several orders, each if
// the packer soon finds a placement of it with those before. The orders are by
// the reduced weight, by the weight, by the weight per VM and instant.
func (c *component) construct() {
	n := len(c.requests)
	key := func(f func(i int) float64) (order []int) {
		for i := range n {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f(b), f(a)) })
		return order
	}
	orders := [][]int{
		key(func(i int) float64 { return float64(c.weight[i]) }),
		key(func(i int) float64 {
			return float64(c.weight[i]) / float64(int(c.packer.requests[c.rank[i]].vms)*(c.span[i].To-c.span[i].From+1))
		}),
	}
	if c.bounds != nil {
		orders = append(orders, key(func(i int) float64 { return c.bounds.Reduced[i] }))
	}
	for _, order := range orders {
		var s set
		var p placement
		p.held = &held{}
		for _, i := range order {
			if meter.Stop(c.ctx, 100) {
				return
			}
			more := s.with(i)
			if c.overfull(more) {
				continue
			}
			ranks := c.ranks(more)
			c.limit = c.nodes + constructNodes
			q, ok := c.extend(ranks, p)
			if !ok && !c.stopped {
				q, ok = c.place(ranks)
			}
			c.limit, c.stopped = math.MaxInt64, false
			if ok {
				s, p = more, q
			}
		}
		c.know(s, p)
	}
}

// multiply computes multipliers.
func (c *component) multiply() error {
	if c.off&devMultipliers != 0 {
		return nil
	}
	clear(c.choices) // all are open
	m, err := c.relax.Solve(c.ctx, c.choices)
	if err != nil || m == nil {
		return err
	}
	c.bounds = m
	for i := len(c.requests) - 1; i >= 0; i-- {
		c.tail[i] = c.tail[i+1] + max(0, m.Reduced[i])
	}
	return nil
}

// beaten reports whether the linear relaxation, solved for the requests accepted and rejected before i, proves that
// nothing better than the best can come.
func (c *component) beaten(i int, accepted set) bool {
	for j := range c.choices {
		switch {
		case j < i && !accepted.has(j):
			c.choices[j] = tvcrelax.Rejected
		case j < i:
			c.choices[j] = tvcrelax.Accepted
		default:
			c.choices[j] = tvcrelax.Open
		}
	}
	m, err := c.relax.Solve(c.ctx, c.choices)
	if err != nil || m == nil {
		return false // the other bounds still hold
	}
	bound := m.Base
	for j, x := range c.choices {
		switch x {
		case tvcrelax.Accepted:
			bound += m.Reduced[j]
		case tvcrelax.Open:
			bound += max(0, m.Reduced[j])
		}
	}
	return math.Floor(bound) <= float64(c.best)
}

// walk decides on the requests from i on, beside the accepted ones, which have the weight sum and the places p.
func (c *component) walk(i int, accepted set, sum int64, p placement) {
	if sum > c.best {
		c.best = sum
		c.know(accepted, p)
		c.report()
	}
	if i == len(c.requests) || c.stopped {
		return
	}
	if c.nodes++; c.nodes%64 == 0 && meter.Stop(c.ctx, 200) {
		c.stopped = true
		return
	}
	if sum+c.rest[i] <= c.best {
		return
	}
	if c.bounds != nil {
		bound := c.bounds.Base + c.tail[i]
		for j := range accepted.all {
			bound += c.bounds.Reduced[j]
		}
		if math.Floor(bound) <= float64(c.best) {
			return
		}
		if c.off&devRelaxation == 0 && c.beaten(i, accepted) {
			return
		}
	}
	s := accepted.with(i)
	if q, ok := c.fits(s); ok {
		c.walk(i+1, s, sum+c.weight[i], q)
	}
	if !c.stopped {
		c.walk(i+1, accepted, sum, p)
	}
}
