// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

var vcschedRelations = []relation{
	relates("renamed", renameVCSched),
	relates("half the CPU needs", halfCPU),
	relates("host by host", hostByHost),
	relates("idle resources", idleResource),
	relates("half the size of memory", halfMemory),
	relates("without further resources", withoutResources),
	relates("an empty host", emptyHost),
	relates("a host and a job that fills its memory", fillerJob),
	relates("parallel jobs split", splitJobs),
	relates("no budget", noBudget),
	relates("a budget for all", budgetForAll),
	relates("joined with itself", joinVCSched),
	relates("a job less", jobLess),
}

// addHost gives v another host, as large as the largest of v in everything.
func addHost(v *model.VCSched) {
	v.Hosts++
	if len(v.HostSizes) == 0 {
		return
	}
	most := model.HostSize{Count: 1, Resources: make([]float64, len(v.Resources))}
	for _, s := range v.HostSizes {
		most.CPU, most.Memory = max(most.CPU, s.CPU), max(most.Memory, s.Memory)
		for r, x := range s.Resources {
			most.Resources[r] = max(most.Resources[r], x)
		}
	}
	v.HostSizes = append(v.HostSizes, most)
}

// hostByHost gives a size for each host, with the same meaning as runs of equal hosts.
func hostByHost(c *model.VCSched, _ *rand.Rand) implication {
	var sizes []model.HostSize
	for h := range c.Hosts {
		s := c.Capacity(h)
		s.Count, s.Resources = 1, slices.Clone(s.Resources)
		sizes = append(sizes, s)
	}
	c.HostSizes = sizes
	return same
}

// renameVCSched: hosts have no order, nor have jobs and resources.
func renameVCSched(c *model.VCSched, rng *rand.Rand) implication {
	host := rng.Perm(c.Hosts)
	if len(c.HostSizes) > 0 {
		hostByHost(c, rng)
		old := slices.Clone(c.HostSizes)
		for h, to := range host {
			c.HostSizes[to] = old[h]
		}
	}
	slices.Reverse(c.Resources)
	for k := range c.HostSizes {
		slices.Reverse(c.HostSizes[k].Resources)
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		slices.Reverse(j.Resources)
		j.ID = fmt.Sprintf("x%d", i)
		for k, h := range j.CurrentHosts {
			j.CurrentHosts[k] = host[h]
		}
	}
	shuffled(rng, c.Jobs)
	return same
}

// halfCPU: with half the CPU needs every load is half, so the yield, the smaller of 1
// and 1 over the largest load, doubles up to 1.
func halfCPU(c *model.VCSched, _ *rand.Rand) implication {
	for i := range c.Jobs {
		c.Jobs[i].CPU /= 2
	}
	return func(_ model.Sense, k claim) claim {
		k.low, k.high = min(1, 2*k.low), min(1, 2*k.high)
		return k
	}
}

// idleResource adds a resource that no job needs, or that is short only where memory is.
func idleResource(c *model.VCSched, rng *rand.Rand) implication {
	zero := rng.IntN(2) == 0
	c.Resources = append(c.Resources, "idle")
	for i := range c.Jobs {
		need := c.Jobs[i].Memory
		if zero {
			need = 0
		}
		c.Jobs[i].Resources = append(c.Jobs[i].Resources, need)
	}
	for k := range c.HostSizes {
		c.HostSizes[k].Resources = append(c.HostSizes[k].Resources, c.HostSizes[k].Memory)
	}
	return same
}

// halfMemory: halves of a resource are as short as it is; the tolerance counts twice.
func halfMemory(c *model.VCSched, rng *rand.Rand) implication {
	hostByHost(c, rng)
	for k := range c.HostSizes {
		c.HostSizes[k].Memory /= 2
	}
	for i := range c.Jobs {
		c.Jobs[i].Memory /= 2
	}
	if c.MigrationBudget != nil {
		*c.MigrationBudget /= 2
	}
	return noWorse
}

func withoutResources(c *model.VCSched, _ *rand.Rand) implication {
	some := len(c.Resources) > 0
	c.Resources = nil
	for i := range c.Jobs {
		c.Jobs[i].Resources = nil
	}
	for k := range c.HostSizes {
		c.HostSizes[k].Resources = nil
	}
	return noWorseIf(some)
}

// emptyHost: a placement stays feasible with one more host.
func emptyHost(c *model.VCSched, _ *rand.Rand) implication {
	addHost(c)
	return noWorse
}

// fillerJob adds a job that can have a new host for itself; a placement without it,
// though, may put others there.
func fillerJob(c *model.VCSched, _ *rand.Rand) implication {
	addHost(c)
	c.Jobs = append(c.Jobs, model.VCSchedJob{ID: "filler", Tasks: 1, CPU: 1, Memory: 1, Resources: make([]float64, len(c.Resources))})
	return noWorseIf(len(c.HostSizes) == 0)
}

// splitJobs: the tasks of the worst-off job decide, whether they have a name of their
// own or not.
func splitJobs(c *model.VCSched, _ *rand.Rand) implication {
	var jobs []model.VCSchedJob
	for _, j := range c.Jobs {
		for k := range j.Tasks {
			one := j
			one.ID, one.Tasks, one.CurrentHosts = fmt.Sprintf("%s.%d", j.ID, k), 1, nil
			if len(j.CurrentHosts) > 0 {
				one.CurrentHosts = []int{j.CurrentHosts[k]}
			}
			jobs = append(jobs, one)
		}
	}
	split := len(jobs) != len(c.Jobs)
	c.Jobs = jobs
	if !split {
		return nil
	}
	return same
}

func noBudget(c *model.VCSched, _ *rand.Rand) implication {
	limited := c.MigrationBudget != nil
	c.MigrationBudget = nil
	return noWorseIf(limited)
}

// budgetForAll: a budget for everything that runs is none.
func budgetForAll(c *model.VCSched, _ *rand.Rand) implication {
	if c.MigrationBudget != nil {
		return nil
	}
	all := float64(c.Tasks()) + 1
	c.MigrationBudget = &all
	return same
}

// joinVCSched: each half can be placed as before.
func joinVCSched(c *model.VCSched, rng *rand.Rand) implication {
	again, tasks := clone(c), c.Tasks()
	for _, j := range again.Jobs {
		j.ID = "again-" + j.ID
		for k := range j.CurrentHosts {
			j.CurrentHosts[k] += c.Hosts
		}
		c.Jobs = append(c.Jobs, j)
	}
	c.Hosts *= 2
	c.HostSizes = append(c.HostSizes, again.HostSizes...)
	shuffled(rng, c.Jobs)
	return noWorseIf(c.MigrationBudget == nil && tasks <= 30)
}

// jobLess: a job less leaves the others where they were.
func jobLess(c *model.VCSched, rng *rand.Rand) implication {
	k := rng.IntN(len(c.Jobs))
	c.Jobs = slices.Delete(c.Jobs, k, k+1)
	return noWorseIf(len(c.Jobs) > 0)
}
