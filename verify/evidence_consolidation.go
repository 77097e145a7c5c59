// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// consolidationCover holds the demand that the hosts and offers of a region must cover, and their prices.
//
// Hosts that are kept or hold pinned tasks cost their price in every plan. A row states the joint need of some tasks,
// which can be in no other place, and how much of it each place has. Every plan covers the row by places in use and by
// tasks that are left out; each costs its whole price. Parts of them, at a part of their price, cost at most as much:
// the cheapest parts first are the optimum of that relaxation.
type consolidationCover struct {
	*consolidationJudge
	forced []bool // of the instance's hosts
	paid   int64  // the cost of these
	unit   int64  // every cost is a multiple of it; 0: all cost nothing
	total  int64  // tasks
}

// coverItem covers count times gives, each for a price.
type coverItem struct{ price, gives, count int64 }

// placeSet is a set of hosts and offers, by their numbers.
type placeSet struct{ hosts, offers []bool }

// consolidationEvidence recomputes bounds on the cost, and on the moves under a cost limit.
func consolidationEvidence(ctx context.Context, in *model.Consolidation, e *model.Evidence) (Followed, error) {
	if (1+len(in.HostSets))*(len(in.Hosts)+len(in.Offers))+in.Tasks() > maxEvidenceWork {
		return Followed{}, tooMuch("hosts, host sets and tasks")
	}
	c := consolidationCover{consolidationJudge: newConsolidationJudge(in, nil), forced: make([]bool, len(in.Hosts)), total: int64(in.Tasks())}
	for i := range in.Jobs {
		if stopped(ctx, i) {
			return Followed{}, ctx.Err()
		}
		j := &in.Jobs[i]
		if j.LeaveOutCost != nil && !j.Pinned {
			c.unit = gcd(c.unit, *j.LeaveOutCost)
		}
		for k := 0; j.Pinned && k < j.Tasks; k++ {
			c.forced[c.number[j.CurrentHosts[k]]] = true
		}
	}
	for k := range in.Hosts {
		h := &in.Hosts[k]
		c.unit = gcd(c.unit, h.Price)
		if c.forced[k] = c.forced[k] || h.Kept; c.forced[k] {
			c.paid += h.Price
		}
	}
	for k := range in.Offers {
		c.unit = gcd(c.unit, in.Offers[k].Price)
	}
	switch e.Type {
	case evidence.Cover:
		return c.resource(ctx, e)
	case evidence.Apart:
		return c.apart(ctx, e.Elements[0])
	}
	return c.emptied(ctx)
}

// places returns the hosts and offers where tasks of jobs with a host set may be newly placed, "" for jobs without.
func (c *consolidationCover) places(set string) placeSet {
	p := placeSet{make([]bool, len(c.in.Hosts)), make([]bool, len(c.in.Offers))}
	var s *model.HostSet
	if set != "" {
		s = c.sets[set]
		for _, id := range s.Hosts {
			p.hosts[c.number[id]] = true
		}
	}
	for k := range p.hosts {
		p.hosts[k] = (s == nil || p.hosts[k]) && !c.hosts[k].closed
	}
	for k := range p.offers {
		p.offers[k] = s == nil || slices.Contains(s.Offers, c.in.Offers[k].ID)
	}
	return p
}

// stay adds to a set the hosts that tasks of a job have now.
func (c *consolidationCover) stay(p placeSet, j *model.ConsolidationJob) {
	for _, id := range j.CurrentHosts {
		if id != "" {
			p.hosts[c.number[id]] = true
		}
	}
}

// inside reports whether a job's tasks can be on no host or offer outside a set, given the places where they may be
// newly placed.
func (c *consolidationCover) inside(j *model.ConsolidationJob, anew, p placeSet) bool {
	for _, id := range j.CurrentHosts {
		if id != "" && !p.hosts[c.number[id]] {
			return false
		}
	}
	if j.Pinned {
		return true
	}
	for k, may := range anew.hosts {
		if may && !p.hosts[k] {
			return false
		}
	}
	for k, may := range anew.offers {
		if may && !p.offers[k] {
			return false
		}
	}
	return true
}

