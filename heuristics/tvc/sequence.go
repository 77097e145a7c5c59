package tvc

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// sequence embeds a cluster on servers in the order of a key: each takes as many
// VMs as its slots and the links on its path to the host allow.
type sequence struct {
	// key returns the rank of servers with free slots for a cluster at b bit/s;
	// the least comes first, ties by index.
	key func(d *DataCentre, free int, b int64) int64
	// local tries the switches bottom-up (edge, aggregation, core, each by index)
	// and takes the first below which the cluster fits. Otherwise core switches
	// alone host, so that all servers are in one sequence.
	local bool
}

// Embed implements Embedder.
func (q *sequence) Embed(d *DataCentre, n int, b int64) (model.Embedding, bool) {
	servers := make([]int, len(d.Free))
	for s := range servers {
		servers[s] = s
	}
	slices.SortStableFunc(servers, func(x, y int) int {
		return cmp.Compare(q.key(d, int(d.Free[x]), b), q.key(d, int(d.Free[y]), b))
	})
	first := model.LayerCore
	if q.local {
		first = model.LayerEdge
	}
	for layer := first; layer <= model.LayerCore; layer++ {
		groups := d.K
		if layer == model.LayerCore {
			groups = d.Half
		}
		for group := range groups {
			for index := range d.Half {
				if e, ok := d.fill(model.Switch{Layer: layer, Group: group, Index: index}, servers, n, b); ok {
					return e, true
				}
			}
		}
	}
	return model.Embedding{}, false
}

// fill places n VMs at b bit/s on servers below the host, in the order given.
//
// With HosePerPath the load that a server puts on its path is known when the
// server is reached. It takes the largest count for which no link of the path is
// overloaded, as in the paper's Algorithm 1.
//
// With HoseCut the load of a link above an edge or an aggregation switch depends
// on all VMs below it in the end, and isn't monotone: m VMs load it as n-m do. Let
// M·b be what is left on the link. It lets m VMs through if m ≤ M (light) or m ≥
// n-M (heavy). While servers are filled one by one the number may pass through
// the counts between, so it is the final number that is looked at. A link has a
// quota: n at first, or M if the servers below it can't make it heavy. A server
// takes the largest count that its slots, its own link and the quotas allow. If in
// the end links are neither light nor heavy, their quotas become M (see lower) and
// the servers are filled anew. Each time a quota becomes less for good, so there
// are at most as many repetitions as links.
func (d *DataCentre) fill(host model.Switch, servers []int, n int, b int64) (model.Embedding, bool) {
	h := d.Half
	var below []int
	for _, s := range servers {
		if d.below(s, host) {
			below = append(below, s)
		}
	}
	edges, pods := make([]upLink, d.K*h), make([]upLink, d.K)
	inEdges, inPods := make([]capacity, d.K*h), make([]capacity, d.K)
	for _, s := range below {
		inEdges[s/h].add(min(int(d.Free[s]), n), n, through(d.Server[s], n, b))
	}
	for e := range edges {
		edges[e] = newUpLink(d.edgeLink(host, e), inEdges[e], n, b)
		inPods[e/h].add(inEdges[e].total(n), n, edges[e].rate)
	}
	for p := range pods {
		pods[p] = newUpLink(d.podLink(host, p), inPods[p], n, b)
	}
	for {
		left, counts := n, make([]int, len(d.Free))
		for l := range edges {
			edges[l].vms = 0
		}
		for l := range pods {
			pods[l].vms = 0
		}
		for _, s := range below {
			edge, pod := &edges[s/h], &pods[s/(h*h)]
			c, rate := min(int(d.Free[s]), left), through(d.Server[s], n, b)
			if d.PerPath {
				rate = min(rate, edge.rate-edge.vms, pod.rate-pod.vms)
			} else {
				c = min(c, edge.quota-edge.vms, pod.quota-pod.vms)
			}
			c = largest(c, n, rate)
			counts[s] = c
			left -= c
			if d.PerPath {
				c = min(c, n-c)
			}
			edge.vms += c
			pod.vms += c
		}
		if left > 0 {
			return model.Embedding{}, false
		}
		if d.PerPath {
			return d.embedding(host, counts), true
		}
		lowerEdges, lowerPods := lower(edges, n), lower(pods, n)
		if !lowerEdges && !lowerPods {
			return d.embedding(host, counts), true
		}
	}
}

// upLink is the link above an edge or an aggregation switch while a cluster is
// placed.
type upLink struct {
	rate  int // VMs that it lets through, M, at most n
	quota int // most VMs below it
	vms   int // VMs below it; with HosePerPath the sum of their load
}

func newUpLink(rate int64, below capacity, n int, b int64) upLink {
	l := upLink{rate: through(rate, n, b), quota: n}
	if below.total(n) < n-l.rate {
		l.quota = l.rate
	}
	return l
}

// lower sets the quotas of links that are neither light nor heavy to what they
// let through as light links, and reports whether there are any. The link with
// the most VMs, ties by index, keeps its quota if there are others: two links of
// one layer can't both be heavy and not light, as m > n-m for both would need more
// than n VMs.
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
	for l := range links {
		if links[l].wrong(n) && (l != most || wrong == 1) {
			links[l].quota = links[l].rate
		}
	}
	return wrong > 0
}

// wrong reports whether the link is overloaded (HoseCut).
func (l *upLink) wrong(n int) bool { return min(l.vms, n-l.vms) > l.rate }

// capacity is the number of VMs that subtrees can have in all, if each has a
// largest light and a largest heavy count. At most one is heavy (see lower).
type capacity struct{ light, gain int }

// add adds a subtree that has at most most VMs, below a link that lets rate
// through.
func (c *capacity) add(most, n, rate int) {
	light := min(most, rate)
	c.light += light
	c.gain = max(c.gain, largest(most, n, rate)-light)
}

// total returns the most VMs of all subtrees together, at most n.
func (c *capacity) total(n int) int { return min(n, c.light+c.gain) }

// through returns the number of VMs at b bit/s that the rate suffices for, at most
// n.
func through(rate int64, n int, b int64) int { return int(min(rate/b, int64(n))) }

// largest returns the largest c from 0 to most with min(c, n-c) ≤ rate, for rate ≥
// 0.
func largest(most, n, rate int) int {
	if n-most <= rate {
		return most
	}
	return min(most, rate)
}
