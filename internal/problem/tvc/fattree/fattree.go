// SPDX-License-Identifier: MIT

// Package fattree holds the state of a fat-tree in which virtual clusters run: the free slots and the free rates of
// links.
package fattree

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// DataCentre is the state of a fat-tree: free slots and residual rates.
//
// For h = k/2, server s is at edge switch s/h, edge switch e in pod e/h. The link from edge switch e to aggregation
// switch a of its pod is Edge[e·h+a]. The link from aggregation switch a of pod p to core switch c of group a is
// Aggregation[(p·h+a)·h+c]. Only Add and Remove change them, because sums of free slots are kept with them.
type DataCentre struct {
	*view.TVC
	Free        []int32 // slots, by server
	Server      []int64 // bit/s left on the link above each server
	Edge        []int64
	Aggregation []int64
	// Most is the largest bandwidth that has arrived, Bmax, in bit/s.
	Most int64

	EdgeFree, PodFree []int // free slots below each edge switch and in each pod
	AllFree           int   // and in all
}

// New returns an empty data centre.
func New(t *view.TVC) *DataCentre {
	h := t.Half
	d := &DataCentre{TVC: t, Free: make([]int32, t.Servers), Server: make([]int64, t.Servers),
		Edge: make([]int64, t.K*h*h), Aggregation: make([]int64, t.K*h*h)}
	for s := range d.Free {
		d.Free[s], d.Server[s] = int32(t.Slots), t.ServerRate
	}
	for l := range d.Edge {
		d.Edge[l], d.Aggregation[l] = t.EdgeRate, t.AggregationRate
	}
	d.Count()
	return d
}

// Count computes the sums of free slots.
func (d *DataCentre) Count() {
	h := d.Half
	d.EdgeFree, d.PodFree, d.AllFree = make([]int, d.K*h), make([]int, d.K), 0
	for s, free := range d.Free {
		d.EdgeFree[s/h] += int(free)
		d.PodFree[s/(h*h)] += int(free)
		d.AllFree += int(free)
	}
}

// Clone returns a copy that changes on its own.
func (d *DataCentre) Clone() *DataCentre {
	c := *d
	for _, x := range []*[]int64{&c.Server, &c.Edge, &c.Aggregation} {
		*x = slices.Clone(*x)
	}
	c.Free, c.EdgeFree, c.PodFree = slices.Clone(d.Free), slices.Clone(d.EdgeFree), slices.Clone(d.PodFree)
	return &c
}

// Arrive notes the bandwidth of a request that arrives.
func (d *DataCentre) Arrive(b int64) { d.Most = max(d.Most, b) }

// Add takes slots and links for a cluster of n VMs at b bit/s.
func (d *DataCentre) Add(e *model.Embedding, n int, b int64) { d.change(e, n, b, 1) }

// Remove gives back what Add took.
func (d *DataCentre) Remove(e *model.Embedding, n int, b int64) { d.change(e, n, b, -1) }

func (d *DataCentre) change(e *model.Embedding, n int, b int64, sign int64) {
	h := d.Half
	for _, x := range e.Servers {
		vms := int(sign) * x.VMs
		d.Free[x.Server] -= int32(vms)
		d.EdgeFree[x.Server/h] -= vms
		d.PodFree[x.Server/(h*h)] -= vms
		d.AllFree -= vms
	}
	d.Loads(e, n, b, func(link *int64, load int64) { *link -= sign * load })
}

// Room reports whether the embedding, of n VMs in all, has its slots and links.
func (d *DataCentre) Room(e *model.Embedding, n int, b int64) bool {
	room, vms := true, 0
	for _, x := range e.Servers {
		room = room && x.VMs <= int(d.Free[x.Server])
		vms += x.VMs
	}
	d.Loads(e, n, b, func(link *int64, load int64) { room = room && load <= *link })
	return room && vms == n
}

// Loads calls f with every link that the embedding loads and its load in bit/s,
// each link once. O(servers of the embedding).
func (d *DataCentre) Loads(e *model.Embedding, n int, b int64, f func(link *int64, load int64)) {
	h := d.Half
	// Sums run over the servers of one edge switch and of one pod: servers are in
	// ascending order.
	hose := func(m int) int64 { return int64(min(m, n-m)) }
	edge, pod := -1, -1
	var edgeVMs, podVMs int
	var edgeLoad, podLoad int64 // per-path sums
	endEdge := func() {
		if edge < 0 {
			return
		}
		if !d.PerPath {
			edgeLoad = hose(edgeVMs)
		}
		if e.Switch.Layer > model.LayerEdge && !d.NonBlocking && edgeLoad > 0 {
			a := e.Switch.Index
			if e.Switch.Layer == model.LayerCore {
				a = e.Switch.Group
			}
			f(&d.Edge[edge*h+a], edgeLoad*b)
		}
	}
	endPod := func() {
		if pod < 0 {
			return
		}
		if !d.PerPath {
			podLoad = hose(podVMs)
		}
		if e.Switch.Layer == model.LayerCore && !d.NonBlocking && podLoad > 0 {
			f(&d.Aggregation[(pod*h+e.Switch.Group)*h+e.Switch.Index], podLoad*b)
		}
	}
	for _, x := range e.Servers {
		if x.Server/h != edge {
			endEdge()
			edge, edgeVMs, edgeLoad = x.Server/h, 0, 0
		}
		if x.Server/(h*h) != pod {
			endPod()
			pod, podVMs, podLoad = x.Server/(h*h), 0, 0
		}
		load := hose(x.VMs)
		if load > 0 {
			f(&d.Server[x.Server], load*b)
		}
		edgeVMs += x.VMs
		podVMs += x.VMs
		edgeLoad += load
		podLoad += load
	}
	endEdge()
	endPod()
}

// ServersBelow returns the first server below the switch, and the last plus one.
func (d *DataCentre) ServersBelow(w model.Switch) (first, last int) {
	h := d.Half
	switch w.Layer {
	case model.LayerEdge:
		first = (w.Group*h + w.Index) * h
		return first, first + h
	case model.LayerAggregation:
		return w.Group * h * h, (w.Group + 1) * h * h
	}
	return 0, len(d.Free)
}

// Lowest returns the lowest switch on the links below the host with all servers, which ascend, below it. Links that had
// all VMs below them would carry nothing (HoseCut), or an unneeded load (HosePerPath).
func (d *DataCentre) Lowest(host model.Switch, servers []model.ServerVMs) model.Switch {
	h := d.Half
	first, last := servers[0].Server, servers[len(servers)-1].Server
	switch {
	case first/h == last/h:
		return model.Switch{Layer: model.LayerEdge, Group: first / (h * h), Index: first / h % h}
	case first/(h*h) == last/(h*h) && host.Layer == model.LayerCore:
		return model.Switch{Layer: model.LayerAggregation, Group: first / (h * h), Index: host.Group}
	}
	return host
}
