// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// leastCosts returns the least sums over the orders of all jobs of weighted responses and of
// responses, in ticks, and of bounded slowdowns.
func leastCosts(t *view.Batch) (responses, plain, slowdowns float64) {
	responses, plain, slowdowns = math.Inf(1), math.Inf(1), math.Inf(1)
	order := make([]int, len(t.Jobs))
	for k := range order {
		order[k] = k
	}
	var at func(i int)
	at = func(i int) {
		if i == len(order) {
			sum, all, x := 0.0, 0.0, 0.0
			for k, s := range Serial(t, order) {
				j := &t.Jobs[k]
				sum += float64(s+j.Length-j.Submit) * float64(j.Weight)
				all += float64(s + j.Length - j.Submit)
				x += max(1, float64(s+j.Length-j.Submit)/float64(max(slowdownFloor, j.Length)))
			}
			responses, plain, slowdowns = min(responses, sum), min(plain, all), min(slowdowns, x)
		}
		for k := i; k < len(order); k++ {
			order[i], order[k] = order[k], order[i]
			at(i + 1)
			order[i], order[k] = order[k], order[i]
		}
	}
	at(0)
	return responses, plain, slowdowns
}

// Whatever the prices are, of one class or of more, the bound is below the optimum. The dual solution of the mean busy
// times gives as much as these, up to the grid, and steps from there give more; classes give more than the processors
// alone.
func TestPrices(t *testing.T) {
	t.Parallel()
	rounds := max(100, require.Rounds(300))
	better, more, worse, classes := 0, 0, 0, 0
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := testkit.RandomBatch(rng, 1, 6, 1+rng.IntN(5))
		ticks := view.OfBatch(in)
		responses, plain, _ := leastCosts(ticks)
		for _, weighted := range []bool{true, false} {
			want := responses / float64(UnitsOf(ticks).Weight)
			r := newJobs(ticks)
			if !weighted {
				want = plain
				for k := range r.jobs {
					r.jobs[k].Weight = 1
				}
			}
			p, first := r.ascend(t.Context(), ticks, 0)
			busy := machinesOf(ticks, 1)[0].sums(r)
			if busy.MeanBusy > busy.Runtime*1.1 && first < busy.MeanBusy*0.98 { // that leaves jobs out, too
				worse++
			}
			last := p.climb(t.Context(), 100)
			if !p.split(math.MaxInt) {
				t.Fatal("a machine of 6 is too large")
			}
			packed := p.deflect(t.Context(), want*1.001, 60)
			if max(first, last, packed) > want || last < first {
				t.Fatalf("seed %d: %v, after 100 steps %v, by classes %v, the least is %v: %+v", seed, first, last, packed, want, in)
			}
			for range 5 {
				for x := range p.classes {
					f := &p.classes[x]
					for c := range f.price {
						f.price[c] *= 2 * rng.Float64()
						if rng.IntN(8) == 0 && f.ready[c] {
							f.price[c] = rng.ExpFloat64() * want / float64(p.grid[len(p.grid)-1]) / float64(p.capacity)
						}
					}
				}
				if x := p.bound(); x > want {
					t.Fatalf("seed %d: prices give %v, the least is %v: %+v", seed, x, want, in)
				}
			}
			if last > busy.Best*1.01 {
				better++
			}
			if last > first*1.01 {
				more++
			}
			if packed > last*1.01 {
				classes++
			}
		}
	}
	t.Logf("of %d prices are better in %d, the first in %d worse, steps in %d better, classes in %d", 2*rounds, better, worse, more, classes)
	if better < rounds/3 || more < rounds/3 || worse > rounds/10 || classes < rounds/4 {
		t.Errorf("of %d prices are better in %d, the first in %d worse, steps in %d better, classes in %d", 2*rounds, better, worse, more, classes)
	}
}

