// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// enumerated is signedRank by its definition: all signs of the ranks.
func enumerated(d []float64) float64 {
	var all []float64
	for _, x := range d {
		if x != 0 {
			all = append(all, x)
		}
	}
	n := len(all)
	if n == 0 {
		return math.NaN()
	}
	rank := make([]float64, n)
	for i, x := range all {
		below, same := 0, 0
		for _, y := range all {
			if math.Abs(y) < math.Abs(x) {
				below++
			} else if math.Abs(y) == math.Abs(x) {
				same++
			}
		}
		rank[i] = float64(below) + float64(same+1)/2
	}
	total, seen := 0.0, 0.0
	for i, r := range rank {
		total += r
		if all[i] > 0 {
			seen += r
		}
	}
	extreme := 0
	for signs := range 1 << n {
		s := 0.0
		for i, r := range rank {
			if signs>>i&1 == 1 {
				s += r
			}
		}
		if math.Abs(s-total/2) >= math.Abs(seen-total/2)-1e-9 {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<n)
}

func TestSignedRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		d := make([]float64, rng.IntN(12))
		for i := range d {
			d[i] = float64(rng.IntN(9) - 3) // with zeros and ties
		}
		got, _ := signedRank(d)
		want := enumerated(d)
		if math.Abs(got-want) > 1e-12 && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v: p is %v, want %v", d, got, want)
		}
	}
	// Five sets of the ranks 1 to 8 have a sum of at most 3: none, 1, 2, 3, 1 and 2.
	if p, effect := signedRank([]float64{-1, 3, -2, 4, 5, 6, 7, 8}); math.Abs(p-10.0/256) > 1e-12 || effect != 30.0/36 { // ranks 1 and 2 of 36 are below 0
		t.Errorf("rank sum 3 of 8: p is %v, want %v", p, 10.0/256)
	}
	// The normal distribution is near the exact one where both apply.
	d := make([]float64, mostExact)
	for i := range d {
		d[i] = float64(i+1) * []float64{1, 1, -1}[i%3]
	}
	exact, _ := signedRank(d)
	normal, _ := signedRank(append(d, 1e9, -1e9))
	if math.Abs(exact-normal) > 0.02 {
		t.Errorf("exact %v, normal %v", exact, normal)
	}
}

func FuzzSignedRank(f *testing.F) {
	f.Add([]byte{1, 2, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var d, mirrored []float64
		for _, b := range data[:min(len(data), 200)] {
			d, mirrored = append(d, float64(int8(b))), append(mirrored, -float64(int8(b)))
		}
		p, effect := signedRank(d)
		if !math.IsNaN(p) && !(p > 0 && p <= 1) {
			t.Errorf("p is %v", p)
		}
		if q, other := signedRank(mirrored); (q != p || other != -effect) && !(math.IsNaN(p) && math.IsNaN(q)) {
			t.Errorf("p is %v, of the differences with the other sign %v", p, q)
		}
	})
}
