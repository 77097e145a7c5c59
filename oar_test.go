// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A real OAR planned the starts of its waiting jobs. With the 61 s that it adds to each walltime, conservative
// backfilling in the order of --pending has the same starts.
func TestOARPlans(t *testing.T) {
	file := require.Data(t, "found", "0.10.0", "batch-systems", "oar", "queue", "oarstat-f-J.json")
	log := require.Value(instances.LoadLog(file, instances.LogOptions{Pending: true}))(t)
	spec := instances.NewBatchSpec()
	spec.Processors = 8
	made, _ := require.Pair(instances.FromSWF(&spec, "oar", log, instances.SWFJobs{}))(t)
	in := made.(*model.Batch)
	for k := range in.Jobs {
		in.Jobs[k].RuntimeS += 61
		in.Jobs[k].EstimateS = in.Jobs[k].RuntimeS
	}
	r := require.Value(gapwise.Solve(context.Background(), in, gapwise.Options{Algorithm: "conservative"}))(t)
	got := map[string]float64{}
	for k, start := range startsOf(t, in, r.Solution.(*model.Execution)) {
		got[in.Jobs[k].ID] = start
	}
	// scheduledStart less 1795866108, the last time of the file
	want := map[string]float64{"75": 0, "76": 0, "79": 0, "81": 0, "77": 7238, "78": 638, "80": 1419, "82": 224, "83": 284, "84": 2680}
	require.Same(t, "starts", want, got)
}
