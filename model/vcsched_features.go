package model

import "math"

// Features implements Instance. O(jobs).
func (v *VCSched) Features() []Feature {
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
	hosts, jobs := float64(v.Hosts), float64(len(v.Jobs))
	return []Feature{
		{"hosts", "", "number of hosts", hosts},
		{"jobs", "", "number of jobs", jobs},
		{"tasks", "", "number of tasks of all jobs together", float64(v.Tasks())},
		{"load", "", "CPU needs of all tasks over the hosts", cpu.sum / hosts},
		{"memory_load", "", "memory needs of all tasks over the hosts", memory.sum / hosts},
		{"slack", "", "share of the hosts' memory that is free", 1 - memory.sum/hosts},
		{"mean_cpu", "", "mean CPU need of a task, in hosts", cpu.mean()},
		{"cov_cpu", "", "variation coefficient of the tasks' CPU needs", cpu.cov()},
		{"cov_memory", "", "variation coefficient of the tasks' memory needs", memory.cov()},
		{"max_tasks", "", "tasks of the largest job", float64(most)},
		{"running", "", "share of the jobs that run already", float64(running) / jobs},
		{"budget", "", "memory that may move, in hosts", budget},
	}
}
