// SPDX-License-Identifier: MIT

package view

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/model"
)

// Nowhere is the host of a task without one.
const Nowhere = -1

// Consolidation is the view of a model.Consolidation in numbers: hosts first as the
// instance lists them, then those that can be bought, offer by offer (slots).
type Consolidation struct {
	In        *model.Consolidation
	Resources int
	Existing  int // hosts from 0 to Existing-1 are there, the others slots
	Hosts     []ConsolidationHost
	Jobs      []ConsolidationJob
	Rules     []ConsolidationRule
	Limits    []ConsolidationLimit
	// Domains[d][h] is the value of host h for the d-th key of labels, Nowhere without one;
	// Values[d] is how many there are.
	Domains [][]int32
	Values  []int
}

// ConsolidationHost is a host or a slot.
type ConsolidationHost struct {
	Capacity []int64
	Price    int64
	Closed   bool // nothing is newly placed on it
	Overfull bool // closed, and its capacity binds nothing
	Kept     bool
	Offer    int // Nowhere of a host that is there
	// Class is the class of hosts of equal capacity, price and labels that are in the same sets, count alike for
	// limits, and are closed or kept alike.
	Class int
}

// ConsolidationJob is a job.
type ConsolidationJob struct {
	Needs    []int64
	Current  []int32    // of each task: host or Nowhere
	Allowed  bitset.Set // hosts on which its tasks may be newly placed
	Pinned   bool
	Move     int64
	LeaveOut int64 // Nowhere: not allowed
	Rules    []int // in which its tasks are bound, or are others
}

// ConsolidationRule is a rule; its jobs and others are numbers of jobs.
type ConsolidationRule struct {
	Type         model.RuleType
	Domain       int // in Domains
	Jobs, Others []int
	Bound, Other bitset.Set // of jobs
	// RuleSpread uses these: the hosts that count, and the number of tasks on each host whatever the plan, nil without
	// any.
	MaxSkew    int
	MinDomains int
	Among      bitset.Set
	Standing   []int
	// Loose means that the tasks break the rule only where all of them are in one domain. They are at most one more than
	// MaxSkew, so that no fewer exceed it; if all are in one domain, another one that is there has none.
	Loose bool
}

// ConsolidationLimit bounds a sum over the hosts in use.
type ConsolidationLimit struct {
	Most   int64
	Counts []int64 // of each host
}

// Slots returns how many hosts of one offer a solution of at most a cost can have, the most of all offers; most < 0:
// whatever it costs.
func Slots(in *model.Consolidation, most int64) int {
	slots, tasks := int64(0), int64(in.Tasks())
	for k := range in.Offers {
		o := &in.Offers[k]
		n := min(tasks, int64(o.Count))
		if o.Price > 0 && most >= 0 {
			n = min(n, most/o.Price)
		}
		slots = max(slots, n)
	}
	return int(slots)
}

// OfConsolidation returns the view with at most so many slots of each offer, which it has
// in the instance if that is less; most < 0: as many as the instance has tasks.
// O(hosts × (resources + sets) + tasks).
func OfConsolidation(in *model.Consolidation, most int) *Consolidation {
	c := &Consolidation{In: in, Resources: len(in.Resources), Existing: len(in.Hosts)}
	if most < 0 {
		most = in.Tasks()
	}
	hosts := make(map[string]int, len(in.Hosts))
	offers := make(map[string][2]int, len(in.Offers)) // slots from, to
	var labels []map[string]string
	for k := range in.Hosts {
		h := &in.Hosts[k]
		hosts[h.ID] = k
		c.Hosts = append(c.Hosts, ConsolidationHost{Capacity: h.Capacity, Price: h.Price, Closed: h.Closed, Kept: h.Kept, Offer: Nowhere})
		labels = append(labels, h.Labels)
	}
	for k := range in.Offers {
		o := &in.Offers[k]
		from := len(c.Hosts)
		for range min(o.Count, most) {
			c.Hosts = append(c.Hosts, ConsolidationHost{Capacity: o.Capacity, Price: o.Price, Offer: k})
			labels = append(labels, o.Labels)
		}
		offers[o.ID] = [2]int{from, len(c.Hosts)}
	}
	sets := make(map[string]bitset.Set, len(in.HostSets))
	for k := range in.HostSets {
		s := &in.HostSets[k]
		b := bitset.New(len(c.Hosts))
		for _, id := range s.Hosts {
			b.Add(hosts[id], hosts[id])
		}
		for _, id := range s.Offers {
			for h := offers[id][0]; h < offers[id][1]; h++ {
				b.Add(h, h)
			}
		}
		sets[s.ID] = b
	}
	c.jobs(hosts, sets)
	c.rules(labels, sets, hosts, offers)
	c.limits(hosts, offers)
	c.classes(labels, sets)
	return c
}

