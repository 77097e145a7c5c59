// SPDX-License-Identifier: MIT

package verify_test

import (
	"testing"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A task before two tasks has the larger of their waits after it, not the sum. Only the first machine is good for all
// tasks but the third. With that one elsewhere the last starts after 1 + 1 + 10 + 6 s; with all on one machine after 1
// + 11 + 10 s.
func TestEvidenceGatheringWaits(t *testing.T) {
	t.Parallel()
	d := testkit.DAG([][]float64{{1, 100, 100}, {11, 100, 100}, {10, 10, 10}, {1, 100, 100}},
		[][3]float64{{1, 2, 1}, {1, 3, 1}, {2, 4, 6}, {3, 4, 6}})
	testkit.LinkInto(d)
	require.OK(t, d.Validate())
	ids := []string{d.Tasks[3].ID, d.Tasks[0].ID, d.Tasks[1].ID, d.Tasks[2].ID}
	set := model.Evidence{Type: evidence.Gathering, Elements: ids, Rows: []int64{0}}
	f := require.Value(verify.Evidence(t.Context(), d, &model.Evidence{Type: evidence.Gathering,
		Parts: []model.Evidence{{Type: evidence.Gathering, Resource: evidence.Heads, Parts: []model.Evidence{set}}}}))(t)
	if got, _ := f.Bound.Float64(); got != 19 {
		t.Errorf("%v, want 19", got)
	}
}
