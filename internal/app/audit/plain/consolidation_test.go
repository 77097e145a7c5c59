// SPDX-License-Identifier: MIT

package plain_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

func TestConsolidation(t *testing.T) {
	rng, none := rand.New(rand.NewPCG(9, 8)), 0
	rounds := require.Rounds(2000)
	for range rounds {
		in := testkit.Consolidation(rng, 2+rng.IntN(5), 1+rng.IntN(3))
		if consistent(t, in).Solution == nil {
			none++
		}
	}
	if none < rounds/20 || none > rounds*3/4 {
		t.Errorf("%d of %d have no solution", none, rounds)
	}
}
