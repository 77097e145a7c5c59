// SPDX-License-Identifier: MIT

package batch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// No bound is above the optimum of tiny machines of nodes, and for many they meet above the runtimes.
func TestPooled(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 5))
	met, walls := 0, 0
	for range require.Rounds(1500) {
		in := testkit.RandomNodes(rng, 1+rng.IntN(4))
		if in.Processors > 4 { // there are too many ways to place its jobs
			continue
		}
		least := testkit.LeastOnNodes(in)
		best, runtime, why := 0.0, 0.0, &model.Evidence{}
		for _, b := range require.Value(batchbounds.All(t.Context(), in))(t) {
			if b.Value > least*(1+1e-12) {
				t.Fatalf("%s says %v, the optimum is %v: %+v", b.Name, b.Value, least, in)
			}
			if b.Name == "runtime" {
				runtime = b.Value
			}
			if b.Value > best {
				best, why = b.Value, b.Evidence
			}
		}
		if best > runtime && math.Abs(best-least) < 1e-9*least {
			met++
		}
		if len(why.Rows) > 0 {
			walls++
		}
	}
	if met < require.Rounds(1500)/50 || walls < require.Rounds(1500)/200 {
		t.Errorf("above the runtimes the best bound is the optimum %d times, by a set of groups %d times", met, walls)
	}
}

// A wall counts: jobs of a partition of one node wait for it, whatever else is idle.
func TestPooledWall(t *testing.T) {
	t.Parallel()
	in := &model.Batch{Name: "wall", Processors: 10, Tiers: 1, Resources: []string{"cpu", "gpu"}, Nodes: []model.NodeGroup{
		{ID: "cpu", Count: 9, Capacity: []int64{4, 0}, Partitions: []string{"main"}}, {ID: "gpu", Count: 1, Capacity: []int64{4, 1}, Partitions: []string{"gpu"}}}}
	needs := &model.NodeNeeds{Each: []int64{4, 0}, Partitions: []string{"gpu"}}
	for _, id := range []string{"a", "b", "c", "d"} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: id, RuntimeS: 100, Processes: 1, Needs: needs})
	}
	require.OK(t, in.Validate())
	all := batchbounds.Quick(t.Context(), in)
	if last := all[len(all)-1]; math.Abs(last.Value-250) > 1e-9 || last.Evidence.Resource != "cpu" || len(last.Evidence.Rows) != 1 || last.Evidence.Rows[0] != 1 {
		t.Errorf("%v by %+v, want 250 by the CPUs of group 1", last.Value, last.Evidence)
	}
}
