// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// poorPlan puts tasks on random machines in topological order: a search has far to go from there, and anything it drops
// wrongly shows.
func poorPlan(rng *rand.Rand, g *view.Graph) dagplay.Plan {
	p := dagplay.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		a := int32(rng.IntN(g.Machines))
		p.Machine[t] = a
		p.Order[a] = append(p.Order[a], t)
	}
	return p
}

// searchFrom searches from a plan and returns the result and the proof. As ticks are made for the horizon that the plan
// gives, it searches again from a plan that is much better.
func searchFrom(d *model.DAG, g *view.Graph, plan dagplay.Plan, off deviceSet) (*dagSearch, error) {
	s := &dagSearch{Run: &engine.Run{Ctx: context.Background()}, d: d, g: g, off: off | devStart, plan: plan}
	s.upper = dagplay.NewReplay(g).Run(plan, nil)
	for {
		was := s.upper
		if err := s.kernel(); err != nil || s.closed() || s.upper > was/2 {
			return s, err
		}
	}
}

// multiply makes a machine's costs multiples of a number of its own.
func multiply(rng *rand.Rand, d *model.DAG) {
	for a := range d.Machines {
		times := float64(1 + rng.IntN(4))
		for _, t := range d.Tasks {
			if t.CostS != nil {
				t.CostS[a] = times * math.Ceil(min(t.CostS[a], 100))
			}
		}
	}
}

// Alike is for the tests outside the package.
var Alike = alike

// alike makes the machines identical, and data take no time.
func alike(rng *rand.Rand, d *model.DAG) {
	for a := range d.Machines {
		d.Machines[a].StartupS, d.Machines[a].Speed = 0, 0
	}
	for i := range d.Tasks {
		d.Tasks[i].Work = nil
		d.Tasks[i].CostS = slices.Repeat([]float64{float64(max(0, rng.IntN(12)-2))}, len(d.Machines))
	}
	for i := range d.Edges {
		d.Edges[i].Data = 0
	}
}

// Random instances are solved from poor plans, without bounds before, with each device off, all, and none; the results
// are compared with the plain engine's.
func TestDAGRules(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	compared := 0
	for k := range need.Rounds(300) {
		d := testkit.RandomDAG(rng, 2+rng.IntN(6), 1+rng.IntN(4))
		switch k % 3 {
		case 1:
			multiply(rng, d)
		case 2:
			alike(rng, d)
		}
		if err := d.Validate(); err != nil {
			t.Fatal(d.Name, err)
		}
		g := view.OfDAG(d)
		want, _ := plain.Optimum(d)
		for off := deviceSet(0); off <= endOfDevices; off = max(1, 2*off) {
			if off == endOfDevices {
				off--
			}
			s, err := searchFrom(d, g, poorPlan(rng, g), off)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if s.upper < want*(1-1e-12) || model.Gap(s.upper, want) > 1e-6 || s.lower > want*(1+1e-12) || model.Gap(want, s.lower) > 1e-6 {
				t.Fatalf("instance %d (%s), without the devices %b: found %v, proved %v, the optimum is %v", k, d.Name, off, s.upper, s.lower, want)
			}
			if off == allDevices {
				break
			}
		}
	}
	t.Log(compared, "comparisons")
}

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
		with, err := Search.Solve(t.Context(), d, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := Search.Off(devWholeLoads).Solve(t.Context(), d, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
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
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
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
