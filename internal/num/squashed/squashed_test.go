// SPDX-License-Identifier: MIT

package squashed

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// best returns the least sum of Weight·(end - release)/Per over schedules that decide
// which jobs work at each tick, by trying all sets of jobs.
func best(jobs []Job, slots int) float64 {
	type state struct {
		now  int64
		left [4]int64
	}
	known := map[state]float64{}
	var solve func(s state) float64
	solve = func(s state) float64 {
		released, waiting := 0, false
		for k, j := range jobs {
			if s.left[k] > 0 && j.Release <= s.now {
				released |= 1 << k
			}
			waiting = waiting || s.left[k] > 0
		}
		if !waiting {
			return 0
		}
		if x, ok := known[s]; ok {
			return x
		}
		least := math.Inf(1)
		for set := range 1 << len(jobs) {
			if set&^released != 0 || set == 0 && released != 0 {
				continue
			}
			next, sum, used := state{s.now + 1, s.left}, 0.0, 0
			for k, j := range jobs {
				if set>>k&1 == 0 {
					continue
				}
				used += j.Slots
				if next.left[k]--; next.left[k] == 0 {
					sum += float64(next.now-j.Release) * float64(j.Weight) / float64(j.Per)
				}
			}
			if used <= slots {
				least = min(least, sum+solve(next))
			}
		}
		known[s] = least
		return least
	}
	s := state{}
	for k, j := range jobs {
		s.left[k] = j.Duration
	}
	return solve(s)
}

func random(rng *rand.Rand, slots int, weighted bool) []Job {
	jobs := make([]Job, 1+rng.IntN(4))
	for k := range jobs {
		jobs[k] = Job{Release: rng.Int64N(6), Duration: 1 + rng.Int64N(4), Slots: 1 + rng.IntN(slots), Per: 1, Weight: 1}
		if weighted {
			jobs[k].Per = max(2, jobs[k].Duration)
			jobs[k].Weight = []int64{1, 1, 2, 3, 1 << 20}[rng.IntN(5)]
		}
	}
	return jobs
}

// No bound is above the optimum. On one slot SRPT is the optimum, and for jobs
// released together the bound by mean busy times is.
func TestOptimum(t *testing.T) {
	t.Parallel()
	met := map[string]int{}
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		slots := 1 + rng.IntN(4)
		jobs := random(rng, slots, seed%2 == 1)
		together := rng.IntN(4) == 0
		for k := range jobs {
			if together {
				jobs[k].Release = 5
			}
		}
		optimum, b := best(jobs, slots), Of(jobs, slots)
		for name, x := range map[string]float64{"runtime": b.Runtime, "SRPT": b.SRPT, "mean busy": b.MeanBusy, "best": b.Best} {
			if !(x >= 0 && x < optimum) { // below it, by rounding
				t.Fatalf("%s: %v of %+v on %d slots, the optimum is %v", name, x, jobs, slots, optimum)
			}
			if x > optimum*(1-1e-9) {
				met[name]++
			}
		}
		if m := max(b.Runtime, b.SRPT, b.MeanBusy); b.Best < m*(1-1e-9) {
			t.Fatalf("best is %v, one is %v", b.Best, m)
		}
		if slots == 1 && seed%2 == 0 && b.SRPT < optimum*(1-1e-9) {
			t.Fatalf("SRPT %v on one slot, the optimum of %+v is %v", b.SRPT, jobs, optimum)
		}
		if slots == 1 && together && b.MeanBusy < optimum*(1-1e-9) {
			t.Fatalf("mean busy time %v on one slot, the optimum of %+v is %v", b.MeanBusy, jobs, optimum)
		}
	}
	if t.Logf("meets the optimum of 4000: %v", met); met["runtime"] < 500 || met["mean busy"] < 300 {
		t.Errorf("bounds meet the optimum only %v times", met)
	}
}

