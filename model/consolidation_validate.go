// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
)

// maxAmount bounds amounts of resources, maxPrice prices and costs, so that sums over
// maxSize hosts or tasks are whole numbers that a float64 holds.
const (
	maxAmount = 1 << 53
	maxPrice  = 100_000_000
)

// Validate reports the first broken rule. The rules are: distinct non-empty ids of resources, hosts, offers, host sets,
// jobs and rules; amounts, prices and costs in range and one for each resource; places that exist; a place for each
// pinned task; sets, jobs and domains that exist if rules name them.
func (c *Consolidation) Validate() error {
	at := func(list string, k int, format string, args ...any) error {
		return &ElementError{Kind: KindConsolidation, List: list, Index: k, Reason: fmt.Sprintf(format, args...)}
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w consolidation instance: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	ids := map[string]map[string]bool{}
	// named adds an id to a list's, which must be new.
	named := func(list string, k int, id string) error {
		if ids[list] == nil {
			ids[list] = map[string]bool{}
		}
		if id == "" {
			return at(list, k, "id is missing or empty")
		}
		if ids[list][id] {
			return at(list, k, "id %q is taken already", id)
		}
		ids[list][id] = true
		return nil
	}
	switch {
	case c.Goal != "" && c.Goal != GoalCost && c.Goal != GoalMoves:
		return bad("goal is %q, must be %q or %q", c.Goal, GoalCost, GoalMoves)
	case len(c.Resources) == 0 || len(c.Resources) > maxResources:
		return bad("resources has %d entries, must have from 1 to %d", len(c.Resources), maxResources)
	case len(c.Hosts) == 0 && len(c.Offers) == 0:
		return bad("hosts and offers are both empty")
	case len(c.Hosts) > maxSize:
		return bad("hosts has %d entries, must have at most %d", len(c.Hosts), maxSize)
	case len(c.Jobs) == 0:
		return bad("jobs is empty, must hold at least one job")
	case c.MoveBudget != nil && *c.MoveBudget < 0 || c.CostLimit != nil && *c.CostLimit < 0:
		return bad("move_budget and cost_limit must be at least 0")
	}
	for r, name := range c.Resources {
		if name == "" || slices.Contains(c.Resources[:r], name) {
			return bad("resources[%d] is %q, must be a name that no other has", r, name)
		}
	}
	amounts := func(list string, k int, key string, all []int64) error {
		if len(all) != len(c.Resources) {
			return at(list, k, "%s has %d entries, must have one for each of the %d resources", key, len(all), len(c.Resources))
		}
		for r, x := range all {
			if x < 0 || x > maxAmount {
				return at(list, k, "%s[%d] is %d, must be from 0 to %d", key, r, x, int64(maxAmount))
			}
		}
		return nil
	}
	host := func(list string, k int, id string, capacity []int64, price int64, labels map[string]string) error {
		if err := named(list, k, id); err != nil {
			return err
		}
		if err := amounts(list, k, "capacity", capacity); err != nil {
			return err
		}
		if price < 0 || price > maxPrice {
			return at(list, k, "price is %d, must be from 0 to %d", price, maxPrice)
		}
		for key, value := range labels {
			if key == "" || value == "" {
				return at(list, k, "labels has %q: %q, neither may be empty", key, value)
			}
		}
		return nil
	}
	for k := range c.Hosts {
		h := &c.Hosts[k]
		if err := host("hosts", k, h.ID, h.Capacity, h.Price, h.Labels); err != nil {
			return err
		}
	}
	for k := range c.Offers {
		o := &c.Offers[k]
		if err := host("offers", k, o.ID, o.Capacity, o.Price, o.Labels); err != nil {
			return err
		}
		if o.Count < 1 || o.Count > maxSize {
			return at("offers", k, "count is %d, must be from 1 to %d", o.Count, maxSize)
		}
	}
	for k := range c.HostSets {
		s := &c.HostSets[k]
		if err := named("host_sets", k, s.ID); err != nil {
			return err
		}
		for i, id := range s.Hosts {
			if !ids["hosts"][id] {
				return at("host_sets", k, "hosts[%d] is %q, which doesn't exist", i, id)
			}
		}
		for i, id := range s.Offers {
			if !ids["offers"][id] {
				return at("host_sets", k, "offers[%d] is %q, which doesn't exist", i, id)
			}
		}
	}
	tasks := 0
	for k := range c.Jobs {
		if err := c.validJob(k, &tasks, ids, named, amounts, at); err != nil {
			return err
		}
	}
	for k := range c.Rules {
		r := &c.Rules[k]
		if err := named("rules", k, r.ID); err != nil {
			return err
		}
		if err := r.validate(k, ids, at); err != nil {
			return err
		}
	}
	for k := range c.Limits {
		l := &c.Limits[k]
		if err := named("limits", k, l.ID); err != nil {
			return err
		}
		if l.Most < 0 || l.Most > maxAmount {
			return at("limits", k, "most is %d, must be from 0 to %d", l.Most, int64(maxAmount))
		}
		if err := validCounts("limits", k, "counts", l.Counts, maxAmount, ids, at); err != nil {
			return err
		}
		seen := map[HostCount]bool{}
		for i, x := range l.Counts {
			if x.Count = 0; seen[x] {
				return at("limits", k, "counts[%d] names %q twice", i, x.Host+x.Offer)
			}
			seen[x] = true
		}
	}
	return nil
}

type elementError func(list string, k int, format string, args ...any) error

func (c *Consolidation) validJob(k int, tasks *int, ids map[string]map[string]bool, named func(string, int, string) error,
	amounts func(string, int, string, []int64) error, at elementError) error {
	j := &c.Jobs[k]
	if err := named("jobs", k, j.ID); err != nil {
		return err
	}
	if j.Tasks < 1 || j.Tasks > maxSize {
		return at("jobs", k, "tasks is %d, must be from 1 to %d", j.Tasks, maxSize)
	}
	if *tasks += j.Tasks; *tasks > maxSize {
		return at("jobs", k, "more than %d tasks in all", maxSize)
	}
	if err := amounts("jobs", k, "needs", j.Needs); err != nil {
		return err
	}
	if n := len(j.CurrentHosts); n != 0 && n != j.Tasks {
		return at("jobs", k, "current_hosts has %d entries, must have one for each of the %d tasks or none", n, j.Tasks)
	}
	for i, h := range j.CurrentHosts {
		if h != "" && !ids["hosts"][h] {
			return at("jobs", k, "current_hosts[%d] is %q, which doesn't exist", i, h)
		}
	}
	if j.Pinned && (len(j.CurrentHosts) == 0 || slices.Contains(j.CurrentHosts, "")) {
		return at("jobs", k, "pinned tasks must have current hosts")
	}
	if j.Allowed != "" && !ids["host_sets"][j.Allowed] {
		return at("jobs", k, "allowed is %q, which is no host set", j.Allowed)
	}
	if j.MoveCost < 0 || j.MoveCost > maxPrice || j.LeaveOutCost != nil && (*j.LeaveOutCost < 0 || *j.LeaveOutCost > maxPrice) {
		return at("jobs", k, "move_cost and leave_out_cost must be from 0 to %d", maxPrice)
	}
	return nil
}

func (r *PlacementRule) validate(k int, ids map[string]map[string]bool, at elementError) error {
	if len(r.Jobs) == 0 {
		return at("rules", k, "jobs is empty")
	}
	for key, all := range [][]string{r.Jobs, r.Others} {
		list, seen := []string{"jobs", "others"}[key], map[string]bool{}
		for i, id := range all {
			if !ids["jobs"][id] {
				return at("rules", k, "%s[%d] is %q, which is no job", list, i, id)
			}
			if seen[id] {
				return at("rules", k, "%s[%d] names %q twice", list, i, id)
			}
			seen[id] = true
		}
	}
	switch r.Type {
	case RuleApart, RuleTogether:
		if r.MaxSkew != 0 || r.Among != "" || r.MinDomains != 0 || len(r.Standing) > 0 {
			return at("rules", k, "max_skew, min_domains, among and standing are for %q", RuleSpread)
		}
	case RuleSpread:
		if r.MaxSkew < 1 || r.MaxSkew > maxSize {
			return at("rules", k, "max_skew is %d, must be from 1 to %d", r.MaxSkew, maxSize)
		}
		if r.Among != "" && !ids["host_sets"][r.Among] {
			return at("rules", k, "among is %q, which is no host set", r.Among)
		}
		if r.MinDomains < 0 || r.MinDomains > maxSize {
			return at("rules", k, "min_domains is %d, must be from 0 to %d", r.MinDomains, maxSize)
		}
		return validCounts("rules", k, "standing", r.Standing, maxSize, ids, at)
	default:
		return at("rules", k, "type is %q, must be %q, %q or %q", r.Type, RuleApart, RuleTogether, RuleSpread)
	}
	return nil
}

// validCounts checks that each count names a host or an offer, and that all are at most a sum together.
func validCounts(list string, k int, key string, all []HostCount, most int64, ids map[string]map[string]bool, at elementError) error {
	for i, x := range all {
		switch {
		case (x.Host == "") == (x.Offer == ""), x.Host != "" && !ids["hosts"][x.Host], x.Offer != "" && !ids["offers"][x.Offer]:
			return at(list, k, "%s[%d] must name a host or an offer that exists, it has %q and %q", key, i, x.Host, x.Offer)
		case x.Count < 1 || x.Count > most:
			return at(list, k, "%s[%d] counts %d, must be from 1 to %d, so that the sum is in range", key, i, x.Count, most)
		}
		most -= x.Count
	}
	return nil
}
