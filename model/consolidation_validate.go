// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"slices"
)

// maxAmount bounds amounts of resources, maxPrice prices and costs, so that sums over
// maxSize hosts or tasks are whole numbers that a float64 holds.
const (
	maxAmount = 1 << 53
	maxPrice  = 100_000_000
)

// amountKey describes an amount of a resource.
var amountKey = key{most: maxAmount}

var consolidationKeys = object{about: "Tasks to place on the cheapest set of hosts, some of which run on hosts " +
	"now. Rules and allowed hosts bind what is " +
	"placed anew.",
	keys: []key{
		accountKey,
		{name: "goal", texts: []string{string(GoalCost), string(GoalMoves)}, about: "what is minimised; left out: " +
			"cost"},
		{name: "resources", few: 1, many: maxResources, distinct: true, each: &key{filled: true},
			about: "what hosts have and tasks need, with the unit: cpu_m, memory_bytes"},
		{name: "price_unit", about: "in what prices are, such as vCPU"},
		{name: "hosts", of: &consolidationHostKeys, many: maxSize},
		{name: "offers", of: &hostOfferKeys, about: "types of hosts that can be bought"},
		{name: "host_sets", of: &hostSetKeys},
		{name: "jobs", of: &consolidationJobKeys, few: 1},
		{name: "rules", of: &placementRuleKeys},
		{name: "limits", of: &hostLimitKeys},
		{name: "mend", about: "rules, allowed hosts and capacities bind tasks that stay, too"},
		{name: "move_budget", most: noLimit},
		{name: "cost_limit", most: noLimit},
	}}

// labelsKey, capacityKey and priceKey are of hosts and of offers.
var (
	capacityKey = key{name: "capacity", each: &amountKey, about: "one for each of the instance's resources"}
	priceKey    = key{name: "price", most: maxPrice}
	labelsKey   = key{name: "labels", each: &key{filled: true}, rules: `"propertyNames": {"minLength": 1}`,
		about: "the domains that the host lies in, by key"}
)

var consolidationHostKeys = object{keys: []key{
	idKey,
	capacityKey,
	priceKey,
	labelsKey,
	{name: "closed", about: "nothing is placed on it anew"},
	{name: "kept", about: "it costs its price in any case"},
}}

var hostOfferKeys = object{keys: []key{idKey, capacityKey, priceKey, labelsKey, {name: "count", least: 1, most: maxSize}}}

var hostSetKeys = object{keys: []key{idKey, {name: "hosts", each: &key{}}, {name: "offers", each: &key{}}}}

var consolidationJobKeys = object{keys: []key{
	idKey,
	{name: "tasks", least: 1, most: maxSize},
	{name: "needs", each: &amountKey, about: "one for each of the instance's resources"},
	{name: "current_hosts", each: &key{}, about: "the host of each task, empty for one that has none; left out: " +
		"none has"},
	{name: "pinned", about: "the tasks stay where they are"},
	{name: "allowed", about: "the host set that tasks may be placed on anew; left out: any host"},
	{name: "move_cost", most: maxPrice, about: "left out or 0: 1"},
	{name: "leave_out_cost", most: maxPrice, about: "for each task without a host; left out: each has one"},
}}

var placementRuleKeys = object{keys: []key{
	idKey,
	{name: "type", filled: true, texts: []string{string(RuleApart), string(RuleTogether), string(RuleSpread)}},
	{name: "domain", about: "the key of labels whose values are the domains; left out: each host is one"},
	{name: "jobs", few: 1, each: &key{filled: true}, about: "whose tasks are bound"},
	{name: "others", each: &key{filled: true}, about: "whose tasks they are held against; left out: jobs"},
	{name: "max_skew", least: 1, most: maxSize, zero: true, about: "of spread, at least 1"},
	{name: "among", about: "of spread: the host set whose hosts count, with their tasks and domains; left out: " +
		"all hosts"},
	{name: "min_domains", most: maxSize, about: "of spread: below so many domains the one that has fewest counts " +
		"as empty"},
	{name: "standing", of: &standingKeys, about: "of spread and together: tasks of no job that count, on a host or on " +
		"each one bought of an offer"},
}}

var standingKeys = object{keys: []key{{name: "host"}, {name: "offer"}, {name: "count", least: 1, most: maxSize}}}

var hostLimitKeys = object{keys: []key{
	idKey,
	{name: "most", most: maxAmount, about: "the most that the hosts in use count together"},
	{name: "counts", of: &hostCountKeys,
		about: "what hosts count, or each one bought of an offer; others nothing; left out: each host counts 1"},
}}

