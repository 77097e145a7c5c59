// SPDX-License-Identifier: MIT

package features

import (
	"math"

	"github.com/gapwise/gapwise/model"
)

// Consolidation returns the features of an instance. O(tasks + hosts × resources).
func Consolidation(c *model.Consolidation) []Feature {
	var pinned, running float64
	used := map[string]bool{}
	need, have := make([]float64, len(c.Resources)), make([]float64, len(c.Resources))
	for i := range c.Jobs {
		j := &c.Jobs[i]
		if j.Pinned {
			pinned += float64(j.Tasks)
		}
		for r, x := range j.Needs {
			need[r] += float64(x) * float64(j.Tasks)
		}
		for _, h := range j.CurrentHosts {
			if h != "" {
				running++
				used[h] = true
			}
		}
	}
	load := math.NaN()
	for h := range c.Hosts {
		for r, x := range c.Hosts[h].Capacity {
			have[r] += float64(x)
		}
	}
	for r := range need {
		if x := need[r] / have[r]; have[r] > 0 && !(x <= load) {
			load = x
		}
	}
	return []Feature{
		{"hosts", "", "number of hosts", float64(len(c.Hosts))},
		{"jobs", "", "number of jobs", float64(len(c.Jobs))},
		{"tasks", "", "number of tasks of all jobs together", float64(c.Tasks())},
		{"load", "", "need of the scarcest resource, divided by the hosts' capacity", load},
		{"in_use", "", "number of hosts with tasks now", float64(len(used))},
		{"running", "", "number of tasks that have a host now", running},
		{"pinned", "", "number of tasks that can't move", pinned},
		{"rules", "", "number of rules", float64(len(c.Rules))},
	}
}
