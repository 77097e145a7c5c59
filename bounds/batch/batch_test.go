// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func all(t testing.TB, in *model.Batch) []bounds.Bound {
	t.Helper()
	return require.Value(batchbounds.All(context.Background(), in))(t)
}

func best(list []bounds.Bound) float64 {
	x := 0.0
	for _, b := range list {
		x = max(x, b.Value)
	}
	return x
}

// permute calls f with all orders of n jobs.
func permute(n int, f func(order []int)) {
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	var at func(i int)
	at = func(i int) {
		if i == n {
			f(order)
		}
		for k := i; k < n; k++ {
			order[i], order[k] = order[k], order[i]
			at(i + 1)
			order[i], order[k] = order[k], order[i]
		}
	}
	at(0)
}

// No bound of means or of the largest slowdown is above the least over all orders,
// and many reach it.
func TestBoundsOneTier(t *testing.T) {
	t.Parallel()
	rounds, reached := require.Rounds(2000), [3]int{}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := testkit.RandomBatch(rng, 1, 6, 1+rng.IntN(5))
		ticks, units := view.OfBatch(in), batchbounds.UnitsOf(view.OfBatch(in))
		least := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
		permute(len(in.Jobs), func(order []int) {
			starts := batchbounds.Serial(ticks, order)
			slowdowns, largest := 0.0, 0.0
			for k, s := range starts {
				j := &ticks.Jobs[k]
				x := max(1, float64(s+j.Length-j.Submit)/max(10e6, float64(j.Length)))
				slowdowns += x
				largest = max(largest, x)
			}
			n := float64(len(order))
			least = [3]float64{min(least[0], units.Mean(ticks, units.Sum(ticks, starts))), min(least[1], slowdowns/n), min(least[2], largest)}
		})
		for i, got := range []float64{best(all(t, in)), batchbounds.Slowdown(context.Background(), ticks, 30, 5).Value, batchbounds.MostSlowdown(context.Background(), ticks).Value} {
			if got > least[i]*(1+[]float64{0, 1e-12, 1e-12}[i]) {
				t.Fatalf("seed %d: bound %d is %v, the least is %v: %+v", seed, i, got, least[i], in)
			}
			if got > least[i]*(1-1e-5) {
				reached[i]++
			}
		}
	}
	for i, n := range reached {
		if n < rounds/2 {
			t.Errorf("bound %d is the least in %d of %d instances", i, n, rounds)
		}
	}
}

// Jobs wider than half the machine can't run side by side, though by their areas they could.
func TestWidths(t *testing.T) {
	in := &model.Batch{Name: "wide", Processors: 10, Tiers: 1}
	for _, id := range []string{"a", "b", "c", "d"} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: id, RuntimeS: 100, Processes: 6})
	}
	list := batchbounds.Quick(t.Context(), in)
	if srpt, squashed := list[1].Value, list[3].Value; srpt > 200 || math.Abs(squashed-250) > 1e-9 {
		t.Errorf("srpt %v, squashed %v, want at most 200 and 250", srpt, squashed)
	}
}

// The heavy one of a long and a short job on one processor goes first, and the bounds by mean busy times and by prices
// are the optimum. The order of srpt isn't the best, so it is left out.
func TestWeights(t *testing.T) {
	for _, weight := range []int{1, 2, 10} {
		in := &model.Batch{Name: "two", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{
			{ID: "long", RuntimeS: 30, Processes: 1, Weight: 3 * weight}, {ID: "short", RuntimeS: 20, Processes: 1, Weight: 1}}}
		optimum := float64(3*weight*30+50) / float64(3*weight+1)
		list := all(t, in)
		for _, b := range list {
			if b.Name == "srpt" || b.Value > optimum || b.Name != "runtime" && b.Value < 0.99*optimum {
				t.Errorf("weight %d: %s is %v, the optimum %v", weight, b.Name, b.Value, optimum)
			}
		}
		in.Jobs[1].Weight = 3 * weight // equal ones are none
		weighted := all(t, in)
		in.Jobs[0].Weight, in.Jobs[1].Weight = 0, 0
		plain := all(t, in)
		for i := range plain { // with their evidence
			if x := weighted[i]; math.Abs(x.Value-plain[i].Value) > 1e-12*x.Value || !reflect.DeepEqual(x.Evidence, plain[i].Evidence) {
				t.Errorf("all of weight %d: %v, of weight 1: %v", 3*weight, weighted, plain)
			}
		}
	}
}

// Two jobs of 100 s on one processor of two tiers. If both take all of it, or if nothing is lost in the background, the
// bound is the optimum.
func TestTwoTiers(t *testing.T) {
	for _, x := range []struct{ use, efficiency, least, optimum float64 }{
		{0.5, 1, 100, 100},   // both at full speed
		{1, 1, 150, 150},     // one after the other
		{1, 0, 150, 150},     // as there is no background
		{0.5, 0, 150, 150},   // the same
		{0.5, 0.5, 115, 125}, // the second does half its work in the background
		{0.75, 0.9, 120, 135},
	} {
		in := &model.Batch{Name: "shared", Processors: 1, Tiers: 2}
		for _, id := range []string{"a", "b"} {
			in.Jobs = append(in.Jobs, model.BatchJob{ID: id, RuntimeS: 100, Processes: 1, CPU: []float64{x.use}, BgEfficiency: x.efficiency})
		}
		if got := best(all(t, in)); got > x.optimum || got < x.least-1e-6 {
			t.Errorf("use %v, efficiency %v: %v, want %v to %v", x.use, x.efficiency, got, x.least, x.optimum)
		}
	}
}

// BenchmarkQuick bounds 200,000 jobs of the model F96-R on 320 processors.
func BenchmarkQuick(b *testing.B) {
	for _, tiers := range []int{1, 2} {
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Tiers, spec.Load, spec.Estimates = 200_000, tiers, 0.9, "exact"
		in := require.Value(spec.Generate())(b)
		b.Run([]string{"one tier", "two tiers"}[tiers-1], func(b *testing.B) {
			for range b.N {
				b.ReportMetric(best(batchbounds.Quick(b.Context(), in)), "s/bound")
			}
		})
	}
}
