// SPDX-License-Identifier: MIT

package jobs

import (
	"fmt"
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
	require.Says(t, "the account", strings.Join(a.Lines(), "\n"), "2 jobs that fit no nodes of their partitions and features (wide, large)", "1 node down or drained",
		"3 jobs on several nodes", "1 job whose CPUs, memory or GPUs don't divide")
	require.Same(t, "not modelled", 0, len(a.NotModelled))
	require.Refused(t, "no nodes", require.Err(Take("Slurm", []Job{job("x", "main", 1, 1, 1, 0)}, nil, &Options{Placed: true}, model.NewAccount("x", ""))),
		model.ErrInvalid, "give --platform FILE")
}

// The machine of a log without partitions chosen is the nodes of its jobs' partitions: the others run none of them.
func TestNodesOfJobs(t *testing.T) {
	nodes := []Node{{Name: "a", CPUs: 4, Partitions: []string{"main"}, Up: true}, {Name: "b", CPUs: 8, Partitions: []string{"gpu"}, Up: true},
		{Name: "c", CPUs: 16, Partitions: []string{AnyPartition}, Up: true}, {Name: "d", CPUs: 32, Partitions: []string{"idle", "gpu"}, Up: true}}
	for name, x := range map[string]struct {
		of    []string
		procs string
		nodes []Node
	}{
		"one": {[]string{"main"}, "20", nodes}, "both": {[]string{"main", "gpu"}, "60", nodes}, "a job of two": {[]string{"gpu,main"}, "60", nodes},
		"unknown": {[]string{"main", ""}, "60", nodes}, "of no node": {[]string{"other"}, "12", nodes[:2]},
	} {
		var all []Job
		for _, partition := range x.of {
			j := New(1)
			j.ID, j.Partition, j.CPUs, j.Nodes, j.Submit, j.Start, j.End, j.Elapsed, j.Limit = "j", partition, 1, 1, 0, 10, 70, 60, 100
			all = append(all, j)
		}
		a := model.NewAccount("x", "")
		log := require.Value(Take("Slurm", all, nil, &Options{Nodes: x.nodes}, a))(t)
		procs, _ := log.Header.Get("MaxProcs")
		require.Is(t, x.procs, procs, name)
		left := strings.Contains(strings.Join(a.Lines(), " "), "of partitions or queues without a job")
		require.Is(t, x.procs == "20", left, name)
	}
}

// A queue's time is the last that any partition tells. What ends a job without a limit, or past it, is said.
func TestQueueTimes(t *testing.T) {
	job := func(id, partition string, phase Phase, submit, start, elapsed, limit int64) Job {
		j := New(1)
		j.ID, j.Partition, j.Phase, j.CPUs, j.Submit, j.Start, j.Elapsed, j.Limit = id, partition, phase, 1, submit, start, elapsed, limit
		return j
	}
	for name, x := range map[string]struct {
		all       []Job
		partition string
		times     string // of each job, from its submission in the log
		begin     string
		says      []string
	}{
		"another partition's time": {[]Job{job("r", "b", Runs, 0, 3600, 32400, 40000), job("w", "a", Waits, 7200, Unknown, Unknown, 60)}, "a",
			"60", "36000", []string{"1970-01-01 10:00:00"}},
		"past its limit": {[]Job{job("r", "a", Runs, 0, 0, 32400, 3600), job("w", "a", Waits, 0, Unknown, Unknown, 60)}, "",
			"1 60", "32400", []string{"1 job past the time limit, still running"}},
		"without a limit": {[]Job{job("r", "a", Runs, 0, 0, 32400, Unknown), job("w", "a", Waits, 0, Unknown, Unknown, 60)}, "",
			"60 60", "32400", []string{"1 job without a time limit, still running, each with 60 s from now"}},
		"no limit at all": {[]Job{job("r", "a", Runs, 0, 0, 32400, Unknown), job("w", "a", Waits, 0, Unknown, Unknown, Unknown)}, "",
			"3600 3600", "32400", []string{"1 job without a time limit, each with 3,600 s, as no job tells one", "1 job without a time limit, still running"}},
		"no queue told": {[]Job{job("r", "a", Runs, 0, 0, 10, 50), job("w", "", Waits, 0, Unknown, Unknown, 60)}, "a",
			"40 60", "10", []string{"1 job waiting without the name of a partition or queue, taken for a (w)"}},
	} {
		a := model.NewAccount("x", "")
		log := require.Value(Take("Slurm", x.all, nil, &Options{Pending: true, Partition: x.partition}, a))(t)
		var times []string
		for k := range log.Jobs {
			times = append(times, fmt.Sprint(log.Jobs[k].Runtime))
		}
		require.Is(t, x.times, strings.Join(times, " "), name)
		begin, _ := log.Header.Get("UnixStartTime")
		require.Is(t, x.begin, begin, name)
		require.Says(t, name, strings.Join(a.Lines(), "\n"), x.says...)
	}
	all := []Job{job("r", "a", Runs, 0, 0, 10, 50), job("w", "", Waits, 0, Unknown, Unknown, 60)}
	require.Refused(t, "no such queue", require.Err(Take("Grid Engine", all, nil, &Options{Pending: true, Partition: "b"}, model.NewAccount("x", ""))),
		model.ErrInvalid, "no job of the partition or queue b")
	require.OK(t, require.Err(Take("Grid Engine", all, []Node{{Partitions: []string{"b"}, CPUs: 1, Up: true}}, &Options{Pending: true, Partition: "b"}, model.NewAccount("x", ""))))
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
