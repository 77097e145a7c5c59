// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// VCSched is the placement of virtual machines on hosts so that the worst-off job's yield is as high as possible. It
// follows Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters; section 2.3 for
// sequential jobs, 5.1 for parallel ones, 6.1 for adaptation under a budget of moved memory.
//
// Every task runs on one host. The CPU shares of a host's tasks sum to at most
// the host's CPU, and their memory needs to at most its memory. A task gets at
// most its CPU need; all tasks of a job get the same share. A job's yield is its CPU divided by its CPU need, 1 if it
// needs none. The objective is the minimum yield, the second objective the average of the jobs' yields.
//
// Unlike in the paper, there may be any number of further resources. They are rigid, as memory is: a task has all that
// it needs of them or doesn't run. The CPU alone is fluid. Hosts may differ in size (after Stillwell, Vivien, Casanova:
// Virtual Machine Resource Allocation for Service Hosting on Heterogeneous Distributed Platforms, 2012); all amounts
// are shares of one reference host. An instance in which no job needs CPU is vector bin packing: every placement has
// the yield 1.
type VCSched struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	Hosts   int      `json:"hosts"` // H, numbered from 0
	// Resources names the rigid resources other than memory, such as "disk".
	Resources []string `json:"resources,omitempty"`
	// HostSizes states the sizes of the hosts, in runs of equal ones in the order of their numbers; the counts sum to
	// Hosts. Empty: all are reference hosts.
	HostSizes []HostSize   `json:"host_sizes,omitempty"`
	Jobs      []VCSchedJob `json:"jobs"`
	// MigrationBudget bounds the memory, in hosts' memories, of the tasks
	// that run now and are placed on another host than their current one
	// (B in section 6.1). Nil means no bound. Jobs without CurrentHosts are
	// new arrivals and don't count.
	MigrationBudget *float64 `json:"migration_budget,omitempty"`
	// Oversized allows needs of memory and of further resources above the largest host, up
	// to 1000 reference hosts. An instance with such a need has no placement.
	Oversized bool `json:"oversized,omitempty"`
}

// VCSchedJob is a job of identical tasks (virtual machines).
type VCSchedJob struct {
	ID     string  `json:"id"`
	Tasks  int     `json:"tasks"`  // ≥ 1; 1 for a sequential job
	CPU    float64 `json:"cpu"`    // per task, share of a host, 0 or in [1e-12, 1]
	Memory float64 `json:"memory"` // per task, share of a host, 0 or in [1e-12, 1], see Oversized
	// Resources holds the needs per task of VCSched.Resources, in their order.
	Resources []float64 `json:"resources,omitempty"`
	// CurrentHosts states where each task runs now, one host number (from 0) for each task; empty for a new arrival.
	CurrentHosts []int `json:"current_hosts,omitempty"`
}

// HostSize is the size of a number of equal hosts, in units of a reference host, which has 1 of each resource.
type HostSize struct {
	Count     int       `json:"count"`
	CPU       float64   `json:"cpu"`                 // in [0.001, 1000]
	Memory    float64   `json:"memory"`              // 0 or in [0.001, 1000]
	Resources []float64 `json:"resources,omitempty"` // of VCSched.Resources, likewise
}

// Placement is a solution of VCSched: hosts and CPU shares, one JobPlacement
// for each job in the instance's order.
type Placement struct {
	Jobs []JobPlacement `json:"jobs"`
}

var placementKeys = object{
	about: "A placement: for each job, in the instance's order, each task's host (from 0) and share of its CPU.",
	keys:  []key{{name: "jobs", of: &object{keys: []key{{name: "hosts", each: &key{}}, {name: "cpu", each: &key{}}}}}}}

// JobPlacement places one job: task k runs on Hosts[k] (numbered from 0) and
// gets the share CPU[k] of that host.
type JobPlacement struct {
	ID    string    `json:"id"`
	Hosts []int     `json:"hosts"`
	CPU   []float64 `json:"cpu"`
}

// Kind is KindVCSched.
func (*VCSched) Kind() Kind { return KindVCSched }

// Kind is KindVCSched.
func (*Placement) Kind() Kind { return KindVCSched }

// ID is the instance's name.
func (v *VCSched) ID() string { return v.Name }

// Metrics implements Instance.
func (*VCSched) Metrics() []Metric {
	return []Metric{{"yield", "minimum yield", "", Maximise, false}, {"average yield", "average yield", "", Maximise, false}}
}

// KindVCSched is the problem of VM placement for max-min yield.
const KindVCSched Kind = "vcsched"

var vcschedFormat = format{
	Kind:     KindVCSched,
	Instance: func() Instance { return new(VCSched) },
	Solution: func() Solution { return new(Placement) },
	Keys:     &vcschedKeys,
	Decided:  &placementKeys,
}