// jobs makes the jobs, and closes the hosts that are overfull and, for all jobs, the closed ones.
func (c *Consolidation) jobs(hosts map[string]int, sets map[string]bitset.Set) {
	in := c.In
	use := make([]int64, c.Existing*c.Resources)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		v := ConsolidationJob{Needs: j.Needs, Pinned: j.Pinned, Move: j.Moving(), LeaveOut: Nowhere, Current: make([]int32, j.Tasks)}
		if j.LeaveOutCost != nil && !j.Pinned {
			v.LeaveOut = *j.LeaveOutCost
		}
		for k := range v.Current {
			v.Current[k] = Nowhere
			if id := j.Current(k); id != "" {
				h := hosts[id]
				v.Current[k] = int32(h)
				for r, x := range j.Needs {
					u := &use[h*c.Resources+r]
					*u = min(*u+x, 1<<60)
				}
			}
		}
		c.Jobs = append(c.Jobs, v)
	}
	open := bitset.New(len(c.Hosts))
	for h := range c.Hosts {
		v := &c.Hosts[h]
		for r, x := range v.Capacity {
			if h < c.Existing && use[h*c.Resources+r] > x {
				v.Closed, v.Overfull = true, true
			}
		}
		if !v.Closed {
			open.Add(h, h)
		}
	}
	for i := range c.Jobs {
		c.Jobs[i].Allowed = open
		if id := in.Jobs[i].Allowed; id != "" {
			b := slices.Clone(open)
			b.Meet(sets[id])
			c.Jobs[i].Allowed = b
		}
	}
}

func (c *Consolidation) rules(labels []map[string]string, sets map[string]bitset.Set, hosts map[string]int, offers map[string][2]int) {
	in := c.In
	jobs := map[string]int{}
	if len(in.Rules) > 0 {
		for i := range in.Jobs {
			jobs[in.Jobs[i].ID] = i
		}
	}
	domains := map[string]int{}
	for k := range in.Rules {
		r := &in.Rules[k]
		d, ok := domains[r.Domain]
		if !ok {
			d = len(c.Domains)
			domains[r.Domain] = d
			c.domain(r.Domain, labels)
		}
		v := ConsolidationRule{Type: r.Type, Domain: d, MaxSkew: r.MaxSkew, MinDomains: r.MinDomains, Bound: bitset.New(len(in.Jobs)), Other: bitset.New(len(in.Jobs))}
		for _, id := range r.Jobs {
			v.Jobs = append(v.Jobs, jobs[id])
			v.Bound.Add(jobs[id], jobs[id])
		}
		for _, id := range r.Others {
			v.Others = append(v.Others, jobs[id])
			v.Other.Add(jobs[id], jobs[id])
		}
		if len(r.Others) == 0 {
			v.Others, v.Other = v.Jobs, v.Bound
		}
		for i := range c.Jobs {
			if v.Bound.Has(i) || v.Other.Has(i) {
				c.Jobs[i].Rules = append(c.Jobs[i].Rules, k)
			}
		}
		if r.Type == model.RuleSpread {
			if v.Among = sets[r.Among]; r.Among == "" {
				v.Among = bitset.New(len(c.Hosts))
				v.Among.Fill(len(c.Hosts))
			}
			for _, x := range r.Standing {
				if v.Standing == nil {
					v.Standing = make([]int, len(c.Hosts))
				}
				if x.Host != "" {
					v.Standing[hosts[x.Host]] += int(x.Count)
				}
				for h := offers[x.Offer][0]; x.Offer != "" && h < offers[x.Offer][1]; h++ {
					v.Standing[h] += int(x.Count)
				}
			}
		}
		v.Loose = r.Type == model.RuleSpread && r.Among == "" && v.Standing == nil && c.loose(&v)
		c.Rules = append(c.Rules, v)
	}
}

