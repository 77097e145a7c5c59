// SPDX-License-Identifier: MIT

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// RandomTVC draws a valid instance of n requests on a fat-tree of k pods, with or
// without a queue: layers of equal or different rates, both fabrics and hoses, both goals.
// Slots are scarce or links are. Durations are of one style; requests arrive together or one
// by one, many when others leave; some never fit. Bandwidths are parts of a link's rate, a bit
// per second more or less, tiny or huge.
func RandomTVC(rng *rand.Rand, k, n int, queue bool) *model.TVC {
	duration, unit := pick(rng), one(rng, 1, 1, 1, 0.1, 1e-6, 1000)
	in := &model.TVC{Queue: queue, Requests: []model.TVCRequest{}, FatTree: model.FatTree{K: k, Slots: 1 + rng.IntN(4)}}
	f := &in.FatTree
	f.LinkMbps = one(rng, 1, 10, 100, 1000, 333.333333, 0.000007, inMillionths(max(1e-6, min(1e7, pick(rng).Draw(rng)))))
	if rng.IntN(3) == 0 {
		layer := func() float64 { return min(1e7, inMillionths(one(rng, 0, 0.5, 1, 2, 3, 5)*f.LinkMbps)) }
		f.LayersMbps = &model.LayerRates{ServerMbps: layer(), EdgeMbps: one(rng, layer(), layer(), 10), AggregationMbps: one(rng, layer(), layer(), 1e-6, 10)}
	}
	f.Fabric = one(rng, "", model.FabricOnePath, model.FabricNonBlocking)
	in.Hose = one(rng, "", model.HoseCut, model.HosePerPath)
	if queue {
		in.MigrationS = one(rng, 0, 0, 1, 0.5, 1e-6)
	} else {
		in.Goal = one(rng, "", model.GoalRequests, model.GoalRevenue)
	}
	in.Name = fmt.Sprintf("%s-k%d-slots%d-%s-%s-%s", duration.Name, k, f.Slots, in.EffectiveHose(), f.EffectiveFabric(), in.EffectiveGoal())
	// VMs fill a part of a server, a server, an edge switch or a pod.
	slots := f.Servers() * f.Slots
	most := min(slots, one(rng, 1+rng.IntN(2*f.Slots+2), 1+rng.IntN(2*f.Slots+2), 2*f.Slots+2, k*f.Slots/2, k*k*f.Slots/4))
	length := func() float64 { return max(1, math.Round(min(duration.Draw(rng)*unit, 1e7)*1e6)) / 1e6 }
	mean := 0.0
	for range 20 {
		mean += length() / 20
	}
	arrive := timing(rng, n, mean, mean*float64(1+most)/2/float64(slots))
	for range n {
		q := model.TVCRequest{ArrivalS: arrive(), VMs: 1 + rng.IntN(most), DurationS: length()}
		q.BandwidthMbps = f.LinkMbps / one(rng, 0.7, 0.7, 1, 1, 2, 2, 3, 4, 8)
		switch rng.IntN(10) {
		case 0:
			q.BandwidthMbps = one(rng, 1e-6, 1e7, f.LinkMbps, 2*f.LinkMbps, 2*f.LinkMbps)
		case 1:
			q.BandwidthMbps += one(rng, 1e-6, -1e-6)
		case 2:
			q.BandwidthMbps *= rng.Float64()
		}
		q.BandwidthMbps = min(max(inMillionths(q.BandwidthMbps), 1e-6), 1e7)
		if len(in.Requests) > 0 && rng.IntN(4) == 0 { // equal to another, or in all but one figure
			other := in.Requests[rng.IntN(len(in.Requests))]
			switch rng.IntN(5) {
			case 0:
				other.ArrivalS = q.ArrivalS
			case 1:
				other.DurationS = q.DurationS
			case 2:
				other.VMs = q.VMs
			case 3: // when the other leaves, or just before
				other.ArrivalS = max(0, inMillionths(other.ArrivalS+other.DurationS-one(rng, 0, 0, 1e-6)))
			}
			q = other
		}
		in.Requests = append(in.Requests, q)
	}
	slices.SortStableFunc(in.Requests, func(a, b model.TVCRequest) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
	for i := range in.Requests {
		in.Requests[i].ID = fmt.Sprint("r", i+1)
	}
	return in
}

// tvcResource is the slots of a server, or a link with its lower and, where that
// has several links up, its upper end.
type tvcResource struct {
	kind         tvcResourceKind
	lower, upper int
}

type tvcResourceKind int

const (
	slotsOfServer tvcResourceKind = iota
	linkOfServer
	linkOfEdge
	linkOfAggregation
)

// tvcUse returns what an embedding of n VMs at b bit/s takes, by the definitions:
// VMs of servers, and bit/s of links.
func tvcUse(in *model.TVC, e *model.Embedding, n int, b int64) map[tvcResource]int64 {
	use := map[tvcResource]int64{}
	below := map[tvcResource][]int{} // by link, the VMs of each server below it
	h := in.FatTree.K / 2
	for _, x := range e.Servers {
		use[tvcResource{slotsOfServer, x.Server, 0}] = int64(x.VMs)
		edge, pod := x.Server/h, x.Server/h/h
		path := []tvcResource{{linkOfServer, x.Server, 0}}
		if in.FatTree.Fabric != model.FabricNonBlocking {
			switch e.Switch.Layer {
			case model.LayerAggregation:
				path = append(path, tvcResource{linkOfEdge, edge, e.Switch.Index})
			case model.LayerCore:
				path = append(path, tvcResource{linkOfEdge, edge, e.Switch.Group}, tvcResource{linkOfAggregation, pod*h + e.Switch.Group, e.Switch.Index})
			}
		}
		for _, link := range path {
			below[link] = append(below[link], x.VMs)
		}
	}
	for link, servers := range below {
		load, sum := 0, 0
		for _, m := range servers {
			sum += m
			load += min(m, n-m)
		}
		if in.Hose != model.HosePerPath {
			load = min(sum, n-sum)
		}
		if load > 0 {
			use[link] = int64(load) * b
		}
	}
	return use
}

// tvcCapacity returns the capacity of a resource of tvcUse.
func tvcCapacity(in *model.TVC, resource tvcResource) int64 {
	f := &in.FatTree
	rate, l := f.LinkMbps, model.LayerRates{}
	if f.LayersMbps != nil {
		l = *f.LayersMbps
	}
	layer := 0.0
	switch resource.kind {
	case slotsOfServer:
		return int64(f.Slots)
	case linkOfServer:
		layer = l.ServerMbps
	case linkOfEdge:
		layer = l.EdgeMbps
	case linkOfAggregation:
		layer = l.AggregationMbps
	}
	if layer != 0 {
		rate = layer
	}
	return millionths(rate)
}

// tvcRoom reports whether everything of use is there beside what is taken.
func tvcRoom(in *model.TVC, taken, use map[tvcResource]int64) bool {
	for resource, amount := range use {
		if amount > tvcCapacity(in, resource)-taken[resource] {
			return false
		}
	}
	return true
}

// switchesOf returns all switches of a fat-tree, layer by layer from below.
func switchesOf(f *model.FatTree) (all []model.Switch) {
	for layer, groups := range []int{f.K, f.K, f.K / 2} {
		for g := range groups {
			for i := range f.K / 2 {
				all = append(all, model.Switch{Layer: model.Layer(layer), Group: g, Index: i})
			}
		}
	}
	return all
}

// serversBelow returns the first server below a switch and the one after the last.
func serversBelow(f *model.FatTree, s model.Switch) (from, to int) {
	h := f.K / 2
	switch s.Layer {
	case model.LayerEdge:
		from = (s.Group*h + s.Index) * h
		return from, from + h
	case model.LayerAggregation:
		return s.Group * h * h, (s.Group + 1) * h * h
	}
	return 0, f.K * h * h
}

// spread calls yield with every way to put n VMs on the servers from one to
// another, at most slots on each, in which may(server, before, vms) allows each
// count, before being that of the server before. It ends when yield returns false.
func spread(from, to, slots, n int, may func(server, before, vms int) bool, yield func([]model.ServerVMs) bool) bool {
	var servers []model.ServerVMs
	var walk func(server, before, left int) bool
	walk = func(server, before, left int) bool {
		if left > (to-server)*slots {
			return true
		}
		if server == to {
			return yield(slices.Clone(servers))
		}
		for m := 0; m <= min(slots, left); m++ {
			if !may(server, before, m) {
				continue
			}
			if m > 0 {
				servers = append(servers, model.ServerVMs{Server: server, VMs: m})
			}
			more := walk(server+1, m, left-m)
			if m > 0 {
				servers = servers[:len(servers)-1]
			}
			if !more {
				return false
			}
		}
		return true
	}
	return walk(from, 0, n)
}

// BruteEmbeddings returns all embeddings of one request beside those that are there,
// by request number. It tries every switch and every number of VMs on each server
// below it.
func BruteEmbeddings(in *model.TVC, request int, there map[int]model.Embedding) (all []model.Embedding) {
	taken := map[tvcResource]int64{}
	for k, e := range there {
		for resource, amount := range tvcUse(in, &e, in.Requests[k].VMs, millionths(in.Requests[k].BandwidthMbps)) {
			taken[resource] += amount
		}
	}
	q := &in.Requests[request]
	for _, s := range switchesOf(&in.FatTree) {
		from, to := serversBelow(&in.FatTree, s)
		spread(from, to, in.FatTree.Slots, q.VMs, func(int, int, int) bool { return true }, func(servers []model.ServerVMs) bool {
			e := model.Embedding{Switch: s, Servers: servers}
			if tvcRoom(in, taken, tvcUse(in, &e, q.VMs, millionths(q.BandwidthMbps))) {
				all = append(all, e)
			}
			return true
		})
	}
	return all
}

// BruteFits reports whether a request fits the empty data centre. As that is
// symmetric, it tries the first switch of each layer alone, and has the VMs of an
// edge switch's servers descend.
func BruteFits(in *model.TVC, request int) bool {
	q := &in.Requests[request]
	h := in.FatTree.K / 2
	for layer := range model.LayerCore + 1 {
		s := model.Switch{Layer: layer}
		from, to := serversBelow(&in.FatTree, s)
		descend := func(server, before, vms int) bool { return server%h == 0 || vms <= before }
		if !spread(from, to, in.FatTree.Slots, q.VMs, descend, func(servers []model.ServerVMs) bool {
			e := model.Embedding{Switch: s, Servers: servers}
			return !tvcRoom(in, nil, tvcUse(in, &e, q.VMs, millionths(q.BandwidthMbps)))
		}) {
			return true
		}
	}
	return false
}

// BruteTVC returns the optimum of an instance in loss mode, and a solution of that
// value. In the order of arrival it rejects each request or embeds it in every
// way; of embeddings that take the same it tries one. It is for 5 requests on a
// fat-tree of 2 pods or so.
func BruteTVC(in *model.TVC) (float64, *model.Embeddings) {
	if in.Queue || len(in.Requests) > 8 {
		panic("brute force is for loss mode and at most 8 requests")
	}
	n := len(in.Requests)
	// Resources are numbered as they turn up.
	numbers, left := map[tvcResource]int{}, []int64{}
	type part struct {
		resource int
		amount   int64
	}
	type choice struct {
		embedding model.Embedding
		use       []part
	}
	choices, rest := make([][]choice, n), make([]float64, n+1)
	weight := func(k int) float64 {
		if q := &in.Requests[k]; in.Goal == model.GoalRevenue {
			return float64(q.VMs) * q.BandwidthMbps * q.DurationS
		}
		return 1
	}
	for k := n - 1; k >= 0; k-- {
		rest[k] = rest[k+1] + weight(k)
		seen := map[string]bool{}
		for _, e := range BruteEmbeddings(in, k, nil) {
			use := tvcUse(in, &e, in.Requests[k].VMs, millionths(in.Requests[k].BandwidthMbps))
			key := fmt.Sprint(use) // in the order of the resources
			if seen[key] {
				continue
			}
			seen[key] = true
			c := choice{embedding: e}
			for resource, amount := range use {
				if _, ok := numbers[resource]; !ok {
					numbers[resource] = len(left)
					left = append(left, tvcCapacity(in, resource))
				}
				c.use = append(c.use, part{numbers[resource], amount})
			}
			choices[k] = append(choices[k], c)
		}
	}
	best, chosen := -1.0, make([]*choice, n)
	var kept []*choice
	// change gives back what request i has, or takes it.
	change := func(i int, sign int64) {
		for _, x := range chosen[i].use {
			left[x.resource] += sign * x.amount
		}
	}
	var walk func(k int, value float64)
	walk = func(k int, value float64) {
		if value+rest[k] <= best {
			return
		}
		if k == n {
			best, kept = value, slices.Clone(chosen)
			return
		}
		// Those that end after the last arrival and by this one leave.
		var leaving []int
		for i := range k {
			end := millionths(in.Requests[i].ArrivalS) + millionths(in.Requests[i].DurationS)
			if chosen[i] != nil && end <= millionths(in.Requests[k].ArrivalS) && (i == k-1 || end > millionths(in.Requests[k-1].ArrivalS)) {
				leaving = append(leaving, i)
				change(i, 1)
			}
		}
		for i := range choices[k] {
			c := &choices[k][i]
			if slices.ContainsFunc(c.use, func(x part) bool { return x.amount > left[x.resource] }) {
				continue
			}
			chosen[k] = c
			change(k, -1)
			walk(k+1, value+weight(k))
			change(k, 1)
		}
		chosen[k] = nil
		walk(k+1, value)
		for _, i := range leaving {
			change(i, -1)
		}
	}
	walk(0, 0)
	s := &model.Embeddings{Runs: []model.Run[model.Embedding]{}}
	for k, c := range kept {
		if c != nil {
			q := &in.Requests[k]
			end := float64(millionths(q.ArrivalS)+millionths(q.DurationS)) / 1e6
			s.Runs = append(s.Runs, model.Run[model.Embedding]{ID: q.ID, Segments: []model.Segment[model.Embedding]{
				{StartS: q.ArrivalS, EndS: end, Place: c.embedding}}})
		}
	}
	return best, s
}
