// SPDX-License-Identifier: MIT

package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A solver's word as a proof is reported as one, for old versions, and isn't a failure. A bound that is recomputed
// isn't in doubt.
func TestWordOfSolvers(t *testing.T) {
	in := &model.Batch{Name: "one", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 60, Processes: 1}}}
	solved := func(algorithm, version string, e *model.Evidence) model.Result {
		r := model.NewResult(algorithm, 0)
		r.Instance, r.Kind, r.Version = in.Name, model.KindBatch, version
		r.Evidence = e
		s := &model.Execution{Runs: []model.Run[model.BatchPlace]{{ID: "a", Segments: []model.Segment[model.BatchPlace]{{EndS: 60, Place: model.BatchPlace{Processors: model.ProcessorList{0}}}}}}}
		require.OK(t, r.SetSolution(in, s))
		r.SetBound(in.Metrics()[0], 60, 1e-6)
		return r
	}
	for _, c := range []struct {
		result model.Result
		doubt  string
	}{
		{solved("highs", "0.10.0", nil), "\"optimal\", in doubt as the word of highs "},
		{solved("highs-paper", "0.9.3", nil), "highs-paper"},
		{solved("search+glpsol", "0.2.0", nil), "glpsol"},
		{solved("mps:sh a.sh {in} {out}", "0.10.0", &model.Evidence{Type: "search", Nodes: 3}), "mps:sh"},
		{solved("search", "0.10.0", nil), ""},
		{solved("auto", "0.10.0", nil), ""},
		{solved("highs", "0.11.0", nil), ""},
		{solved("highs", "0.10.1", nil), ""},
		{solved("highs", "1.0.0", nil), ""},
	} {
		r := require.Feasible(verify.Result(context.Background(), in, c.result, verify.Options{}))(t,
			c.result.Algorithm)
		if said := strings.Join(r.Trusted, "\n"); !strings.Contains(said, c.doubt) || (c.doubt == "") == strings.Contains(said, "in doubt") {
			t.Errorf("%s of %s: on trust: %s", c.result.Algorithm, c.result.Version, said)
		}
	}
	none := model.NewResult("auto", 0)
	none.Kind, none.Version, none.Status = model.KindConsolidation, "0.10.0", model.StatusInfeasible
	full := &model.Consolidation{Name: "full", Resources: []string{"cpu"}, Hosts: []model.ConsolidationHost{{ID: "h", Capacity: []int64{1}}}}
	if r, err := verify.Result(context.Background(), full, none, verify.Options{}); err != nil || !strings.Contains(strings.Join(r.Trusted, " "), "HiGHS in auto") {
		t.Errorf("%v, %v", r, err)
	}
}
