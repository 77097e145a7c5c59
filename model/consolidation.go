// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
)

// Consolidation is the placement of tasks on the cheapest set of hosts (server
// consolidation: vector bin packing with host types, conflicts and current places). It is for clusters that should give
// hosts back.
//
// Every task runs on one host, or is left out where its job allows that. A host has a whole amount of each resource. If
// a newly placed task needs a resource, the needs of all tasks on its host sum to at most that amount. A host costs its price if a task runs on it, or if it is kept. Hosts
// may be bought, of the types in Offers. The goal is the least cost, with moves as the second objective, or the least
// moves, with the cost as the second (see ConsolidationGoal).
//
// A task stays if it runs where it ran before; otherwise it is newly placed. Rules, allowed hosts and capacities bind
// only newly placed tasks, as a scheduler checks them once. So doing nothing is a solution if every task has a host or
// may be left out. Tasks that stay alone may need more than their host has, as they did before. With Mend all of this binds
// tasks that stay, too.
type Consolidation struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	// Goal is the quantity to minimise; empty means GoalCost.
	Goal ConsolidationGoal `json:"goal,omitempty"`
	// Resources names the resources of hosts and tasks, with the unit: "cpu_m", "memory_bytes".
	Resources []string `json:"resources"`
	// PriceUnit is the unit of prices: "hosts", "vCPU", "0.001 USD/h".
	PriceUnit string              `json:"price_unit,omitempty"`
	Hosts     []ConsolidationHost `json:"hosts" nil:"[]"`
	Offers    []HostOffer         `json:"offers,omitempty"`
	HostSets  []HostSet           `json:"host_sets,omitempty"`
	Jobs      []ConsolidationJob  `json:"jobs"`
	Rules     []PlacementRule     `json:"rules,omitempty"`
	Limits    []HostLimit         `json:"limits,omitempty"`
	// Mend has rules, allowed hosts and capacities bind tasks that stay as if they were newly placed. Only Closed doesn't.
	// The plan of today may be no solution then.
	Mend bool `json:"mend,omitempty"`
	// MoveBudget bounds the moves, CostLimit the cost; nil: no bound.
	MoveBudget *int64 `json:"move_budget,omitempty"`
	CostLimit  *int64 `json:"cost_limit,omitempty"`
}

// ConsolidationGoal is the quantity that a Consolidation minimises.
type ConsolidationGoal string

// The goals.
const (
	// GoalCost is the price of the hosts in use, plus the cost of leaving tasks out.
	GoalCost ConsolidationGoal = "cost"
	// GoalMoves is the sum of the move costs of the tasks that don't stay.
	GoalMoves ConsolidationGoal = "moves"
)

// ConsolidationHost is a host that is there.
type ConsolidationHost struct {
	ID       string  `json:"id"`
	Capacity []int64 `json:"capacity"` // of each resource
	Price    int64   `json:"price"`
	// Labels state in which domain the host lies: {"zone": "a"}.
	Labels map[string]string `json:"labels,omitempty"`
	// Closed means that no task is moved or newly placed on it.
	Closed bool `json:"closed,omitempty"`
	// Kept means that the host costs its price with or without tasks.
	Kept bool `json:"kept,omitempty"`
}

// HostOffer is a type of hosts that can be bought.
type HostOffer struct {
	ID       string            `json:"id"`
	Capacity []int64           `json:"capacity"`
	Price    int64             `json:"price"`
	Labels   map[string]string `json:"labels,omitempty"`
	Count    int               `json:"count"` // how many there are at most
}

// HostSet names hosts and offers, by their ids.
type HostSet struct {
	ID     string   `json:"id"`
	Hosts  []string `json:"hosts,omitempty"`
	Offers []string `json:"offers,omitempty"`
}

// ConsolidationJob is a job of identical tasks.
type ConsolidationJob struct {
	ID    string  `json:"id"`
	Tasks int     `json:"tasks"`
	Needs []int64 `json:"needs"` // of each resource, per task
	// CurrentHosts names the host of each task, "" for one that has none yet. It is empty
	// if none has.
	CurrentHosts []string `json:"current_hosts,omitempty"`
	// Pinned means that all tasks stay where they are.
	Pinned bool `json:"pinned,omitempty"`
	// Allowed names the HostSet that newly placed tasks may use; "": any host.
	Allowed string `json:"allowed,omitempty"`
	// MoveCost is the cost of moving a task that has a host; 0: 1.
	MoveCost int64 `json:"move_cost,omitempty"`
	// LeaveOutCost is the cost of leaving a task out; nil: tasks can't be left out.
	LeaveOutCost *int64 `json:"leave_out_cost,omitempty"`
}

