// SPDX-License-Identifier: MIT

package verify_test

import (
	"testing"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// site is a machine of two nodes with CPUs and one with GPUs, and an execution worked out by hand: a and b share node 0,
// c has two processes on node 2, d has node 1 alone after a and b have ended.
func site() (*model.Batch, *model.Execution) {
	in := &model.Batch{Name: "site", Processors: 3, Tiers: 1, Resources: []string{"cpu", "gpu"}, Nodes: []model.NodeGroup{
		{ID: "std", Count: 2, Capacity: []int64{4, 0}, Partitions: []string{"main"}},
		{ID: "gpu", Count: 1, Capacity: []int64{4, 2}, Partitions: []string{"gpu"}, Features: []string{"a100"}}}}
	for _, j := range []struct {
		id        string
		processes int
		needs     model.NodeNeeds
	}{
		{"a", 1, model.NodeNeeds{Each: []int64{3, 0}, Partitions: []string{"main"}}},
		{"b", 1, model.NodeNeeds{Each: []int64{1, 0}, Partitions: []string{"main", "gpu"}}},
		{"c", 2, model.NodeNeeds{Each: []int64{2, 1}, Features: []string{"a100"}}},
		{"d", 1, model.NodeNeeds{Each: []int64{1, 0}, Exclusive: true, Partitions: []string{"main"}}},
		{"e", 2, model.NodeNeeds{Each: []int64{1, 0}, Spread: true, Partitions: []string{"main"}}},
	} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: j.id, RuntimeS: 10, Processes: j.processes, Needs: &j.needs})
	}
	run := func(id string, s model.Segment[model.BatchPlace]) model.Run[model.BatchPlace] {
		return model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{s}}
	}
	return in, &model.Execution{Runs: []model.Run[model.BatchPlace]{
		run("a", on(0, 10, "", 0)), run("b", on(0, 10, "", 0)), run("c", on(0, 10, "", 2, 2)), run("d", on(0, 10, "", 1)), run("e", on(10, 20, "", 1, 0))}}
}

// The judge names each constraint of nodes that is broken, and nothing else.
func TestNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  int
		at   float64
		on   []int32
		want map[string]float64 // constraint and amount
	}{
		"as it is":                      {0, 0, []int32{0}, nil},
		"on its node later":             {0, 10, []int32{0}, nil},
		"beside two":                    {4, 0, []int32{0, 2}, map[string]float64{"foreign_node": 0}},
		"no CPU left":                   {1, 0, []int32{2}, map[string]float64{"node_capacity": 0.25}},
		"another partition":             {0, 0, []int32{2}, map[string]float64{"foreign_node": 0}},
		"no feature":                    {2, 0, []int32{2, 1}, map[string]float64{"foreign_node": 0}},
		"two on one node":               {4, 10, []int32{1, 1}, map[string]float64{"shared_node": 0}},
		"beside one that's alone":       {0, 0, []int32{1}, map[string]float64{"exclusive_node": 1}},
		"no such node":                  {0, 0, []int32{3}, map[string]float64{"unknown_processor": 0}},
		"one process too many":          {0, 0, []int32{0, 0}, map[string]float64{"process_count": 0}},
		"the GPU":                       {2, 0, []int32{2, 2, 2}, map[string]float64{"process_count": 0}},
		"of either partition":           {1, 10, []int32{2}, nil},
		"the same node later":           {3, 20, []int32{0}, nil},
		"alone beside another":          {3, 0, []int32{0}, map[string]float64{"exclusive_node": 1, "node_capacity": 0.25}},
		"later beside one that's alone": {0, 5, []int32{1}, map[string]float64{"exclusive_node": 1}},
	} {
		in, e := site()
		e.Runs[c.job].Segments[0] = on(c.at, c.at+10, "", c.on...)
		require.OK(t, in.Validate())
		r := judge(t, in, e, verify.Options{})
		got := map[string]float64{}
		for _, v := range r.Violations {
			got[v.Constraint] = v.Amount
		}
		if c.want == nil {
			c.want = map[string]float64{}
		}
		require.Same(t, name, c.want, got)
	}
}

// A job stays on its nodes. It may begin anew on others after it was killed.
func TestNodesStay(t *testing.T) {
	t.Parallel()
	in, e := site()
	for k, c := range []struct {
		lost bool
		then int32
		end  float64
		want string
	}{{false, 1, 20, "moved_job"}, {false, 0, 20, ""}, {true, 1, 25, ""}} {
		s := []model.Segment[model.BatchPlace]{on(10, 15, "", 0), on(15, c.end, "", c.then)}
		s[0].Lost = c.lost
		e.Runs[0].Segments = s
		e.Runs[4].Segments[0] = on(30, 40, "", 1, 0)
		got := ""
		if r := judge(t, in, e, verify.Options{}); len(r.Violations) > 0 {
			got = r.Violations[0].Constraint
		}
		if got != c.want {
			t.Errorf("%d: %q, want %q", k, got, c.want)
		}
	}
}

// What a job that breaks a constraint would take, it doesn't hold: the next one is judged without it.
func TestNodesHoldNothing(t *testing.T) {
	t.Parallel()
	in, e := site()
	e.Runs[1].Segments[0] = on(0, 10, "", 2) // beside c, which takes all
	e.Runs[0].Segments[0] = on(0, 10, "", 1) // beside d, which is alone there
	e.Runs[3].Segments[0] = on(0, 10, "", 0)
	r := judge(t, in, e, verify.Options{})
	if len(r.Violations) != 1 || r.Violations[0].Constraint != "node_capacity" {
		t.Errorf("%v", r.Violations)
	}
}

// Evidence about processors says nothing about nodes, on which many processes run at once.
func TestNodesEvidence(t *testing.T) {
	t.Parallel()
	in, _ := site()
	plain := *in
	plain.Nodes, plain.Resources, plain.Jobs = nil, nil, append([]model.BatchJob(nil), in.Jobs...)
	for k := range plain.Jobs {
		plain.Jobs[k].Needs = nil
	}
	for name, c := range map[string]struct {
		in   *model.Batch
		e    model.Evidence
		want string
	}{
		"processors":       {in, model.Evidence{Type: evidence.Machine}, `resource: "" isn't one of`},
		"no such group":    {in, model.Evidence{Type: evidence.Machine, Resource: "cpu", Rows: []int64{2}}, "there is no group 2"},
		"prices":           {in, model.Evidence{Type: evidence.Prices, Times: []int64{0, 1}, Prices: []float64{1}}, "of nodes"},
		"nodes elsewhere":  {&plain, model.Evidence{Type: evidence.Machine, Resource: "cpu"}, "there are no nodes"},
		"groups elsewhere": {&plain, model.Evidence{Type: evidence.Machine, Rows: []int64{0}}, "there are no groups"},
		"sum":              {in, model.Evidence{Type: evidence.Sum}, ""},
		"cpu":              {in, model.Evidence{Type: evidence.Machine, Resource: "cpu", Rows: []int64{0}}, ""},
	} {
		_, err := verify.Evidence(t.Context(), c.in, &c.e)
		if c.want == "" {
			require.OK(t, err)
			continue
		}
		require.Says(t, name, err.Error(), c.want)
	}
}
