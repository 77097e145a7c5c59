// SPDX-License-Identifier: MIT

package processors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
)

// The lowest free processors are taken, compared with an array of booleans.
func TestFreeProcessors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 5))
	for _, n := range []int{1, 63, 64, 65, 4096, 4097, 300_000} {
		s, free, left := NewFree(n), make([]bool, n), n
		for p := range free {
			free[p] = true
		}
		var held [][]int32
		for range 200 {
			if rng.IntN(2) == 0 && len(held) > 0 {
				k := rng.IntN(len(held))
				s.Give(held[k])
				for _, p := range held[k] {
					free[p] = true
				}
				left += len(held[k])
				held = slices.Delete(held, k, k+1)
				continue
			}
			if left == 0 {
				continue
			}
			list := make([]int32, 1+rng.IntN(left))
			s.Take(list)
			p := 0
			for i, got := range list {
				for !free[p] {
					p++
				}
				if got != int32(p) {
					t.Fatalf("%d processors: takes %d at %d, want %d", n, got, i, p)
				}
				free[p] = false
			}
			left -= len(list)
			held = append(held, list)
		}
	}
}

// Times that work takes at a rate are rounded up, and math.MaxInt64 too long for an int64.
func TestAtRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ length, rate, want int64 }{
		{7, view.FullRate, 7}, {99, 9900, 100}, {1, 9999, 2}, {0, 9999, 0}, {3, 1, 30_000}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64 / 2, 5000, math.MaxInt64 - 1}, {math.MaxInt64, 9999, math.MaxInt64},
	} {
		require.Same(t, fmt.Sprintf("%d at rate %d", c.length, c.rate), c.want, AtRate(c.length, c.rate))
	}
}

// A look at each place finds the same lowest neighbours.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 27))
	for range 2000 {
		n := 1 + rng.IntN(200)
		s, has := NewFree(n), make([]bool, n)
		for p := range has {
			if has[p] = rng.IntN(8) > 0; !has[p] {
				s.Remove(int32(p))
			}
		}
		c := s.Clone()
		for width := 1; width <= min(n, 70); width += 1 + rng.IntN(5) {
			want, run := int32(-1), 0
			for p := 0; p < n && want < 0; p++ {
				if run++; !has[p] {
					run = 0
				}
				if run == width {
					want = int32(p - width + 1)
				}
			}
			require.Same(t, fmt.Sprintf("%d of %v", width, has), want, c.Neighbours(int32(width)))
		}
		c.RemoveAll([]int32{0, int32(n - 1)})
		if c.Has(0) || c.Has(int32(n-1)) || s.Has(0) != has[0] {
			t.Fatal("what is removed is there, or not in the set that was copied")
		}
	}
}
