// SPDX-License-Identifier: MIT

package flow

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// minCut returns the least capacity between sources and sink over all 2^n sets.
func minCut(nodes int, a *Arcs, source, sink int32) int64 {
	best := int64(1) << 62
	for set := range 1 << nodes {
		if set>>source&1 == 0 || set>>sink&1 != 0 {
			continue
		}
		cut := int64(0)
		for k := range a.from {
			if set>>a.from[k]&1 != 0 && set>>a.to[k]&1 == 0 {
				cut += a.capacity[k]
			}
		}
		best = min(best, cut)
	}
	return best
}

// The flow equals the least cut, whatever the order in which it is
// pushed, each node's balance is kept, and no capacity is exceeded. A source
// pushes as much as the largest flow of all sources so far grows by it.
func TestMinCut(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	ctx := context.Background()
	closedSets, rerouted := 0, 0
	for n := range 4000 {
		nodes := 3 + rng.IntN(6)
		sink := int32(nodes - 1)
		var a Arcs
		for range rng.IntN(4 * nodes) {
			v, w := int32(rng.IntN(nodes)), int32(rng.IntN(nodes))
			if v != sink {
				a.Add(v, w, rng.Int64N(9))
			}
		}
		if n%10 == 0 {
			for k := range a.capacity {
				a.capacity[k] *= 1 << 52
			}
		}
		g, place := a.network(nodes, sink)
		// The super source isn't in the network; it is only for the cut.
		super := Arcs{append([]int32{}, a.from...), append([]int32{}, a.to...), append([]int64{}, a.capacity...)}
		source := int32(nodes)
		sent := make([]int64, nodes)
		total := int64(0)
		for _, v := range rng.Perm(nodes - 1) {
			limit := rng.Int64N(12)
			if n%10 == 0 {
				limit *= 1 << 52
			}
			super.Add(source, int32(v), limit)
			got, full := g.Push(ctx, int32(v), limit)
			sent[v] += got
			total += got
			if want := minCut(nodes+1, &super, source, sink); total != want {
				t.Fatalf("network %d: flow %d, least cut %d", n, total, want)
			}
			require.Is(t, got < limit, full, "network", n, "sent", got, "of", limit, "full")
			if full {
				closedSets++
				g.Close(func(node int32) {
					if !g.closed[node] {
						t.Fatalf("node %d was touched and isn't closed", node)
					}
					rerouted++
				})
			}
		}
		balance := make([]int64, nodes)
		for k := range a.from {
			left := g.left[place[k]]
			flow := a.capacity[k] - left
			if flow < 0 || left < 0 {
				t.Fatalf("network %d: flow %d on an arc of capacity %d", n, flow, a.capacity[k])
			}
			balance[a.from[k]] += flow
			balance[a.to[k]] -= flow
		}
		for v := range nodes - 1 {
			if balance[v] != sent[v] {
				t.Fatalf("network %d: node %d sends on %d of %d", n, v, balance[v], sent[v])
			}
		}
	}
	if closedSets < 1000 || rerouted < 100 {
		t.Errorf("%d closed sets, %d touched again", closedSets, rerouted)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	var a Arcs
	a.Add(0, 1, 5)
	g := a.Network(2, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if sent, full := g.Push(ctx, 0, 3); sent != 0 || full {
		t.Errorf("sent %d, full %v", sent, full)
	}
}
