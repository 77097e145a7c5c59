// SPDX-License-Identifier: MIT

package tvc_test

import (
	"testing"

	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// gapwise audit found this: HiGHS called 4 requests optimal, with loads that sum to just below a link's rate (see
// mostShare of bounds/tvc).
func TestHiGHSLoadsJustBelowARate(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	in := &model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 1000}, Requests: []model.TVCRequest{
		{ID: "r1", VMs: 2, BandwidthMbps: 200, DurationS: 1},
		{ID: "r3", VMs: 2, BandwidthMbps: 1, DurationS: 1},
		{ID: "r6", VMs: 3, BandwidthMbps: 333.333333, DurationS: 1},
		{ID: "r7", VMs: 4, BandwidthMbps: 250, DurationS: 1},
		{ID: "r8", VMs: 4, BandwidthMbps: 1000, DurationS: 29},
	}}
	r, err := tvcexact.Linear(highs.Backend).Solve(t.Context(), in, model.Settings{Seed: 1})
	if err != nil || r.Status != model.StatusOptimal || r.Objective != 5 {
		t.Errorf("%s %v, error %v, want 5", r.Status, r.Objective, err)
	}
}