// resource covers the needs of a resource.
func (c *consolidationCover) resource(ctx context.Context, e *model.Evidence) (Followed, error) {
	r := slices.Index(c.in.Resources, e.Resource)
	if r < 0 {
		return Followed{}, fmt.Errorf("the instance has no resource %q", e.Resource)
	}
	anew, sets := map[string]placeSet{}, []string{""}
	for k := range c.in.HostSets {
		sets = append(sets, c.in.HostSets[k].ID)
	}
	all := new(big.Int)
	for i := range c.in.Jobs {
		addNeeds(all, nil, &c.in.Jobs[i], c.in.Jobs[i].Needs[r])
	}
	if all.Cmp(big.NewInt(maxSaturated)) > 0 {
		return Followed{}, tooMuch("the needs of all tasks")
	}
	for _, id := range sets {
		anew[id] = c.places(id)
	}
	region, where := c.places(""), "all hosts"
	if len(e.Elements) == 0 {
		for k := range region.hosts {
			region.hosts[k] = true
		}
	} else {
		set := e.Elements[0]
		if set != "" && c.sets[set] == nil {
			return Followed{}, fmt.Errorf("the instance has no host set %q", set)
		}
		if where = fmt.Sprintf("the host set %q", set); set == "" {
			where = "the hosts for jobs without a host set"
		}
		// If only pinned jobs have the set, none is newly placed there.
		region = placeSet{make([]bool, len(c.in.Hosts)), make([]bool, len(c.in.Offers))}
		jobs := slices.DeleteFunc(slices.Clone(c.in.Jobs), func(j model.ConsolidationJob) bool { return j.Allowed != set })
		if slices.ContainsFunc(jobs, func(j model.ConsolidationJob) bool { return !j.Pinned }) {
			region = c.places(set)
		}
		for i := range jobs {
			c.stay(region, &jobs[i])
		}
	}
	// If all of a set lies in the region, its jobs are inside but for jobs with hosts elsewhere.
	lies := map[string]bool{}
	for _, id := range sets {
		lies[id] = c.inside(&model.ConsolidationJob{}, anew[id], region)
	}
	need, items := new(big.Int), []coverItem(nil)
	for i := range c.in.Jobs {
		if stopped(ctx, i) {
			return Followed{}, ctx.Err()
		}
		if j := &c.in.Jobs[i]; (j.Pinned || lies[j.Allowed]) && c.inside(j, placeSet{}, region) {
			items = addNeeds(need, items, j, j.Needs[r])
		}
	}
	return c.cover(region, need, items, func(h int) int64 {
		if x := &c.hosts[h]; x.over(r) { // as long as no newly placed task needs it
			return x.held[r]
		}
		return c.hosts[h].capacity[r]
	}, func(o int) int64 { return c.in.Offers[o].Capacity[r] }, fmt.Sprintf("the %s of %s", e.Resource, where))
}

// addNeeds adds the needs of a job's tasks, and that they may be left out.
func addNeeds(need *big.Int, items []coverItem, j *model.ConsolidationJob, each int64) []coverItem {
	tasks := int64(j.Tasks)
	need.Add(need, new(big.Int).Mul(big.NewInt(tasks), big.NewInt(each)))
	if j.LeaveOutCost != nil && !j.Pinned && each > 0 {
		items = append(items, coverItem{*j.LeaveOutCost, each, tasks})
	}
	return items
}

// apart covers the tasks of a rule that allows a host only one of them, or the ones that it has now.
func (c *consolidationCover) apart(ctx context.Context, id string) (Followed, error) {
	k := slices.IndexFunc(c.in.Rules, func(r model.PlacementRule) bool { return r.ID == id })
	if k < 0 || c.in.Rules[k].Type != model.RuleApart || c.in.Rules[k].Domain != "" {
		return Followed{}, fmt.Errorf("the instance has no rule %q that keeps tasks apart by host", id)
	}
	rule := &c.in.Rules[k]
	bound, other := map[string]bool{}, map[string]bool{}
	for _, id := range rule.Jobs {
		bound[id] = true
	}
	for _, id := range rule.Others {
		other[id] = true
	}
	region := placeSet{make([]bool, len(c.in.Hosts)), make([]bool, len(c.in.Offers))}
	now, joined := make([]int64, len(c.in.Hosts)), map[string]bool{}
	need, items := new(big.Int), []coverItem(nil)
	for i := range c.in.Jobs {
		if stopped(ctx, i) {
			return Followed{}, ctx.Err()
		}
		j := &c.in.Jobs[i]
		if !bound[j.ID] || len(rule.Others) > 0 && !other[j.ID] {
			continue
		}
		items = addNeeds(need, items, j, 1)
		c.stay(region, j)
		for _, id := range j.CurrentHosts {
			if id != "" {
				now[c.number[id]]++
			}
		}
		if j.Pinned || joined[j.Allowed] {
			continue
		}
		joined[j.Allowed] = true
		anew := c.places(j.Allowed)
		for h, may := range anew.hosts {
			region.hosts[h] = region.hosts[h] || may
		}
		for o, may := range anew.offers {
			region.offers[o] = region.offers[o] || may
		}
	}
	return c.cover(region, need, items, func(h int) int64 { return max(1, now[h]) }, func(int) int64 { return 1 }, fmt.Sprintf("the hosts for tasks that the rule %q keeps apart", id))
}

