// SPDX-License-Identifier: MIT

package testkit

import (
	"fmt"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// Consolidation draws an instance of about n tasks on so many hosts, with everything that an
// instance may have at times: offers, sets, pins, rules of all types, budgets, tasks without
// a host, hosts that are overfull, closed or kept. The plan of today is often against rules.
func Consolidation(rng *rand.Rand, n, hosts int) *model.Consolidation {
	in := &model.Consolidation{Name: "drawn", Resources: []string{"cpu", "memory", "gpu"}[:1+rng.IntN(3)]}
	amounts := func(low, high int) []int64 {
		all := make([]int64, len(in.Resources))
		for r := range all {
			all[r] = int64(low + rng.IntN(high-low+1))
		}
		return all
	}
	chance := func(of int) bool { return rng.IntN(of) == 0 }
	zones := []string{"a", "b", "c"}
	labels := func() map[string]string {
		if chance(8) {
			return nil
		}
		return map[string]string{"zone": zones[rng.IntN(3)]}
	}
	size := amounts(4, 10)
	prices := chance(2)
	for h := range hosts {
		x := model.ConsolidationHost{ID: fmt.Sprintf("h%d", h+1), Capacity: size, Price: 1, Labels: labels(), Closed: chance(12), Kept: chance(12)}
		if chance(3) {
			x.Capacity = amounts(2, 12)
		}
		if prices {
			x.Price = int64(rng.IntN(6))
		}
		in.Hosts = append(in.Hosts, x)
	}
	if chance(3) {
		for o := range 1 + rng.IntN(2) {
			in.Offers = append(in.Offers, model.HostOffer{ID: fmt.Sprintf("o%d", o+1), Capacity: amounts(3, 12), Price: int64(1 + rng.IntN(4)), Labels: labels(), Count: 1 + rng.IntN(2)})
		}
	}
	for k := range rng.IntN(3) {
		set := model.HostSet{ID: fmt.Sprintf("s%d", k+1)}
		for _, h := range in.Hosts {
			if !chance(3) {
				set.Hosts = append(set.Hosts, h.ID)
			}
		}
		for _, o := range in.Offers {
			if !chance(3) {
				set.Offers = append(set.Offers, o.ID)
			}
		}
		in.HostSets = append(in.HostSets, set)
	}
	for total := 0; total < n; {
		j := model.ConsolidationJob{ID: fmt.Sprintf("j%d", len(in.Jobs)+1), Tasks: min(n-total, 1+rng.IntN(3)), Needs: amounts(0, 4), MoveCost: int64(rng.IntN(3))}
		total += j.Tasks
		if chance(3) && len(in.HostSets) > 0 {
			j.Allowed = in.HostSets[rng.IntN(len(in.HostSets))].ID
		}
		if chance(3) {
			cost := int64(rng.IntN(8))
			j.LeaveOutCost = &cost
		}
		if !chance(4) {
			for range j.Tasks {
				id := in.Hosts[rng.IntN(hosts)].ID
				if chance(8) {
					id = ""
				}
				j.CurrentHosts = append(j.CurrentHosts, id)
			}
			j.Pinned = chance(6)
			for _, id := range j.CurrentHosts {
				j.Pinned = j.Pinned && id != ""
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	some := func() (ids []string) {
		for _, k := range rng.Perm(len(in.Jobs))[:1+rng.IntN(min(3, len(in.Jobs)))] {
			ids = append(ids, in.Jobs[k].ID)
		}
		return ids
	}
	for k := range rng.IntN(3) {
		r := model.PlacementRule{ID: fmt.Sprintf("r%d", k+1), Type: one(rng, model.RuleApart, model.RuleTogether, model.RuleSpread), Domain: one(rng, "", "zone"), Jobs: some()}
		if chance(2) {
			r.Others = some()
		}
		if r.Type == model.RuleSpread {
			if r.MaxSkew = 1 + rng.IntN(2); chance(2) && len(in.HostSets) > 0 {
				r.Among = in.HostSets[rng.IntN(len(in.HostSets))].ID
			}
			if chance(4) {
				r.MinDomains = 1 + rng.IntN(4)
			}
			if chance(3) {
				r.Standing = append(r.Standing, model.HostCount{Host: in.Hosts[rng.IntN(hosts)].ID, Count: 1 + rng.Int64N(2)})
			}
			if chance(3) && len(in.Offers) > 0 {
				r.Standing = append(r.Standing, model.HostCount{Offer: in.Offers[rng.IntN(len(in.Offers))].ID, Count: 1 + rng.Int64N(2)})
			}
		}
		in.Rules = append(in.Rules, r)
	}
	if chance(5) {
		in.Limits = append(in.Limits, model.HostLimit{ID: "hosts", Most: int64(1 + rng.IntN(hosts+1))})
	}
	if chance(5) {
		l := model.HostLimit{ID: "some", Most: int64(2 + rng.IntN(2*hosts))}
		for k := range in.Hosts {
			if chance(2) {
				l.Counts = append(l.Counts, model.HostCount{Host: in.Hosts[k].ID, Count: 1 + rng.Int64N(3)})
			}
		}
		for k := range in.Offers {
			l.Counts = append(l.Counts, model.HostCount{Offer: in.Offers[k].ID, Count: 1 + rng.Int64N(3)})
		}
		in.Limits = append(in.Limits, l)
	}
	if chance(4) {
		budget := int64(rng.IntN(n + 1))
		in.MoveBudget = &budget
	}
	if chance(4) {
		limit := int64(rng.IntN(3 * hosts))
		in.CostLimit = &limit
		in.Goal = one(rng, model.GoalMoves, model.GoalCost)
	} else if chance(5) {
		in.Goal = model.GoalMoves
	}
	return in
}

// Loosen turns the spreads of an instance into ones that only all of their tasks in one domain break, and makes each rule
// a spread with two chances of three.
func Loosen(rng *rand.Rand, in *model.Consolidation) *model.Consolidation {
	tasks := map[string]int{}
	for i := range in.Jobs {
		tasks[in.Jobs[i].ID] = in.Jobs[i].Tasks
	}
	for k := range in.Rules {
		r := &in.Rules[k]
		if r.Type != model.RuleSpread && rng.IntN(3) == 0 {
			continue
		}
		*r = model.PlacementRule{ID: r.ID, Type: model.RuleSpread, Domain: r.Domain, Jobs: r.Jobs, Others: r.Others}
		if rng.IntN(2) == 0 {
			r.Others = nil
		}
		others, n := r.Others, 0
		if others == nil {
			others = r.Jobs
		}
		for _, id := range others {
			n += tasks[id]
		}
		r.MaxSkew = max(1, n-1)
	}
	return in
}
