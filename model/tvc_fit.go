// SPDX-License-Identifier: MIT

package model

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/num/spans"
)

// treeRates is a fat-tree in whole numbers: rates of the links above servers, edge and
// aggregation switches in bits per second.
type treeRates struct {
	FatTree
	server, edge, aggregation int64
	nonBlocking, perPath      bool
}

// Fits returns a function that reports whether request k fits an empty data centre, O(1)
// for all but small requests. It has a memory: the answer depends on the VMs and on how many of them each kind of link
// lets through, and few of these are different.
func (v *TVC) Fits() func(k int) bool {
	server, edge, aggregation := v.FatTree.Rates()
	t := &treeRates{FatTree: v.FatTree, server: units.Micro(server), edge: units.Micro(edge), aggregation: units.Micro(aggregation),
		nonBlocking: v.FatTree.EffectiveFabric() == FabricNonBlocking, perPath: v.EffectiveHose() == HosePerPath}
	type shape struct{ n, server, edge, aggregation int32 }
	known := map[shape]bool{}
	return func(k int) bool {
		n, b := v.Requests[k].VMs, units.Micro(v.Requests[k].BandwidthMbps)
		most := func(rate int64) int32 { return int32(min(rate/b, int64(n))) }
		s := shape{int32(n), most(t.server), most(t.edge), most(t.aggregation)}
		fits, ok := known[s]
		if !ok {
			fits = t.fits(n, b)
			known[s] = fits
		}
		return fits
	}
}

// fits reports whether a cluster of n VMs at b bit/s fits an empty data centre.
//
// All servers are alike, so are all edge switches and all pods, and the links of
// one route form a tree. A count of VMs below a link is possible if it is the sum of possible counts one level below,
// and its load is at most the link's rate. The load depends only on the count with HoseCut, so the possible counts are
// a set, kept as a few intervals. If all VMs are below one switch, the load above it is 0 and within any rate.
func (t *treeRates) fits(n int, b int64) bool {
	if t.perPath {
		return t.fitsPerPath(n, b)
	}
	most := func(rate int64) int { return int(min(rate/b, int64(n))) } // VMs that a link lets through
	server := spans.Set{{To: min(t.Slots, n)}}.Ends(nil, n, most(t.server))
	edge := times(server, t.Half(), n)
	if !t.nonBlocking {
		edge = edge.Ends(nil, n, most(t.edge))
	}
	pod := times(edge, t.Half(), n)
	if !t.nonBlocking {
		pod = pod.Ends(nil, n, most(t.aggregation))
	}
	return times(pod, t.K, n).Has(n)
}

// times returns the sums, at most n, of count numbers of the set, by doubling.
func times(s spans.Set, count, n int) spans.Set {
	total := spans.Set{{}}
	for ; count > 0; count /= 2 {
		if count%2 == 1 {
			total = total.Sums(nil, s, 0, n)
		}
		s = s.Sums(nil, s, 0, n)
	}
	return total
}

// fitsPerPath is fits for HosePerPath: the load on a link is the sum of min(c,
// n-c)·b over the servers below it, c the VMs on each.
//
// least[m] is the least such sum, in VMs, for m VMs below a link, if they fit. The loads of servers only add up, so a
// link should carry the least. The cluster fits if n VMs fit below one edge switch, one aggregation switch or one core
// switch: their links up carry nothing. More than 2·L VMs have at most n/2 on each server: the sum is then m, and any m
// up to the most fits.
func (t *treeRates) fitsPerPath(n int, b int64) bool {
	if n <= t.Slots {
		return true // on one server, without any load
	}
	most := func(rate int64) int { return int(min(rate/b, int64(n))) }
	server, edge, pod := most(t.server), most(t.edge), most(t.aggregation)
	if t.nonBlocking {
		edge, pod = n, n
	}
	if n >= 2*t.Slots {
		server = min(server, t.Slots)
		if n <= t.Half()*server {
			return true
		}
		edge = min(edge, t.Half()*server)
		if n <= t.Half()*edge {
			return true
		}
		return n <= t.K*min(pod, t.Half()*edge)
	}
	const never = int(1e9)
	cut := func(least []int, most int) []int {
		cut := slices.Clone(least)
		for m, load := range cut {
			if load > most {
				cut[m] = never
			}
		}
		return cut
	}
	sum := func(one []int, count int) []int {
		total := make([]int, n+1)
		for m := 1; m <= n; m++ {
			total[m] = never
		}
		for range count {
			next := slices.Clone(total)
			for m, a := range total {
				for c := 1; m+c <= n; c++ {
					next[m+c] = min(next[m+c], a+one[c])
				}
			}
			total = next
		}
		return total
	}
	one := make([]int, n+1)
	for c := range one {
		if one[c] = min(c, n-c); c > t.Slots {
			one[c] = never
		}
	}
	below := sum(cut(one, server), t.Half())
	if below[n] < never {
		return true
	}
	below = sum(cut(below, edge), t.Half())
	if below[n] < never {
		return true
	}
	return sum(cut(below, pod), t.K)[n] < never
}
