// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/num/vectors"
	"github.com/gapwise/gapwise/internal/test/require"
)

// plainFits decides by trying every bin for every item.
func plainFits[V vectors.Vector](p *partition[V], capacity int64) bool {
	var free []V
	for c, n := range p.bins {
		for range n {
			has := p.cap[c]
			has[0] = roomOf(c, capacity)
			free = append(free, has)
		}
	}
	var walk func(k int) bool
	walk = func(k int) bool {
		if k == len(p.size) {
			return true
		}
		for b := range free {
			before := free[b]
			if take(&free[b], &p.size[k]) && walk(k+1) {
				return true
			}
			free[b] = before
		}
		return false
	}
	return walk(0)
}

// roomOf is the room of a class: classes have less and less of it.
func roomOf(class int, load int64) int64 { return load * int64(4-class) / 4 }

// sortFirst only sorts the first sizes.
func sortFirst(p *partition[[2]int64]) {
	var first []int64
	for _, s := range p.size {
		first = append(first, s[0])
	}
	slices.SortFunc(first, func(a, b int64) int { return int(b - a) })
	for k := range p.size {
		p.size[k][0] = first[k]
	}
}

// checkChosen fails unless the bins hold every item once, within the capacities.
func checkChosen[V vectors.Vector](t *testing.T, p *partition[V]) {
	t.Helper()
	var seen uint64
	used := make([]int, len(p.bins))
	for _, b := range p.chosen {
		require.Is(t, 0, seen&b.items, "items in two bins of", p.chosen)
		seen |= b.items
		var sum V
		for k, s := range p.size {
			for r := range len(sum) {
				if b.items>>k&1 == 1 {
					sum[r] += s[r]
				}
			}
		}
		if exceeds(&sum, &p.cap[b.class]) {
			t.Fatalf("a bin takes %v of %v", sum, p.cap[b.class])
		}
		if used[b.class]++; used[b.class] > p.bins[b.class] {
			t.Fatalf("%d bins of class %d are used, there are %d", used[b.class], b.class, p.bins[b.class])
		}
	}
	if seen != ^uint64(0)>>(64-len(p.size)) {
		t.Fatalf("items %b in bins", seen)
	}
}

// The test covers three dimensions and bins of one to four classes, with lists and without, and without each rule.
func TestPartitionOfClasses(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	count := map[bool]int{}
	for k := range 3000 {
		p := &partition[[3]int64]{threads: 1 + k%2*2, off: []deviceSet{0, 0, devWaste, devMaximal, devExchange}[rng.IntN(5)]}
		total := 0
		for c := range 1 + rng.IntN(4) {
			n := 1 + rng.IntN(2)
			total += n
			p.bins = append(p.bins, n)
			p.cap = append(p.cap, [3]int64{0, 8 + rng.Int64N(13), int64(10*(c%2)) + rng.Int64N(11)})
		}
		for range total + rng.IntN(5) {
			p.size = append(p.size, [3]int64{1 + rng.Int64N(15), rng.Int64N(12), rng.Int64N(6)})
		}
		capacity := int64(8 + rng.IntN(30))
		want := plainFits(p, capacity)
		count[want]++
		got := p.decide(context.Background(), capacity, roomOf, math.MaxInt64)
		if (got == yes) != want || got == unknown {
			t.Fatalf("answer %d, want %v: %+v", got, want, p)
		}
		if got == yes {
			checkChosen(t, p)
		}
		if len(p.walkers) == 0 {
			continue // it was answered by sums
		}
		p.listed = false
		root := state[[3]int64]{left: 1<<len(p.size) - 1}
		for c, n := range p.bins {
			root.bins += binsLeft(n) << (8 * c)
			for r := range root.slack {
				root.slack[r] += int64(n) * p.cap[c][r]
			}
		}
		for k := range p.size {
			root.slack = minus(&root.slack, &p.size[k])
		}
		w := p.walkers[0]
		w.begin(p, func() bool { return false }, math.MaxInt64)
		if b := w.answer(root); (b == yes) != want {
			t.Fatalf("answer %d without lists, want %v: %+v", b, want, p)
		}
	}
	if min(count[true], count[false]) < 500 {
		t.Errorf("one-sided: %v", count)
	}
}

func TestBinsLeft(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	for range 20_000 {
		var b binsLeft
		for class := range maxClasses {
			x := rng.IntN(65)
			if b += binsLeft(x) << (8 * class); b.count(class) != x {
				t.Fatalf("%x has %d bins of class %d, want %d", b, b.count(class), class, x)
			}
		}
	}
}

// The answer is the same with lists and without, with any number of threads, and the partition doesn't depend on the
// threads.
func TestPartitionWaysAgree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	count := map[answer]int{}
	for k := range 300 {
		p := &partition[[2]int64]{bins: []int{5}, cap: [][2]int64{{0, 1000}}}
		for range 16 {
			p.size = append(p.size, [2]int64{100 + rng.Int64N(900), 100 + rng.Int64N(400)})
		}
		sortFirst(p)
		sum := int64(0)
		for _, s := range p.size {
			sum += s[0]
		}
		capacity := sum/5 + rng.Int64N(sum/100)
		a := p.decide(context.Background(), capacity, roomOf, math.MaxInt64)
		count[a]++
		first := fmt.Sprint(p.chosen)
		for threads := 2; threads <= 4; threads++ {
			p.threads = threads
			if b := p.decide(context.Background(), capacity, roomOf, math.MaxInt64); a != b || a == yes && fmt.Sprint(p.chosen) != first {
				t.Fatalf("instance %d: %d with one thread, %d with %d, or another partition", k, a, b, threads)
			}
		}
		p.listed = false
		root := state[[2]int64]{left: 1<<16 - 1, bins: 5}
		for r := range root.slack {
			root.slack[r] = 5 * p.cap[0][r]
			for _, s := range p.size {
				root.slack[r] -= s[r]
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
	p := &partition[[2]int64]{bins: []int{16}, cap: [][2]int64{{0, 1e6}}}
	rng := rand.New(rand.NewPCG(3, 1))
	sum := int64(0)
	for range 48 {
		s := 1 + rng.Int64N(1e6)
		sum += s
		p.size = append(p.size, [2]int64{s, 0})
	}
	sortFirst(p)
	if a := p.decide(context.Background(), sum/16+1000, roomOf, 100); a != unknown || p.nodes > 100 {
		t.Errorf("answer %d after %d nodes, the limit is 100", a, p.nodes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, threads := range []int{1, 2} {
		p.threads = threads
		require.Same(t, "answer: although ctx has ended", unknown, p.decide(ctx, sum/16+1000, roomOf, math.MaxInt64))
	}
}
