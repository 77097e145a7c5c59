// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// splitter is one search for a way to divide items among the children of a node.
type splitter struct {
	*packer
	level    int
	items    []item   // to be divided
	contents [][]item // by child
	slots    [][]int32
	loads    [][][]int64 // by child, lane and instant
	users    []int32     // by lane: items on it
	h        held        // by item in the order of items
	open     []int       // the items that aren't divided yet, ascending
}

// split returns how a node of a level can hold all items, nil if it can't or the packer has stopped. The requests in
// before stay where a split of theirs put them; items are the others. all are both, in order. The result follows all.
func (p *packer) split(level int, all []item, before *held, items []item) *held {
	fan, lanes := p.tree.Fan[level], p.tree.Lanes[level-1]
	s := &splitter{packer: p, level: level, items: items, contents: make([][]item, fan),
		slots: make([][]int32, fan), loads: make([][][]int64, fan), users: make([]int32, lanes)}
	flat := make([]int64, fan*lanes*p.instants)
	small := make([]int32, fan*p.instants)
	for c := range fan {
		s.slots[c], small = small[:p.instants:p.instants], small[p.instants:]
		s.loads[c] = make([][]int64, lanes)
		for l := range lanes {
			s.loads[c][l], flat = flat[:p.instants:p.instants], flat[p.instants:]
		}
	}
	s.h = held{make([]int32, len(items)), make([][]tvcrelax.Part, len(items))}
	for i := range items {
		s.open = append(s.open, i)
	}
	for _, x := range items {
		if x.route >= 0 {
			s.users[x.route]++
		}
	}
	if before != nil {
		k := 0
		for _, x := range all {
			if k >= len(before.routes) {
				break
			}
			if slices.ContainsFunc(items, func(y item) bool { return y.request == x.request }) {
				continue
			}
			for c, part := range before.parts[k] {
				if part.VMs > 0 {
					s.put(c, x, part, before.routes[k], 1)
				}
			}
			if r := before.routes[k]; r >= 0 {
				s.users[r]++
			}
			k++
		}
	}
	if !s.divide() {
		return nil
	}
	if before == nil {
		return &s.h
	}
	whole := &held{}
	i, k := 0, 0
	for _, x := range all {
		if i < len(items) && items[i].request == x.request {
			whole.routes, whole.parts = append(whole.routes, s.h.routes[i]), append(whole.parts, s.h.parts[i])
			i++
		} else {
			whole.routes, whole.parts = append(whole.routes, before.routes[k]), append(whole.parts, before.parts[k])
			k++
		}
	}
	return whole
}

// put adds an item's part to a child (sign 1), or takes it away (-1).
func (s *splitter) put(c int, x item, part tvcrelax.Part, route int32, sign int32) {
	q := &s.requests[x.request]
	slots := s.slots[c]
	for _, t := range q.at {
		slots[t] += sign * part.VMs
	}
	if part.Load > 0 {
		load := int64(sign) * int64(part.Load) * q.bandwidth
		lane := s.loads[c][route]
		for _, t := range q.at {
			lane[t] += load
		}
	}
	at, _ := find(s.contents[c], x.request)
	if sign > 0 {
		s.contents[c] = slices.Insert(s.contents[c], at, s.below(s.level, x, part, route))
	} else {
		s.contents[c] = slices.Delete(s.contents[c], at, at+1)
	}
}

// find returns the place of a request's item, or its place if added, and whether it is there.
func find(items []item, request int32) (int, bool) {
	return slices.BinarySearchFunc(items, request, func(x item, r int32) int { return cmp.Compare(x.request, r) })
}