// Tasks is the number of tasks of all jobs together.
func (v *VCSched) Tasks() int {
	n := 0
	for i := range v.Jobs {
		n += v.Jobs[i].Tasks
	}
	return n
}

// maxSize bounds hosts, jobs and tasks, so that a typing error is found here
// and not as an allocation that fails.
const maxSize = 10_000_000

// Sizes returns HostSizes, or the one size of all hosts if that is empty.
func (v *VCSched) Sizes() []HostSize {
	if len(v.HostSizes) > 0 {
		return v.HostSizes
	}
	one := HostSize{Count: v.Hosts, CPU: 1, Memory: 1}
	for range v.Resources {
		one.Resources = append(one.Resources, 1)
	}
	return []HostSize{one}
}

// Capacity returns the size of host h, from 0 to Hosts-1. O(number of sizes).
func (v *VCSched) Capacity(h int) HostSize {
	sizes := v.Sizes()
	for _, s := range sizes {
		if h -= s.Count; h < 0 {
			return s
		}
	}
	return sizes[len(sizes)-1]
}

// Rigid returns a host's amount of a resource, by its index in VCSched.Resources; -1 is memory.
func (s HostSize) Rigid(r int) float64 {
	if r < 0 {
		return s.Memory
	}
	return s.Resources[r]
}

// Rigid returns a task's need of a resource, by its index in VCSched.Resources; -1 is memory.
func (j *VCSchedJob) Rigid(r int) float64 {
	if r < 0 {
		return j.Memory
	}
	return j.Resources[r]
}

var vcschedKeys = object{about: "Virtual machines to place on hosts, numbered from 0, so that the minimum yield " +
	"is as high as possible. Needs are " +
	"shares of a reference host, per task. CPU is shared; memory and the further resources a task has in full or " +
	"doesn't run.",
	keys: []key{
		accountKey,
		{name: "hosts", least: 1, most: maxSize},
		{name: "resources", many: maxResources, distinct: true, each: &key{filled: true, rules: `"not": {"enum": ["cpu", "memory"]}`},
			about: "names of further resources beside cpu and memory, such as disk; they are rigid as memory is"},
		{name: "host_sizes", of: &hostSizeKeys, many: maxHostSizes, about: "what the hosts have, in units of a " +
			"reference host, runs of equal ones " +
			"in the order of their numbers; the counts sum to hosts. Left out: all are reference hosts, of 1 of " +
			"everything"},
		{name: "jobs", of: &vcschedJobKeys, few: 1},
		{name: "migration_budget", most: math.MaxFloat64,
			about: "bound on the memory, in hosts' memories, of tasks placed elsewhere than on their current host"},
		{name: "oversized", about: "needs of memory and of further resources may be above the largest host; such " +
			"an instance has no placement",
			rules: `"default": false`},
	},
	rules: `"allOf": [
		{"if": {"properties": {"host_sizes": {"maxItems": 0}}},
			"then": {"properties": {"jobs": {"items": {"properties": {"cpu": {"maximum": 1}}}}}}},
		{"if": {"properties": {"host_sizes": {"maxItems": 0}, "oversized": {"const": false}}},
			"then": {"properties": {"jobs": {"items": {"properties": {"memory": {"maximum": 1}, "resources": {"items": {"maximum": 1}}}}}}}}]`}

var hostSizeKeys = object{keys: []key{
	{name: "count", least: 1, most: maxSize},
	{name: "cpu", least: minHostSize, most: maxHostSize, unit: "reference hosts"},
	{name: "memory", zero: true, least: minHostSize, most: maxHostSize, unit: "reference hosts"},
	{name: "resources", each: &key{zero: true, least: minHostSize, most: maxHostSize, unit: "reference hosts"}, about: "one for each of " +
		"the instance's resources"},
}}

var vcschedJobKeys = object{keys: []key{
	idKey,
	{name: "tasks", least: 1, most: maxSize, about: "1 for a sequential job"},
	{name: "cpu", zero: true, least: minNeed, most: maxHostSize, about: "0: the job needs none, and its yield is 1"},
	{name: "memory", zero: true, least: minNeed, most: maxHostSize},
	{name: "resources", each: &key{zero: true, least: minNeed, most: maxHostSize}, about: "one for each of the " +
		"instance's resources"},
	{name: "current_hosts", each: &key{most: noLimit},
		about: "where each task runs now: one host for each task, or none for a new arrival"},
}}

