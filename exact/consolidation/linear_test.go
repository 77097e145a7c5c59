// SPDX-License-Identifier: MIT

package consolidation_test

import (
	"errors"
	"testing"

	"github.com/gapwise/gapwise/exact/consolidation"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// drawn returns a cluster of so many hosts with four resources.
func drawn(t *testing.T, hosts int) *model.Consolidation {
	t.Helper()
	s := instances.NewConsolidationSpec()
	s.Hosts, s.Resources, s.Load, s.Churn, s.Replicas, s.Index, s.Seed = hosts, 4, 0.9, 0.2, 3, 1, 1
	return require.Value(s.Generate())(t)
}

// Models on which HiGHS never paid are refused at once.
func TestLinearSize(t *testing.T) {
	t.Parallel()
	require.HiGHS(t)
	if r, err := consolidation.Linear(highs.Backend).Solve(t.Context(), drawn(t, 100), model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("%s, %v", r.Status, err)
	}
}
