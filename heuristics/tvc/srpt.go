// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// The scheduler srpt is one of ours for short responses. The request with the least work times VMs left is first, as
// the shortest remaining processing time is on one machine with all slots. It may suspend larger ones. Large requests
// may wait long for that, as under SDF; a finite trace ends.

// srptFactor is how many times larger the area of a suspended request must be. At 1 the mean responses of the first
// 1,000 jobs of KTH-SP2 and NASA-iPSC are within 3 % of the ones at 2. Suspensions are up to 40 % more. At 4 the
// responses are up to 5 % longer.
const srptFactor = 2

// byArea orders by the work that isn't done times the VMs.
func byArea(q *queue, k int) int64 { return area(q.requests[k].Left, q.Requests[k].VMs) }

// area returns ticks times VMs, or the largest number if that is less.
func area(ticks int64, vms int) int64 {
	high, low := bits.Mul64(uint64(ticks), uint64(vms))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// suspendLarger starts the top request in place of running ones with an area more than srptFactor times as large as its
// area plus their migration's. It suspends the largest first, and no more than needed. A suspended one goes on if it
// still has room in its place when the top one is embedded.
//
// No request is suspended at the instant at which its segment starts. In the order of areas
// none would be: those that start before the top one have no larger area.
func (q *queue) suspendLarger(k int) bool {
	type larger struct {
		request int
		area    int64
	}
	var all []larger
	r, slots := &q.Requests[k], q.AllFree
	for _, x := range q.running {
		if q.requests[x].Last().Start == q.now {
			continue
		}
		if a := area(q.requests[x].Work(q.now), q.Requests[x].VMs); a/srptFactor-area(q.Migration, q.Requests[x].VMs) > byArea(q, k) {
			all = append(all, larger{x, a})
			slots += q.Requests[x].VMs
		}
	}
	if slots < r.VMs && !q.retry {
		return false
	}
	slices.SortFunc(all, func(a, b larger) int { return cmp.Or(cmp.Compare(b.area, a.area), cmp.Compare(b.request, a.request)) })
	for n, x := range all {
		q.giveBack(x.request)
		if !q.start(k) {
			continue
		}
		for _, x := range slices.Backward(all[:n+1]) {
			r, place := &q.Requests[x.request], &q.requests[x.request].Last().Place
			if q.Room(place, r.VMs, r.Bandwidth) {
				q.occupy(x.request, place)
			} else {
				q.suspend(x.request)
			}
		}
		return true
	}
	for _, x := range all {
		q.occupy(x.request, &q.requests[x.request].Last().Place)
	}
	return false
}