var hostCountKeys = object{keys: []key{{name: "host"}, {name: "offer"}, {name: "count", least: 1, most: maxAmount}}}

// Validate reports the first broken rule. The rules are: distinct non-empty ids of resources, hosts, offers, host sets,
// jobs and rules; amounts, prices and costs in range and one for each resource; places that exist; a place for each
// pinned task; sets, jobs and domains that exist if rules name them.
func (c *Consolidation) Validate() error {
	at := func(list string, k int, format string, args ...any) error {
		return &ElementError{Kind: KindConsolidation, List: list, Index: k, Reason: fmt.Sprintf(format, args...)}
	}
	ids := map[string]map[string]bool{}
	// named reports the error in the keys of element k, the struct at x, and adds its id to the list's, which must be new.
	named := func(list string, k int, id string, fit bool, o *object, x any) error {
		if ids[list] == nil {
			ids[list] = map[string]bool{}
		}
		if !fit || id == "" {
			if why := o.wrong(x); why != "" {
				return at(list, k, "%s", why)
			}
		}
		if ids[list][id] {
			return at(list, k, "id %q is taken already", id)
		}
		ids[list][id] = true
		return nil
	}
	if why := cmp.Or(consolidationKeys.wrong(c), repeatedResource(c.Resources)); why != "" {
		return at("", -1, "%s", why)
	}
	if len(c.Hosts) == 0 && len(c.Offers) == 0 {
		return at("", -1, "hosts and offers are both empty")
	}
	amounts := func(list string, k int, key string, all []int64) error {
		if why := wrongAmounts(key, all, c.Resources); why != "" {
			return at(list, k, "%s", why)
		}
		return nil
	}
	host := func(list string, k int, capacity []int64, labels map[string]string) error {
		for key, value := range labels {
			if key == "" || value == "" {
				return at(list, k, "labels has %q: %q, neither may be empty", key, value)
			}
		}
		return amounts(list, k, "capacity", capacity)
	}
	for k := range c.Hosts {
		h := &c.Hosts[k]
		fit := hold(&capacityKey, h.Capacity) && priceKey.holds(float64(h.Price))
		if err := cmp.Or(named("hosts", k, h.ID, fit, &consolidationHostKeys, h), host("hosts", k, h.Capacity, h.Labels)); err != nil {
			return err
		}
	}
	for k := range c.Offers {
		o := &c.Offers[k]
		if err := cmp.Or(named("offers", k, o.ID, false, &hostOfferKeys, o), host("offers", k, o.Capacity, o.Labels)); err != nil {
			return err
		}
	}
	for k := range c.HostSets {
		s := &c.HostSets[k]
		if err := named("host_sets", k, s.ID, false, &hostSetKeys, s); err != nil {
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
		if err := named("rules", k, r.ID, false, &placementRuleKeys, r); err != nil {
			return err
		}
		if err := r.validate(k, ids, at); err != nil {
			return err
		}
	}
	for k := range c.Limits {
		l := &c.Limits[k]
		if err := named("limits", k, l.ID, false, &hostLimitKeys, l); err != nil {
			return err
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

func (c *Consolidation) validJob(k int, tasks *int, ids map[string]map[string]bool, named func(string, int, string, bool, *object, any) error,
	amounts func(string, int, string, []int64) error, at elementError) error {
	j := &c.Jobs[k]
	key := consolidationJobKeys.key
	fit := hold(key("needs"), j.Needs) && key("tasks").holds(float64(j.Tasks)) && key("move_cost").holds(float64(j.MoveCost)) &&
		(j.LeaveOutCost == nil || key("leave_out_cost").holds(float64(*j.LeaveOutCost)))
	if err := named("jobs", k, j.ID, fit, &consolidationJobKeys, j); err != nil {
		return err
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
	return nil
}

func (r *PlacementRule) validate(k int, ids map[string]map[string]bool, at elementError) error {
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
		if r.MaxSkew != 0 || r.Among != "" || r.MinDomains != 0 {
			return at("rules", k, "max_skew, min_domains and among are for %q", RuleSpread)
		}
		if r.Type == RuleApart && len(r.Standing) > 0 {
			return at("rules", k, "standing is for %q and %q", RuleSpread, RuleTogether)
		}
	case RuleSpread:
		if r.MaxSkew < 1 {
			return at("rules", k, "max_skew is %d, must be at least 1", r.MaxSkew)
		}
		if r.Among != "" && !ids["host_sets"][r.Among] {
			return at("rules", k, "among is %q, which is no host set", r.Among)
		}
	}
	return validCounts("rules", k, "standing", r.Standing, maxSize, ids, at)
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