// Two jobs of 10 s on one processor. If λ = (20 - t)/10, each start up to 10 s costs and pays 25, and 20 are paid for:
// the optimum, 30. Without prices the bound is 20.
func TestPricesByHand(t *testing.T) {
	in := &model.Batch{Name: "two", Processors: 1, Tiers: 1}
	for _, id := range []string{"a", "b"} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: id, RuntimeS: 10, Processes: 1})
	}
	ticks := view.OfBatch(in)
	all := newJobs(ticks).jobs
	for k := range all {
		all[k].Slots = 1
	}
	p := newPrices(all, 1, leastCells)
	if x := p.bound() / 1e6; math.Abs(x-20) > 1e-6 {
		t.Errorf("without prices: %v, want 20", x)
	}
	price := p.classes[0].price
	for c := range price {
		price[c] = max(0, 20-float64(p.grid[c]+p.grid[c+1])/2e6) / 10
	}
	by := p.bound() / 1e6
	clear(price)
	p.dual()
	if x := p.bound() / 1e6; math.Abs(x-by) > 1e-6 || math.Abs(x-30) > 0.2 {
		t.Errorf("by hand %v, dual %v, want 30", by, x)
	}
}

// The test takes the largest and smallest numbers that instances may have: late and distant submissions, jobs as wide
// as the machine, long ones, a microsecond, a million processors. It also takes ties, killed jobs, the largest weights,
// and sums of responses beyond int64.
func TestExtremes(t *testing.T) {
	t.Parallel()
	submits := []float64{0, 0, 1e-6, 1, 1e9 - 1, 1e9}
	runtimes := []float64{1e-6, 1, 9.999999, 10, 1e5, 1e8}
	for seed := range uint64(max(100, require.Rounds(400))) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := &model.Batch{Name: "extreme", Processors: []int{1, 2, 7, 1_000_000}[rng.IntN(4)], Tiers: 1, KillAtEstimate: rng.IntN(2) == 0}
		last := 0
		for k := range 1 + rng.IntN(5) {
			last = min(len(submits)-1, last+rng.IntN(3))
			in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: submits[last], RuntimeS: runtimes[rng.IntN(len(runtimes))],
				EstimateS: []float64{0, 1e-6, 5, 1e9}[rng.IntN(4)], Processes: []int{1, in.Processors, (in.Processors + 1) / 2, in.Processors/2 + 1}[rng.IntN(4)]})
			if j := &in.Jobs[k]; j.Processes > in.Processors {
				j.Processes = in.Processors
			}
			if seed%2 == 1 {
				in.Jobs[k].Weight = []int{1, 2, 999_983, model.MostWeight}[rng.IntN(4)]
			}
		}
		all := require.Value(All(context.Background(), in))(t)
		ticks := view.OfBatch(in)
		responses, _, slowdowns := leastCosts(ticks)
		n, weights := float64(len(in.Jobs)), 0.0
		for k := range in.Jobs {
			weights += float64(in.Jobs[k].EffectiveWeight())
		}
		// Sums of responses beyond 2^53 are rounded, here and in objectives.
		least := responses / 1e6 / weights
		for _, b := range all {
			if !(b.Value >= 0 && b.Value <= least) {
				t.Fatalf("seed %d: %+v, the least is %v: %+v", seed, b, least, in)
			}
		}
		if x := Slowdown(context.Background(), ticks, 24, 20).Value; !(x >= 1 && x <= slowdowns/n) {
			t.Fatalf("seed %d: slowdown %v, the least is %v: %+v", seed, x, slowdowns/n, in)
		}
	}
	many := &model.Batch{Name: "many", Processors: 1, Tiers: 1}
	for k := range 20_000 { // one after the other for 10^5 s each: the k-th has a response of k times that
		many.Jobs = append(many.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1e5, Processes: 1})
	}
	for _, b := range Quick(t.Context(), many)[1:] {
		if want := 1e5 * 20_001 / 2; !(b.Value <= want && b.Value > 0.99*want) {
			t.Errorf("%s of a sum beyond int64: %v, the optimum is %v", b.Name, b.Value, want)
		}
	}
}
