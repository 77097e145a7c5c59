// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

var consolidationRelations = []relation{
	relates("renamed", renameConsolidation),
	relates("amounts scaled", scaleAmounts),
	relates("prices scaled", scalePrices),
	relates("move costs scaled", scaleMoves),
	relates("an idle host", idleHost),
	relates("a rule less", ruleLess),
	relates("a host closed", closedHost),
	relates("a job pinned", pinnedJob),
	relates("tasks split", splitTasks),
	relates("a higher cost limit", higherLimit),
	relates("a higher move budget", higherBudget),
	relates("a limit less", limitLess),
	relates("joined with itself", joinConsolidation),
	relates("a job less", consolidationJobLess),
}

// noBetter is the implication of relations that can only worsen the optimum.
func noBetter(sense model.Sense, c claim) claim {
	d := unknown()
	if d.infeasible = c.infeasible; d.infeasible {
		return d
	}
	if sense == model.Maximise {
		d.high = c.high
	} else {
		d.low = c.low
	}
	return d
}

// rename gives names, in place, by a function.
func rename(names []string, to func(string) string) {
	for k, x := range names {
		if x != "" {
			names[k] = to(x)
		}
	}
}

// prefixed puts a prefix before each id and each value of a label.
func prefixed(c *model.Consolidation, prefix string) {
	to := func(x string) string { return prefix + x }
	labels := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		for key, x := range all {
			all[key] = to(x)
		}
		return all
	}
	counts := func(all []model.HostCount) []model.HostCount {
		all = slices.Clone(all)
		for i := range all {
			if x := &all[i]; x.Host != "" {
				x.Host = to(x.Host)
			} else {
				x.Offer = to(x.Offer)
			}
		}
		return all
	}
	for k := range c.Hosts {
		c.Hosts[k].ID, c.Hosts[k].Labels = to(c.Hosts[k].ID), labels(c.Hosts[k].Labels)
	}
	for k := range c.Offers {
		c.Offers[k].ID, c.Offers[k].Labels = to(c.Offers[k].ID), labels(c.Offers[k].Labels)
	}
	for k := range c.HostSets {
		s := &c.HostSets[k]
		s.ID = to(s.ID)
		rename(s.Hosts, to)
		rename(s.Offers, to)
	}
	for k := range c.Jobs {
		j := &c.Jobs[k]
		if j.ID = to(j.ID); j.Allowed != "" {
			j.Allowed = to(j.Allowed)
		}
		rename(j.CurrentHosts, to)
	}
	for k := range c.Rules {
		r := &c.Rules[k]
		if r.ID = to(r.ID); r.Among != "" {
			r.Among = to(r.Among)
		}
		rename(r.Jobs, to)
		rename(r.Others, to)
		r.Standing = counts(r.Standing)
	}
	for k := range c.Limits {
		c.Limits[k].ID, c.Limits[k].Counts = to(c.Limits[k].ID), counts(c.Limits[k].Counts)
	}
}

// renameConsolidation: nothing depends on names or on the order of lists.
func renameConsolidation(c *model.Consolidation, rng *rand.Rand) implication {
	prefixed(c, "x")
	shuffled(rng, c.Hosts)
	shuffled(rng, c.Offers)
	shuffled(rng, c.Jobs)
	shuffled(rng, c.Rules)
	return same
}

// scaleAmounts: a resource in a smaller unit is as scarce.
func scaleAmounts(c *model.Consolidation, rng *rand.Rand) implication {
	r, factor := rng.IntN(len(c.Resources)), int64(2+rng.IntN(1000))
	for k := range c.Hosts {
		c.Hosts[k].Capacity[r] *= factor
	}
	for k := range c.Offers {
		c.Offers[k].Capacity[r] *= factor
	}
	for k := range c.Jobs {
		c.Jobs[k].Needs[r] *= factor
	}
	return same
}

// scalePrices: prices in a smaller unit order plans as before.
func scalePrices(c *model.Consolidation, rng *rand.Rand) implication {
	factor := int64(2 + rng.IntN(1000))
	for k := range c.Hosts {
		c.Hosts[k].Price *= factor
	}
	for k := range c.Offers {
		c.Offers[k].Price *= factor
	}
	for k := range c.Jobs {
		if x := c.Jobs[k].LeaveOutCost; x != nil {
			*x *= factor
		}
	}
	if c.CostLimit != nil {
		*c.CostLimit *= factor
	}
	if c.Goal == model.GoalMoves {
		return same
	}
	return times(float64(factor))
}

func scaleMoves(c *model.Consolidation, rng *rand.Rand) implication {
	factor := int64(2 + rng.IntN(100))
	for k := range c.Jobs {
		c.Jobs[k].MoveCost = c.Jobs[k].Moving() * factor
	}
	if c.MoveBudget != nil {
		*c.MoveBudget *= factor
	}
	if c.Goal == model.GoalMoves {
		return times(float64(factor))
	}
	return same
}