// PlacementRule is a rule on the relative places of tasks. Two hosts are in the same domain if they have the same value
// of the label Domain; a host without the label is in none. If Domain is "", each host is a domain.
type PlacementRule struct {
	ID     string   `json:"id"`
	Type   RuleType `json:"type"`
	Domain string   `json:"domain,omitempty"`
	Jobs   []string `json:"jobs"` // their tasks are bound
	// Others names the jobs that those tasks are checked against; empty: Jobs.
	Others []string `json:"others,omitempty"`
	// MaxSkew, MinDomains and Among belong to RuleSpread. Among names the HostSet that counts: the tasks on
	// its hosts, and their domains, empty ones, too; "": all hosts and offers. A bought host counts if tasks run on it.
	MaxSkew int    `json:"max_skew,omitempty"`
	Among   string `json:"among,omitempty"`
	// MinDomains is the number of domains below which the domain that has fewest counts as empty.
	MinDomains int `json:"min_domains,omitempty"`
	// Standing are numbers of tasks that no job has. They count with the tasks of Others, whatever the plan, for RuleSpread
	// and RuleTogether. Those of a bought host count if tasks run on it.
	Standing []HostCount `json:"standing,omitempty"`
}

// HostLimit bounds a sum over the hosts in use: hosts with tasks, hosts that are kept and hosts that are bought.
type HostLimit struct {
	ID   string `json:"id"`
	Most int64  `json:"most"`
	// Counts states the weights of hosts and offers, 0 if not named; empty: each host counts 1.
	Counts []HostCount `json:"counts,omitempty"`
}

// HostCount is a number of a host, or of each host that is bought of an offer. Either a host or an offer is named.
type HostCount struct {
	Host  string `json:"host,omitempty"`
	Offer string `json:"offer,omitempty"`
	Count int64  `json:"count"`
}

// RuleType is the type of a PlacementRule.
type RuleType string

// The types of rules.
const (
	// RuleApart: a task of Jobs and another of Others are never in one domain, unless both stay.
	RuleApart RuleType = "apart"
	// RuleTogether: a newly placed task of Jobs is in a domain. Another task of Others, or a standing one, is there, too,
	// unless its job is one of Others, no other task of those is placed at all and none is standing.
	RuleTogether RuleType = "together"
	// RuleSpread: a newly placed task of Jobs is in a domain with at most MaxSkew tasks of Others more than the domain
	// that has fewest. Only the hosts of Among count in both domains.
	RuleSpread RuleType = "spread"
)

// Assignment is a solution of Consolidation: which hosts are bought, and where each task
// runs, one JobAssignment for each job in the instance's order.
type Assignment struct {
	Bought []BoughtHost    `json:"bought,omitempty"`
	Jobs   []JobAssignment `json:"jobs"`
}

var assignmentKeys = object{
	about: "An assignment: the hosts that are bought and, for each job in the instance's order, each task's host; " +
		"empty: it is left out.",
	keys: []key{
		{name: "bought", of: &object{keys: []key{{name: "id", filled: true}, {name: "offer", filled: true}}}},
		{name: "jobs", of: &object{keys: []key{{name: "hosts", each: &key{}}}}},
	}}

// BoughtHost is a host that is bought, under an id that no other host has.
type BoughtHost struct {
	ID    string `json:"id"`
	Offer string `json:"offer"`
}

// JobAssignment places one job: task k runs on Hosts[k], "" if it is left out.
type JobAssignment struct {
	ID    string   `json:"id"`
	Hosts []string `json:"hosts"`
}

// KindConsolidation is the problem of placing tasks on the cheapest hosts.
const KindConsolidation Kind = "consolidation"

var consolidationFormat = format{
	Kind:     KindConsolidation,
	Instance: func() Instance { return new(Consolidation) },
	Solution: func() Solution { return new(Assignment) },
	Keys:     &consolidationKeys,
	Decided:  &assignmentKeys,
}

// Kind is KindConsolidation.
func (*Consolidation) Kind() Kind { return KindConsolidation }

// Kind is KindConsolidation.
func (*Assignment) Kind() Kind { return KindConsolidation }

// ID is the instance's name.
func (c *Consolidation) ID() string { return c.Name }

