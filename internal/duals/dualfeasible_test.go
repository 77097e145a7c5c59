// SPDX-License-Identifier: MIT

package duals

import (
	"context"
	"math/rand/v2"
	"testing"
)

// bins is the least number of bins for the items, by trying everything.
func bins(size []int64, capacity int64) int64 {
	best := int64(len(size))
	var free []int64
	var walk func(k int)
	walk = func(k int) {
		if int64(len(free)) >= best {
			return
		}
		if k == len(size) {
			best = int64(len(free))
			return
		}
		for b := range free {
			if free[b] >= size[k] {
				free[b] -= size[k]
				walk(k + 1)
				free[b] += size[k]
			}
		}
		free = append(free, capacity-size[k])
		walk(k + 1)
		free = free[:len(free)-1]
	}
	walk(0)
	return best
}

func TestDualFeasibleFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	better := 0
	for range 5000 {
		capacity := int64(5 + rng.IntN(60))
		size, count := []int64{}, []int32{}
		sum := int64(0)
		for range 1 + rng.IntN(8) {
			x := rng.Int64N(capacity + 1)
			size, count = append(size, x), append(count, 1)
			sum += x
		}
		got, want := DualFeasible(context.Background(), size, count, capacity), bins(size, capacity)
		if got > want {
			t.Fatalf("bound %d above the optimum %d: %v in %d", got, want, size, capacity)
		}
		if got > max(1, (sum+capacity-1)/capacity) {
			better++
		}
	}
	if better < 200 {
		t.Errorf("better than the area %d times only", better)
	}
	if DualFeasible(context.Background(), []int64{7}, []int32{1}, 6) < 1000 {
		t.Error("an item larger than the bin fits")
	}
}
