// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
)

// Oktopus embeds whenever an embedding exists, below the first switch bottom-up that has one. Its embedding there with
// HoseCut comes first by the counts by pod, then by edge switch, then by server, in descending lexicographic order.
func TestOktopusEnumeration(t *testing.T) {
	t.Parallel()
	oktopus := newOktopus()
	var layers [3]int
	none, rounds := 0, need.Rounds(4000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 21))
		d := randomState(rng, 2+2*rng.IntN(2), 1+rng.IntN(5), 3+rng.IntN(9), model.Fabrics[rng.IntN(2)], model.Hoses[min(rng.IntN(4), 1)])
		n, b := 1+rng.IntN(7), int64(1+rng.IntN(3))
		var want *model.Embedding
		bruteEmbeddings(d, n, b, func(e *model.Embedding) {
			if want == nil || compareOktopus(d, e, want) < 0 {
				want = e
			}
		})
		got, ok := oktopus.Embed(d, n, b)
		switch {
		case ok != (want != nil):
			t.Fatalf("seed %d: %d VMs at %d: found %v, enumerated %v", seed, n, b, ok, want)
		case !ok:
			none++
			continue
		case got.Switch != want.Switch || !d.PerPath && !got.SameServers(want) || !d.Room(&got, n, b):
			t.Fatalf("seed %d: %d VMs at %d: found %v, enumerated %v", seed, n, b, got, want)
		}
		layers[got.Switch.Layer]++
	}
	if t.Log(none, layers); none < rounds/10 || slices.Min(layers[:]) < rounds/100 {
		t.Errorf("%d without an embedding, hosts by layer %v", none, layers)
	}
}

func compareOktopus(d *fattree.DataCentre, x, y *model.Embedding) int {
	h := d.Half
	counts := func(e *model.Embedding, width int) []int {
		all := make([]int, (len(d.Free)+width-1)/width)
		for _, s := range e.Servers {
			all[s.Server/width] -= s.VMs
		}
		return all
	}
	c := cmp.Or(cmp.Compare(x.Switch.Layer, y.Switch.Layer), cmp.Compare(x.Switch.Group, y.Switch.Group), cmp.Compare(x.Switch.Index, y.Switch.Index))
	for _, width := range []int{h * h, h, 1} {
		c = cmp.Or(c, slices.Compare(counts(x, width), counts(y, width)))
	}
	return c
}

// The min-max greedy finds the least utilisation in the first edge switch, else the
// first pod, else the data centre that has an embedding.
func TestGreedyMinMaxEnumeration(t *testing.T) {
	t.Parallel()
	greedy := newGreedyMinMax()
	none, rounds := 0, need.Rounds(3000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 22))
		d := randomState(rng, 2+2*rng.IntN(2), 1+rng.IntN(5), 3+rng.IntN(9), model.Fabrics[rng.IntN(2)], model.Hoses[rng.IntN(2)])
		n, b := 1+rng.IntN(7), int64(1+rng.IntN(3))
		subtree := func(e *model.Embedding) int {
			switch low := d.Lowest(model.Switch{Layer: model.LayerCore}, e.Servers); low.Layer {
			case model.LayerEdge:
				return low.Group*d.Half + low.Index
			case model.LayerAggregation:
				return 1000 + low.Group
			}
			return 2000
		}
		compare := func(x, y *model.Embedding) int {
			return cmp.Or(cmp.Compare(subtree(x), subtree(y)), compareCosts(d, x, y, n, b, costUtilisation))
		}
		var want *model.Embedding
		bruteEmbeddings(d, n, b, func(e *model.Embedding) {
			if want == nil || compare(e, want) < 0 {
				want = e
			}
		})
		got, ok := greedy.Embed(d, n, b)
		if ok != (want != nil) || ok && (compare(&got, want) != 0 || !d.Room(&got, n, b)) {
			t.Fatalf("seed %d: %d VMs at %d: found %v %v, enumerated %v", seed, n, b, got, ok, want)
		}
		if !ok {
			none++
		}
	}
	if none < rounds/10 {
		t.Errorf("%d without an embedding", none)
	}
}

// Greedy gives the embeddings of its plain version.
func TestGreedyPlain(t *testing.T) {
	t.Parallel()
	greedy := newGreedy()
	none, core, rounds := 0, 0, need.Rounds(1500)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 23))
		d := randomCentre(rng)
		if seed%2 == 0 {
			d = randomState(rng, 2+2*rng.IntN(2), 1+rng.IntN(5), 3+rng.IntN(20), model.Fabrics[rng.IntN(2)], model.Hoses[rng.IntN(2)])
		}
		n, b := randomRequest(rng, d)
		if seed%2 == 0 {
			n, b = 1+rng.IntN(7), int64(1+rng.IntN(3))
		}
		want, wantOK := plainGreedy(d, min(n, 40), b)
		got, ok := greedy.Embed(d, min(n, 40), b)
		if ok != wantOK || ok && !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, %d VMs at %d bit/s: %v %v, plain %v %v", seed, n, b, got, ok, want, wantOK)
		}
		if !ok {
			none++
		} else if got.Switch.Layer == model.LayerCore {
			core++
		}
	}
	if t.Log(none, core); none < rounds/10 || core < rounds/10 {
		t.Errorf("%d without an embedding, %d below a core switch", none, core)
	}
}

func plainGreedy(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	for _, host := range plainHosts(d) {
		if host.Layer != model.LayerCore {
			continue
		}
		vms := make([]int, len(d.Free))
		for range n {
			best, at := (*big.Rat)(nil), -1
			for s, free := range d.Free {
				if vms[s] == int(free) {
					continue
				}
				vms[s]++
				if u := plainUtilisation(d, host, vms, s, n, b); best == nil || u.Cmp(best) < 0 {
					best, at = u, s
				}
				vms[s]--
			}
			if at < 0 {
				return model.Embedding{}, false
			}
			vms[at]++
		}
		if e := plainEmbedding(d, host, vms); d.Room(&e, n, b) {
			return e, true
		}
	}
	return model.Embedding{}, false
}

// plainUtilisation returns the largest utilisation between server s and the host.
func plainUtilisation(d *fattree.DataCentre, host model.Switch, vms []int, s, n int, b int64) *big.Rat {
	h := d.Half
	edge, pod, edgeLoad, podLoad := 0, 0, 0, 0
	for x, m := range vms {
		if x/h == s/h {
			edge += m
			edgeLoad += min(m, n-m)
		}
		if x/(h*h) == s/(h*h) {
			pod += m
			podLoad += min(m, n-m)
		}
	}
	if !d.PerPath {
		edgeLoad, podLoad = min(edge, n-edge), min(pod, n-pod)
	}
	most := big.NewRat(d.ServerRate-d.Server[s]+int64(min(vms[s], n-vms[s]))*b, d.ServerRate)
	if !d.NonBlocking {
		for _, u := range []*big.Rat{big.NewRat(d.EdgeRate-plainEdgeLink(d, host, s/h)+int64(edgeLoad)*b, d.EdgeRate),
			big.NewRat(d.AggregationRate-plainPodLink(d, host, s/(h*h))+int64(podLoad)*b, d.AggregationRate)} {
			if u.Cmp(most) > 0 {
				most = u
			}
		}
	}
	return most
}
