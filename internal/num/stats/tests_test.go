// SPDX-License-Identifier: MIT

package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// Holm's adjustment: 0.01 · 4, 0.02 · 3, 0.02 · 2 (not below the one before), 0.5.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.02, math.NaN(), 0.5, 0.01, 0.02})
	for k, want := range []float64{0.06, math.NaN(), 0.5, 0.04, 0.06} {
		if math.Abs(got[k]-want) > 1e-12 || math.IsNaN(got[k]) != math.IsNaN(want) {
			t.Errorf("test %d: %v, want %v", k, got[k], want)
		}
	}
}

// By its definition Holm's method rejects, from the smallest p on, as long as the k-th smallest of m is below level /
// (m - k). It rejects exactly the claims with an adjusted p below the level.
func TestHolmIsStepDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		p := make([]float64, 1+rng.IntN(8))
		for k := range p {
			p[k] = math.Pow(rng.Float64(), 4)
		}
		adjusted, level := Holm(p), rng.Float64()/2
		order := slices.Sorted(slices.Values(p))
		rejects := 0
		for rejects < len(p) && order[rejects]*float64(len(p)-rejects) < level {
			rejects++
		}
		for k, x := range adjusted {
			if rejected := slices.Index(order, p[k]) < rejects; rejected != (x < level) || x < p[k] || x > 1 {
				t.Fatalf("%v at level %v: %v", p, level, adjusted)
			}
		}
	}
}

func TestPartial(t *testing.T) {
	p := []float64{0.03, 0.01, 0.2}
	for some, want := range map[int]float64{1: 0.03, 2: 0.06, 3: 0.2} {
		if got := Partial(p, some); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d of three: %v, want %v", some, got, want)
		}
	}
}

// The test compares Fisher's test with the enumeration of all tables in whole numbers. Exchanging the samples, or the
// counted property, changes nothing.
func TestFisherIsTheEnumeration(t *testing.T) {
	for of := 1; of <= 7; of++ {
		for out := 1; out <= 7; out++ {
			for n := range of + 1 {
				for m := range out + 1 {
					ways := func(k int) *big.Int {
						a := new(big.Int).Binomial(int64(of), int64(k))
						return a.Mul(a, new(big.Int).Binomial(int64(out), int64(n+m-k)))
					}
					given, some, all := ways(n), new(big.Int), new(big.Int)
					for k := max(0, n+m-out); k <= min(of, n+m); k++ {
						if w := ways(k); w.Cmp(given) <= 0 {
							some.Add(some, w)
						}
						all.Add(all, ways(k))
					}
					want, _ := new(big.Rat).SetFrac(some, all).Float64()
					for _, got := range []float64{Fisher(n, of, m, out), Fisher(m, out, n, of), Fisher(of-n, of, out-m, out)} {
						if math.Abs(got-want) > 1e-9 {
							t.Fatalf("%d of %d beside %d of %d: %v, want %v", n, of, m, out, got, want)
						}
					}
				}
			}
		}
	}
	if p := Fisher(15, 1400, 15, 1380); p < 0.9 {
		t.Errorf("15 of 1,400 beside 15 of 1,380 has the p %v", p)
	}
	if p := Fisher(104, 1440, 60, 1440); p > 0.001 {
		t.Errorf("104 beside 60 of 1,440 has the p %v", p)
	}
	if !math.IsNaN(Fisher(0, 0, 1, 2)) {
		t.Error("an empty sample has a p")
	}
}