// room reports whether a child has the slots and its link the rate for a part.
func (s *splitter) room(c int, x item, part tvcrelax.Part, route int32) bool {
	q := &s.requests[x.request]
	most := int32(s.tree.Slots[s.level-1]) - part.VMs
	slots := s.slots[c]
	for _, t := range q.at {
		if slots[t] > most {
			return false
		}
	}
	if part.Load == 0 {
		return true
	}
	left := s.tree.Rate[s.level-1] - int64(part.Load)*q.bandwidth
	lane := s.loads[c][route]
	for _, t := range q.at {
		if lane[t] > left {
			return false
		}
	}
	return true
}

// divide divides the open items, the one with the least room first.
func (s *splitter) divide() bool {
	if len(s.open) == 0 {
		return true
	}
	if s.nodes++; s.nodes > s.limit || s.nodes%16 == 0 && meter.Stop(s.ctx, 40) {
		s.stopped = true
	}
	if s.stopped {
		return false
	}
	at := 0
	if s.off&devLook == 0 {
		if at = s.scarcest(); at < 0 {
			return false
		}
	}
	i := s.open[at]
	s.open = slices.Delete(slices.Clone(s.open), at, at+1)
	done := s.divideOne(i)
	s.open = slices.Insert(slices.Clone(s.open), at, i)
	return done
}

// scarcest returns the position of the open item with the least room for its parts beside the children's content now,
// beyond its need. It returns -1 if some item has no parts that fit: further content of the children takes room and
// never gives any.
func (s *splitter) scarcest() int {
	best, least := -1, int32(math.MaxInt32)
	for at, i := range s.open {
		slack := int32(-1)
		if x := s.items[i]; x.route >= 0 {
			slack = s.slack(x, x.route)
		} else {
			for r := range s.users {
				slack = max(slack, s.slack(x, int32(r)))
			}
		}
		if slack < 0 {
			return -1
		}
		if slack < least {
			best, least = at, slack
		}
	}
	return best
}

// slack returns the excess over the item of the largest parts that the children have room for, with a lane; -1 if no
// parts with room sum to it.
func (s *splitter) slack(x item, route int32) int32 {
	parts := s.requests[x.request].parts[s.level-1]
	n := x.part.VMs
	reach := uint64(1) // bit m: m VMs can be placed, for n < 64
	sum := int32(0)
	for c := range s.contents {
		most := int32(0)
		next := reach
		for _, part := range parts {
			if part.VMs > n {
				break
			}
			if s.room(c, x, part, route) {
				most = part.VMs
				next |= reach << uint(part.VMs)
			}
		}
		reach = next
		sum += most
	}
	if sum < n || n < 64 && reach>>uint(n)&1 == 0 {
		return -1
	}
	return sum - n
}

// divideOne divides item i, and then the open ones.
func (s *splitter) divideOne(i int) bool {
	x := s.items[i]
	s.h.parts[i] = make([]tvcrelax.Part, len(s.contents))
	d := &division{splitter: s, i: i, x: x, twin: s.twins(x)}
	whole := x.part.VMs == s.requests[x.request].vms
	d.loads = s.perPath && !whole
	if x.route >= 0 {
		d.route = x.route
		return d.assign(0, x.part)
	}
	// All VMs at one child need no lane.
	d.route, d.single = -1, true
	if d.assign(0, x.part) {
		return true
	}
	d.single, d.multiple = false, true
	lanes, size := len(s.users), 1
	if s.level >= 2 {
		size = lanes / s.tree.Lanes[s.level-2]
	}
	// Unused lanes are alike, within a group of them (the links to the core switches of a group), and so are unused
	// groups. Exchanging them in all nodes is an automorphism of the tree that leaves everything so far where it is. So
	// the first of them represents all.
	fresh := false
	for g := 0; g < lanes; g += size {
		unused := !slices.ContainsFunc(s.users[g:g+size], func(n int32) bool { return n > 0 })
		if unused && fresh && s.off&devSymmetry == 0 {
			continue
		}
		fresh = fresh || unused
		first := false
		for r := g; r < g+size; r++ {
			if s.users[r] == 0 && first && s.off&devSymmetry == 0 {
				continue
			}
			first = first || s.users[r] == 0
			d.route = int32(r)
			s.users[r]++
			if d.assign(0, x.part) {
				return true
			}
			s.users[r]--
		}
	}
	return false
}

