// SPDX-License-Identifier: MIT

package runs

import (
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Two nodes of 4 CPUs, one with 2 GPUs: the use of each resource between 1 and 9 s, and the resource that a job takes most
// of.
func TestUseOfNodes(t *testing.T) {
	t.Parallel()
	needs := func(cpu, gpu int64) *model.NodeNeeds { return &model.NodeNeeds{Each: []int64{cpu, gpu}} }
	in := &model.Batch{Name: "n", Processors: 2, Tiers: 1, Resources: []string{"cpu", "gpu"},
		Nodes: []model.NodeGroup{{ID: "a", Count: 1, Capacity: []int64{4, 0}}, {ID: "b", Count: 1, Capacity: []int64{4, 2}}},
		Jobs: []model.BatchJob{{ID: "x", RuntimeS: 5, Processes: 2, Needs: needs(2, 0)}, {ID: "y", RuntimeS: 4, Processes: 1, Needs: needs(4, 1)},
			{ID: "z", SubmitS: 10, RuntimeS: 3, Processes: 1, Needs: needs(1, 1)}}}
	type place = model.BatchPlace
	run := func(id string, start, end float64, nodes ...int32) model.Run[place] {
		return model.Run[place]{ID: id, Segments: []model.Segment[place]{{StartS: start, EndS: end, Place: place{Processors: nodes}}}}
	}
	s := &model.Execution{Runs: []model.Run[place]{run("x", 0, 5, 0, 0), run("y", 5, 9, 1), run("z", 10, 13, 1)}}
	got := map[string]float64{}
	require.OK(t, jobMetrics(in, s, got))
	// x holds 4 CPUs for 4 s of the 8, y 4 CPUs and a GPU for 4 s.
	require.Same(t, "use of CPUs", 100*32.0/64, got[SteadyUse("cpu")])
	require.Same(t, "use of GPUs", 100*4.0/16, got[SteadyUse("gpu")])
	for k, want := range []string{"cpu", "cpu", "gpu"} { // y takes half of both: the first
		require.Same(t, in.Jobs[k].ID, want, TagOf(in, k, "resource"))
	}
	table := require.Value(TabulateJobs([]Solved{{&Record{Algorithm: "a"}, in, s}}, "resource", []string{"jobs", "wait"}, 0))(t)
	require.Same(t, "table", [][]string{{"all", "a", "3", "1.67"}, {"cpu", "a", "2", "2.50"}, {"gpu", "a", "1", "0.00"}}, table.Rows)
}
