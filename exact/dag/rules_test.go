// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// On machines that take one and two times as long, the load of the second kind is even.
// If all would have to be full up to an odd time, whole rooms prove at once that they
// can't, and a search without them counts to it.
func TestWholeLoads(t *testing.T) {
	t.Parallel()
	rng, sooner := rand.New(rand.NewPCG(5, 8)), 0
	for range 20 {
		cost, sum := make([][]float64, 10), 0
		for t := range cost {
			base := 10 + rng.IntN(40)
			if sum += base; t == len(cost)-1 {
				base += 5 - (sum+2)%6
				sum += 5 - (sum+2)%6
			}
			cost[t] = []float64{float64(base), float64(2 * base), float64(base), float64(2 * base)}
		}
		d := testkit.DAG(cost, nil)
		with := require.Value(Search.Solve(t.Context(), d, model.Settings{}))(t)
		without := require.Value(Search.Off(devWholeLoads).Solve(t.Context(), d, model.Settings{}))(t)
		if sum%6 != 3 || with.Status != model.StatusOptimal || with.Status != without.Status || with.Objective != without.Objective {
			t.Errorf("%s %v, without the device %s %v", with.Status, with.Objective, without.Status, without.Objective)
		}
		if 10*with.Nodes < without.Nodes {
			sooner++
		}
	}
	if sooner < 5 {
		t.Errorf("%d of 20 are proved in a tenth of the nodes", sooner)
	}
}

// If machines don't differ, one cumulative for all proves the same in fewer conflicts than a model of each machine.
func TestCumulative(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 4))
	var nodes [2]int64
	for k := range 30 {
		n, m := 40, 4+k%3
		cost, edges := make([][]float64, n), [][3]float64{}
		for t := range n {
			cost[t] = slices.Repeat([]float64{float64(1 + rng.IntN(10))}, m)
			for range 1 + rng.IntN(2) {
				if t > 4 {
					edges = append(edges, [3]float64{float64(t - rng.IntN(min(t, 20))), float64(t + 1)})
				}
			}
		}
		slices.SortFunc(edges, func(a, b [3]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		d := testkit.DAG(cost, slices.Compact(edges))
		g := view.OfDAG(d)
		var lower, upper [2]float64
		for i, off := range []deviceSet{0, devCumulative} {
			s := &dagSearch{Run: &engine.Run{Ctx: t.Context()}, d: d, g: g, off: off, conflicts: 300}
			require.OK(t, s.run())
			lower[i], upper[i] = s.lower, s.upper
			nodes[i] += s.Nodes
		}
		if slices.Max(lower[:]) > slices.Min(upper[:])*(1+1e-9) {
			t.Errorf("%d: proved %v, found %v", k, lower, upper)
		}
	}
	if t.Log(nodes); 3*nodes[0] > nodes[1] {
		t.Errorf("%d nodes, %d without the device", nodes[0], nodes[1])
	}
}
