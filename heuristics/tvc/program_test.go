// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// randomState returns a data centre with any slots and rates left, whether or not
// requests can have left them, of at most so many free slots.
func randomState(rng *rand.Rand, k, slots, most int, fabric model.Fabric, hose model.Hose) *fattree.DataCentre {
	in := &model.TVC{Hose: hose, FatTree: model.FatTree{K: k, Slots: slots, LinkMbps: 8e-6, Fabric: fabric,
		LayersMbps: &model.LayerRates{ServerMbps: float64(4+rng.IntN(8)) / 1e6, EdgeMbps: float64(4+rng.IntN(12)) / 1e6}}}
	d := fattree.New(view.OfTVC(in))
	free := 0
	for s := range d.Free {
		d.Free[s] = 0
	}
	for range 3 * most {
		s := rng.IntN(len(d.Free))
		give := min(1+rng.IntN(slots), slots-int(d.Free[s]), most-free)
		d.Free[s] += int32(give)
		free += give
	}
	d.Count()
	for _, links := range [][]int64{d.Server, d.Edge, d.Aggregation} {
		for l := range links {
			if rng.IntN(3) > 0 {
				links[l] = rng.Int64N(links[l] + 1)
			}
		}
	}
	d.Count()
	return d
}

// costOf computes the costs of an embedding by the definitions: utilisation as a fraction, the bandwidth reserved, the
// servers opened. The result ok says that it is valid.
func costOf(d *fattree.DataCentre, e *model.Embedding, n int, b int64) (used, of, reserved, opened int64, ok bool) {
	h, total := d.Half, 0
	of = 1
	ok = true
	type link struct{ layer, number int }
	below, perServer := map[link]int{}, map[link]int{}
	for _, x := range e.Servers {
		ok = ok && x.VMs >= 1 && x.VMs <= int(d.Free[x.Server])
		total += x.VMs
		if int(d.Free[x.Server]) == d.Slots {
			opened++
		}
		edge, pod := x.Server/h, x.Server/(h*h)
		route := []link{{0, x.Server}}
		switch e.Switch.Layer {
		case model.LayerEdge:
			ok = ok && edge == e.Switch.Group*h+e.Switch.Index
		case model.LayerAggregation:
			ok = ok && pod == e.Switch.Group
			route = append(route, link{1, edge*h + e.Switch.Index})
		case model.LayerCore:
			route = append(route, link{1, edge*h + e.Switch.Group}, link{2, (pod*h+e.Switch.Group)*h + e.Switch.Index})
		}
		for _, l := range route {
			below[l] += x.VMs
			perServer[l] += min(x.VMs, n-x.VMs)
		}
	}
	for l, m := range below {
		if l.layer > 0 && d.NonBlocking {
			continue
		}
		load := int64(min(m, n-m)) * b
		if d.PerPath {
			load = int64(perServer[l]) * b
		}
		left := [][]int64{d.Server, d.Edge, d.Aggregation}[l.layer][l.number]
		rate := []int64{d.ServerRate, d.EdgeRate, d.AggregationRate}[l.layer]
		reserved += load
		if load > 0 && (rate-left+load)*of > used*rate {
			used, of = rate-left+load, rate
		}
		ok = ok && (load == 0 || load <= left)
	}
	return used, of, reserved, opened, ok && total == n
}

// compareCosts orders two embeddings as the cost says.
func compareCosts(d *fattree.DataCentre, x, y *model.Embedding, n int, b int64, cost costKind) int {
	u1, of1, r1, o1, _ := costOf(d, x, n, b)
	u2, of2, r2, o2, _ := costOf(d, y, n, b)
	switch cost {
	case costServers:
		return cmp.Or(cmp.Compare(o1, o2), cmp.Compare(r1, r2))
	case costUtilisation:
		return cmp.Or(cmp.Compare(u1*of2, u2*of1), cmp.Compare(r1, r2), cmp.Compare(o1, o2))
	}
	return cmp.Or(cmp.Compare(r1, r2), cmp.Compare(o1, o2))
}

