// SPDX-License-Identifier: MIT

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values of the studentized range over the square root of 2, as Demšar 2006, table 5(a), prints them.
func TestNemenyi(t *testing.T) {
	for k, want := range map[int][2]float64{2: {1.960, 1.645}, 3: {2.343, 2.052}, 4: {2.569, 2.291}, 5: {2.728, 2.459},
		6: {2.850, 2.589}, 7: {2.949, 2.693}, 8: {3.031, 2.780}, 9: {3.102, 2.855}, 10: {3.164, 2.920}} {
		for i, alpha := range []float64{0.05, 0.1} {
			if got := Nemenyi(alpha, 1, k) / math.Sqrt(float64(k*(k+1))/6); math.Abs(got-want[i]) > 0.0011 {
				t.Errorf("k = %d, alpha %v: %v, the table has %v", k, alpha, got, want[i])
			}
		}
	}
}

// The statistic is that of all orders of the blocks: p is near the share of them with as large a sum of squares.
func TestFriedman(t *testing.T) {
	// Without ties the statistic is 12/(n k (k+1)) sum R^2 - 3 n (k+1), here 6.5 with 2 degrees of freedom: p = exp(-3.25).
	mean, p := Friedman([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 3, 2}, {1, 2, 3}})
	if mean[0] != 1 || mean[1] != 2.25 || mean[2] != 2.75 || math.Abs(p-math.Exp(-3.25)) > 1e-12 {
		t.Errorf("%v, p %v", mean, p)
	}
	if _, p := Friedman([][]float64{{1.5, 1.5}, {1.5, 1.5}}); !math.IsNaN(p) {
		t.Errorf("no block orders them: p %v", p)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	below := 0
	const draws, n, k = 4000, 30, 4
	for range draws { // of equal treatments p is uniform
		blocks := make([][]float64, n)
		for i := range blocks {
			for _, r := range rng.Perm(k) {
				blocks[i] = append(blocks[i], float64(r+1))
			}
		}
		if _, p := Friedman(blocks); p < 0.1 {
			below++
		}
	}
	if share := float64(below) / draws; math.Abs(share-0.1) > 0.02 {
		t.Errorf("of equal treatments %v have p below 0.1", share)
	}
}
