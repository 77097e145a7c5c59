// SPDX-License-Identifier: MIT

package jobs

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A list of an array's tasks is read with its ranges and steps, up to a number of tasks.
func TestTasks(t *testing.T) {
	for list, want := range map[string][]int64{"7": {7}, "1,3,5-9:2": {1, 3, 5, 7, 9}, "0-2": {0, 1, 2}, "2-9:100": {2}, "1-5:4611686018427387903": {1}} {
		all, ok := Tasks(list, 5)
		if require.Same(t, list, want, all); !ok {
			t.Errorf("%s isn't read", list)
		}
	}
	for _, list := range []string{"", "a", "1,", "-1", "3-1", "1-3:0", "1-2-3", "1-6", "1-4,7-9", "1-99999999999999999999", "+1"} {
		if all, ok := Tasks(list, 5); ok {
			t.Errorf("%s is read as %v", list, all)
		}
	}
}

// Jobs are placed on nodes that are alike in groups, each with the same on each of its nodes; a job that fits none is
// left out, and nothing that was asked for is told as not modelled.
func TestPlaced(t *testing.T) {
	nodes := []Node{{Name: "c1", CPUs: 8, MemoryMB: 32, Partitions: []string{"main"}, Up: true},
		{Name: "g1", CPUs: 8, MemoryMB: 64, GPUs: 2, Partitions: []string{"gpu"}, Up: true},
		{Name: "c2", CPUs: 8, MemoryMB: 32, Partitions: []string{"main"}, Up: true},
		{Name: "c3", CPUs: 8, MemoryMB: 32, Partitions: []string{"main"}},
		{Name: "s1", CPUs: 4, MemoryMB: 16, Partitions: []string{AnyPartition}, Up: true}}
	job := func(id, partition string, nodes, cpus, memory, gpus int64) Job {
		j := New(1)
		j.ID, j.Partition, j.Nodes, j.CPUs, j.MemoryMB, j.GPUs = id, partition, nodes, cpus, memory, gpus
		j.Submit, j.Start, j.End, j.Elapsed, j.Limit = 0, 10, 70, 60, 100
		return j
	}
	a := model.NewAccount("x", "")
	log := require.Value(Take("Slurm", []Job{job("even", "main", 2, 16, 40, 0), job("odd", "gpu,main", 2, 7, 8, 0), job("gpu", "gpu", 1, 4, 60, 2),
		job("wide", "main", 4, 4, 4, 0), job("large", "main", 1, 4, 40, 0), job("none", "", Unknown, 10, Unknown, Unknown)}, nil,
		&Options{Placed: true, Nodes: nodes}, a))(t)
	require.Same(t, "nodes", []model.NodeGroup{
		{ID: "c1 and 1 more", Count: 2, Capacity: []int64{8, 32, 0}, Partitions: []string{"main"}},
		{ID: "g1", Count: 1, Capacity: []int64{8, 64, 2}, Partitions: []string{"gpu"}},
		{ID: "s1", Count: 1, Capacity: []int64{4, 16, 0}, Partitions: []string{"gpu", "main"}}}, log.Placed.Nodes)
	require.Same(t, "resources", []string{"cpu", "memory_mb", "gpu"}, log.Placed.Resources)
	require.Same(t, "needs", []*model.NodeNeeds{{Each: []int64{8, 20, 0}, Spread: true, Partitions: []string{"main"}},
		{Each: []int64{4, 4, 0}, Spread: true, Partitions: []string{"gpu", "main"}}, {Each: []int64{4, 60, 2}, Partitions: []string{"gpu"}},
		{Each: []int64{5, 0, 0}, Spread: true}}, log.Placed.Needs)
	sizes := []int64{}
	for k := range log.Jobs {
		sizes = append(sizes, log.Jobs[k].Size())
	}
	require.Same(t, "nodes of jobs", []int64{2, 2, 1, 2}, sizes)
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "2 jobs that fit no nodes of their partitions and features (wide, large)", "1 node that are down",
		"3 jobs on several nodes", "1 job whose CPUs, memory or GPUs don't divide")
	require.Same(t, "not modelled", 0, len(a.NotModelled))
	require.Refused(t, "no nodes", require.Err(Take("Slurm", []Job{job("x", "main", 1, 1, 1, 0)}, nil, &Options{Placed: true}, model.NewAccount("x", ""))),
		model.ErrInvalid, "give --platform FILE")
}

// Partitions are apart if the nodes of each ran all of its jobs and none of another's. A node that is down, isn't listed
// or belongs to two of the partitions leaves it open, and so does a job without nodes or partition.
func TestApart(t *testing.T) {
	node := func(name string, up bool, partitions ...string) Node {
		return Node{Name: name, CPUs: 1, Up: up, Partitions: partitions}
	}
	job := func(partition string, hosts ...string) Job { return Job{Partition: partition, Hosts: hosts} }
	all := []Job{job("main", "c1", "c2"), job("gpu", "g1"), {Partition: "gpu", Left: "jobs never started"}}
	nodes := []Node{node("c1", true, "main", "idle"), node("c2", true, "main", "main"), node("c3", false, "main"), node("g1", true, "gpu")}
	tests := map[string]struct {
		o    Options
		jobs []Job
		want bool
	}{
		"apart":             {Options{}, nil, true},
		"shared":            {Options{}, []Job{job("idle", "c1")}, false},
		"foreign node":      {Options{}, []Job{job("gpu", "g1", "c1")}, false},
		"node that is down": {Options{}, []Job{job("main", "c3")}, false},
		"unknown node":      {Options{}, []Job{job("main", "c9")}, false},
		"no nodes told":     {Options{}, []Job{job("main")}, false},
		"no partition":      {Options{}, []Job{job("", "c1")}, false},
		"one of two":        {Options{}, []Job{job("gpu,main", "g1")}, false},
		"merged":            {Options{Merged: true}, nil, false},
		"by nodes":          {Options{ByNodes: true}, nil, false},
		"placed":            {Options{Placed: true}, nil, false},
		"queue":             {Options{Pending: true}, nil, false},
		"one partition":     {Options{Partition: "gpu"}, nil, false},
	}
	for name, x := range tests {
		x.o.Nodes = nodes
		require.Same(t, name, x.want, x.o.Apart(append(x.jobs, all...)))
	}
	require.Same(t, "any partition", false, (&Options{Nodes: append(nodes, node("s", true, AnyPartition))}).Apart(all))
	require.Same(t, "jobs of one", false, (&Options{Nodes: nodes}).Apart(all[:1]))
	require.Same(t, "no nodes", false, (&Options{}).Apart(all))
}