// loose reports whether no part of a rule's others can be more than its skew, and two domains are there.
func (c *Consolidation) loose(r *ConsolidationRule) bool {
	tasks := 0
	for _, i := range r.Others {
		tasks += len(c.Jobs[i].Current)
	}
	domains := bitset.New(c.Values[r.Domain])
	for _, d := range c.Domains[r.Domain][:c.Existing] {
		if d >= 0 {
			domains.Add(int(d), int(d))
		}
	}
	return tasks <= r.MaxSkew+1 && domains.Len() > 1
}

// domain adds the domains of a key; "" makes each host one.
func (c *Consolidation) domain(key string, labels []map[string]string) {
	all, values := make([]int32, len(c.Hosts)), map[string]int32{}
	for h := range all {
		value := labels[h][key]
		switch x, ok := values[value]; {
		case key == "":
			all[h] = int32(h)
		case value == "":
			all[h] = Nowhere
		case ok:
			all[h] = x
		default:
			all[h] = int32(len(values))
			values[value] = all[h]
		}
	}
	n := len(values)
	if key == "" {
		n = len(c.Hosts)
	}
	c.Domains, c.Values = append(c.Domains, all), append(c.Values, n)
}

// limits makes the limits.
func (c *Consolidation) limits(hosts map[string]int, offers map[string][2]int) {
	for k := range c.In.Limits {
		l := &c.In.Limits[k]
		v := ConsolidationLimit{Most: l.Most, Counts: make([]int64, len(c.Hosts))}
		for h := range v.Counts {
			if len(l.Counts) == 0 {
				v.Counts[h] = 1
			}
		}
		for _, x := range l.Counts {
			if x.Host != "" {
				v.Counts[hosts[x.Host]] = x.Count
			}
			for h := offers[x.Offer][0]; x.Offer != "" && h < offers[x.Offer][1]; h++ {
				v.Counts[h] = x.Count
			}
		}
		c.Limits = append(c.Limits, v)
	}
}

// classes numbers the classes of hosts.
func (c *Consolidation) classes(labels []map[string]string, sets map[string]bitset.Set) {
	number := map[string]int{}
	for h := range c.Hosts {
		v := &c.Hosts[h]
		key := fmt.Sprint(v.Capacity, v.Price, v.Closed, v.Kept, v.Offer, labels[h])
		for k := range c.In.HostSets {
			if sets[c.In.HostSets[k].ID].Has(h) {
				key += fmt.Sprint(" ", k)
			}
		}
		for k := range c.Limits {
			key += fmt.Sprint(" ", c.Limits[k].Counts[h])
		}
		x, ok := number[key]
		if !ok {
			x = len(number)
			number[key] = x
		}
		v.Class = x
	}
}

// Occupied numbers the hosts of an assignment by id, bought ones last, and returns which have tasks today and in a.
func Occupied(in *model.Consolidation, a *model.Assignment) (number map[string]int, today, then []bool) {
	number = make(map[string]int, len(in.Hosts)+len(a.Bought))
	for k := range in.Hosts {
		number[in.Hosts[k].ID] = k
	}
	for k, b := range a.Bought {
		number[b.ID] = len(in.Hosts) + k
	}
	today, then = make([]bool, len(number)), make([]bool, len(number))
	for i := range a.Jobs {
		for k, id := range a.Jobs[i].Hosts {
			if id != "" {
				then[number[id]] = true
			}
			if now := in.Jobs[i].Current(k); now != "" {
				today[number[now]] = true
			}
		}
	}
	return number, today, then
}

// Plan is a host for each task of each job, Nowhere for one that is left out.
type Plan [][]int32

