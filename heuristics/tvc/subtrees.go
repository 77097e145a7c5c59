// SPDX-License-Identifier: MIT

package tvc

import (
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// subtrees finds the switches that may host a cluster: its VMs have slots and links below them. Its zero value is
// ready; it keeps scratch memory.
//
// Let M be the number of VMs' bandwidths that a link has left. With HoseCut it lets m VMs through if m ≤ M (light) or m
// ≥ n-M (heavy). The possible counts below a link are then all from 0 to light, and some heavy counts above n/2. Only
// the largest heavy one matters: of two links side by side at most one is heavy and not light, because two counts above
// n/2 sum to more than n. So the largest count below a switch is the sum of the light ones plus the largest gain of one
// link from light to heavy. The n VMs fit below the switch if and only if this is at least n: the light links can have
// fewer. (A link that lets all counts below it through changes nothing: all that was light stays light.)
//
// A server with c ≤ n/2 VMs loads its path by c with HosePerPath, one with more by n-c. Again there is at most one of
// the latter. The sums are then upper bounds: they leave out the heavy server's own load on the links.
type subtrees struct {
	*fattree.DataCentre
	n         int
	b         int64
	edges     []reach // of the servers at each edge switch
	edgeKnown []bool
	pods      []reach // of each aggregation switch: pod p's a is [p·h+a]
	podKnown  []bool
}

// reach is the largest number of VMs below a link or a switch: light if all its
// links are light, and gain more if one is heavy.
type reach struct{ light, gain int }

// add joins a subtree to the ones added before.
func (r *reach) add(x reach) {
	r.light += x.light
	r.gain = max(r.gain, x.gain)
}

// most returns the largest number of VMs, at most n.
func (r reach) most(n int) int { return min(n, r.light+r.gain) }

// find calls try with the switches that may host n VMs at b bit/s, bottom-up (edge, aggregation, core, each by index)
// from the lowest layer, until it returns true. The first aggregation switch of a pod and the first core switch
// represent all with the non-blocking fabric.
//
// O(S) at most for S servers, without try: each link is looked at once, and only
// where free slots and the links below leave room for all VMs.
func (t *subtrees) find(d *fattree.DataCentre, n int, b int64, lowest model.Layer, try func(host model.Switch) (model.Embedding, bool)) (model.Embedding, bool) {
	h, routes := d.Half, d.Half
	if d.NonBlocking {
		routes = 1
	}
	if d.AllFree < n {
		return model.Embedding{}, false
	}
	t.DataCentre, t.n, t.b = d, n, b
	t.edges, t.edgeKnown = sized(t.edges, d.K*h), zeros(t.edgeKnown, d.K*h)
	t.pods, t.podKnown = sized(t.pods, d.K*h), zeros(t.podKnown, d.K*h)
	if lowest <= model.LayerEdge {
		for e, free := range d.EdgeFree {
			if free >= n && t.edge(e).most(n) == n {
				if x, ok := try(model.Switch{Layer: model.LayerEdge, Group: e / h, Index: e % h}); ok {
					return x, true
				}
			}
		}
	}
	if lowest <= model.LayerAggregation {
		for p, free := range d.PodFree {
			for a := 0; a < routes && free >= n && t.sum(p*h, p*h+h).most(n) == n; a++ {
				if t.pod(p, a).most(n) == n {
					if x, ok := try(model.Switch{Layer: model.LayerAggregation, Group: p, Index: a}); ok {
						return x, true
					}
				}
			}
		}
	}
	if t.sum(0, d.K*h).most(n) < n {
		return model.Embedding{}, false
	}
	for a := range routes {
		var all reach
		for p := range d.K {
			all.add(t.pod(p, a))
		}
		for c := 0; c < routes && all.most(n) == n; c++ {
			if t.core(a, c).most(n) == n {
				if x, ok := try(model.Switch{Layer: model.LayerCore, Group: a, Index: c}); ok {
					return x, true
				}
			}
		}
	}
	return model.Embedding{}, false
}

// sized returns a slice of n elements with any content, in the memory of x if it
// is large enough.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// edge returns the reach of the servers at edge switch e.
func (t *subtrees) edge(e int) reach {
	if t.edgeKnown[e] {
		return t.edges[e]
	}
	var r reach
	if h := t.Half; t.EdgeFree[e] > 0 {
		for s := e * h; s < (e+1)*h; s++ {
			if most := min(int(t.Free[s]), t.n); most > 0 {
				r.add(t.server(t.Server[s], most))
			}
		}
	}
	t.edges[e], t.edgeKnown[e] = r, true
	return r
}

// server returns the reach of a server that has slots for most VMs and a link with
// left bit/s left.
func (t *subtrees) server(left int64, most int) reach {
	rate := t.rate(left, most)
	light := min(most, rate)
	if t.PerPath {
		light = min(light, t.n/2)
	}
	return reach{light, largest(most, t.n, rate) - light}
}

// sum returns the reach of edge switches from first to before last, without links
// above them.
func (t *subtrees) sum(first, last int) (r reach) {
	for e := first; e < last; e++ {
		r.add(t.edge(e))
	}
	return r
}

// pod returns the reach of aggregation switch a of pod p.
func (t *subtrees) pod(p, a int) reach {
	h := t.Half
	if t.podKnown[p*h+a] {
		return t.pods[p*h+a]
	}
	var r reach
	for e := p * h; e < (p+1)*h; e++ {
		r.add(t.above(t.Edge[e*h+a], t.edge(e)))
	}
	t.pods[p*h+a], t.podKnown[p*h+a] = r, true
	return r
}

// core returns the reach of core switch c of group a.
func (t *subtrees) core(a, c int) (r reach) {
	for p := range t.K {
		r.add(t.above(t.Aggregation[(p*t.Half+a)*t.Half+c], t.pod(p, a)))
	}
	return r
}

// above returns the reach above a link with left bit/s left and the reach r below
// it.
func (t *subtrees) above(left int64, r reach) reach {
	most := r.most(t.n)
	if t.NonBlocking || most == 0 {
		return r
	}
	rate := t.rate(left, most)
	if rate == t.n {
		return r
	}
	light := min(r.light, rate)
	if t.PerPath && r.gain > 0 || !t.PerPath && most >= t.n-rate {
		return reach{light, most - light}
	}
	return reach{light, 0}
}

// rate returns for how many VMs a link with left bit/s left has bandwidth, at most
// n; n if it lets through all counts up to most.
func (t *subtrees) rate(left int64, most int) int {
	// At most most VMs load it by min(most, n/2) at most (HoseCut).
	if !t.PerPath && left >= int64(min(most, t.n/2))*t.b {
		return t.n
	}
	return through(left, t.n, t.b)
}

// through returns the number of VMs at b bit/s, at most n, that left bit/s suffice
// for.
func through(left int64, n int, b int64) int { return int(min(left/b, int64(n))) }

// largest returns the largest c from 0 to most, most ≤ n, with min(c, n-c) ≤ rate,
// for rate ≥ 0.
func largest(most, n, rate int) int {
	if n-most <= rate {
		return most
	}
	return min(most, rate)
}