// bruteEmbeddings yields every valid embedding.
func bruteEmbeddings(d *fattree.DataCentre, n int, b int64, yield func(e *model.Embedding)) {
	f := model.FatTree{K: d.K}
	var switches []model.Switch
	for layer := model.LayerEdge; layer <= model.LayerCore; layer++ {
		for g := range d.K {
			for i := range d.Half {
				if s := (model.Switch{Layer: layer, Group: g, Index: i}); f.Has(s) {
					switches = append(switches, s)
				}
			}
		}
	}
	var servers []model.ServerVMs
	var put func(s, rest int)
	put = func(s, rest int) {
		if rest == 0 {
			for _, at := range switches {
				e := &model.Embedding{Switch: at, Servers: slices.Clone(servers)}
				if _, _, _, _, ok := costOf(d, e, n, b); ok {
					yield(e)
				}
			}
			return
		}
		if s == d.Servers {
			return
		}
		put(s+1, rest)
		for c := 1; c <= min(rest, int(d.Free[s])); c++ {
			servers = append(servers, model.ServerVMs{Server: s, VMs: c})
			put(s+1, rest-c)
			servers = servers[:len(servers)-1]
		}
	}
	put(0, n)
}

var allCosts = []costKind{costReserved, costServers, costUtilisation}

func TestProgramAgainstEnumeration(t *testing.T) {
	states := 4000
	if testing.Short() {
		states = 1000
	}
	var p program
	none, layers := 0, map[model.Layer]int{}
	for seed := range states {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		k := 2 + 2*rng.IntN(2)
		d := randomState(rng, k, 1+rng.IntN(5), 3+rng.IntN(9), model.Fabrics[rng.IntN(2)], model.Hoses[rng.IntN(2)])
		n, b := 1+rng.IntN(7), int64(1+rng.IntN(3))
		best := make([]*model.Embedding, len(allCosts))
		bruteEmbeddings(d, n, b, func(e *model.Embedding) {
			for c := range best {
				if best[c] == nil || compareCosts(d, e, best[c], n, b, costKind(c)) < 0 {
					best[c] = e
				}
			}
		})
		name := fmt.Sprintf("state %d: k=%d L=%d n=%d b=%d %+v", seed, k, d.Slots, n, b, d.TVC)
		require.Is(t, best[0] != nil, p.Embeddable(d, n, b), name, "embeddable")
		for _, cost := range allCosts {
			e, ok := p.Best(d, n, b, cost)
			require.Is(t, best[cost] != nil, ok, name, "cost", cost, "found")
			if !ok {
				none++
				continue
			}
			layers[e.Switch.Layer]++
			if !d.Room(&e, n, b) || !slices.IsSortedFunc(e.Servers, func(a, b model.ServerVMs) int { return cmp.Compare(a.Server, b.Server) }) {
				t.Fatalf("%s: cost %d: %v is not valid", name, cost, e)
			}
			require.Is(t, 0, compareCosts(d, &e, best[cost], n, b, cost), name, "cost", cost, "found", e, "best is",
				*best[cost])
		}
	}
	if none < states/10 || layers[model.LayerAggregation] < states/20 || layers[model.LayerCore] < states/20 {
		t.Errorf("%d states: %d without an embedding, layers %v: the states don't try what they should", states, none, layers)
	}
}

// The program and model.TVC.Fits, which counts alike servers together, agree on
// what fits an empty data centre.
func TestProgramFits(t *testing.T) {
	var p program
	fits := [2]int{}
	for seed := range 2000 {
		rng := rand.New(rand.NewPCG(uint64(seed), 12))
		in := &model.TVC{Hose: model.Hoses[rng.IntN(2)], FatTree: model.FatTree{K: 2 + 2*rng.IntN(2), Slots: 1 + rng.IntN(6),
			LinkMbps: float64(1 + rng.IntN(6)), Fabric: model.Fabrics[rng.IntN(2)], LayersMbps: &model.LayerRates{EdgeMbps: float64(1 + rng.IntN(6))}}}
		slots := in.FatTree.Servers() * in.FatTree.Slots
		in.Requests = []model.TVCRequest{{ID: "a", VMs: 1 + rng.IntN(slots), BandwidthMbps: 0.25 * float64(1+rng.IntN(12)), DurationS: 1}}
		ticks := view.OfTVC(in)
		q := ticks.Requests[0]
		if got := p.Embeddable(fattree.New(ticks), q.VMs, q.Bandwidth); got != q.Fits {
			t.Fatalf("%+v: embeddable %v, fits %v", in, got, q.Fits)
		} else if got {
			fits[0]++
		} else {
			fits[1]++
		}
	}
	if min(fits[0], fits[1]) < 300 {
		t.Errorf("%d fit, %d don't", fits[0], fits[1])
	}
}