// Metrics implements Instance: cost, then moves, or the other way round by the goal.
func (c *Consolidation) Metrics() []Metric {
	all := []Metric{{"cost", "cost", c.PriceUnit, Minimise, true}, {"moves", "moves", "", Minimise, true}}
	if c.Goal == GoalMoves {
		all[0], all[1] = all[1], all[0]
	}
	return append(all, Metric{"hosts used", "hosts in use", "", Minimise, true})
}

// Tasks is the number of tasks of all jobs together.
func (c *Consolidation) Tasks() int {
	n := 0
	for i := range c.Jobs {
		n += c.Jobs[i].Tasks
	}
	return n
}

// Moving returns the cost of moving a task.
func (j *ConsolidationJob) Moving() int64 {
	if j.MoveCost == 0 {
		return 1
	}
	return j.MoveCost
}

// Current returns the host of task k, "" if it has none.
func (j *ConsolidationJob) Current(k int) string {
	if len(j.CurrentHosts) == 0 {
		return ""
	}
	return j.CurrentHosts[k]
}

// Objective returns cost and moves of an Assignment, in the order of the goal, and the
// number of hosts in use. The error is ErrInvalid if the assignment isn't one of the
// instance's tasks (CheckShape).
func (c *Consolidation) Objective(s Solution) (Objective, error) {
	a, ok := s.(*Assignment)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a consolidation instance", ErrInvalid, s)
	}
	if err := c.CheckShape(a); err != nil {
		return Objective{}, err
	}
	used := map[string]bool{}
	var cost, moves int64
	for i := range a.Jobs {
		j := &c.Jobs[i]
		for k, h := range a.Jobs[i].Hosts {
			if now := j.Current(k); now != "" && now != h {
				moves += j.Moving()
			}
			if h != "" {
				used[h] = true
			} else if j.LeaveOutCost != nil {
				cost += *j.LeaveOutCost
			}
		}
	}
	for i := range c.Hosts {
		if h := &c.Hosts[i]; h.Kept || used[h.ID] {
			cost += h.Price
		}
	}
	if len(a.Bought) > 0 {
		price := map[string]int64{}
		for i := range c.Offers {
			price[c.Offers[i].ID] = c.Offers[i].Price
		}
		for _, b := range a.Bought {
			cost += price[b.Offer]
		}
	}
	o := Objective{Value: float64(cost), Second: float64(moves), Sense: Minimise, SecondSense: Minimise, Others: []float64{float64(len(used))}}
	if c.Goal == GoalMoves {
		o.Value, o.Second = o.Second, o.Value
	}
	return o, nil
}

// CheckShape reports, as ErrInvalid, the first reason for which a is no assignment of c's tasks. Reasons are a job that
// is missing or out of order, another number of hosts than tasks, a host that doesn't exist, and a bought host without
// an offer or with another's id.
func (c *Consolidation) CheckShape(a *Assignment) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w assignment: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	hosts := make(map[string]bool, len(c.Hosts)+len(a.Bought))
	for i := range c.Hosts {
		hosts[c.Hosts[i].ID] = true
	}
	offers := map[string]bool{}
	for i := range c.Offers {
		offers[c.Offers[i].ID] = true
	}
	if len(a.Bought) > maxSize {
		return bad("buys more than %d hosts", maxSize)
	}
	for k, b := range a.Bought {
		if !offers[b.Offer] {
			return bad("bought[%d] is of the offer %q, which the instance doesn't have", k, b.Offer)
		}
		if b.ID == "" || hosts[b.ID] {
			return bad("bought[%d] has the id %q, which is empty or another host's", k, b.ID)
		}
		hosts[b.ID] = true
	}
	if len(a.Jobs) != len(c.Jobs) {
		return bad("places %d jobs, the instance has %d", len(a.Jobs), len(c.Jobs))
	}
	for i := range a.Jobs {
		q, j := &a.Jobs[i], &c.Jobs[i]
		if q.ID != j.ID {
			return bad("jobs[%d] is %q, the instance has %q there", i, q.ID, j.ID)
		}
		if len(q.Hosts) != j.Tasks {
			return bad("job %q has %d hosts for %d tasks", q.ID, len(q.Hosts), j.Tasks)
		}
		for k, h := range q.Hosts {
			if h != "" && !hosts[h] {
				return bad("job %q task %d is on host %q, which doesn't exist", q.ID, k, h)
			}
		}
	}
	return nil
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (c *Consolidation) MarshalJSON() ([]byte, error) { return marshalOwn(c) }

// MarshalJSON writes the assignment in its own format, "kind" first.
func (a *Assignment) MarshalJSON() ([]byte, error) { return marshalOwn(a) }
