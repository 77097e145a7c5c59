// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// sequence embeds a cluster on servers in the order of a key: each takes as many
// VMs as its slots and the links on its path to the host allow.
//
// Subtrees finds the hosts below which the cluster fits in O(S), for S servers, mostly by sums of free slots alone.
// Below a host with s servers they are sorted in O(s) by counting, or O(s log s) if they are few, and filled in O(s)
// each time. In nearly all cases the first host has room for the servers' order, too. Otherwise a host is passed over
// if its links have the same rates as at the last failure.
type sequence struct {
	// key returns the rank of servers with free slots for a cluster at b bit/s;
	// the least comes first, ties by index.
	key func(d *fattree.DataCentre, free int, b int64) int64
	// local tries the switches bottom-up and takes the first below which the
	// cluster fits. Otherwise core switches alone host, so that all servers are in
	// one sequence.
	local bool
	// soFar has each server look at what its links carry so far, not at the end; it
	// matters with HoseCut alone, see fill.
	soFar  bool
	tracer *tracer // nil: nobody listens

	subtrees
	servers         sorter
	upEdges, upPods []upLink // above edge switches and pods on the way to the host
	group           int      // of core switches to which upEdges leads; -1: to none
	placed          []model.ServerVMs
	failed          failure
}

// upLink is the link above an edge switch or a pod on the way to the host.
type upLink struct {
	rate  int // VMs' bandwidths left, at most n; n if it lets all counts through
	first int // quota at first
	quota int // see fill
	vms   int // VMs placed below; with HosePerPath the sum of their loads
}

// Embed implements embedder.
func (q *sequence) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	lowest := model.LayerCore
	if q.local {
		lowest = model.LayerEdge
	}
	q.servers.first, q.failed.links, q.group = -1, q.failed.links[:0], -1
	if q.tracer != nil {
		return q.tracer.embed(q, d, n, b, lowest)
	}
	return q.find(d, n, b, lowest, q.try)
}

// try fills the servers below the host.
func (q *sequence) try(host model.Switch) (model.Embedding, bool) {
	first, last := q.ServersBelow(host)
	q.links(host)
	if q.failed.again(q, first, last) {
		q.tracer.again(host)
		return model.Embedding{}, false
	}
	if q.servers.first != first || q.servers.last != last {
		q.servers.sort(q.DataCentre, first, last, func(free int) int64 { return q.key(q.DataCentre, free, q.b) })
	}
	if !q.fill(first, last) {
		q.failed.note(q, first, last)
		q.tracer.filled(q, host, false)
		return model.Embedding{}, false
	}
	q.tracer.filled(q, host, true)
	slices.SortFunc(q.placed, func(x, y model.ServerVMs) int { return cmp.Compare(x.Server, y.Server) })
	servers := slices.Clone(q.placed)
	return model.Embedding{Switch: q.Lowest(host, servers), Servers: servers}, true
}

// links sets the links below the host.
func (q *sequence) links(host model.Switch) {
	h := q.Half
	q.upEdges, q.upPods = sized(q.upEdges, q.K*h), sized(q.upPods, q.K)
	switch host.Layer {
	case model.LayerEdge:
		q.upEdges[host.Group*h+host.Index], q.upPods[host.Group] = upLink{rate: q.n, first: q.n}, upLink{rate: q.n, first: q.n}
	case model.LayerAggregation:
		q.upPods[host.Group] = upLink{rate: q.n, first: q.n}
		for e := host.Group * h; e < (host.Group+1)*h; e++ {
			q.upEdges[e] = q.link(q.Edge[e*h+host.Index], q.edge(e))
		}
	case model.LayerCore:
		for p := range q.upPods {
			q.upPods[p] = q.link(q.Aggregation[(p*h+host.Group)*h+host.Index], q.pod(p, host.Group))
		}
		if q.group == host.Group {
			return
		}
		q.group = host.Group
		for e := range q.upEdges {
			q.upEdges[e] = q.link(q.Edge[e*h+host.Group], q.edge(e))
		}
	}
}

