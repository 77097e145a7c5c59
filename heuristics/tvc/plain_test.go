// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// plainSequence is a sequence as its comments say, without anything that makes
// it fast.
func plainSequence(q *sequence, d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
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
	for _, host := range plainHosts(d) {
		if host.Layer >= first {
			if e, ok := plainFill(d, host, servers, n, b, q.soFar); ok {
				return e, true
			}
		}
	}
	return model.Embedding{}, false
}

// plainHosts lists the switches bottom-up.
func plainHosts(d *fattree.DataCentre) (all []model.Switch) {
	for layer := model.LayerEdge; layer <= model.LayerCore; layer++ {
		groups := d.K
		if layer == model.LayerCore {
			groups = d.Half
		}
		for group := range groups {
			for index := range d.Half {
				all = append(all, model.Switch{Layer: layer, Group: group, Index: index})
			}
		}
	}
	return all
}

// plainFill fills the servers below the host in the order given.
func plainFill(d *fattree.DataCentre, host model.Switch, servers []int, n int, b int64, soFar bool) (model.Embedding, bool) {
	h := d.Half
	var below []int
	free := 0
	for _, s := range servers {
		if d.Free[s] > 0 && plainBelow(d, s, host) {
			below = append(below, s)
			free += int(d.Free[s])
		}
	}
	if free < n {
		return model.Embedding{}, false
	}
	rateOf := func(left int64) int { return int(min(left/b, int64(n))) }
	edges, pods := make([]upLink, d.K*h), make([]upLink, d.K)
	for e := range edges {
		edges[e].rate = rateOf(plainEdgeLink(d, host, e))
	}
	for p := range pods {
		pods[p].rate = rateOf(plainPodLink(d, host, p))
	}
	// The possible numbers of VMs below each link, if servers have as many as they and their links allow.
	inEdges, inPods := make([]counts, len(edges)), make([]counts, len(pods))
	for _, s := range below {
		inEdges[s/h] = inEdges[s/h].plus(upTo(int(d.Free[s]), n).allow(n, rateOf(d.Server[s])))
	}
	for e := range edges {
		inPods[e/h] = inPods[e/h].plus(inEdges[e].allow(n, edges[e].rate))
		edges[e].quota = inEdges[e].quota(n, edges[e].rate)
	}
	for p := range pods {
		pods[p].quota = inPods[p].quota(n, pods[p].rate)
	}
	for {
		left, vms := n, make([]int, len(d.Free))
		for l := range edges {
			edges[l].vms = 0
		}
		for l := range pods {
			pods[l].vms = 0
		}
		for _, s := range below {
			edge, pod := &edges[s/h], &pods[s/(h*h)]
			for c := min(int(d.Free[s]), left); c > 0; c-- {
				load := min(c, n-c)
				room := load <= rateOf(d.Server[s])
				if soFar && !d.PerPath {
					at := func(vms int) int { return min(vms+c, n-vms-c) }
					room = room && at(edge.vms) <= edge.rate && at(pod.vms) <= pod.rate
					load = c
				} else if d.PerPath {
					room = room && edge.vms+load <= edge.rate && pod.vms+load <= pod.rate
				} else {
					room = room && edge.vms+c <= edge.quota && pod.vms+c <= pod.quota
					load = c
				}
				if room {
					vms[s] = c
					left -= c
					edge.vms += load
					pod.vms += load
					break
				}
			}
		}
		if left > 0 {
			return model.Embedding{}, false
		}
		again := false
		for _, links := range [][]upLink{edges, pods} {
			var wrong []int
			most := 0
			for l, x := range links {
				if x.vms > links[most].vms {
					most = l
				}
				if min(x.vms, n-x.vms) > x.rate && !d.PerPath {
					wrong = append(wrong, l)
				}
			}
			// The link with the most VMs keeps its quota, if another is wrong.
			for _, l := range wrong {
				if l != most || len(wrong) == 1 {
					links[l].quota = links[l].rate
				}
			}
			again = again || len(wrong) > 0
		}
		if !again {
			return plainEmbedding(d, host, vms), true
		}
	}
}

// counts is a set of numbers of VMs; nil is 0 alone.
type counts []bool

func upTo(most, n int) counts {
	c := make(counts, n+1)
	for m := range min(most, n) + 1 {
		c[m] = true
	}
	return c
}

// allow returns the counts that a link lets through.
func (c counts) allow(n, rate int) counts {
	x := slices.Clone(c)
	for m := range x {
		x[m] = x[m] && min(m, n-m) <= rate
	}
	return x
}

func (c counts) plus(x counts) counts {
	if c == nil || x == nil {
		return append(x, c...)
	}
	sums := make(counts, len(c))
	for m, in := range c {
		for k := 0; in && m+k < len(x); k++ {
			sums[m+k] = sums[m+k] || x[k]
		}
	}
	return sums
}

// quota returns n, or rate if no count is at least n-rate.
func (c counts) quota(n, rate int) int {
	if c == nil || !slices.Contains(c[n-rate:], true) {
		return rate
	}
	return n
}

// plainBelow reports whether server s is below the switch.
func plainBelow(d *fattree.DataCentre, s int, w model.Switch) bool {
	h := d.Half
	switch w.Layer {
	case model.LayerEdge:
		return s/h == w.Group*h+w.Index
	case model.LayerAggregation:
		return s/(h*h) == w.Group
	}
	return true
}

// plainEdgeLink returns the rate left on the link above edge switch e on the way to the host; the largest number if
// there is none or it doesn't bind.
func plainEdgeLink(d *fattree.DataCentre, host model.Switch, e int) int64 {
	switch {
	case d.NonBlocking || host.Layer == model.LayerEdge:
		return math.MaxInt64
	case host.Layer == model.LayerAggregation:
		return d.Edge[e*d.Half+host.Index]
	}
	return d.Edge[e*d.Half+host.Group]
}

// plainPodLink is plainEdgeLink for the link above pod p.
func plainPodLink(d *fattree.DataCentre, host model.Switch, p int) int64 {
	if d.NonBlocking || host.Layer != model.LayerCore {
		return math.MaxInt64
	}
	return d.Aggregation[(p*d.Half+host.Group)*d.Half+host.Index]
}

// plainEmbedding returns the embedding of VM counts by server below the host.
func plainEmbedding(d *fattree.DataCentre, host model.Switch, vms []int) model.Embedding {
	var servers []model.ServerVMs
	for s, c := range vms {
		if c > 0 {
			servers = append(servers, model.ServerVMs{Server: s, VMs: c})
		}
	}
	return model.Embedding{Switch: d.Lowest(host, servers), Servers: servers}
}
