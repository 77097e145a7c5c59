// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// leastResponses returns the least weighted sum of responses over schedules that decide at each
// tick which jobs work, by trying all sets that fit.
func leastResponses(jobs []squashedJob, capacity int64) int64 {
	type state struct {
		now  int64
		left [4]int64
	}
	known := map[state]int64{}
	var solve func(s state) int64
	solve = func(s state) int64 {
		released, waiting := 0, false
		for k, j := range jobs {
			if s.left[k] > 0 && j.release <= s.now {
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
		least := int64(math.MaxInt64)
		for set := range 1 << len(jobs) {
			if set&^released != 0 || set == 0 && released != 0 {
				continue
			}
			next, sum, used := state{s.now + 1, s.left}, int64(0), int64(0)
			for k, j := range jobs {
				if set>>k&1 == 1 {
					used += j.demand
					if next.left[k]--; next.left[k] == 0 {
						sum += (next.now - j.release) * j.weight
					}
				}
			}
			if used <= capacity {
				least = min(least, sum+solve(next))
			}
		}
		known[s] = least
		return least
	}
	s := state{}
	for k, j := range jobs {
		s.left[k] = j.duration
	}
	return solve(s)
}

// The machine's bound is never above the least sum of responses, and often is it, also where times are rounded to
// units; jobs without a demand take their durations.
func TestSquashedResponses(t *testing.T) {
	t.Parallel()
	met, coarse := 0, 0
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 38))
		capacity := 1 + rng.Int64N(4)
		jobs := make([]squashedJob, 1+rng.IntN(4))
		length := 10.0
		for k := range jobs {
			jobs[k] = squashedJob{release: rng.Int64N(6), duration: 1 + rng.Int64N(4), demand: min(capacity, rng.Int64N(5)), weight: 1}
			if seed%2 == 1 {
				jobs[k].weight = []int64{1, 1, 2, 3, 1 << 20}[rng.IntN(5)]
			}
			length += float64(jobs[k].duration)
		}
		least := big.NewInt(leastResponses(jobs, capacity))
		got, err := squashedResponses(context.Background(), jobs, capacity)
		if err != nil || got.Cmp(least) > 0 {
			t.Fatalf("seed %d: %v, %v, the least is %v: %+v of %d", seed, got, err, least, jobs, capacity)
		}
		if got.Cmp(least) == 0 {
			met++
		}
		// The same with each tick split into 2^46, and with demands so large that a unit is many ticks.
		const ticks, parts = 1 << 46, 1 << 40
		large := make([]squashedJob, len(jobs))
		for k, j := range jobs {
			large[k] = squashedJob{j.release * ticks, j.duration * ticks, j.demand * parts, j.weight}
		}
		huge, err := squashedResponses(context.Background(), large, capacity*parts)
		if err != nil || huge.Cmp(new(big.Int).Lsh(least, 46)) > 0 {
			t.Fatalf("seed %d: large: %v, %v, the least is %v: %+v of %d", seed, huge, err, least, jobs, capacity)
		}
		if got.Cmp(least) == 0 && new(big.Int).Sub(new(big.Int).Lsh(least, 46), huge).BitLen() < 40 {
			coarse++
		}
	}
	if t.Logf("the least %d times of %d, so in coarse units %d times", met, rounds, coarse); met < rounds/2 || coarse < met/2 {
		t.Errorf("it is the least only %d times of %d, in coarse units %d times", met, rounds, coarse)
	}
}