// Validate reports the first broken rule. The rules are: at least one host and one job; distinct non-empty names of
// resources; counts of host sizes that sum to hosts; distinct non-empty job ids; at least one task per job; needs, one
// for each resource, that are 0 or at least 1e-12 and no greater than the largest host (but for Oversized);
// current_hosts empty or one valid host per task; a budget that is finite and not negative.
func (v *VCSched) Validate() error {
	jobs, each := elements{kind: KindVCSched, list: "jobs", id: func(i int) string { return v.Jobs[i].ID }}, &vcschedJobKeys
	if why := cmp.Or(vcschedKeys.wrong(v), v.wrongResources(), v.wrongSizes()); why != "" {
		return jobs.bad(-1, "%s", why)
	}
	largest, whose := v.largest(), "a whole host"
	if len(v.HostSizes) > 0 {
		whose = "the largest host"
	}
	rigid, whoseRigid := largest, whose+`, or more with "oversized": true`
	if v.Oversized {
		rigid, whoseRigid = oversized(len(v.Resources)), "the limit of oversized needs"
	}
	count, cpu, memory, resources := each.key("tasks"), each.key("cpu"), each.key("memory"), each.key("resources")
	tasks := 0
	for i := range v.Jobs {
		j := &v.Jobs[i]
		switch {
		case j.CPU > largest.CPU:
			return jobs.bad(i, "cpu is %v, must be from 0 to %v (%s)", j.CPU, largest.CPU, whose)
		case j.Memory > rigid.Memory:
			return jobs.bad(i, "memory is %v, must be from 0 to %v (%s)", j.Memory, rigid.Memory, whoseRigid)
		}
		fit := j.ID != "" && count.holds(float64(j.Tasks)) && cpu.holds(j.CPU) && memory.holds(j.Memory) && hold(resources, j.Resources)
		if why := jobs.wrong(i, fit, each, j); why != "" {
			return jobs.bad(i, "%s", why)
		}
		if tasks += j.Tasks; tasks > maxSize {
			return jobs.bad(i, "more than %d tasks in all", maxSize)
		}
		switch {
		case len(j.Resources) != len(v.Resources):
			return jobs.bad(i, "%s", wrongAmounts("resources", j.Resources, v.Resources))
		case len(j.CurrentHosts) != 0 && len(j.CurrentHosts) != j.Tasks:
			return jobs.bad(i, "current_hosts has %d entries, must have one for each of the %d tasks or none", len(j.CurrentHosts), j.Tasks)
		}
		for r, x := range j.Resources {
			if x > rigid.Resources[r] {
				return jobs.bad(i, "resources[%d] is %v, must be from 0 to %v (%s)", r, x, rigid.Resources[r], whoseRigid)
			}
		}
		for _, h := range j.CurrentHosts {
			if h < 0 || h >= v.Hosts {
				return jobs.bad(i, "current_hosts names host %d, must be from 0 to %d", h, v.Hosts-1)
			}
		}
	}
	return nil
}

// largest returns the most that a host has of each resource, apart.
func (v *VCSched) largest() HostSize {
	sizes := v.Sizes()
	most := sizes[0]
	most.Resources = slices.Clone(most.Resources)
	for _, s := range sizes[1:] {
		most.CPU, most.Memory = max(most.CPU, s.CPU), max(most.Memory, s.Memory)
		for r, x := range s.Resources {
			most.Resources[r] = max(most.Resources[r], x)
		}
	}
	return most
}

// oversized returns a host of the largest size, with a number of further resources.
func oversized(resources int) HostSize {
	return HostSize{CPU: maxHostSize, Memory: maxHostSize, Resources: slices.Repeat([]float64{maxHostSize}, resources)}
}

// minNeed is the smallest need above 0. Such figures are multiples of 2^-92, so that
// sums over 2^23 tasks, of up to maxHostSize each, are exact in 128 bits.
const minNeed = 1e-12

// maxResources bounds the resources other than memory, maxHostSizes the entries of HostSizes, minHostSize and
// maxHostSize the amounts that a host has, other than 0.
const (
	maxResources = 64
	maxHostSizes = 10_000
	minHostSize  = 1e-3
	maxHostSize  = 1e3
)

// wrongResources describes an error in the names of resources, "" if there is none.
func (v *VCSched) wrongResources() string {
	for r, name := range v.Resources {
		if name == "cpu" || name == "memory" {
			return fmt.Sprintf("resources[%d] is %q, which every instance has: name other resources", r, name)
		}
	}
	return repeatedResource(v.Resources)
}

// wrongSizes describes an error in the sizes of hosts, "" if there is none.
func (v *VCSched) wrongSizes() string {
	hosts := 0
	for k := range v.HostSizes {
		s := &v.HostSizes[k]
		if why := cmp.Or(hostSizeKeys.wrong(s), wrongAmounts("resources", s.Resources, v.Resources)); why != "" {
			return fmt.Sprintf("host_sizes[%d]: %s", k, why)
		}
		hosts += s.Count
	}
	if len(v.HostSizes) > 0 && hosts != v.Hosts {
		return fmt.Sprintf("host_sizes counts %d hosts, hosts says %d", hosts, v.Hosts)
	}
	return ""
}

