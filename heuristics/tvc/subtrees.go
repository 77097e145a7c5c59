package tvc

import "github.com/gapwise/gapwise/model"

// subtrees tells which switches may host a cluster: those below which its VMs
// have slots and links. Its zero value is ready; it keeps scratch memory.
//
// Let M be the number of VMs' bandwidths that a link has left. With HoseCut it
// lets m VMs through if m ≤ M (light) or m ≥ n-M (heavy). The possible counts
// below a link are then 0 to light, all of them, and some heavy counts above n/2,
// of which the largest alone matters: of two links side by side at most one is
// heavy and not light, because two counts above n/2 sum to more than n. So the
// largest count below a switch is the sum of the light ones plus the largest gain
// of one link from light to heavy, and n VMs fit below the switch if and only if
// this is at least n: the light links can have fewer. (If M ≥ n/2, rounded down,
// the link lets all counts through: all of them count as light.)
//
// With HosePerPath a server with c ≤ n/2 VMs loads its path by c, one with more by
// n-c. Again there is at most one of the latter. The sums are then upper bounds:
// they leave out what the heavy server's own VMs take of the links.
type subtrees struct {
	*DataCentre
	n       int
	b       int64
	edges   []reach // below each edge switch
	known   []bool  // whether edges holds it
	upEdges []upLink
	upPods  []upLink
	pods    []reach // below the aggregation switch of each pod on the way to the host
}

// reach is the largest number of VMs below a link or a switch: light if all its
// links are light, and gain more if one is heavy.
type reach struct{ light, gain int }

// add joins a subtree beside those added before.
func (r *reach) add(x reach) {
	r.light += x.light
	r.gain = max(r.gain, x.gain)
}

// most returns the largest number of VMs, at most n.
func (r reach) most(n int) int { return min(n, r.light+r.gain) }

// upLink is the link above an edge switch or a pod on the way to the host.
type upLink struct {
	rate  int // VMs' bandwidths left, at most n; n if it lets all counts through
	first int // largest count that servers below and the link allow, or more
	quota int // see fill
	vms   int // VMs placed below; with HosePerPath the sum of their loads
}

// start takes a request.
func (t *subtrees) start(d *DataCentre, n int, b int64) {
	t.DataCentre, t.n, t.b = d, n, b
	t.edges, t.upEdges = sized(t.edges, len(d.edgeFree)), sized(t.upEdges, len(d.edgeFree))
	t.pods, t.upPods = sized(t.pods, len(d.podFree)), sized(t.upPods, len(d.podFree))
	t.known = zeros(t.known, len(d.edgeFree))
}

// sized returns a slice of n elements with any content, in the memory of x if it
// is large enough.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// find calls try with the switches that may host n VMs at b bit/s, bottom-up (edge,
// aggregation, core, each by index) from the lowest layer, until it returns true.
// When try is called, upEdges and upPods hold the links below the host. With the
// non-blocking fabric the first aggregation switch of a pod and the first core
// switch stand for all.
//
// O(S + h·S) at most for S servers, h = k/2, without try: the servers' links once,
// those of each aggregation switch twice, those of each core switch once, each
// only where free slots and the links below leave room for all VMs.
func (t *subtrees) find(d *DataCentre, n int, b int64, lowest model.Layer, try func(host model.Switch) (model.Embedding, bool)) (model.Embedding, bool) {
	t.start(d, n, b)
	h, routes := d.Half, d.Half
	if d.NonBlocking {
		routes = 1
	}
	if d.free < n {
		return model.Embedding{}, false
	}
	if lowest <= model.LayerEdge {
		for e, free := range d.edgeFree {
			if free >= n && t.edge(e).most(n) == n {
				t.upEdges[e], t.upPods[e/h] = t.open(), t.open()
				if x, ok := try(model.Switch{Layer: model.LayerEdge, Group: e / h, Index: e % h}); ok {
					return x, true
				}
			}
		}
	}
	if lowest <= model.LayerAggregation {
		for p, free := range d.podFree {
			if free < n || t.sum(p*h, p*h+h).most(n) < n {
				continue
			}
			t.upPods[p] = t.open()
			for a := range routes {
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
		for p := range t.pods {
			t.pods[p] = t.pod(p, a)
			all.add(t.pods[p])
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

// edge returns the reach of the servers at edge switch e.
func (t *subtrees) edge(e int) reach {
	if t.known[e] {
		return t.edges[e]
	}
	var r reach
	if h := t.Half; t.edgeFree[e] > 0 {
		for s := e * h; s < (e+1)*h; s++ {
			free := int(t.Free[s])
			if free == 0 {
				continue
			}
			most, rate := min(free, t.n), t.through(t.Server[s])
			x := reach{light: min(most, rate)}
			if x.gain = largest(most, t.n, rate) - x.light; t.PerPath && x.light > t.n/2 {
				x = reach{t.n / 2, most - t.n/2}
			}
			r.add(x)
		}
	}
	t.edges[e], t.known[e] = r, true
	return r
}

// sum returns the reach of edge switches from first to before last, without links
// above them.
func (t *subtrees) sum(first, last int) (r reach) {
	for e := first; e < last; e++ {
		r.add(t.edge(e))
	}
	return r
}

// pod returns the reach of aggregation switch a of pod p, and sets upEdges.
func (t *subtrees) pod(p, a int) (r reach) {
	h := t.Half
	for e := p * h; e < (p+1)*h; e++ {
		x := t.edge(e)
		if t.NonBlocking || x.light == 0 && x.gain == 0 {
			t.upEdges[e] = t.open()
			r.add(x)
		} else {
			r.add(t.link(&t.upEdges[e], t.Edge[e*h+a], x))
		}
	}
	return r
}

// core returns the reach of core switch c of group a, and sets upPods. pods must be
// those of the group.
func (t *subtrees) core(a, c int) (r reach) {
	for p, x := range t.pods {
		if t.NonBlocking || x.light == 0 && x.gain == 0 {
			t.upPods[p] = t.open()
			r.add(x)
		} else {
			r.add(t.link(&t.upPods[p], t.Aggregation[(p*t.Half+a)*t.Half+c], x))
		}
	}
	return r
}

// link sets l to a link with left bit/s left and the reach r below it, and
// returns the reach above it.
func (t *subtrees) link(l *upLink, left int64, r reach) reach {
	l.rate, l.first = t.through(left), t.n
	if l.rate == t.n {
		return r
	}
	most := r.most(t.n)
	light := min(r.light, l.rate)
	if t.PerPath {
		if r.gain > 0 {
			return reach{light, most - light}
		}
		return reach{light, 0}
	}
	if most < t.n-l.rate {
		l.first = l.rate
		return reach{light, 0}
	}
	return reach{light, most - light}
}

// open returns a link that lets all counts through.
func (t *subtrees) open() upLink { return upLink{rate: t.n, first: t.n} }

// through returns for how many VMs a link with left bit/s left has bandwidth; n if
// it lets all counts through.
func (t *subtrees) through(left int64) int {
	if !t.PerPath && left >= int64(t.n/2)*t.b {
		return t.n // m or n-m is at most n/2
	}
	return int(min(left/t.b, int64(t.n)))
}

// largest returns the largest c from 0 to most, most ≤ n, with min(c, n-c) ≤ rate,
// for rate ≥ 0.
func largest(most, n, rate int) int {
	if n-most <= rate {
		return most
	}
	return min(most, rate)
}
