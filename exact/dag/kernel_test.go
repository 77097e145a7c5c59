// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// The names are in the numbers of the instance, one each, for everything that a proof may use.
func TestKernelNames(t *testing.T) {
	d := testkit.RandomDAG(rand.New(rand.NewPCG(1, 8)), 9, 3)
	g := view.OfDAG(d.WithoutContention())
	v := newTicks(g, 1e3, devUnproved)
	require.OK(t, v.findWeights(context.Background()))
	m := newKernelModel(v, 1000)
	seen := map[string]bool{}
	for x, name := range m.VarNames {
		if name == "" || seen[name] {
			t.Errorf("variable %d is called %q", x, name)
		}
		seen[name] = true
	}
	if len(m.VarNames) != len(m.Low) {
		t.Errorf("%d of %d variables have names", len(m.VarNames), len(m.Low))
	}
	for c, name := range m.Names {
		if name == "" {
			t.Errorf("constraint %d (%T) has no name", c, m.Constraints[c])
		}
	}
}
