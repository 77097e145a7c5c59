// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"context"
	"testing"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// HiGHS 1.10 at tolerances of 1e-8 calls 0.5516 optimal here; the optimum is
// 0.5639 (found by the root package's property test).
func TestHiGHSSecondOpinion(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	in := require.Value(instances.VCSchedSpec{Hosts: 3, Jobs: 4, Slack: 0.7931075096130371, CoVCPU: 0.75,
		CoVMemory: 0.5, MaxTasks: 2, Seed: 0x576639c}.Generate())(t)
	for _, name := range []string{"compact", "parallel"} {
		r, err := vcexact.Linear(highs.Backend, name).Solve(context.Background(), in, model.Settings{})
		if err != nil || r.Objective < 0.5638637 || r.Bound < 0.5638637 {
			t.Errorf("%s: %s %v, bound %v, the optimum is 0.56386378: %v", name, r.Status, r.Objective, r.Bound, err)
		}
	}
}
