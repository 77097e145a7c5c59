// SPDX-License-Identifier: MIT

package model

import (
	"math/rand/v2"
	"testing"
)

// The first edge that is there twice is the one that a look at all pairs finds.
func TestRepeatedEdge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	found := 0
	for range 3000 {
		tasks := 1 + rng.IntN(5)
		from, to := make([]int32, rng.IntN(9)), make([]int32, 9)
		to = to[:len(from)]
		for e := range from {
			from[e], to[e] = int32(rng.IntN(tasks+1)-1), int32(rng.IntN(tasks+1)-1)
		}
		want, first := -1, -1
		for e := range from {
			for f := range e {
				if want < 0 && from[e] == from[f] && to[e] == to[f] && from[e] >= 0 && to[e] >= 0 {
					want, first = e, f
				}
			}
		}
		if want >= 0 {
			found++
		}
		if got, of := repeatedEdge(tasks, from, to); got != want || of != first {
			t.Fatalf("%v to %v: %d repeats %d, want %d and %d", from, to, got, of, want, first)
		}
	}
	if found < 300 || found > 2700 {
		t.Errorf("%d of 3000 have repeated edges", found)
	}
}
