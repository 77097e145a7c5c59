// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// timeline is a data centre over time: pieces, each a request that runs somewhere from
// one instant to another.
//
// An embedder gets the data centre with the room left at the fullest moment of the request's time, each slot and each
// link by itself (least). Loads don't depend on other requests, so the embedding has room all the time.
//
// Pieces are found by buckets of time: those that start in each, and those that have started before and run on into it.
// So the cost of work on a time depends on the requests that run then, not on the whole instance.
type timeline struct {
	*view.TVC
	pieces   []piece
	vacant   []int32 // numbers of pieces that are taken out
	origin   int64   // of the buckets
	width    int64
	starting [][]int32
	across   [][]int32
	work     int64 // resources, pieces and servers looked at

	numbers *fattree.DataCentre // the numbers of links in place of their rates
	left    *fattree.DataCentre // what least returns
	rename  renaming
	used    []int64 // by resource, at the present instant of least
	most    []int64 // by resource, at any
	touched []int32 // resources in most
	starts  []pieceTime
	ends    []pieceTime
	found   []int32
}

// piece is a request that runs. Resources are the slots of servers, then the links above
// servers, edge and aggregation switches: there are as many of each.
type piece struct {
	request    int32
	start, end int64
	place      model.Embedding
	uses       []use
}

// part is the servers from first to before last: those below one switch.
type part struct{ first, last int }

func (p *piece) touches(in part) bool {
	for _, s := range p.place.Servers {
		if s.Server >= in.first {
			return s.Server < in.last
		}
	}
	return false
}

type use struct {
	resource int32
	amount   int64
}

type pieceTime struct {
	at    int64
	piece int32
}

// mostBuckets is the most buckets, in times the requests.
const mostBuckets = 4

func newTimeline(t *view.TVC) *timeline {
	l := &timeline{TVC: t, numbers: fattree.New(t), left: fattree.New(t), width: 1}
	n := int32(t.Servers)
	for _, links := range [][]int64{l.numbers.Server, l.numbers.Edge, l.numbers.Aggregation} {
		for i := range links {
			links[i] = int64(n)
			n++
		}
	}
	l.used, l.most = make([]int64, n), make([]int64, n)
	if len(t.Requests) > 0 {
		sum, last := 0.0, int64(0)
		for k := range t.Requests {
			q := &t.Requests[k]
			sum += float64(q.Duration) / float64(len(t.Requests))
			last = max(last, q.Arrival+q.Duration)
			l.left.Arrive(q.Bandwidth)
		}
		l.origin = t.Requests[0].Arrival
		l.width = max(1, int64(sum/4), (last-l.origin)/int64(mostBuckets*len(t.Requests)))
	}
	l.rename.identity(t)
	return l
}

// all returns the whole data centre.
func (l *timeline) all() part {
	return part{0, l.Servers}
}

func (l *timeline) bucket(at int64) int { return int((at - l.origin) / l.width) }

// add adds a piece and returns its number.
func (l *timeline) add(request int32, start, end int64, e model.Embedding) int32 {
	id := int32(len(l.pieces))
	if n := len(l.vacant); n > 0 {
		id = l.vacant[n-1]
		l.vacant = l.vacant[:n-1]
	} else {
		l.pieces = append(l.pieces, piece{})
	}
	p, q := &l.pieces[id], &l.Requests[request]
	*p = piece{request, start, end, e, p.uses[:0]}
	for _, s := range e.Servers {
		p.uses = append(p.uses, use{int32(s.Server), int64(s.VMs)})
	}
	l.numbers.Loads(&e, q.VMs, q.Bandwidth, func(link *int64, load int64) {
		p.uses = append(p.uses, use{int32(*link), load})
	})
	first, last := l.bucket(start), l.bucket(end-1)
	for len(l.starting) <= last {
		l.starting, l.across = append(l.starting, nil), append(l.across, nil)
	}
	l.starting[first] = append(l.starting[first], id)
	for b := first + 1; b <= last; b++ {
		l.across[b] = append(l.across[b], id)
	}
	l.work += int64(last - first)
	return id
}

