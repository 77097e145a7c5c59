package vcsched

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainFits decides by trying every bin for every item.
func plainFits(p *partition, capacity int64) bool {
	free := make([][2]int64, p.bins)
	for b := range free {
		free[b] = [2]int64{capacity, p.cap[1]}
	}
	var walk func(k int) bool
	walk = func(k int) bool {
		if k == len(p.size[0]) {
			return true
		}
		for b := range free {
			if free[b][0] >= p.size[0][k] && free[b][1] >= p.size[1][k] {
				free[b][0] -= p.size[0][k]
				free[b][1] -= p.size[1][k]
				ok := walk(k + 1)
				free[b][0] += p.size[0][k]
				free[b][1] += p.size[1][k]
				if ok {
					return true
				}
			}
		}
		return false
	}
	return walk(0)
}

func randomPartition(rng *rand.Rand, most int) *partition {
	p := &partition{bins: 2 + rng.IntN(3), cap: [2]int64{0, 20}}
	for range p.bins + rng.IntN(most-p.bins) {
		p.size[0], p.size[1] = append(p.size[0], 1+rng.Int64N(20)), append(p.size[1], rng.Int64N(12))
	}
	slices.SortFunc(p.size[0], func(a, b int64) int { return int(b - a) })
	return p
}

// checkChosen fails unless the bins hold every item once, within the capacities.
func checkChosen(t *testing.T, p *partition) {
	t.Helper()
	var seen uint64
	for _, items := range p.chosen {
		if seen&items != 0 {
			t.Fatalf("an item is in two bins: %b", p.chosen)
		}
		seen |= items
		for r := range p.cap {
			sum := int64(0)
			for i, s := range p.size[r] {
				if items>>i&1 == 1 {
					sum += s
				}
			}
			if sum > p.cap[r] {
				t.Fatalf("a bin takes %d of %d", sum, p.cap[r])
			}
		}
	}
	if seen != ^uint64(0)>>(64-len(p.size[0])) || len(p.chosen) > p.bins {
		t.Fatalf("items %b in %d of %d bins", seen, len(p.chosen), p.bins)
	}
}

func TestPartitionAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[bool]int{}
	for range 5000 {
		p := randomPartition(rng, 9)
		capacity := int64(15 + rng.IntN(40))
		want := plainFits(p, capacity)
		count[want]++
		for _, threads := range []int{1, 3} {
			p.threads = threads
			got := p.decide(context.Background(), capacity, math.MaxInt64)
			if (got == yes) != want || got == unknown {
				t.Fatalf("answer %d with %d threads, want %v: %+v", got, threads, want, p)
			}
			if got == yes {
				checkChosen(t, p)
			}
		}
	}
	if min(count[true], count[false]) < 500 {
		t.Errorf("one-sided: %v", count)
	}
}

// With lists and without, with any number of threads, the answer is the same,
// and the partition doesn't depend on the threads.
func TestPartitionWaysAgree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	count := map[answer]int{}
	for k := range 300 {
		p := &partition{bins: 5, cap: [2]int64{0, 1000}}
		for range 16 {
			p.size[0], p.size[1] = append(p.size[0], 100+rng.Int64N(900)), append(p.size[1], 100+rng.Int64N(400))
		}
		slices.SortFunc(p.size[0], func(a, b int64) int { return int(b - a) })
		sum := int64(0)
		for _, s := range p.size[0] {
			sum += s
		}
		capacity := sum/5 + rng.Int64N(sum/100)
		a := p.decide(context.Background(), capacity, math.MaxInt64)
		count[a]++
		first := fmt.Sprint(p.chosen)
		for threads := 2; threads <= 4; threads++ {
			p.threads = threads
			if b := p.decide(context.Background(), capacity, math.MaxInt64); a != b || a == yes && fmt.Sprint(p.chosen) != first {
				t.Fatalf("instance %d: %d with one thread, %d with %d, or another partition", k, a, b, threads)
			}
		}
		p.listed = false
		root := state{left: 1<<16 - 1, bins: 5}
		for r := range root.slack {
			root.slack[r] = 5 * p.cap[r]
			for _, s := range p.size[r] {
				root.slack[r] -= s
			}
		}
		if root.slack[0] < 0 || root.slack[1] < 0 {
			continue
		}
		w := p.walkers[0]
		w.begin(p, func() bool { return false }, math.MaxInt64)
		if b := w.answer(root); a != b {
			t.Fatalf("instance %d: %d with lists, %d without", k, a, b)
		}
	}
	if min(count[yes], count[no]) < 20 {
		t.Errorf("one-sided: %v", count)
	}
}

func TestPartitionStops(t *testing.T) {
	t.Parallel()
	p := &partition{bins: 16, cap: [2]int64{0, 1e6}}
	rng := rand.New(rand.NewPCG(3, 1))
	sum := int64(0)
	for range 48 {
		s := 1 + rng.Int64N(1e6)
		sum += s
		p.size[0], p.size[1] = append(p.size[0], s), append(p.size[1], 0)
	}
	slices.SortFunc(p.size[0], func(a, b int64) int { return int(b - a) })
	if a := p.decide(context.Background(), sum/16+1000, 100); a != unknown || p.nodes > 100 {
		t.Errorf("answer %d after %d nodes, the limit is 100", a, p.nodes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, threads := range []int{1, 2} {
		p.threads = threads
		if a := p.decide(ctx, sum/16+1000, math.MaxInt64); a != unknown {
			t.Errorf("answer %d although ctx has ended", a)
		}
	}
}
