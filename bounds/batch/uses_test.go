// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// No two processes on a processor take more of it than there is, whatever their jobs' uses, losses and efficiencies,
// and some take nearly all.
func TestUses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	some := func(x ...int64) int64 { return x[rng.IntN(len(x))] }
	share := func() int64 { return 1 + rng.Int64N(view.FullRate) }
	most := make([]float64, 11)
	for range 200_000 {
		job := func() view.BatchJob {
			return view.BatchJob{Processes: 1, Use: []int64{some(view.FullRate, share(), share())},
				Foreground: some(view.FullRate, 9600, share()), Efficiency: some(0, view.FullRate, 4800, share()) * some(0, 1, 1, 1)}
		}
		x, y := job(), job()
		for i := range most {
			taken := func(j *view.BatchJob, rate int64) float64 {
				return float64(demandOf(j, float64(i)/10)) / parts * float64(rate) / float64(max(j.Foreground, j.Efficiency))
			}
			sum := taken(&x, x.Foreground) + taken(&y, y.BackgroundRate(y.Use[0], view.FullRate-x.Use[0]))
			if most[i] = max(most[i], sum); sum > 1 {
				t.Fatalf("α = %d/10: %+v and, in the background, %+v take %v of a processor", i, x, y, sum)
			}
		}
	}
	for i, x := range most {
		if x < 0.999 {
			t.Errorf("α = %d/10: at most %v of a processor is taken", i, x)
		}
	}
}

// The processes of a job may have different uses.
func TestDemandOf(t *testing.T) {
	j := &view.BatchJob{Processes: 2, Use: []int64{5000, 10000}, Foreground: 10000}
	for alpha, want := range map[float64]float64{0: 1.5, 0.4: 1.7} {
		if got := float64(demandOf(j, alpha)) / parts; !(got <= want && got > want-1e-5) {
			t.Errorf("without a background, α = %v: the demand is %v, want %v", alpha, got, want)
		}
	}
	j.Efficiency = 10000 // c g(u) ≤ (1-α) u: 0.5 for α = 0.4 and u = 0.5 is 0.7 c ≤ 0.3
	if got, want := float64(demandOf(j, 0.4))/parts, 1.7*0.3/0.7; !(got <= want && got > want-1e-5) {
		t.Errorf("with a background the demand is %v, want %v", got, want)
	}
}

// No bound is above the outcome of any schedule on two tiers, with jobs suspended and moved at will. Jobs have one or
// more processes, nearly as fast in the background as in the foreground or not at all, on one processor or some that
// stay idle.
func TestUsesSchedules(t *testing.T) {
	t.Parallel()
	near, rounds := 0, 300
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := &model.Batch{Name: "shared", Processors: 1 + rng.IntN(3), Tiers: 2}
		for k := range 1 + rng.IntN(4) {
			j := model.BatchJob{ID: string(rune('a' + k)), SubmitS: float64(k * rng.IntN(3)), RuntimeS: float64(1 + rng.IntN(20)), Processes: 1 + rng.IntN(in.Processors),
				CPU: []float64{[]float64{1, 0.5, 0.95, 0.4}[rng.IntN(4)]}, FgLoss: []float64{0, 0.04, 0.5}[rng.IntN(3)], BgEfficiency: []float64{0.92, 0.92, 0.8, 0.48, 1, 0}[rng.IntN(6)]}
			if k > 0 {
				j.SubmitS += in.Jobs[k-1].SubmitS
			}
			if seed%2 == 1 {
				j.Weight = 1 + rng.IntN(4)
			}
			in.Jobs = append(in.Jobs, j)
		}
		ticks := view.OfBatch(in)
		all := require.Value(All(context.Background(), in))(t)
		low, slowdown := 0.0, Slowdown(context.Background(), ticks, 30, 0).Value
		for _, b := range all {
			low = max(low, b.Value)
		}
		n, weights := float64(len(in.Jobs)), 0.0
		for k := range in.Jobs {
			weights += float64(in.Jobs[k].EffectiveWeight())
		}
		least := math.Inf(1)
		for range 150 {
			responses, slowdowns := 0.0, 0.0
			for k, end := range anySchedule(ticks, rng) {
				response := math.Ceil(end-1e-6) - float64(ticks.Jobs[k].Submit)
				responses += response / 1e6 * float64(ticks.Jobs[k].Weight) / weights
				slowdowns += max(1, response/float64(max(slowdownFloor, ticks.Jobs[k].Length))) / n
			}
			if least = min(least, responses); low > responses*(1+1e-12) || slowdown > slowdowns {
				t.Fatalf("seed %d: bounds %v and %v, a schedule has %v and %v: %+v", seed, low, slowdown, responses, slowdowns, in)
			}
		}
		if low > 0.95*least {
			near++
		}
	}
	if near < rounds/4 {
		t.Errorf("the bound is within 5 %% of the best of some schedules in %d of %d", near, rounds)
	}
}

// anySchedule returns the ends of the jobs if at each event, and now and then, any of
// them take tiers of any processors.
func anySchedule(t *view.Batch, rng *rand.Rand) []float64 {
	left, ends := make([]float64, len(t.Jobs)), make([]float64, len(t.Jobs))
	for k := range left {
		left[k] = float64(t.Jobs[k].Work())
	}
	now, done := float64(t.Jobs[0].Submit), 0
	switches := rng.IntN(2) == 0
	order := rng.Perm(len(t.Jobs)) // the priority of the jobs until something changes
	for done < len(left) {
		if switches {
			order = rng.Perm(len(t.Jobs))
		}
		// Tiers are taken in order: the foreground, and if that isn't free the background.
		used := make([][2]bool, t.Processors)
		use := make([]int64, t.Processors)
		places, tier := make([][]int, len(left)), make([]int, len(left))
		for _, k := range order {
			j := &t.Jobs[k]
			if left[k] == 0 || float64(j.Submit) > now {
				continue
			}
			for try := range 2 {
				var free []int
				for _, p := range rng.Perm(t.Processors) {
					if !used[p][try] && len(free) < j.Processes {
						free = append(free, p)
					}
				}
				if len(free) == j.Processes {
					for _, p := range free {
						if used[p][try] = true; try == 0 {
							use[p] = j.Use[0]
						}
					}
					places[k], tier[k] = free, try
					break
				}
			}
		}
		rate := make([]float64, len(left))
		until := math.Inf(1)
		for k := range left {
			j := &t.Jobs[k]
			if left[k] > 0 && float64(j.Submit) > now {
				until = min(until, float64(j.Submit))
			}
			if places[k] == nil {
				continue
			}
			slowest := j.Foreground
			if tier[k] == 1 {
				slowest = view.FullRate
				for _, p := range places[k] {
					slowest = min(slowest, j.BackgroundRate(j.Use[0], view.FullRate-use[p]))
				}
			}
			if rate[k] = float64(slowest); slowest > 0 {
				until = min(until, now+left[k]/rate[k])
			}
		}
		if switches && rng.IntN(2) == 0 {
			until = now + (until-now)*rng.Float64()
		}
		for k := range left {
			if rate[k] == 0 {
				continue
			}
			if left[k] -= rate[k] * (until - now); left[k] <= 1 { // rounding
				left[k], ends[k] = 0, until
				done++
			}
		}
		now = until
	}
	return ends
}
