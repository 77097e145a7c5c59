// SPDX-License-Identifier: MIT

package features

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// VCSched returns the features of an instance. O(jobs).
func VCSched(v *model.VCSched) []Feature {
	var cpu, memory moments
	most, running := 0, 0
	for i := range v.Jobs {
		j := &v.Jobs[i]
		cpu.add(j.CPU, float64(j.Tasks))
		memory.add(j.Memory, float64(j.Tasks))
		most = max(most, j.Tasks)
		if len(j.CurrentHosts) > 0 {
			running++
		}
	}
	budget := math.NaN()
	if v.MigrationBudget != nil {
		budget = *v.MigrationBudget
	}
	// The hosts' total of the CPU and of each rigid resource, memory first.
	has, have := 0.0, make([]float64, 1+len(v.Resources))
	for _, s := range v.Sizes() {
		has += float64(s.Count) * s.CPU
		for r := range have {
			have[r] += float64(s.Count) * s.Rigid(r-1)
		}
	}
	scarcest := math.NaN()
	for r := range have {
		need := 0.0
		for i := range v.Jobs {
			need += float64(v.Jobs[i].Tasks) * v.Jobs[i].Rigid(r-1)
		}
		if load := need / have[r]; have[r] > 0 && !(load <= scarcest) {
			scarcest = load
		}
	}
	hosts, jobs := float64(v.Hosts), float64(len(v.Jobs))
	return []Feature{
		{"hosts", "", "number of hosts", hosts},
		{"jobs", "", "number of jobs", jobs},
		{"tasks", "", "number of tasks of all jobs together", float64(v.Tasks())},
		{"load", "", "CPU needs of all tasks, divided by the hosts' CPU", cpu.sum / has},
		{"memory_load", "", "memory needs of all tasks, divided by the hosts' memory", memory.sum / have[0]},
		{"rigid_load", "", "the same for the scarcest rigid resource, including memory", scarcest},
		{"slack", "", "share of the hosts' memory that is free", 1 - memory.sum/have[0]},
		{"resources", "", "number of rigid resources in addition to memory", float64(len(v.Resources))},
		{"host_sizes", "", "number of different kinds of hosts", float64(len(v.Sizes()))},
		{"mean_cpu", "", "mean CPU need of a task, in hosts", cpu.mean()},
		{"cov_cpu", "", "coefficient of variation of the tasks' CPU needs", cpu.cov()},
		{"cov_memory", "", "coefficient of variation of the tasks' memory needs", memory.cov()},
		{"max_tasks", "", "tasks of the largest job", float64(most)},
		{"running", "", "share of the jobs that already run", float64(running) / jobs},
		{"budget", "", "memory that may move, in hosts", budget},
	}
}