// link returns a link with left bit/s left and the reach r below it.
func (q *sequence) link(left int64, r reach) upLink {
	l, most := upLink{rate: q.n, first: q.n}, r.most(q.n)
	if q.NonBlocking || most == 0 {
		return l
	}
	if l.rate = q.rate(left, most); most < q.n-l.rate {
		l.first = l.rate
	}
	return l
}

// fill places the VMs on the servers from first to before last, in their order,
// and reports whether there is room for all.
//
// The load that a server puts on its path is known with HosePerPath when the server is reached. It takes the largest
// count for which no link of the path is overloaded, as in the paper's Algorithm 1.
//
// The load of a link above an edge or an aggregation switch with HoseCut depends on all VMs below it in the end, and
// isn't monotone: m VMs load it as n-m do. Let M be the number of VMs' bandwidths left on it. It lets m VMs through if
// m ≤ M (light) or m ≥ n-M (heavy). While servers are filled one by one the number may pass through the counts between,
// so only the final one counts. A link has a quota: n at first, or M if the servers below it can't make it heavy. A
// server takes the largest count that its slots, its own link and the quotas allow. If in the end links are neither
// light nor heavy, quotas are lowered to M (see lower) and the servers are filled again. Each time a quota becomes less
// for good, so there are at most as many repetitions as links.
//
// If soFar is set, the number so far counts, as the paper's text may be read. A server takes the largest count after
// which no link of its path is overloaded. As each change of a link is looked at, none is in the end. That rejects 69
// of 28,467 requests of KTH-SP2 that could be embedded, not 23. Of 5,000 drawn requests it accepts as many at 50, 100
// and 500 Mbps, and 0.5 points more at 250 Mbps.
func (q *sequence) fill(first, last int) bool {
	h, n := q.Half, q.n
	edges, pods := q.linksOf(first, last)
	for _, links := range [2][]upLink{edges, pods} {
		for l := range links {
			links[l].quota = links[l].first
		}
	}
	for {
		for _, links := range [2][]upLink{edges, pods} {
			for l := range links {
				links[l].vms = 0
			}
		}
		left := n
		q.placed = q.placed[:0]
		for _, server := range q.servers.order {
			s := int(server)
			edge, pod := &q.upEdges[s/h], &q.upPods[s/(h*h)]
			c := min(int(q.Free[s]), left)
			rate := q.rate(q.Server[s], c)
			switch {
			case q.PerPath:
				c = largest(c, n, min(rate, edge.rate-edge.vms, pod.rate-pod.vms))
			case q.soFar:
				for over := func(vms, rate int) bool { return min(vms, n-vms) > rate }; c > 0 && (over(c, rate) || over(edge.vms+c, edge.rate) || over(pod.vms+c, pod.rate)); {
					c--
				}
			default:
				c = largest(min(c, edge.quota-edge.vms, pod.quota-pod.vms), n, rate)
			}
			if c == 0 {
				continue
			}
			q.placed = append(q.placed, model.ServerVMs{Server: s, VMs: c})
			if left -= c; left == 0 && q.PerPath {
				return true
			}
			load := c
			if q.PerPath {
				load = min(c, n-c)
			}
			edge.vms += load
			pod.vms += load
			if left == 0 {
				break
			}
		}
		if left > 0 {
			return false
		}
		lowerEdges, lowerPods := lower(edges, n), lower(pods, n)
		if !lowerEdges && !lowerPods {
			return true
		}
	}
}

// lower sets the quotas of links that are neither light nor heavy to the counts that they let through as light links,
// and reports whether there are any. The link with the most VMs, ties by index, keeps its quota if there are others:
// two links of one layer can't both be heavy and not light (see subtrees).
func lower(links []upLink, n int) bool {
	wrong, most := 0, 0
	for l := range links {
		if links[l].wrong(n) {
			wrong++
		}
		if links[l].vms > links[most].vms {
			most = l
		}
	}
	if wrong == 0 {
		return false
	}
	for l := range links {
		if links[l].wrong(n) && (l != most || wrong == 1) {
			links[l].quota = links[l].rate
		}
	}
	return true
}

