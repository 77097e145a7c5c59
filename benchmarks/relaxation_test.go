// SPDX-License-Identifier: MIT

package benchmarks

import (
	"math"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The relaxation's yield is min(1, H / sum of CPU needs) if the memory is enough in
// all, and it finds no solution.
func TestRelaxation(t *testing.T) {
	s := instances.VCSchedSpec{Hosts: 4, Jobs: 12, Slack: 0.1, CoVCPU: 0.25, CoVMemory: 0.75, Memory: "rescaled", Seed: 3}
	in := require.Value(s.Generate())(t)
	sum := 0.0
	for _, j := range in.Jobs {
		sum += j.CPU
	}
	r, err := relaxation{}.Solve(t.Context(), in, model.Settings{})
	if err != nil || math.Abs(r.Bound-4/sum) > 1e-9 || r.Solution != nil || r.Status != model.StatusUnknown {
		t.Errorf("%+v, %v, want the bound %v", r, err, 4/sum)
	}
	in.Jobs[0].Memory, in.Jobs[1].Memory = 1, 1
	if r, err := (relaxation{}).Solve(t.Context(), in, model.Settings{}); err != nil || r.Status != model.StatusInfeasible {
		t.Errorf("%+v, %v, want infeasible: the needs are above the hosts' memory", r, err)
	}
	require.Refused(t, "a dag", require.Err((relaxation{}).Solve(t.Context(), &model.DAG{}, model.Settings{})), model.ErrUnsupported, "")
}
