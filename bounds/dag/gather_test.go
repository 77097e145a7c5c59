// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// No plan, played under contention, ends before the bound, and some end at it; the bound isn't below the bound by
// paths.
func TestGatheringAgainstPlans(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 1))
	met, better, none := 0, 0, 0
	rounds := require.Rounds(6000)
	for k := range rounds {
		d := testkit.StarDAG(rng, 6, 3)
		if k%4 == 0 {
			d = testkit.ContendedDAG(rng, 6, 3)
		}
		if k%3 == 0 {
			testkit.Late(rng, d)
		}
		require.OK(t, d.Validate())
		g := view.OfDAG(d)
		bound, _ := gathering(t.Context(), g)
		if math.IsNaN(bound) {
			none++
			continue
		}
		path := newDAGPaths(t.Context(), g).longest
		if bound < path*(1-1e-9) {
			t.Fatalf("%v, by paths %v: %+v", bound, path, d)
		}
		replay, best := dagplay.NewReplay(g), math.Inf(1)
		for range 300 {
			best = min(best, replay.Run(testkit.RandomPlan(rng, g, true), nil))
		}
		if best < bound*(1-1e-12) {
			t.Fatalf("a plan ends at %v, the bound is %v: %+v", best, bound, d)
		}
		if best <= bound*(1+1e-9) {
			met++
		}
		if bound > path*(1+1e-9) {
			better++
		}
	}
	if met < rounds/20 || better < rounds/20 || none > rounds/3 {
		t.Errorf("of %d %d have no link, %d bounds are met, %d above that by paths", rounds, none, met, better)
	}
	t.Log(rounds, none, met, better)
}

// plainHead returns x.head by enumeration over all sets on a and all sets of work.
func plainHead(x *gather, t int32, a int) float64 {
	floored, _ := x.head(t, a) // for the nodes
	if edges, _ := x.before(t); len(edges) == 0 {
		return floored
	}
	floor := 0.0
	edges, ends := x.before(t)
	for _, e := range edges {
		k := int(ends[e]) * x.g.Machines
		floor = max(floor, min(x.row[k+a]+x.g.Cost[k+a], x.elsewhere(a, func(b int) float64 { return x.row[k+b] + x.g.Cost[k+b] + x.comm(e, b, a) })))
	}
	least := math.Inf(1)
	for set := range 1 << len(x.nodes) {
		on := func(i int) bool { return set>>i&1 == 1 }
		var work [3][]gatherItem
		bound := floor
		for i := range x.nodes {
			v := &x.nodes[i]
			after := 0.0
			for _, e := range v.to {
				switch toLocal := i < x.near || on(e.node); {
				case !on(i) && toLocal:
					bound = max(bound, e.arrives)
					work[1] = append(work[1], gatherItem{v.away, e.in, e.here})
				case on(i) && i >= x.near && toLocal:
					after = max(after, x.nodes[e.node].cost)
				case on(i) && i >= x.near:
					after = max(after, e.round)
					work[2] = append(work[2], gatherItem{v.start + v.cost + x.first, e.out, e.there})
				}
			}
			if on(i) {
				work[0] = append(work[0], gatherItem{v.start, v.cost, after})
			}
		}
		for _, items := range work {
			for some := 1; some < 1<<min(len(items), 10); some++ {
				r, sum, q := math.Inf(1), 0.0, math.Inf(1)
				for i, y := range items {
					if i < 10 && some>>i&1 == 1 {
						r, sum, q = min(r, y.release), sum+y.length, min(q, y.after)
					}
				}
				bound = max(bound, r+sum+q)
			}
		}
		least = min(least, bound)
	}
	return least
}

// Heads by search equal heads by enumeration of all sets, up to rounding.
func TestGatheringAgainstSets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 2))
	above := 0
	for range require.Rounds(150) {
		g := view.OfDAG(testkit.StarDAG(rng, 9, 3))
		in, out := machineLinks(g)
		if in == nil {
			t.Fatal("no links")
		}
		x := &gather{g: g, startups: g.Startups(), line: make([]gatherLine, 3), most: 5, in: shared(g, in), out: shared(g, out)}
		for _, forward := range []bool{true, false} {
			x.rows(t.Context(), forward)
			for task := range int32(g.Tasks) {
				for a := range g.Machines {
					got, want := x.row[int(task)*g.Machines+a], plainHead(x, task, a)
					if math.Abs(got-want) > 1e-9*want {
						t.Fatalf("task %d on %d, forward %v: %v, want %v: %+v", task, a, forward, got, want, g)
					}
					if got > 0 {
						above++
					}
				}
			}
		}
	}
	if above == 0 {
		t.Error("no heads")
	}
}

// A task needs the data of three others, 4 s each on the link into its machine; each of the three takes 3 s. On one machine
// they take 9 s. With one elsewhere, 6 s and 7 s: the task starts at 7. Two elsewhere take 3 + 8 s.
func TestGatheringByHand(t *testing.T) {
	t.Parallel()
	d := testkit.DAG([][]float64{{3, 3, 3}, {3, 3, 3}, {3, 3, 3}, {1, 1, 1}}, [][3]float64{{1, 4, 4}, {2, 4, 4}, {3, 4, 4}})
	testkit.LinkInto(d)
	require.OK(t, d.Validate())
	g := view.OfDAG(d)
	if got, _ := gathering(t.Context(), g); got != 8 {
		t.Errorf("%v, want 8", got)
	}
	require.Same(t, "by paths", float64(4), newDAGPaths(t.Context(), g).longest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := gathering(ctx, g); !math.IsNaN(got) {
		t.Errorf("%v after the end", got)
	}
	if got, _ := gathering(t.Context(), view.OfDAG(d.WithoutContention())); !math.IsNaN(got) {
		t.Errorf("%v without contention", got)
	}
}