// cover returns the conclusion from a row. More hosts of an offer than tasks are in use in no plan.
func (c *consolidationCover) cover(region placeSet, need *big.Int, items []coverItem, gives, bought func(int) int64, how string) (Followed, error) {
	for h, in := range region.hosts {
		switch g := gives(h); {
		case !in:
		case c.forced[h]:
			need.Sub(need, big.NewInt(g))
		default:
			items = append(items, coverItem{c.in.Hosts[h].Price, g, 1})
		}
	}
	for o, in := range region.offers {
		if in {
			items = append(items, coverItem{c.in.Offers[o].Price, bought(o), min(int64(c.in.Offers[o].Count), c.total)})
		}
	}
	items = slices.DeleteFunc(items, func(x coverItem) bool { return x.gives == 0 })
	slices.SortFunc(items, func(a, b coverItem) int { return compareProducts(a.price, b.gives, b.price, a.gives) })
	cost := new(big.Rat)
	for _, x := range items {
		if need.Sign() <= 0 {
			break
		}
		all := new(big.Int).Mul(big.NewInt(x.gives), big.NewInt(x.count))
		part := minimum(all, need)
		cost.Add(cost, new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(x.price), part), big.NewInt(x.gives)))
		need.Sub(need, part)
	}
	if need.Sign() > 0 {
		return impossible("%s: there is less than is needed", how), nil
	}
	least := upTo(cost, c.unit)
	least.Add(least, big.NewInt(c.paid))
	if l := c.in.CostLimit; l != nil && least.Cmp(big.NewInt(*l)) > 0 {
		return impossible("%s: what covers the needs costs %v, the limit is %d", how, least, *l), nil
	}
	if c.in.Goal == model.GoalMoves {
		least = new(big.Int)
	}
	return Followed{Bound: new(big.Rat).SetInt(least), How: how}, nil
}

// emptied returns the least cost of the moves that the cost limit requires. A task that stays is on a host in use, and
// these hosts cost at most the limit. Some hosts are paid in any case. Parts of the others, by the ratio of their
// staying tasks to their price, keep at least as much in place as any hosts that the limit pays (Dantzig 1957).
func (c *consolidationCover) emptied(ctx context.Context) (Followed, error) {
	const how = "the hosts that the cost limit empties"
	switch l := c.in.CostLimit; {
	case c.in.Goal != model.GoalMoves || l == nil:
		return Followed{Bound: new(big.Rat), How: how}, nil
	case c.paid > *l:
		return impossible("hosts that can't be emptied: they cost %d, the limit is %d", c.paid, *l), nil
	}
	stays := make([]int64, len(c.in.Hosts))
	for i := range c.in.Jobs {
		if stopped(ctx, i) {
			return Followed{}, ctx.Err()
		}
		j := &c.in.Jobs[i]
		each := j.MoveCost
		if each == 0 {
			each = 1
		}
		for _, id := range j.CurrentHosts {
			if id != "" {
				stays[c.number[id]] += each
			}
		}
	}
	var hosts []int
	moves := new(big.Rat)
	for h, x := range stays {
		if !c.forced[h] && x > 0 {
			hosts = append(hosts, h)
			moves.Add(moves, new(big.Rat).SetInt64(x))
		}
	}
	slices.SortFunc(hosts, func(a, b int) int {
		return compareProducts(stays[b], c.in.Hosts[a].Price, stays[a], c.in.Hosts[b].Price)
	})
	left := *c.in.CostLimit - c.paid
	for _, h := range hosts {
		price := c.in.Hosts[h].Price
		part := big.NewRat(1, 1)
		if price > left {
			part.SetFrac64(left, price)
		}
		left -= min(left, price)
		moves.Sub(moves, part.Mul(part, new(big.Rat).SetInt64(stays[h])))
	}
	return Followed{Bound: new(big.Rat).SetInt(upTo(moves, 1)), How: how}, nil
}

// compareProducts compares a·b with x·y, none of them below 0.
func compareProducts(a, b, x, y int64) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	otherHi, otherLo := bits.Mul64(uint64(x), uint64(y))
	return cmp.Or(cmp.Compare(hi, otherHi), cmp.Compare(lo, otherLo))
}

// upTo rounds x >= 0 up to a multiple of a unit; 0 means 1.
func upTo(x *big.Rat, unit int64) *big.Int {
	u := big.NewInt(max(1, unit))
	d := new(big.Int).Mul(x.Denom(), u)
	n := new(big.Int).Add(x.Num(), d)
	n.Sub(n, big.NewInt(1)).Quo(n, d)
	return n.Mul(n, u)
}
