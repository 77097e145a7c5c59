// SPDX-License-Identifier: MIT

package plain

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tvcFigures holds an instance in loss mode in microseconds and bit/s. Let h = k/2. Links are numbered: first the links
// above servers, then edge switch e to aggregation switch a of its pod at servers + e·h + a, then aggregation switch a
// of pod p to core switch c of group a at 2·servers + (p·h + a)·h + c. There are as many of each as there are servers,
// 2h³.
type tvcFigures struct {
	in          *model.TVC
	h, servers  int
	rate        []int64 // by link
	oneTree     bool    // only the links of servers bind
	perPath     bool
	requests    []tvcRequest
	whole       bool // values are whole and exact
	totalWeight float64
}

// tvcRequest is a request; accepting it adds weight to the objective.
type tvcRequest struct {
	arrival, end int64
	vms          int
	bandwidth    int64
	weight       float64
}

// tvcPlace is an embedding: VMs by server, the switch, and bit/s by link.
type tvcPlace struct {
	vms  []int
	at   model.Switch
	load []int64
}

func readTVC(in *model.TVC) tvcFigures {
	tree := &in.FatTree
	h := tree.K / 2
	f := tvcFigures{in: in, h: h, servers: 2 * h * h * h, oneTree: tree.Fabric == model.FabricNonBlocking, perPath: in.Hose == model.HosePerPath, whole: true}
	layers := [3]float64{tree.LinkMbps, tree.LinkMbps, tree.LinkMbps}
	if l := tree.LayersMbps; l != nil {
		for k, x := range [3]float64{l.ServerMbps, l.EdgeMbps, l.AggregationMbps} {
			if x > 0 {
				layers[k] = x
			}
		}
	}
	for _, x := range layers {
		f.rate = append(f.rate, slices.Repeat([]int64{inMillionths(x)}, f.servers)...)
	}
	for k := range in.Requests {
		q := &in.Requests[k]
		x := tvcRequest{arrival: inMillionths(q.ArrivalS), vms: q.VMs, bandwidth: inMillionths(q.BandwidthMbps), weight: 1}
		x.end = x.arrival + inMillionths(q.DurationS)
		if in.Goal == model.GoalRevenue {
			x.weight = float64(q.VMs) * q.BandwidthMbps * q.DurationS
			f.whole = f.whole && q.BandwidthMbps == math.Trunc(q.BandwidthMbps) && q.DurationS == math.Trunc(q.DurationS)
		}
		f.totalWeight += x.weight
		f.requests = append(f.requests, x)
	}
	f.whole = f.whole && f.totalWeight < exactSum
	return f
}

// inMillionths returns a time in microseconds, a rate in bit/s.
func inMillionths(x float64) int64 { return int64(math.Round(x * 1e6)) }

// load returns the load that VMs on servers put on each link, in bit/s, if the virtual switch is at the given switch
// above all of them. A link with m of the n VMs below it carries min(m, n-m) times the bandwidth; with the hose per
// path the sum of that over the servers below it, m the VMs on each.
func (f *tvcFigures) load(q *tvcRequest, vms []int, at model.Switch) []int64 {
	load := make([]int64, len(f.rate))
	for s, m := range vms {
		if m == 0 {
			continue
		}
		path := []int{s}
		if !f.oneTree {
			switch h, edge, pod := f.h, s/f.h, s/f.h/f.h; at.Layer {
			case model.LayerAggregation:
				path = append(path, f.servers+edge*h+at.Index)
			case model.LayerCore:
				path = append(path, f.servers+edge*h+at.Group, 2*f.servers+(pod*h+at.Group)*h+at.Index)
			}
		}
		if f.perPath {
			m = min(m, q.vms-m)
		}
		for _, link := range path {
			load[link] += int64(m)
		}
	}
	for link, m := range load {
		if !f.perPath {
			m = min(m, int64(q.vms)-m)
		}
		load[link] = m * q.bandwidth
	}
	return load
}

// embeddings returns the solution that accepts the requests that have a place.
func (f *tvcFigures) embeddings(places []*tvcPlace) *model.Embeddings {
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	for k, p := range places {
		if p == nil {
			continue
		}
		q := &f.in.Requests[k]
		e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: q.ID, Segments: []model.Segment[model.Embedding]{
			{StartS: q.ArrivalS, EndS: float64(f.requests[k].end) / 1e6, Place: f.embedding(p)}}})
	}
	return e
}

func (f *tvcFigures) embedding(p *tvcPlace) model.Embedding {
	e := model.Embedding{Switch: p.at}
	for s, m := range p.vms {
		if m > 0 {
			e.Servers = append(e.Servers, model.ServerVMs{Server: s, VMs: m})
		}
	}
	return e
}