// Today returns the plan in which all stay and tasks without a host are left out.
func (c *Consolidation) Today() Plan {
	p := make(Plan, len(c.Jobs))
	for i := range p {
		p[i] = append([]int32(nil), c.Jobs[i].Current...)
	}
	return p
}

// Clone returns a copy.
func (p Plan) Clone() Plan {
	q := make(Plan, len(p))
	for i := range p {
		q[i] = append([]int32(nil), p[i]...)
	}
	return q
}

// PlanOf returns the plan of an assignment, with the slots that its bought hosts take; the
// error is model.ErrInvalid if it isn't one of the instance or takes more slots than there are.
func (c *Consolidation) PlanOf(a *model.Assignment) (Plan, error) {
	if err := c.In.CheckShape(a); err != nil {
		return nil, err
	}
	hosts := map[string]int32{"": Nowhere}
	for k := range c.In.Hosts {
		hosts[c.In.Hosts[k].ID] = int32(k)
	}
	next, offers := make([]int, len(c.In.Offers)), map[string]int{}
	for k := range c.In.Offers {
		offers[c.In.Offers[k].ID] = k
		next[k] = len(c.Hosts)
	}
	for h := len(c.Hosts) - 1; h >= c.Existing; h-- {
		next[c.Hosts[h].Offer] = h
	}
	for _, b := range a.Bought {
		k := offers[b.Offer]
		if next[k] >= len(c.Hosts) || c.Hosts[next[k]].Offer != k {
			return nil, fmt.Errorf("%w assignment: it buys more of the offer %q than there are", model.ErrInvalid, b.Offer)
		}
		hosts[b.ID] = int32(next[k])
		next[k]++
	}
	p := make(Plan, len(c.Jobs))
	for i := range a.Jobs {
		for _, id := range a.Jobs[i].Hosts {
			p[i] = append(p[i], hosts[id])
		}
	}
	return p, nil
}

// Assignment returns the solution of a plan. Slots in use are bought as "OFFER-1", ...
func (c *Consolidation) Assignment(p Plan) *model.Assignment {
	a, id := &model.Assignment{Jobs: make([]model.JobAssignment, len(c.Jobs))}, make([]string, len(c.Hosts))
	taken := make(map[string]bool, c.Existing)
	for h := range c.Existing {
		id[h] = c.In.Hosts[h].ID
		taken[id[h]] = true
	}
	used := c.Used(p)
	count := 0
	for h := c.Existing; h < len(c.Hosts); h++ {
		if c.Hosts[h].Offer != c.Hosts[max(h-1, c.Existing)].Offer {
			count = 0
		}
		if !used.Has(h) {
			continue
		}
		offer := c.In.Offers[c.Hosts[h].Offer].ID
		for count++; taken[fmt.Sprintf("%s-%d", offer, count)]; count++ {
		}
		id[h] = fmt.Sprintf("%s-%d", offer, count)
		taken[id[h]] = true
		a.Bought = append(a.Bought, model.BoughtHost{ID: id[h], Offer: offer})
	}
	for i := range p {
		j := model.JobAssignment{ID: c.In.Jobs[i].ID, Hosts: make([]string, len(p[i]))}
		for k, h := range p[i] {
			if h >= 0 {
				j.Hosts[k] = id[h]
			}
		}
		a.Jobs[i] = j
	}
	return a
}

// Used returns the hosts with tasks.
func (c *Consolidation) Used(p Plan) bitset.Set {
	used := bitset.New(len(c.Hosts))
	for i := range p {
		for _, h := range p[i] {
			if h >= 0 {
				used.Add(int(h), int(h))
			}
		}
	}
	return used
}

// Figures returns cost and moves of a plan.
func (c *Consolidation) Figures(p Plan) (cost, moves int64) {
	used := c.Used(p)
	for h := range c.Hosts {
		if c.Hosts[h].Kept || used.Has(h) {
			cost += c.Hosts[h].Price
		}
	}
	for i := range p {
		j := &c.Jobs[i]
		for k, h := range p[i] {
			if h < 0 && j.LeaveOut > 0 {
				cost += j.LeaveOut
			}
			if j.Current[k] >= 0 && h != j.Current[k] {
				moves += j.Move
			}
		}
	}
	return cost, moves
}