// idleHost adds a host, which a spread over all hosts would have to fill.
func idleHost(c *model.Consolidation, rng *rand.Rand) implication {
	for _, r := range c.Rules {
		if r.Type == model.RuleSpread && r.Domain == "" && r.Among == "" {
			return nil
		}
	}
	h := clone(c).Hosts[rng.IntN(len(c.Hosts))]
	h.ID, h.Labels, h.Kept = "idle", nil, false
	c.Hosts = slices.Insert(c.Hosts, rng.IntN(len(c.Hosts)+1), h)
	return noWorse
}

func ruleLess(c *model.Consolidation, rng *rand.Rand) implication {
	if len(c.Rules) == 0 {
		return nil
	}
	k := rng.IntN(len(c.Rules))
	c.Rules = slices.Delete(c.Rules, k, k+1)
	return noWorse
}

func limitLess(c *model.Consolidation, rng *rand.Rand) implication {
	if len(c.Limits) == 0 {
		return nil
	}
	k := rng.IntN(len(c.Limits))
	c.Limits = slices.Delete(c.Limits, k, k+1)
	return noWorse
}

func closedHost(c *model.Consolidation, rng *rand.Rand) implication {
	c.Hosts[rng.IntN(len(c.Hosts))].Closed = true
	return noBetter
}

func pinnedJob(c *model.Consolidation, rng *rand.Rand) implication {
	j := &c.Jobs[rng.IntN(len(c.Jobs))]
	if len(j.CurrentHosts) == 0 || slices.Contains(j.CurrentHosts, "") {
		return nil
	}
	j.Pinned = true
	return noBetter
}

// splitTasks makes each task a job: rules speak of tasks, whatever their job.
func splitTasks(c *model.Consolidation, _ *rand.Rand) implication {
	var jobs []model.ConsolidationJob
	parts := map[string][]string{}
	for _, j := range c.Jobs {
		for k := range j.Tasks {
			one := j
			one.ID, one.Tasks, one.CurrentHosts = fmt.Sprintf("%s.%d", j.ID, k), 1, nil
			if now := j.Current(k); now != "" {
				one.CurrentHosts = []string{now}
			}
			parts[j.ID] = append(parts[j.ID], one.ID)
			jobs = append(jobs, one)
		}
	}
	if len(jobs) == len(c.Jobs) {
		return nil
	}
	split := func(ids []string) (all []string) {
		for _, id := range ids {
			all = append(all, parts[id]...)
		}
		return all
	}
	for k := range c.Rules {
		c.Rules[k].Jobs, c.Rules[k].Others = split(c.Rules[k].Jobs), split(c.Rules[k].Others)
	}
	c.Jobs = jobs
	return same
}

func higherLimit(c *model.Consolidation, rng *rand.Rand) implication {
	if c.CostLimit == nil {
		return nil
	}
	*c.CostLimit += int64(1 + rng.IntN(5))
	return noWorse
}

func higherBudget(c *model.Consolidation, rng *rand.Rand) implication {
	if c.MoveBudget == nil {
		return nil
	}
	*c.MoveBudget += int64(1 + rng.IntN(3))
	return noWorse
}

// joinConsolidation: two clusters cost the sum if no task may leave its own.
func joinConsolidation(c *model.Consolidation, _ *rand.Rand) implication {
	if c.CostLimit != nil || c.MoveBudget != nil || len(c.Limits) > 0 || c.Tasks() > 24 {
		return nil
	}
	all := model.HostSet{ID: "all of them"}
	for k := range c.Hosts {
		all.Hosts = append(all.Hosts, c.Hosts[k].ID)
	}
	for k := range c.Offers {
		all.Offers = append(all.Offers, c.Offers[k].ID)
	}
	c.HostSets = append(c.HostSets, all)
	for k := range c.Jobs {
		if c.Jobs[k].Allowed == "" {
			c.Jobs[k].Allowed = all.ID
		}
	}
	for k := range c.Rules {
		if r := &c.Rules[k]; r.Type == model.RuleSpread && r.Among == "" {
			r.Among = all.ID
		}
	}
	again := clone(c)
	prefixed(again, "again-")
	c.Hosts, c.Offers, c.HostSets = append(c.Hosts, again.Hosts...), append(c.Offers, again.Offers...), append(c.HostSets, again.HostSets...)
	c.Jobs, c.Rules = append(c.Jobs, again.Jobs...), append(c.Rules, again.Rules...)
	return times(2)
}

// consolidationJobLess leaves out a job that no rule wants together with others.
func consolidationJobLess(c *model.Consolidation, rng *rand.Rand) implication {
	k := rng.IntN(len(c.Jobs))
	id := c.Jobs[k].ID
	for _, r := range c.Rules {
		if slices.Contains(r.Jobs, id) || slices.Contains(r.Others, id) {
			return nil
		}
	}
	c.Jobs = slices.Delete(c.Jobs, k, k+1)
	return noWorseIf(len(c.Jobs) > 0)
}
