package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// copyVCSched returns a copy that shares no memory with v.
func copyVCSched(v *model.VCSched) *model.VCSched {
	c := *v
	c.Jobs, c.Resources, c.HostSizes = slices.Clone(v.Jobs), slices.Clone(v.Resources), slices.Clone(v.HostSizes)
	for i := range c.HostSizes {
		c.HostSizes[i].Resources = slices.Clone(c.HostSizes[i].Resources)
	}
	for i := range c.Jobs {
		c.Jobs[i].Resources = slices.Clone(c.Jobs[i].Resources)
		c.Jobs[i].CurrentHosts = slices.Clone(c.Jobs[i].CurrentHosts)
	}
	if v.MigrationBudget != nil {
		b := *v.MigrationBudget
		c.MigrationBudget = &b
	}
	return &c
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

// spelled returns a copy whose host sizes are given, one entry for each host.
func spelled(v *model.VCSched) *model.VCSched {
	c := copyVCSched(v)
	c.HostSizes = nil
	for h := range v.Hosts {
		s := v.Capacity(h)
		s.Count, s.Resources = 1, slices.Clone(s.Resources)
		c.HostSizes = append(c.HostSizes, s)
	}
	return c
}

// addResource gives v a resource of the given name, needs and amounts on hosts.
func addResource(v *model.VCSched, name string, need func(j *model.VCSchedJob) float64, has func(s *model.HostSize) float64) {
	v.Resources = append(v.Resources, name)
	for i := range v.Jobs {
		v.Jobs[i].Resources = append(v.Jobs[i].Resources, need(&v.Jobs[i]))
	}
	for k := range v.HostSizes {
		v.HostSizes[k].Resources = append(v.HostSizes[k].Resources, has(&v.HostSizes[k]))
	}
}

func vcschedRelations() []relation {
	add := func(name string, other func(*model.VCSched, *rand.Rand) (*model.VCSched, bool), implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, other, implies)
	}
	return []relation{
		// Hosts have no order, nor have jobs and resources.
		add("renamed", func(v *model.VCSched, rng *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			host := rng.Perm(v.Hosts)
			if len(v.HostSizes) > 0 {
				old := spelled(v).HostSizes
				c.HostSizes = slices.Clone(old)
				for h, to := range host {
					c.HostSizes[to] = old[h]
				}
			}
			if n := len(v.Resources); n > 1 {
				slices.Reverse(c.Resources)
				for i := range c.Jobs {
					slices.Reverse(c.Jobs[i].Resources)
				}
				for k := range c.HostSizes {
					c.HostSizes[k].Resources = slices.Clone(c.HostSizes[k].Resources)
					slices.Reverse(c.HostSizes[k].Resources)
				}
			}
			for i := range c.Jobs {
				c.Jobs[i].ID = fmt.Sprintf("x%d", i)
				for k, h := range c.Jobs[i].CurrentHosts {
					c.Jobs[i].CurrentHosts[k] = host[h]
				}
			}
			rng.Shuffle(len(c.Jobs), func(a, b int) { c.Jobs[a], c.Jobs[b] = c.Jobs[b], c.Jobs[a] })
			return c, true
		}, same),
		// With half the CPU needs every load is half, so the yield, the
		// smaller of 1 and 1 over the largest load, doubles up to 1.
		add("half the CPU needs", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			for i := range c.Jobs {
				c.Jobs[i].CPU /= 2
			}
			return c, c.Validate() == nil
		}, func(_, _ model.Instance, c claim) claim {
			c.low, c.high = min(1, 2*c.low), min(1, 2*c.high)
			return c
		}),
		// A size for each host says what runs of equal hosts say.
		add("host by host", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			return spelled(v), true
		}, same),
		// What nobody needs, and what is short only where memory is, changes nothing.
		add("idle resources", func(v *model.VCSched, rng *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			zero := rng.IntN(2) == 0
			addResource(c, "idle", func(j *model.VCSchedJob) float64 {
				if zero {
					return 0
				}
				return j.Memory
			}, func(s *model.HostSize) float64 { return s.Memory })
			return c, true
		}, same),
		// Halves of a resource are as short as it is; the tolerance counts twice.
		add("half the size of memory", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := spelled(v)
			for k := range c.HostSizes {
				c.HostSizes[k].Memory /= 2
			}
			for i := range c.Jobs {
				c.Jobs[i].Memory /= 2
			}
			if c.MigrationBudget != nil {
				*c.MigrationBudget /= 2
			}
			return c, c.Validate() == nil
		}, noWorse),
		add("without further resources", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.Resources = nil
			for i := range c.Jobs {
				c.Jobs[i].Resources = nil
			}
			for k := range c.HostSizes {
				c.HostSizes[k].Resources = nil
			}
			return c, len(v.Resources) > 0
		}, noWorse),
		// A placement stays feasible with one more host.
		add("an empty host", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			addHost(c)
			return c, true
		}, noWorse),
		// The new job can have the new host for itself; a placement without
		// it, though, may put others there.
		add("a host and a job that fills its memory", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			addHost(c)
			c.Jobs = append(c.Jobs, model.VCSchedJob{ID: "filler", Tasks: 1, CPU: 1, Memory: 1, Resources: make([]float64, len(v.Resources))})
			return c, len(v.HostSizes) == 0
		}, noWorse),
		// The tasks of the worst-off job decide, whether they have a name of
		// their own or not.
		add("parallel jobs split", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.Jobs = nil
			for i := range v.Jobs {
				j := &v.Jobs[i]
				for k := range j.Tasks {
					one := model.VCSchedJob{ID: fmt.Sprintf("%s.%d", j.ID, k), Tasks: 1, CPU: j.CPU, Memory: j.Memory, Resources: slices.Clone(j.Resources)}
					if len(j.CurrentHosts) > 0 {
						one.CurrentHosts = []int{j.CurrentHosts[k]}
					}
					c.Jobs = append(c.Jobs, one)
				}
			}
			return c, len(c.Jobs) != len(v.Jobs)
		}, same),
		add("no budget", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.MigrationBudget = nil
			return c, v.MigrationBudget != nil
		}, noWorse),
		// A budget for everything that runs is none.
		add("a budget for all", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			all := float64(v.Tasks()) + 1
			c.MigrationBudget = &all
			return c, v.MigrationBudget == nil
		}, same),
		// Each half can be placed as before.
		add("joined with itself", func(v *model.VCSched, rng *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			for _, j := range copyVCSched(v).Jobs {
				j.ID = "again-" + j.ID
				for k := range j.CurrentHosts {
					j.CurrentHosts[k] += v.Hosts
				}
				c.Jobs = append(c.Jobs, j)
			}
			c.Hosts *= 2
			c.HostSizes = append(c.HostSizes, copyVCSched(v).HostSizes...)
			rng.Shuffle(len(c.Jobs), func(a, b int) { c.Jobs[a], c.Jobs[b] = c.Jobs[b], c.Jobs[a] })
			return c, v.MigrationBudget == nil && v.Tasks() <= 30
		}, noWorse),
		// A job less leaves the others where they were.
		add("a job less", func(v *model.VCSched, rng *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			k := rng.IntN(len(c.Jobs))
			c.Jobs = slices.Delete(c.Jobs, k, k+1)
			return c, len(c.Jobs) > 0
		}, noWorse),
	}
}