// wrong reports whether the link is overloaded (HoseCut).
func (l *upLink) wrong(n int) bool { return min(l.vms, n-l.vms) > l.rate }

// linksOf returns the links above the edge switches and pods of the servers from
// first to before last.
func (q *sequence) linksOf(first, last int) (edges, pods []upLink) {
	h := q.Half
	return q.upEdges[first/h : last/h], q.upPods[first/(h*h) : (last+h*h-1)/(h*h)]
}

// failure holds the links below the host in which the servers were filled in vain
// last.
type failure struct {
	first, last int   // servers, the last plus one
	group       int   // as in sequence
	links       []int // rates of the edge switches' and pods' links
}

// note holds the links of q for the servers from first to before last.
func (f *failure) note(q *sequence, first, last int) {
	f.first, f.last, f.group, f.links = first, last, q.group, f.links[:0]
	edges, pods := q.linksOf(first, last)
	for _, links := range [2][]upLink{edges, pods} {
		for l := range links {
			f.links = append(f.links, links[l].rate)
		}
	}
}

// again reports whether the servers are those noted and the links have the same
// rates: to fill the servers would fail again.
func (f *failure) again(q *sequence, first, last int) bool {
	if len(f.links) == 0 || f.first != first || f.last != last {
		return false
	}
	edges, pods := q.linksOf(first, last)
	same := func(links []upLink, noted []int) bool {
		for l := range links {
			if links[l].rate != noted[l] {
				return false
			}
		}
		return true
	}
	return same(pods, f.links[len(edges):]) && (q.group >= 0 && q.group == f.group || same(edges, f.links))
}

// sorter sorts servers by a key of their free slots.
type sorter struct {
	first, last int     // from first to before last
	order       []int32 // servers with free slots
	keys        []keyed
	ranks       []int32 // by free slots
	starts      []int32 // by rank
}

type keyed struct {
	key    int64
	number int32
}

func (x keyed) compare(y keyed) int {
	return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.number, y.number))
}

// sort sets order to the servers with free slots from first to before last, by
// key and then by index. O(n log n) for few servers; O(n + L log L), by counting,
// for many.
func (x *sorter) sort(d *fattree.DataCentre, first, last int, key func(free int) int64) {
	x.first, x.last, x.order, x.keys = first, last, x.order[:0], x.keys[:0]
	if last-first <= 8*d.Slots {
		for s := first; s < last; s++ {
			if free := int(d.Free[s]); free > 0 {
				x.keys = append(x.keys, keyed{key(free), int32(s)})
			}
		}
		slices.SortFunc(x.keys, keyed.compare)
		for _, k := range x.keys {
			x.order = append(x.order, k.number)
		}
		return
	}
	x.ranks, x.starts = zeros(x.ranks, d.Slots+1), zeros(x.starts, d.Slots+2)
	for free := 1; free <= d.Slots; free++ {
		x.keys = append(x.keys, keyed{key(free), int32(free)})
	}
	slices.SortFunc(x.keys, keyed.compare)
	for k := range x.keys { // equal keys have the rank of the first
		x.ranks[x.keys[k].number] = int32(k)
		if k > 0 && x.keys[k].key == x.keys[k-1].key {
			x.ranks[x.keys[k].number] = x.ranks[x.keys[k-1].number]
		}
	}
	for _, free := range d.Free[first:last] {
		if free > 0 {
			x.starts[x.ranks[free]+1]++
		}
	}
	for r := 1; r < len(x.starts); r++ {
		x.starts[r] += x.starts[r-1]
	}
	x.order = sized(x.order, int(x.starts[len(x.starts)-1]))
	for s := first; s < last; s++ {
		if free := d.Free[s]; free > 0 {
			r := x.ranks[free]
			x.order[x.starts[r]] = int32(s)
			x.starts[r]++
		}
	}
}
