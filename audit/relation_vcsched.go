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
	c.Jobs = slices.Clone(v.Jobs)
	for i := range c.Jobs {
		c.Jobs[i].CurrentHosts = slices.Clone(c.Jobs[i].CurrentHosts)
	}
	if v.MigrationBudget != nil {
		b := *v.MigrationBudget
		c.MigrationBudget = &b
	}
	return &c
}

func vcschedRelations() []relation {
	add := func(name string, other func(*model.VCSched, *rand.Rand) (*model.VCSched, bool), implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, other, implies)
	}
	return []relation{
		// Hosts are alike, and jobs have no order.
		add("renamed", func(v *model.VCSched, rng *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			host := rng.Perm(v.Hosts)
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
		// A placement stays feasible with one more host.
		add("an empty host", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.Hosts++
			return c, true
		}, noWorse),
		// The new job can have the new host for itself; a placement without
		// it, though, may put others there.
		add("a host and a job that fills its memory", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.Hosts++
			c.Jobs = append(c.Jobs, model.VCSchedJob{ID: "filler", Tasks: 1, CPU: 1, Memory: 1})
			return c, true
		}, noWorse),
		// The tasks of the worst-off job decide, whether they have a name of
		// their own or not.
		add("parallel jobs split", func(v *model.VCSched, _ *rand.Rand) (*model.VCSched, bool) {
			c := copyVCSched(v)
			c.Jobs = nil
			for i := range v.Jobs {
				j := &v.Jobs[i]
				for k := range j.Tasks {
					one := model.VCSchedJob{ID: fmt.Sprintf("%s.%d", j.ID, k), Tasks: 1, CPU: j.CPU, Memory: j.Memory}
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
