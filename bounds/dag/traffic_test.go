// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// trafficOf returns the bound with the weights of area.
func trafficOf(ctx context.Context, g *view.Graph) (float64, *traffic) {
	x := newDAGPaths(ctx, g)
	x.area()
	return trafficBound(ctx, g, x.busy, x.weights)
}

// wide draws tasks that wait for up to two others each, with data that take long, on up to four machines of different
// costs.
func wide(rng *rand.Rand, tasks int) *model.DAG {
	var costs [][]float64
	var edges [][3]float64
	seen := map[[2]int]bool{}
	m := 2 + rng.IntN(3)
	for t := range tasks {
		costs = append(costs, nil)
		for range m {
			costs[t] = append(costs[t], float64(1+rng.IntN(20)))
		}
		for range min(t, rng.IntN(3)) {
			if e := [2]int{1 + rng.IntN(t), t + 1}; !seen[e] {
				seen[e] = true
				edges = append(edges, [3]float64{float64(e[0]), float64(e[1]), float64(rng.IntN(20))})
			}
		}
	}
	d := testkit.DAG(costs, edges)
	d.Network.Bandwidth = 1
	testkit.LinkInto(d)
	return d
}

// No plan, played under contention, ends before the bound, with few tasks or many; for many, it is often the strongest
// bound.
func TestTrafficAgainstPlans(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(30, 21))
	met, strongest, none := 0, 0, 0
	rounds := require.Rounds(4000)
	for k := range rounds {
		d := testkit.StarDAG(rng, 6, 3)
		switch {
		case k%4 == 0:
			d = testkit.ContendedDAG(rng, 6, 3)
		case k%16 == 1:
			d = wide(rng, 40)
		}
		if k%3 == 0 {
			testkit.Late(rng, d)
		}
		require.OK(t, d.Validate())
		g := view.OfDAG(d)
		bound, x := trafficOf(t.Context(), g)
		if x == nil {
			none++
			continue
		}
		replay, best := dagplay.NewReplay(g), math.Inf(1)
		for range 200 {
			best = min(best, replay.Run(testkit.RandomPlan(rng, g, true), nil))
		}
		at := make([]int, g.Tasks)
		for i, task := range g.Order {
			at[task] = i
		}
		for a := range int32(g.Machines) { // all on one machine
			best = min(best, replay.Run(dagplay.NewPlan(g, slices.Repeat([]int32{a}, g.Tasks), at, at), nil))
		}
		if best < bound*(1-1e-12) {
			t.Fatalf("a plan ends at %v, the bound is %v: %+v", best, bound, d)
		}
		if best <= bound*(1+1e-9) {
			met++
		}
		all := QuickOf(t.Context(), d)
		for i, b := range all {
			if b.Name != "traffic" && b.Value >= bound {
				break
			}
			if i == len(all)-1 {
				strongest++
			}
		}
	}
	t.Log(rounds, none, met, strongest)
	if met == 0 || strongest < rounds/100 || none > rounds/2 {
		t.Errorf("of %d %d have no link, %d bounds are met, %d the strongest", rounds, none, met, strongest)
	}
}

// relaxed returns the optimum of the relaxation with the best weights, by a linear program; traffic is its dual.
func relaxed(t *testing.T, g *view.Graph) float64 {
	x := &traffic{g: g, both: make([]bool, len(g.Links))}
	if x.in, x.out = machineLinks(g); x.in == nil {
		return math.NaN()
	}
	n, m := g.Tasks, g.Machines
	p := &milp.Model{}
	end := p.AddVar(milp.Var{Cost: 1, Upper: milp.Inf})
	use := make([][]milp.Term, m+len(g.Links))
	on := make([]int, n*m)
	for task := range n {
		var one []milp.Term
		for a := range m {
			k := task*m + a
			on[k] = p.AddVar(milp.Var{Upper: 1})
			one = append(one, milp.Term{Var: on[k], Coef: 1})
			use[a] = append(use[a], milp.Term{Var: on[k], Coef: g.Cost[k]})
		}
		p.AddRow("", 1, 1, one...)
	}
	bus := slices.Equal(x.in, x.out) && slices.Max(x.in) == slices.Min(x.in)
	in, out := shared(g, x.in), shared(g, x.out)
	for e, d := range g.Data {
		for a := range m {
			comes, leaves := p.AddVar(milp.Var{Upper: 1}), p.AddVar(milp.Var{Upper: 1})
			p.AddRow("", 0, 0, milp.Term{Var: on[int(g.To[e])*m+a], Coef: 1}, milp.Term{Var: on[int(g.From[e])*m+a], Coef: -1}, milp.Term{Var: comes, Coef: -1}, milp.Term{Var: leaves, Coef: 1})
			if l := x.in[a]; l >= 0 {
				use[m+int(l)] = append(use[m+int(l)], milp.Term{Var: comes, Coef: d / in[a]})
			}
			if l := x.out[a]; l >= 0 && !bus {
				use[m+int(l)] = append(use[m+int(l)], milp.Term{Var: leaves, Coef: d / out[a]})
			}
		}
	}
	for _, terms := range use {
		p.AddRow("", -milp.Inf, 0, append(terms, milp.Term{Var: end, Coef: -1})...)
	}
	return require.Value(highs.Solve(t.Context(), p, milp.Options{Relax: true}))(t).Objective
}

// The bound is at most the relaxation's optimum, and mostly not far below: its weights come from speeds and capacities.
func TestTrafficAgainstProgram(t *testing.T) {
	t.Parallel()
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(30, 22))
	ratio, count := 0.0, 0
	for range require.Rounds(150) {
		d := testkit.StarDAG(rng, 30, 4)
		if rng.IntN(3) == 0 {
			d = wide(rng, 40)
		}
		g := view.OfDAG(d)
		bound, x := trafficOf(t.Context(), g)
		want := relaxed(t, g)
		if x == nil || want == 0 {
			continue
		}
		if bound > want*(1+1e-6) {
			t.Fatalf("%v, the relaxation has %v: %+v", bound, want, g)
		}
		ratio, count = ratio+bound/want, count+1
	}
	if t.Log(count, ratio/float64(count)); ratio < 0.85*float64(count) {
		t.Errorf("%v of the relaxation in the mean of %d", ratio/float64(count), count)
	}
}

// Two tasks are cheap on different machines. Without data each machine has a second to do. With much of them the tasks stay
// together: half of each is on either machine, for 5 s. The share of the links is off by 0.02 at most.
func TestTrafficByHand(t *testing.T) {
	t.Parallel()
	for data, want := range map[float64]float64{0: 1, 1000: 5} {
		d := testkit.DAG([][]float64{{1, 9}, {9, 1}}, [][3]float64{{1, 2, data}})
		testkit.LinkInto(d)
		g := view.OfDAG(d)
		if got, _ := trafficOf(t.Context(), g); got > want || got < 0.98*want {
			t.Errorf("data of %v: %v, want %v", data, got, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, _ := trafficOf(ctx, g); !math.IsNaN(got) {
			t.Errorf("%v after the end", got)
		}
		if got, _ := trafficOf(t.Context(), view.OfDAG(d.WithoutContention())); !math.IsNaN(got) {
			t.Errorf("%v without contention", got)
		}
	}
}

func BenchmarkTraffic(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		g := view.OfDAG(wide(rand.New(rand.NewPCG(30, 23)), n))
		ones := slices.Repeat([]float64{1}, g.Machines)
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			for b.Loop() {
				trafficBound(b.Context(), g, g.Cost, ones)
			}
		})
	}
}