// Objective returns the minimum yield of a Placement and, as the second objective, the
// average yield of its jobs. The error is ErrInvalid if the placement isn't one of the
// instance's tasks (CheckShape).
func (v *VCSched) Objective(s Solution) (Objective, error) {
	p, ok := s.(*Placement)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a vcsched instance", ErrInvalid, s)
	}
	if err := v.CheckShape(p); err != nil {
		return Objective{}, err
	}
	o := Objective{Value: math.Inf(1), Sense: Maximise, SecondSense: Maximise}
	for i := range p.Jobs {
		if v.Jobs[i].CPU == 0 {
			o.Value = min(o.Value, 1)
			o.Second++
			continue
		}
		sum := 0.0
		for _, x := range p.Jobs[i].CPU {
			o.Value = min(o.Value, x/v.Jobs[i].CPU)
			sum += x
		}
		o.Second += sum / (v.Jobs[i].CPU * float64(v.Jobs[i].Tasks))
	}
	o.Second /= float64(len(p.Jobs))
	return o, nil
}

// CheckShape reports, as ErrInvalid, the first reason for which p is no placement of v's tasks. Reasons are a job that
// is missing or out of order, another number of hosts or shares than tasks, a host that doesn't exist, and a share that
// is NaN or infinite.
func (v *VCSched) CheckShape(p *Placement) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w placement: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if len(p.Jobs) != len(v.Jobs) {
		return bad("places %d jobs, the instance has %d", len(p.Jobs), len(v.Jobs))
	}
	for i := range p.Jobs {
		q, j := &p.Jobs[i], &v.Jobs[i]
		if q.ID != j.ID {
			return bad("jobs[%d] is %q, the instance has %q there", i, q.ID, j.ID)
		}
		if len(q.Hosts) != j.Tasks || len(q.CPU) != j.Tasks {
			return bad("job %q has %d hosts and %d shares for %d tasks", q.ID, len(q.Hosts), len(q.CPU), j.Tasks)
		}
		for k, h := range q.Hosts {
			if h < 0 || h >= v.Hosts {
				return bad("job %q task %d is on host %d, must be from 0 to %d", q.ID, k, h, v.Hosts-1)
			}
			if x := q.CPU[k]; math.IsNaN(x) || math.IsInf(x, 0) {
				return bad("job %q task %d has the CPU share %v", q.ID, k, x)
			}
		}
	}
	return nil
}

// NewPlacement returns the placement with the given hosts of the tasks, in the
// instance's order, and the given yield of every job: a task's share is yield times
// its need. It panics if len(hosts) isn't the number of tasks.
func (v *VCSched) NewPlacement(hosts []int32, yield float64) *Placement {
	if n := v.Tasks(); len(hosts) != n {
		panic(fmt.Sprintf("model: NewPlacement: %d hosts for %d tasks", len(hosts), n))
	}
	all := make([]int, len(hosts))
	shares := make([]float64, len(hosts))
	p := &Placement{Jobs: make([]JobPlacement, len(v.Jobs))}
	k := 0
	for i := range v.Jobs {
		j, from := &v.Jobs[i], k
		for ; k < from+j.Tasks; k++ {
			all[k], shares[k] = int(hosts[k]), yield*j.CPU
		}
		p.Jobs[i] = JobPlacement{ID: j.ID, Hosts: slices.Clip(all[from:k]), CPU: slices.Clip(shares[from:k])}
	}
	return p
}

// TaskHosts returns the host of each task, in the instance's order.
func (p *Placement) TaskHosts() []int32 {
	var hosts []int32
	for i := range p.Jobs {
		for _, h := range p.Jobs[i].Hosts {
			hosts = append(hosts, int32(h))
		}
	}
	return hosts
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (v *VCSched) MarshalJSON() ([]byte, error) { return marshalOwn(v) }

// MarshalJSON writes the placement in its own format, "kind" first.
func (p *Placement) MarshalJSON() ([]byte, error) { return marshalOwn(p) }

// Yield returns the largest minimum yield that CPU shares can give to the tasks on the given hosts, in the instance's
// order. It is min(1, 1/L), L being the largest CPU load of a host, as a share of its CPU. (All tasks of the fullest
// host then get the same fraction of their needs.)
func (v *VCSched) Yield(hosts []int32) float64 {
	load := make([]float64, v.Hosts)
	k := 0
	for i := range v.Jobs {
		for range v.Jobs[i].Tasks {
			load[hosts[k]] += v.Jobs[i].CPU
			k++
		}
	}
	largest, h := 1.0, 0
	for _, s := range v.Sizes() {
		for range s.Count {
			largest = max(largest, load[h]/s.CPU)
			h++
		}
	}
	return 1 / largest
}
