package model

import (
	"cmp"
	"slices"
)

// Fits reports whether request k fits an empty data centre. O(1) for all but
// small requests.
func (v *TVC) Fits(k int) bool {
	q := &v.Requests[k]
	return v.ticks().fits(q.VMs, micro(q.BandwidthMbps))
}

// fits reports whether a cluster of n VMs at b bit/s fits an empty data centre.
//
// All servers are alike, so are all edge switches and all pods, and the links of
// one route form a tree. A count of VMs below a link is possible if it is the sum
// of counts that are possible one level below, and the load that it puts on the
// link is at most the link's rate. With HoseCut the load depends on the count
// alone, so the possible counts are a set, kept as a few intervals. Where all VMs
// are below one switch, the load above it is 0 and within any rate.
func (t *TVCTicks) fits(n int, b int64) bool {
	if t.PerPath {
		return t.fitsPerPath(n, b)
	}
	most := func(rate int64) int { return int(min(rate/b, int64(n))) } // VMs that a link lets through
	server := spans{{0, min(t.Slots, n)}}.allow(n, most(t.ServerRate))
	edge := server.times(t.Half, n)
	if !t.NonBlocking {
		edge = edge.allow(n, most(t.EdgeRate))
	}
	pod := edge.times(t.Half, n)
	if !t.NonBlocking {
		pod = pod.allow(n, most(t.AggregationRate))
	}
	all := pod.times(t.K, n)
	return len(all) > 0 && all[len(all)-1].to == n
}

// span is the whole numbers from one to another, both included.
type span struct{ from, to int }

// spans is a set of whole numbers: disjoint spans in ascending order, not
// adjacent.
type spans []span

// allow returns the counts c of the set with min(c, n-c) ≤ most.
func (s spans) allow(n, most int) spans {
	var kept spans
	for _, x := range s {
		if low := (span{x.from, min(x.to, most)}); low.from <= low.to {
			kept = append(kept, low)
		}
		if high := (span{max(x.from, n-most), x.to}); high.from <= high.to {
			kept = append(kept, high)
		}
	}
	return kept.union()
}

// plus returns the sums, at most n, of a number of each set.
func (s spans) plus(x spans, n int) spans {
	var all spans
	for _, a := range s {
		for _, b := range x {
			if a.from+b.from <= n {
				all = append(all, span{a.from + b.from, min(a.to+b.to, n)})
			}
		}
	}
	return all.union()
}

// times returns the sums, at most n, of count numbers of the set, by doubling.
func (s spans) times(count, n int) spans {
	total := spans{{0, 0}}
	for ; count > 0; count /= 2 {
		if count%2 == 1 {
			total = total.plus(s, n)
		}
		s = s.plus(s, n)
	}
	return total
}

// union sorts the spans and joins those that overlap or touch.
func (s spans) union() spans {
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var all spans
	for _, x := range s {
		if last := len(all) - 1; last >= 0 && x.from <= all[last].to+1 {
			all[last].to = max(all[last].to, x.to)
		} else {
			all = append(all, x)
		}
	}
	return all
}

// fitsPerPath is fits for HosePerPath: the load on a link is the sum of min(c,
// n-c)·b over the servers below it, c the VMs on each.
//
// least[m] is the least such sum, in VMs, for m VMs below a link, if they fit. The
// loads of servers only add up, so the least is what a link should carry. The
// cluster fits if n VMs fit below one edge switch, one aggregation switch or one
// core switch, whose links up carry nothing. More than 2·L VMs have at most n/2 on
// each server: the sum is then m, and any m up to the most fits.
func (t *TVCTicks) fitsPerPath(n int, b int64) bool {
	if n <= t.Slots {
		return true // on one server, without any load
	}
	most := func(rate int64) int { return int(min(rate/b, int64(n))) }
	server, edge, pod := most(t.ServerRate), most(t.EdgeRate), most(t.AggregationRate)
	if t.NonBlocking {
		edge, pod = n, n
	}
	if n >= 2*t.Slots {
		server = min(server, t.Slots)
		if n <= t.Half*server {
			return true
		}
		edge = min(edge, t.Half*server)
		if n <= t.Half*edge {
			return true
		}
		return n <= t.K*min(pod, t.Half*edge)
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
	below := sum(cut(one, server), t.Half)
	if below[n] < never {
		return true
	}
	below = sum(cut(below, edge), t.Half)
	if below[n] < never {
		return true
	}
	return sum(cut(below, pod), t.K)[n] < never
}