// A sum by hand: 4 slots, releases 0, 0 and 1. The machine takes 4, 2 and 1 ticks.
// SRPT ends the second job at 2, the third at 3, the first at 7. By density (all
// weights alike) the order is the same; mean instants are 5, (0.5+2.5)/2 = 1.5 ...
func TestByHand(t *testing.T) {
	jobs := []Job{{0, 8, 2, 1, 1}, {0, 2, 4, 1, 1}, {1, 1, 4, 1, 1}}
	b := Of(jobs, 4)
	// SRPT: at 1 the second and the third have 1 tick left each, and it goes on with
	// the second, which ends at 2; the third at 3, the first at 7. For the first 8 is
	// more than 7: without it 8 + 2 + 2 = 12.
	// By density the third goes first at 1: means 5, (0.5 + 2.5)/2, 1.5, less the
	// releases 5 + 1.5 + 0.5, and half of the durations, 4 + 1 + 0.5. 12.5.
	for name, x := range map[string][2]float64{"runtime": {b.Runtime, 11}, "SRPT": {b.SRPT, 12}, "mean busy": {b.MeanBusy, 12.5}, "best": {b.Best, 12.5}} {
		if !(x[0] < x[1] && x[0] > x[1]-1e-9) {
			t.Errorf("%s: %v, want %v", name, x[0], x[1])
		}
	}
	// Two busy periods: each takes the bound that is better for it.
	far := append(jobs, Job{100, 3, 4, 1, 1}, Job{100, 1, 4, 1, 1})
	if b := Of(far, 4); math.Abs(b.Best-17.5) > 1e-9 || math.Abs(b.SRPT-17) > 1e-9 {
		t.Errorf("%+v, want 17.5 for the best and 17 for SRPT", b)
	}
}

// Times that don't fit an int64 when multiplied with slots are rounded down: the bounds are nearly the bounds of small
// times.
func TestLarge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 4))
		slots := 1 + rng.IntN(5)
		var jobs, large []Job
		const ticks, times = int64(1) << 46, 200_000
		for range 1 + rng.IntN(40) {
			j := Job{Release: rng.Int64N(100), Duration: 1 + rng.Int64N(10), Slots: 1 + rng.IntN(slots), Per: 1, Weight: 1}
			if seed%2 == 1 {
				j.Per = j.Duration
				j.Weight = 1 + rng.Int64N(1<<20)
			}
			jobs = append(jobs, j)
			large = append(large, Job{j.Release * ticks, j.Duration * ticks, j.Slots * times, j.Per, j.Weight})
		}
		small, b := Of(jobs, slots), Of(large, slots*times)
		for name, x := range map[string][2]float64{"runtime": {small.Runtime, b.Runtime}, "SRPT": {small.SRPT, b.SRPT}, "mean busy": {small.MeanBusy, b.MeanBusy}, "best": {small.Best, b.Best}} {
			if got := x[1] / float64(ticks); !(got <= x[0]*(1+1e-12) && got >= x[0]*(1-1e-9)) {
				t.Fatalf("seed %d: %s %v, of small times %v", seed, name, got, x[0])
			}
		}
	}
	require.Same(t, "bounds of no jobs", Bounds{}, Of(nil, 3))
}

// A unit so coarse that nearly everything is rounded makes no bound too large.
func TestCoarse(t *testing.T) {
	t.Parallel()
	positive := 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		slots := 1 + rng.IntN(4)
		jobs := random(rng, slots, seed%2 == 1)
		length := 0.0
		for k := range jobs {
			jobs[k].Release = min(jobs[k].Release, int64(k))
			length += float64(jobs[k].Duration)
		}
		slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Release, b.Release) })
		b := new(machine).ofPeriod(jobs, slots, length+10, 4+float64(rng.IntN(20)))
		optimum := best(jobs, slots)
		if b.SRPT > optimum || b.MeanBusy > optimum || b.Runtime > optimum {
			t.Fatalf("%+v for %+v on %d slots, the optimum is %v", b, jobs, slots, optimum)
		}
		if b.SRPT > 0 {
			positive++
		}
	}
	if positive < 500 {
		t.Errorf("only %d of 4000 bounds say anything", positive)
	}
}
