// SPDX-License-Identifier: MIT

package bitset_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/test/require"
)

// A set of bits does what an array of booleans does.
func TestSet(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 12))
		n := 1 + rng.IntN(200)
		set, other, plain := bitset.New(n), bitset.New(n), make([]bool, n)
		if rng.IntN(2) == 0 {
			set.Fill(n)
			plain = slices.Repeat([]bool{true}, n)
		}
		for range 8 {
			add := rng.IntN(2) == 0
			for at := rng.IntN(n); at < n; at += 2 + rng.IntN(40) {
				last := min(n-1, at+rng.IntN(70))
				if add {
					set.Add(at, last)
				} else {
					set.Remove(at, last)
				}
				for i := at; i <= last; i++ {
					plain[i] = add
				}
				at = last
			}
			clear(other)
			probe := rng.IntN(n)
			other.Add(probe, probe)
			count, most := 0, -1
			for i, in := range plain {
				require.Is(t, in, set.Has(i), "seed", seed, "has", i)
				if in {
					if count++; i <= probe {
						most = i
					}
				}
			}
			both := slices.Clone(set)
			both.Join(other)
			if set.Meets(other) && both.Len() != count || !set.Meets(other) && (both.Len() != count+1 || !both.Has(probe)) {
				t.Fatalf("seed %d: %v joined with %d is %v", seed, plain, probe, both)
			}
			if set.Len() != count || set.Empty() != (count == 0) || set.Meets(other) != plain[probe] {
				t.Fatalf("seed %d: %d numbers of %v, empty %v, meets %d %v", seed, set.Len(), plain, set.Empty(), probe, set.Meets(other))
			}
			if most >= 0 && set.AtMost(probe) != most {
				t.Fatalf("seed %d: the largest up to %d is %d, want %d", seed, probe, set.AtMost(probe), most)
			}
			runs, end := make([]bool, n), -1
			for first, last := range set.Runs() {
				if first <= end || last < first {
					t.Fatalf("seed %d: a run from %d to %d after %d", seed, first, last, end)
				}
				for i := first; i <= last; i++ {
					runs[i] = true
				}
				end = last + 1 // a number apart, or it were one run
			}
			if !slices.Equal(runs, plain) {
				t.Fatalf("seed %d: runs of %v are %v", seed, plain, runs)
			}
			for range set.Runs() {
				break
			}
		}
	}
}

// OrShift adds one number to the sums of subsets.
func TestOrShift(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 13))
		n := 64 * (1 + rng.IntN(4))
		sums, plain := bitset.New(n), make([]bool, n)
		sums.Add(0, 0)
		plain[0] = true
		for range rng.IntN(8) {
			x := rng.IntN(n + 70)
			sums.OrShift(x)
			for s := n - 1; s >= x; s-- {
				plain[s] = plain[s] || plain[s-x]
			}
			for s := range plain {
				require.Is(t, plain[s], sums.Has(s), "seed", seed, "sum", s)
			}
		}
	}
}
