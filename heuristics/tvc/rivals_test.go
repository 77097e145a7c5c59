// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Oktopus embeds whenever an embedding exists, below the first switch bottom-up that has one. Its embedding there with
// HoseCut comes first by the counts by pod, then by edge switch, then by server, in descending lexicographic order.
func TestOktopusEnumeration(t *testing.T) {
	t.Parallel()
	oktopus := newOktopus()
	var layers [3]int
	none, rounds := 0, require.Rounds(4000)
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
	none, rounds := 0, require.Rounds(3000)
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
