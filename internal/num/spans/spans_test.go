// SPDX-License-Identifier: MIT

package spans_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/num/spans"
	"github.com/gapwise/gapwise/internal/test/require"
)

// set returns the set of the numbers, and numbers the numbers of a set.
func set(numbers ...int) (s spans.Set) {
	for _, x := range numbers {
		s = s.Union(spans.Set{{From: x, To: x}})
	}
	return s
}

func numbers(t *testing.T, s spans.Set) (all []int) {
	for k, x := range s {
		if x.From > x.To || k > 0 && x.From <= s[k-1].To+1 {
			t.Fatalf("%v isn't in its form", s)
		}
		for i := x.From; i <= x.To; i++ {
			all = append(all, i)
		}
	}
	return all
}

func TestAgainstLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n := rng.IntN(20)
		draw := func() (all []int) {
			for x := range n + 1 {
				if rng.IntN(3) > 0 {
					all = append(all, x)
				}
			}
			return all
		}
		a, b, most, low := draw(), draw(), rng.IntN(n+2)-1, rng.IntN(n+1)
		s, x := set(a...), set(b...)
		var ends, sums []int
		for i := range n + 1 {
			require.Is(t, s.Has(i), slices.Contains(a, i), a, "has", i)
			if slices.Contains(a, i) && min(i, n-i) <= most {
				ends = append(ends, i)
			}
			if i >= low && slices.ContainsFunc(a, func(y int) bool { return slices.Contains(b, i-y) }) {
				sums = append(sums, i)
			}
		}
		if got := numbers(t, s.Ends(nil, n, most)); !slices.Equal(got, ends) {
			t.Fatalf("%v, n=%d, most=%d: %v, not %v", a, n, most, got, ends)
		}
		if got := numbers(t, s.Sums(nil, x, low, n)); !slices.Equal(got, sums) {
			t.Fatalf("%v + %v from %d to %d: %v, not %v", a, b, low, n, got, sums)
		}
		if got := numbers(t, s); !slices.Equal(got, a) {
			t.Fatalf("%v is read as %v", a, got)
		}
		both := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
		if got := numbers(t, s.Union(x)); !slices.Equal(got, both) {
			t.Fatalf("%v and %v: %v", a, b, got)
		}
	}
}