// remove takes a piece out. Its number is given to the next that is added; until then the
// piece can be read.
func (l *timeline) remove(id int32) {
	p := &l.pieces[id]
	first, last := l.bucket(p.start), l.bucket(p.end-1)
	drop := func(list []int32) []int32 {
		i := slices.Index(list, id)
		list[i] = list[len(list)-1]
		return list[:len(list)-1]
	}
	l.starting[first] = drop(l.starting[first])
	for b := first + 1; b <= last; b++ {
		l.across[b] = drop(l.across[b])
	}
	l.work += int64(last - first)
	l.vacant = append(l.vacant, id)
}

// during returns the pieces that run between two instants and have VMs in a part of the
// data centre, valid until the next call.
func (l *timeline) during(from, to int64, in part) []int32 {
	l.found = l.found[:0]
	first := l.bucket(from)
	if first >= len(l.starting) {
		return nil
	}
	for _, id := range l.across[first] {
		if p := &l.pieces[id]; p.end > from && p.touches(in) {
			l.found = append(l.found, id)
		}
	}
	l.work += int64(len(l.across[first]))
	for b := first; b <= min(l.bucket(to-1), len(l.starting)-1); b++ {
		for _, id := range l.starting[b] {
			if p := &l.pieces[id]; p.start < to && p.end > from && p.touches(in) {
				l.found = append(l.found, id)
			}
		}
		l.work += int64(len(l.starting[b])) + 1
	}
	return l.found
}

// least returns the data centre with the room left of each thing at its fullest moment between two instants. Servers
// and switches are renamed; it is valid until the next call.
func (l *timeline) least(from, to int64) *fattree.DataCentre {
	l.forget()
	l.starts, l.ends = l.starts[:0], l.ends[:0]
	for _, id := range l.during(from, to, l.all()) {
		p := &l.pieces[id]
		if p.start <= from {
			l.occupy(p)
		} else {
			l.starts = append(l.starts, pieceTime{p.start, id})
		}
		if p.end < to {
			l.ends = append(l.ends, pieceTime{p.end, id})
		}
	}
	byTime := func(a, b pieceTime) int { return cmp.Compare(a.at, b.at) }
	slices.SortFunc(l.starts, byTime)
	if len(l.starts) > 0 {
		slices.SortFunc(l.ends, byTime)
	}
	next := 0
	for _, x := range l.starts {
		for ; next < len(l.ends) && l.ends[next].at <= x.at; next++ {
			for _, u := range l.pieces[l.ends[next].piece].uses {
				l.used[u.resource] -= u.amount
			}
		}
		l.occupy(&l.pieces[x.piece])
	}
	for _, r := range l.touched {
		l.change(r, -l.most[r])
		l.used[r] = 0
	}
	l.work += int64(2*len(l.touched) + 8*len(l.starts))
	return l.left
}

// occupy adds what a piece uses.
func (l *timeline) occupy(p *piece) {
	for _, u := range p.uses {
		l.used[u.resource] += u.amount
		if l.used[u.resource] > l.most[u.resource] {
			if l.most[u.resource] == 0 {
				l.touched = append(l.touched, u.resource)
			}
			l.most[u.resource] = l.used[u.resource]
		}
	}
	l.work += int64(len(p.uses))
}

// forget makes the data centre that least returns empty.
func (l *timeline) forget() {
	for _, r := range l.touched {
		l.change(r, l.most[r])
		l.most[r] = 0
	}
	l.touched = l.touched[:0]
}

// change adds an amount to the room left of a resource.
func (l *timeline) change(resource int32, amount int64) {
	d, h := l.left, l.Half
	r := int(l.rename.resources[resource])
	switch i := r % l.Servers; r / l.Servers {
	case 0:
		d.Free[i] += int32(amount)
		d.EdgeFree[i/h] += int(amount)
		d.PodFree[i/(h*h)] += int(amount)
		d.AllFree += int(amount)
	case 1:
		d.Server[i] += amount
	case 2:
		d.Edge[i] += amount
	default:
		d.Aggregation[i] += amount
	}
}

