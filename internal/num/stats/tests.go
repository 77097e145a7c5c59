// SPDX-License-Identifier: MIT

package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// Holm adjusts the p of the tests of a family for their number (Holm 1979): the k-th
// smallest of m, from 0, times m - k, never below a smaller one's and at most 1. A NaN is no
// test, and stays.
func Holm(p []float64) []float64 {
	adjusted, tested := slices.Clone(p), []int{}
	for k, x := range p {
		if !math.IsNaN(x) {
			tested = append(tested, k)
		}
	}
	slices.SortStableFunc(tested, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for rank, k := range tested {
		least = max(least, min(1, p[k]*float64(len(tested)-rank)))
		adjusted[k] = least
	}
	return adjusted
}

// Partial returns the p of the hypothesis that at least some of several claims are true, given the p of each. If some
// is u of n claims, it is (n - u + 1) times the u-th smallest (Benjamini and Heller: Screening for Partial Conjunction
// Hypotheses, 2008). It is the largest p for all claims, and Bonferroni's for one of them.
func Partial(p []float64, some int) float64 {
	p = slices.Sorted(slices.Values(p))
	return min(1, float64(len(p)-some+1)*p[some-1])
}

// Fisher returns the two-sided p of Fisher's exact test that two samples, n of which of have a property and m of which
// out, have it with the same probability. It is the sum of the hypergeometric probabilities of all tables with these
// margins that are no likelier than the one given. NaN if one sample is empty.
func Fisher(n, of, m, out int) float64 {
	if of == 0 || out == 0 {
		return math.NaN()
	}
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	all := choose(of+out, n+m)
	at := func(k int) float64 { return math.Exp(choose(of, k) + choose(out, n+m-k) - all) }
	given, p := at(n), 0.0
	for k := max(0, n+m-out); k <= min(of, n+m); k++ {
		if x := at(k); x <= given*(1+1e-7) { // equal ones may differ by rounding
			p += x
		}
	}
	return min(1, p)
}
