// SPDX-License-Identifier: MIT

package view_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// twoMachines has the given costs on two machines, and an edge with the given
// data from the first task to each other.
func twoMachines(costs [][]float64, data float64) *model.DAG {
	d := &model.DAG{Machines: []model.Machine{{ID: "a"}, {ID: "b"}}, Network: model.Network{Bandwidth: 1}}
	for t, c := range costs {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: c})
		if t > 0 {
			d.Edges = append(d.Edges, model.DAGEdge{From: "0", To: fmt.Sprint(t), Data: data})
		}
	}
	return d
}

func TestGraphUnit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		costs [][]float64
		data  float64
		want  float64
		exact bool // sums of ten times
	}{
		"whole":           {[][]float64{{4, 6}, {10, 8}}, 2, 2, true},
		"data count, too": {[][]float64{{4, 6}, {10, 8}}, 3, 1, true},
		"halves":          {[][]float64{{1.5, 2.5}, {3, 4}}, 0.5, 0.5, true},
		"tenths":          {[][]float64{{0.1, 0.2}, {3, 4}}, 1, 0, false},
		"zeros":           {[][]float64{{0, 0}, {0, 0}}, 0, 0, false},
		"huge":            {[][]float64{{1e20, 0}, {0, 0}}, 0, 0, false},
		"large":           {[][]float64{{1 << 40, 3 << 40}, {0, 0}}, 0, 1 << 40, true},
		"far apart":       {[][]float64{{1 << 40, 1. / (1 << 20)}, {0, 0}}, 0, 1. / (1 << 20), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := view.OfDAG(twoMachines(c.costs, c.data))
			require.Same(t, "unit", c.want, g.Unit())
			require.Same(t, "exact sums", c.exact, g.ExactSums(10))
		})
	}
}

func TestGraphTicks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		costs   [][]float64
		data    float64
		horizon float64
		want    view.DAGTicks
	}{
		"whole": {[][]float64{{4, 6}, {10, 8}}, 2, 30, view.DAGTicks{Unit: 2, Whole: true, Cost: []int32{2, 3, 5, 4}, Comm: []int32{1}}},
		"a time above the horizon doesn't count": {[][]float64{{4, 6}, {10, 31}}, 2, 30,
			view.DAGTicks{Unit: 2, Whole: true, Cost: []int32{2, 3, 5, view.BeyondTicks}, Comm: []int32{1}}},
		"a unit that is no power of two": {[][]float64{{1000003, 2000006}, {0, 0}}, 0, 1e9,
			view.DAGTicks{Unit: 1000003, Whole: true, Cost: []int32{1, 2, 0, 0}, Comm: []int32{0}}},
		"rounded down": {[][]float64{{1, 3}, {2.5, 3.5}}, 1, 3 << 27, view.DAGTicks{Unit: 4, Cost: []int32{0, 0, 0, 0}, Comm: []int32{0}}},
		"no horizon":   {[][]float64{{0, 0}}, 0, 0, view.DAGTicks{Unit: math.Ldexp(1, -1023), Whole: true, Cost: []int32{0, 0}, Comm: []int32{}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, "horizon", &c.want, view.OfDAG(twoMachines(c.costs, c.data)).Ticks(c.horizon))
		})
	}
}

// Ticks are never above the times, by less than a unit below them, and equal to them where they are marked whole; sums
// marked exact are.
func TestGraphTicksRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	wholes, sums := 0, 0
	for k := range 2000 {
		scale := []float64{1, 0.25, 7, 1e6 + 3, 0.1}[k%5]
		figure := func() float64 { return scale * float64(rng.IntN(1000)) }
		d := twoMachines([][]float64{{figure(), figure()}, {figure(), figure()}, {figure(), figure()}}, figure())
		if k%2 == 0 {
			d.Network.PathCapacity = [][]float64{{0, 1}, {float64(1 + rng.IntN(2)), 0}}
		}
		g := view.OfDAG(d)
		horizon := scale * 1000 * (1 + 3*rng.Float64())
		v := g.Ticks(horizon)
		check := func(tick int32, x float64) {
			at := float64(tick) * v.Unit
			if tick > view.MaxTicks && tick != view.BeyondTicks || tick != view.BeyondTicks && (at > x || x-at >= v.Unit || v.Whole && at != x) || tick == view.BeyondTicks && x <= horizon {
				t.Fatalf("instance %d: %v s is %d ticks of %v s, whole: %v", k, x, tick, v.Unit, v.Whole)
			}
		}
		for i, x := range g.Cost {
			check(v.Cost[i], x)
		}
		for e := range int32(len(g.Data)) {
			if g.Uniform {
				check(v.Comm[e], g.Comm(e, 0, 1))
				continue
			}
			check(v.Comm[e*4+1], g.Comm(e, 0, 1))
			check(v.Comm[e*4+2], g.Comm(e, 1, 0))
		}
		if v.Whole {
			wholes++
		}
		if g.ExactSums(50) {
			sums++
			sum, want := 0.0, new(big.Rat)
			for range 50 {
				x := g.Cost[rng.IntN(len(g.Cost))]
				sum += x
				want.Add(want, new(big.Rat).SetFloat64(x))
			}
			require.Is(t, 0, want.Cmp(new(big.Rat).SetFloat64(sum)), "instance", k, "a sum of 50 times is rounded to",
				sum)
		}
	}
	if wholes < 1000 || sums < 1000 || sums == 2000 {
		t.Errorf("%d of 2000 instances are whole, %d have exact sums: the test has lost its teeth", wholes, sums)
	}
}
