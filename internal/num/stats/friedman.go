// SPDX-License-Identifier: MIT

package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Friedman tests whether k treatments differ, by their ranks in n blocks (Friedman 1937). It returns the mean ranks and
// p, by the chi-square distribution, which is near for n of 10 and more. Ranks are those of a block's treatments, from
// 1; equal ones have the mean of theirs, as the variance of the ranks at hand tells. p is NaN if no block orders them.
func Friedman(ranks [][]float64) (mean []float64, p float64) {
	n, k := len(ranks), len(ranks[0])
	mean = make([]float64, k)
	middle, within := float64(k+1)/2, 0.0
	for _, block := range ranks {
		for j, r := range block {
			mean[j] += r / float64(n)
			within += (r - middle) * (r - middle)
		}
	}
	between := 0.0
	for _, m := range mean {
		between += (m - middle) * (m - middle)
	}
	if within == 0 {
		return mean, math.NaN()
	}
	statistic := float64(n) * between / (within / float64(n*(k-1)))
	return mean, 1 - distuv.ChiSquared{K: float64(k - 1)}.CDF(statistic)
}

// Nemenyi returns the difference of the mean ranks of two of k treatments in n blocks from which on it is significant
// at alpha, all pairs together (Nemenyi 1963; Demšar 2006, section 3.2.2).
func Nemenyi(alpha float64, n, k int) float64 {
	low, high := 0.0, 100.0
	for range 60 {
		if middle := (low + high) / 2; rangeOfNormals(middle, k) < 1-alpha {
			low = middle
		} else {
			high = middle
		}
	}
	return high / math.Sqrt2 * math.Sqrt(float64(k*(k+1))/float64(6*n))
}

// rangeOfNormals returns the probability that the largest of k standard normal values is at most q above the least: the
// studentized range with infinitely many degrees of freedom.
func rangeOfNormals(q float64, k int) float64 {
	z := distuv.UnitNormal
	return float64(k) * quad.Fixed(func(x float64) float64 {
		return z.Prob(x) * math.Pow(z.CDF(x)-z.CDF(x-q), float64(k-1))
	}, -9, 9, 200, nil, 0)
}