// embed finds a place for a request over a time.
func (l *timeline) embed(by embedder, request int32, from, to int64) (model.Embedding, bool) {
	q := &l.Requests[request]
	d := l.least(from, to)
	if d.AllFree < q.VMs {
		return model.Embedding{}, false
	}
	e, ok := by.Embed(d, q.VMs, q.Bandwidth)
	l.work += int64(embedWork * l.Servers)
	if ok {
		l.rename.back(&e)
	}
	return e, ok
}

// embedWork is the work of an embedder at each server.
const embedWork = 8

// shuffle renames servers and switches at random: embedders prefer low numbers.
func (l *timeline) shuffle(rng *rand.Rand) {
	l.forget()
	l.rename.shuffle(l.TVC, rng)
	l.work += int64(8 * l.Servers)
}

// renaming gives new numbers to servers and switches of a fat-tree. It exchanges pods, edge switches of a pod, servers
// of an edge switch, groups of core switches and core switches of a group. The tree stays as it is.
type renaming struct {
	half                        int
	resources                   []int32 // new numbers, see piece
	servers, edges, pods, cores []int32 // old numbers, by new ones; a core switch is group·h + index
	order                       []int32
}

func (r *renaming) identity(t *view.TVC) { r.shuffle(t, nil) }

// shuffle renames at random, or not at all without rng.
func (r *renaming) shuffle(t *view.TVC, rng *rand.Rand) {
	h := t.Half
	r.half = h
	r.resources = sized(r.resources, 4*t.Servers)
	r.servers, r.edges = sized(r.servers, t.Servers), sized(r.edges, t.K*h)
	r.pods, r.cores = sized(r.pods, t.K), sized(r.cores, h*h)
	permute := func(old []int32, first int32) {
		for i := range old {
			old[i] = first + int32(i)
		}
		if rng != nil {
			rng.Shuffle(len(old), func(a, b int) { old[a], old[b] = old[b], old[a] })
		}
	}
	permute(r.pods, 0)
	for p, old := range r.pods {
		permute(r.edges[p*h:(p+1)*h], old*int32(h))
	}
	for e, old := range r.edges {
		permute(r.servers[e*h:(e+1)*h], old*int32(h))
	}
	r.order = sized(r.order, h)
	permute(r.order, 0)
	for a, old := range r.order {
		permute(r.cores[a*h:(a+1)*h], old*int32(h))
	}
	for s, old := range r.servers {
		r.resources[old], r.resources[t.Servers+int(old)] = int32(s), int32(t.Servers+s)
	}
	edges, aggregations := 2*t.Servers, 3*t.Servers
	for a, oldGroup := range r.order {
		for e, old := range r.edges {
			r.resources[edges+int(old)*h+int(oldGroup)] = int32(edges + e*h + a)
		}
		for p, old := range r.pods {
			for c := range h {
				r.resources[aggregations+int(old)*h*h+int(r.cores[a*h+c])] = int32(aggregations + (p*h+a)*h + c)
			}
		}
	}
}

// back gives an embedding its old numbers.
func (r *renaming) back(e *model.Embedding) {
	for i := range e.Servers {
		e.Servers[i].Server = int(r.servers[e.Servers[i].Server])
	}
	slices.SortFunc(e.Servers, func(a, b model.ServerVMs) int { return cmp.Compare(a.Server, b.Server) })
	h, w := r.half, &e.Switch
	switch w.Layer {
	case model.LayerEdge:
		edge := int(r.edges[w.Group*h+w.Index])
		w.Group, w.Index = edge/h, edge%h
	case model.LayerAggregation:
		w.Group, w.Index = int(r.pods[w.Group]), int(r.cores[w.Index*h])/h
	case model.LayerCore:
		core := int(r.cores[w.Group*h+w.Index])
		w.Group, w.Index = core/h, core%h
	}
}
