// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Each drawn instance is valid, and the families are there: instances with all, some and none
// accepted, requests that never fit.
func TestRandomTVC(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 1))
	all, some, none, never := 0, 0, 0, 0
	for range 300 {
		n := rng.IntN(6)
		for _, queue := range []bool{false, true} {
			if err := testkit.RandomTVC(rng, 4, n, queue).Validate(); err != nil {
				t.Fatal(err)
			}
		}
		in := testkit.RandomTVC(rng, 2, n, false)
		best := plain.Best(in)
		for k := range in.Requests {
			if !plain.Fits(in, k) {
				never++
			}
		}
		switch len(best.Solution.(*model.Embeddings).Runs) {
		case n:
			all++
		case 0:
			none++
		default:
			some++
		}
	}
	if all < 50 || some < 50 || none < 3 || never < 50 {
		t.Errorf("%d with all accepted, %d with some, %d with none; %d never fit", all, some, none, never)
	}
}
