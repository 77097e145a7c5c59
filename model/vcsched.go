package model

import (
	"fmt"
	"math"
	"slices"
)

// VCSched is the placement of virtual machines on identical hosts so that the
// worst-off job's yield is as high as possible (Stillwell, Schanzenbach,
// Vivien, Casanova: Resource Allocation using Virtual Clusters; section 2.3
// for sequential jobs, 5.1 for parallel ones, 6.1 for adaptation under a
// budget of moved memory).
//
// Every task runs on one host. The CPU shares of a host's tasks sum to at most
// 1, and so do their memory needs. A task gets at most its CPU need; all tasks
// of a job get the same share. A job's yield is the CPU that it gets divided
// by the CPU that it needs. The objective is the minimum yield, the second
// objective the average of the jobs' yields.
type VCSched struct {
	Name  string       `json:"name"`
	Hosts int          `json:"hosts"` // H, identical, numbered from 0
	Jobs  []VCSchedJob `json:"jobs"`
	// MigrationBudget bounds the memory, in hosts' memories, of the tasks
	// that run now and are placed on another host than their current one
	// (B in section 6.1). Nil means no bound. Jobs without CurrentHosts are
	// new arrivals and don't count.
	MigrationBudget *float64 `json:"migration_budget,omitempty"`
}

// VCSchedJob is a job of identical tasks (virtual machines).
type VCSchedJob struct {
	ID     string  `json:"id"`
	Tasks  int     `json:"tasks"`  // ≥ 1; 1 for a sequential job
	CPU    float64 `json:"cpu"`    // per task, share of a host, in [1e-12, 1]
	Memory float64 `json:"memory"` // per task, share of a host, 0 or in [1e-12, 1]
	// CurrentHosts says where each task runs now, one host number (from 0)
	// for each task; empty for a new arrival.
	CurrentHosts []int `json:"current_hosts,omitempty"`
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
	return []Metric{{"yield", "minimum yield", "", Maximise}, {"average yield", "average yield", "", Maximise}}
}

// KindVCSched is the problem of VM placement for max-min yield.
const KindVCSched Kind = "vcsched"

var vcschedFormat = Format{
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

// Validate reports the first broken rule: at least one host and one job,
// distinct non-empty job ids, at least one task per job, cpu in [1e-12, 1], memory
// 0 or in [1e-12, 1], current_hosts empty or one valid host per task, a budget that is
// finite and not negative.
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
		if !(j.CPU > 0 && j.CPU <= 1) {
			return badJob("cpu is %v, must be above 0 and at most 1 (a whole host)", j.CPU)
		}
		if j.CPU < minNeed {
			return badJob("cpu is %v, must be at least %g of a host; give %g instead", j.CPU, minNeed, minNeed)
		}
		if !(j.Memory >= 0 && j.Memory <= 1) {
			return badJob("memory is %v, must be from 0 to 1 (a whole host)", j.Memory)
		}
		if j.Memory > 0 && j.Memory < minNeed {
			return badJob("memory is %v, must be 0 or at least %g of a host; give 0 instead", j.Memory, minNeed)
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

// CheckShape reports, as ErrInvalid, the first reason for which p is no placement of
// v's tasks: a job that is missing or out of order, another number of hosts or shares
// than tasks, a host that doesn't exist, a share that is NaN or infinite.
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

// Yield returns the largest minimum yield that CPU shares can give to the tasks on the
// given hosts, in the instance's order: min(1, 1/L), L being the largest CPU load of a
// host. (All tasks of the fullest host then get the same fraction of their needs.)
func (v *VCSched) Yield(hosts []int32) float64 {
	load := make([]float64, v.Hosts)
	k, largest := 0, 1.0
	for i := range v.Jobs {
		for range v.Jobs[i].Tasks {
			load[hosts[k]] += v.Jobs[i].CPU
			largest = max(largest, load[hosts[k]])
			k++
		}
	}
	return 1 / largest
}
