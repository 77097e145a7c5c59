// SPDX-License-Identifier: MIT

package model

import (
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
	Name  string `json:"name"`
	Hosts int    `json:"hosts"` // H, numbered from 0
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

// Validate reports the first broken rule. The rules are: at least one host and one job; distinct non-empty names of
// resources; counts of host sizes that sum to hosts; distinct non-empty job ids; at least one task per job; needs, one
// for each resource, that are 0 or at least 1e-12 and no greater than the largest host (but for Oversized);
// current_hosts empty or one valid host per task; a budget that is finite and not negative.
func (v *VCSched) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w vcsched instance: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if v.Hosts < 1 || v.Hosts > maxSize {
		return bad("hosts is %d, must be from 1 to %d", v.Hosts, maxSize)
	}
	if len(v.Jobs) == 0 {
		return bad("jobs is empty, must hold at least one job")
	}
	if b := v.MigrationBudget; b != nil && !(*b >= 0 && !math.IsInf(*b, 1)) {
		return bad("migration_budget is %v, must be finite and at least 0", *b)
	}
	if why := v.checkResources(); why != "" {
		return bad("%s", why)
	}
	if why := v.checkSizes(); why != "" {
		return bad("%s", why)
	}
	largest, whose := v.largest(), "a whole host"
	if len(v.HostSizes) > 0 {
		whose = "the largest host"
	}
	rigid, whoseRigid := largest, whose+`, or more with "oversized": true`
	if v.Oversized {
		rigid, whoseRigid = oversized(len(v.Resources)), "the limit of oversized needs"
	}
	ids := idCheck{at: func(i int) string { return v.Jobs[i].ID }}
	tasks := 0
	for i := range v.Jobs {
		j := &v.Jobs[i]
		badJob := func(format string, args ...any) error {
			return bad("jobs[%d] (id %q): "+format, append([]any{i, j.ID}, args...)...)
		}
		if j.ID == "" {
			return bad("jobs[%d]: id is missing or empty", i)
		}
		if k, ok := ids.first(i); ok {
			return badJob("id is taken by jobs[%d] already", k)
		}
		if j.Tasks < 1 {
			return badJob("tasks is %d, must be at least 1", j.Tasks)
		}
		if tasks += j.Tasks; j.Tasks > maxSize || tasks > maxSize {
			return badJob("more than %d tasks in all", maxSize)
		}
		if why := checkNeed("cpu", j.CPU, largest.CPU, whose); why != "" {
			return badJob("%s", why)
		}
		if why := checkNeed("memory", j.Memory, rigid.Memory, whoseRigid); why != "" {
			return badJob("%s", why)
		}
		if n := len(j.Resources); n != len(v.Resources) {
			return badJob("resources has %d entries, must have one for each of the instance's %d resources", n, len(v.Resources))
		}
		for r, x := range j.Resources {
			if why := checkNeed(fmt.Sprintf("resources[%d]", r), x, rigid.Resources[r], whoseRigid); why != "" {
				return badJob("%s", why)
			}
		}
		if n := len(j.CurrentHosts); n != 0 && n != j.Tasks {
			return badJob("current_hosts has %d entries, must have one for each of the %d tasks or none", n, j.Tasks)
		}
		for _, h := range j.CurrentHosts {
			if h < 0 || h >= v.Hosts {
				return badJob("current_hosts names host %d, must be from 0 to %d", h, v.Hosts-1)
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

// checkNeed describes an error in a need of a resource; "" if there is none. The largest host has most of it, and whose
// describes that host.
func checkNeed(name string, need, most float64, whose string) string {
	switch {
	case need >= minNeed && need <= most || need == 0:
		return ""
	case !(need >= 0 && need <= most):
		return fmt.Sprintf("%s is %v, must be from 0 to %v (%s)", name, need, most, whose)
	}
	return fmt.Sprintf("%s is %v, must be 0 or at least %g of a host; give 0 or %g instead", name, need, minNeed, minNeed)
}

// maxResources bounds the resources other than memory, maxHostSizes the entries of HostSizes, minHostSize and
// maxHostSize the amounts that a host has, other than 0.
const (
	maxResources = 64
	maxHostSizes = 10_000
	minHostSize  = 1e-3
	maxHostSize  = 1e3
)

func (v *VCSched) checkResources() string {
	if len(v.Resources) > maxResources {
		return fmt.Sprintf("resources has %d entries, must have at most %d", len(v.Resources), maxResources)
	}
	names := idCheck{at: func(r int) string { return v.Resources[r] }}
	for r, name := range v.Resources {
		if name == "" {
			return fmt.Sprintf("resources[%d] is empty, must be a name", r)
		}
		if name == "cpu" || name == "memory" {
			return fmt.Sprintf("resources[%d] is %q, which every instance has: name other resources", r, name)
		}
		if k, ok := names.first(r); ok {
			return fmt.Sprintf("resources[%d] is %q, as resources[%d] is already", r, name, k)
		}
	}
	return ""
}

func (v *VCSched) checkSizes() string {
	if len(v.HostSizes) > maxHostSizes {
		return fmt.Sprintf("host_sizes has %d entries, must have at most %d", len(v.HostSizes), maxHostSizes)
	}
	hosts := 0
	for k, s := range v.HostSizes {
		if s.Count < 1 || s.Count > maxSize {
			return fmt.Sprintf("host_sizes[%d]: count is %d, must be from 1 to %d", k, s.Count, maxSize)
		}
		hosts += s.Count
		if !(s.CPU >= minHostSize && s.CPU <= maxHostSize) {
			return fmt.Sprintf("host_sizes[%d]: cpu is %v, must be from %g to %g reference hosts", k, s.CPU, minHostSize, maxHostSize)
		}
		if len(s.Resources) != len(v.Resources) {
			return fmt.Sprintf("host_sizes[%d]: resources has %d entries, must have one for each of the instance's %d resources", k, len(s.Resources), len(v.Resources))
		}
		for r, x := range append([]float64{s.Memory}, s.Resources...) {
			if !(x == 0 || x >= minHostSize && x <= maxHostSize) {
				name := "memory"
				if r > 0 {
					name = fmt.Sprintf("resources[%d]", r-1)
				}
				return fmt.Sprintf("host_sizes[%d]: %s is %v, must be 0 or from %g to %g reference hosts", k, name, x, minHostSize, maxHostSize)
			}
		}
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
