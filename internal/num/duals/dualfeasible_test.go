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

// Few binary searches give the sum of the functions over the items.
func TestItemsBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	named := map[string]int{}
	for k := range 4000 {
		capacity, most := int64(5+rng.IntN(200)), 1+rng.IntN(300)
		if k%4 == 0 {
			capacity *= 1e10
		}
		size, count := make([]int64, most), make([]int32, most)
		for i := range size {
			size[i], count[i] = rng.Int64N(capacity+1), rng.Int32N(4)
			if k%3 == 0 {
				size[i] = size[i] / 7
			}
		}
		best, by := NewItems(size, count).Bound(t.Context(), capacity)
		value := func(f func(int64) int64, bin int64) int64 {
			sum := int64(0)
			for i, x := range size {
				sum += f(x) * int64(count[i])
			}
			return (sum + bin - 1) / bin
		}
		if by != nil {
			named[by.Name]++
			named[by.Name+" of many"] += len(size) / 100
			f, bin := map[string]func(int64, int64) (func(int64) int64, int64){"steps": StepsDFF, "threshold": ThresholdDFF, "pieces": PiecesDFF}[by.Name](capacity, by.Parameter)
			if n := value(f, bin); n != best {
				t.Fatalf("%d: %s(%d) says %d, its sum is %d", k, by.Name, by.Parameter, best, n)
			}
		}
		for j := int64(1); j <= 4; j++ {
			if n := value(StepsDFF(capacity, j)); n > best {
				t.Fatalf("%d: %d, steps(%d) says %d", k, best, j, n)
			}
		}
		for i, e := range size {
			if len(size) >= 64 || count[i] == 0 || e == 0 || 2*e > capacity {
				continue
			}
			if a, b := value(ThresholdDFF(capacity, e)), value(PiecesDFF(capacity, e)); max(a, b) > best {
				t.Fatalf("%d: %d, threshold(%d) says %d and pieces %d", k, best, e, a, b)
			}
		}
	}
	for _, name := range []string{"steps of many", "threshold of many", "pieces of many"} {
		if named[name] < 20 {
			t.Errorf("the best functions: %v", named)
		}
	}
}
