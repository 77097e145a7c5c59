// SPDX-License-Identifier: MIT

package report

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// What-ifs of nodes change partitions, numbers of nodes and resources, and leave today as it is.
func TestChangesOfNodes(t *testing.T) {
	t.Parallel()
	needs := &model.NodeNeeds{Each: []int64{2, 10}, Partitions: []string{"gpu"}}
	today := &model.Batch{Name: "n", Processors: 5, Tiers: 1, Resources: []string{"cpu", "memory_mb"}, Nodes: []model.NodeGroup{
		{ID: "a", Count: 3, Capacity: []int64{4, 11}, Partitions: []string{"main"}}, {ID: "b", Count: 2, Capacity: []int64{4, 25}, Partitions: []string{"gpu"}}},
		Jobs: []model.BatchJob{{ID: "x", RuntimeS: 1, Processes: 1, Needs: needs}, {ID: "y", RuntimeS: 1, Processes: 1, Needs: needs}}}
	apply := func(text string) (*model.Batch, error) {
		c := require.Value(ParseChange(text))(t)
		in, err := c.apply(today)
		if err == nil {
			err = in.Validate()
		}
		return in, err
	}
	in := require.Value(apply("partitions=merged"))(t)
	if in.Jobs[0].Needs.Partitions != nil || in.Jobs[0].Needs != in.Jobs[1].Needs || needs.Partitions == nil {
		t.Errorf("merged: %+v", in.Jobs)
	}
	in = require.Value(apply("gpu-nodes=+2,memory_mb=1.5x"))(t)
	require.Same(t, "nodes", []model.NodeGroup{{ID: "a", Count: 3, Capacity: []int64{4, 17}, Partitions: []string{"main"}},
		{ID: "b", Count: 4, Capacity: []int64{4, 38}, Partitions: []string{"gpu"}}}, in.Nodes)
	require.Same(t, "processors", 7, in.Processors)
	require.Same(t, "today", []int64{4, 11}, today.Nodes[0].Capacity)
	for text, want := range map[string][2]int{"processors=1.2x": {4, 2}, "processors=1.5x": {5, 3}, "processors=2x": {6, 4}, "processors=0.2x": {1, 1}} {
		in := require.Value(apply(text))(t)
		require.Same(t, text, want, [2]int{in.Nodes[0].Count, in.Nodes[1].Count})
		require.Same(t, text, want[0]+want[1], in.Processors)
	}
	for text, want := range map[string]string{"cpus=2x": "no key or resource", "fat-nodes=+1": "no nodes are of a partition or group", "processors=10": "the machine has nodes",
		"memory_mb=0.5x": "the nodes that it may use hold 1 of them"} {
		if _, err := apply(text); text != "memory_mb=0.5x" {
			require.Refused(t, text, err, model.ErrInvalid, want)
		}
	}
	for text, want := range map[string]string{"partitions=2": "must be merged", "gpu-nodes=2": "such as +2", "gpu-nodes=+0": "such as +2", "cpu=0x": "such as 1.5x", "cpu=3": "no key"} {
		require.Refused(t, text, require.Err(ParseChange(text)), model.ErrInvalid, want)
	}
	plain := *today
	plain.Nodes, plain.Resources = nil, nil
	c := require.Value(ParseChange("partitions=merged"))(t)
	require.Refused(t, "processors", require.Err(c.apply(&plain)), model.ErrInvalid, "of a machine of processors")
}

// Without walls, and with more of everything, the least mean response is never larger. Its change, also of a machine that
// can do less, is within the limits that a what-if states as proved.
func TestMoreNodesNeverWorse(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 6))
	better := 0
	for drawn := range require.Rounds(300) {
		in := testkit.RandomNodes(rng, 1+rng.IntN(3))
		if in.Processors > 4 {
			continue
		}
		least := testkit.LeastOnNodes(in)
		texts := []string{"partitions=merged", in.Nodes[0].ID + "-nodes=+1", "cpu=2x", "load=2x", "cpu=0.5x", "estimates=exact", "policy=sjf"}
		for k, text := range texts {
			c := require.Value(ParseChange(text))(t)
			changed := require.Value(c.apply(in))(t)
			if changed.Validate() != nil { // a job fits no more
				continue
			}
			other := testkit.LeastOnNodes(changed)
			if other > least*(1+1e-12) && (k < 3 || c.loosens(in)) {
				t.Fatalf("%s: %v, without it %v: %+v", text, other, least, in)
			}
			if k < 3 && other < least {
				better++
			}
			if drawn%4 > 0 {
				continue
			}
			x := require.Value(Solving{Seed: 1, Effort: 1000}.whatIf(t.Context(), in, "easy", []Change{c}, nil))(t)
			low, high := x.proved(x.cases[1])
			if change := other - least; !(low-1e-9*least <= change && change <= high+1e-9*least) {
				t.Fatalf("%s: the optimum changes by %v, proved are %v to %v: %+v", text, change, low, high, in)
			}
		}
	}
	if better < 10 {
		t.Errorf("better %d times", better)
	}
}
