// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostExact is the number of differences up to which signedRank counts all signs.
const mostExact = 60

// signedRank returns the two-sided p of Wilcoxon's signed-rank test (Wilcoxon 1945). It is the probability of a rank
// sum as far from the middle as the one of these differences if each of them had either sign with probability 1/2.
// Differences of 0 are left out, equal ones have the mean of their ranks. Without a difference p is NaN.
//
// The effect is the matched-pairs rank-biserial correlation (Kerby 2014): the share of the ranks that differences above 0
// have, minus the share of those below 0, from -1 to 1.
//
// Up to mostExact differences it is exact, ties included: of all 2^n signs those are
// counted that are as extreme, by a table of the sums of doubled ranks, which are
// whole. O(n^3). Above, the sum is taken as normal with the variance of the ranks at
// hand, and half a unit is taken off its distance from the middle.
func signedRank(differences []float64) (p, effect float64) {
	var d []float64
	for _, x := range differences {
		if x != 0 {
			d = append(d, x)
		}
	}
	n := len(d)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	ranks := make([]int, n) // doubled
	for i := 0; i < n; {
		k := i
		for k < n && math.Abs(d[k]) == math.Abs(d[i]) {
			k++
		}
		for j := i; j < k; j++ {
			ranks[j] = i + 1 + k // twice the mean of i+1 to k
		}
		i = k
	}
	sum, positive := 0, 0
	for i, r := range ranks {
		sum += r
		if d[i] > 0 {
			positive += r
		}
	}
	low := min(positive, sum-positive)
	effect = float64(2*positive-sum) / float64(sum)
	if n > mostExact {
		variance := 0.0
		for _, r := range ranks {
			variance += float64(r) * float64(r) / 4
		}
		off := max(0, float64(sum)/2-float64(low)-1) // half a unit is 1 in doubled ranks
		return min(1, 2*distuv.UnitNormal.Survival(off/math.Sqrt(variance))), effect
	}
	ways := make([]float64, sum+1) // shares of all signs, by the sum of the positive ones
	ways[0] = 1
	for _, r := range ranks {
		for s := sum; s >= 0; s-- {
			ways[s] /= 2
			if s >= r {
				ways[s] += ways[s-r] / 2
			}
		}
	}
	for s := 0; s <= low; s++ {
		p += ways[s]
	}
	return min(1, 2*p), effect
}
