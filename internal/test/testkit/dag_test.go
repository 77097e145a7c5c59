// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// Each drawn graph is valid, whatever its family.
func TestRandomDAG(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	names := map[string]bool{}
	for k := range 2000 {
		d := testkit.RandomDAG(rng, 1+k%6, 1+k%4)
		require.OK(t, d.Validate(), d.Name)
		names[d.Name] = true
	}
	if len(names) < 1000 {
		t.Errorf("%d families", len(names))
	}
}
