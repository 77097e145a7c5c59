// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// extendClique takes the same items as a look at every pair.
func TestExtendClique(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2))
	joined := 0
	for round := range 3000 {
		n := 1 + rng.IntN(40)
		x, y := make([]int64, n), make([]int64, n)
		for k := range x {
			x[k], y[k] = rng.Int64N(20), rng.Int64N(20)
		}
		roomX, roomY := rng.Int64N(25), rng.Int64N(25)
		order := decreasing(x)
		var want, got []int32
		for _, k := range order {
			if !slices.ContainsFunc(want, func(o int32) bool { return x[o]+x[k] <= roomX && y[o]+y[k] <= roomY }) {
				want = append(want, k)
			}
		}
		extendClique(context.Background(), order, x, y, roomX, roomY, func(k int32) bool { got = append(got, k); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: x %v, y %v, room %d, %d: %v, want %v", round, x, y, roomX, roomY, got, want)
		}
		joined += len(got)
	}
	if joined < 3*3000 {
		t.Errorf("%d items joined: too few to tell", joined)
	}
}