// twins returns, for each child, the last one before it that is in the same state, -1 without. The first of such
// children gets the largest part:
//
//   - Children with the same items are exchanged by an automorphism of the node
//     that leaves everything so far where it is.
//   - Servers need only have the same slots and rate left at all instants from the first to the last that this item and
//     the open ones use: parts of these that one of them gets fit the other as well.
func (s *splitter) twins(x item) []int {
	twin := make([]int, len(s.contents))
	rest := s.requests[x.request].span
	for _, i := range s.open {
		y := s.requests[s.items[i].request].span
		rest = tvcrelax.Span{From: min(rest.From, y.From), To: max(rest.To, y.To)}
	}
	for c := range twin {
		twin[c] = -1
		if s.off&devSymmetry != 0 {
			continue
		}
		for b := c - 1; b >= 0; b-- {
			if s.level == 1 {
				if !slices.Equal(s.slots[c][rest.From:rest.To+1], s.slots[b][rest.From:rest.To+1]) ||
					!slices.Equal(s.loads[c][0][rest.From:rest.To+1], s.loads[b][0][rest.From:rest.To+1]) {
					continue
				}
			} else if !slices.Equal(s.contents[c], s.contents[b]) {
				continue
			}
			twin[c] = b
			break
		}
	}
	return twin
}

// shuffle returns 0 to n-1 in a random order, now and then near to ascending.
func (p *packer) shuffle(n int) []int {
	order := p.random.Perm(n)
	if p.random.IntN(2) == 0 {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return a - b + p.random.IntN(3) - 1 })
	return order
}

// division is the search for the parts of one item.
type division struct {
	*splitter
	i                int
	x                item
	route            int32
	single, multiple bool // all VMs at one child; at more than one
	loads            bool // the loads of the parts must sum to the item's
	twin             []int
}

// assign gives parts to the children from c on, left in all, and then divides the
// next items. The largest parts come first.
func (d *division) assign(c int, left tvcrelax.Part) bool {
	if left.VMs == 0 {
		if d.loads && left.Load != 0 {
			return false
		}
		d.h.routes[d.i] = d.route
		return d.divide()
	}
	parts := d.requests[d.x.request].parts[d.level-1]
	if len(parts) == 0 || int(left.VMs) > (len(d.contents)-c)*int(parts[len(parts)-1].VMs) {
		return false
	}
	chosen := d.h.parts[d.i]
	var order []int
	if d.random != nil {
		order = d.shuffle(len(parts) + 1)
	}
	for k := len(parts); k >= 0; k-- {
		at := k - 1
		if order != nil {
			at = order[k] - 1
		}
		if at < 0 {
			if d.assign(c+1, left) {
				return true
			}
			if d.stopped {
				return false
			}
			continue
		}
		part := parts[at]
		if part.VMs > left.VMs || d.loads && part.Load > left.Load {
			continue
		}
		if whole := part.VMs == d.requests[d.x.request].vms; d.single && !whole || d.multiple && whole {
			continue
		}
		if b := d.twin[c]; b >= 0 && part.Compare(chosen[b]) > 0 {
			continue
		}
		if !d.room(c, d.x, part, d.route) {
			continue
		}
		d.put(c, d.x, part, d.route, 1)
		chosen[c] = part
		if (d.level == 1 || d.hold(d.level-1, d.contents[c]) != nil) &&
			d.assign(c+1, tvcrelax.Part{VMs: left.VMs - part.VMs, Load: left.Load - part.Load}) {
			return true
		}
		d.put(c, d.x, part, d.route, -1)
		chosen[c] = tvcrelax.Part{}
		if d.stopped {
			return false
		}
	}
	return false
}
