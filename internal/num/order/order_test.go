// SPDX-License-Identifier: MIT

package order

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Items come by their keys, in the direction asked for, and those of equal keys by their numbers, whatever order they
// had.
func TestTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		keys := make([]int, 1+rng.IntN(40))
		for k := range keys {
			keys[k] = rng.IntN(6)
		}
		items := rng.Perm(len(keys))
		rising, falling := By(slices.Clone(items), keys), Falling(slices.Clone(items), keys)
		for k := range items[1:] {
			a, b := rising[k], rising[k+1]
			c, d := falling[k], falling[k+1]
			if keys[a] > keys[b] || keys[a] == keys[b] && a >= b || keys[c] < keys[d] || keys[c] == keys[d] && c >= d {
				t.Fatalf("%v and %v of %v", rising, falling, keys)
			}
		}
	}
}
