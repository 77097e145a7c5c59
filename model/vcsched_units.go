package model

import "math"

// VCSchedUnits are the needs of a VCSched instance's tasks in fixed point,
// task by task in the instance's order, for solvers that add, compare and hash
// them exactly.
//
// Needs are rounded down to a unit of 1/Scale of a host, and the capacity is
// rounded up, so the instance in units is a relaxation of the real one: what
// can't be done in units can't be done at all, and a bound in units is a bound
// (YieldBound widens it by the rounding). What fits in units exceeds a host's
// memory by less than 1e-9 for up to several thousand tasks per host, which is
// the judge's tolerance; the judge looks at every solution in any case.
type VCSchedUnits struct {
	Hosts  int
	Scale  int64   // units per host
	CPU    []int64 // CPU need of each task, at least 1
	Memory []int64 // memory need of each task
	Job    []int32 // job of each task
	Unit   int64   // every CPU need is a multiple of it
	// Current is the host on which each task runs now, -1 for a new
	// arrival, and Budget the memory that may move, rounded up; nil and 0
	// without a migration budget.
	Current []int32
	Budget  int64
	// MemoryCap is a host's memory: Scale, plus the units by which the
	// conversion to fixed point may have rounded needs up.
	MemoryCap int64
}

// Units converts the needs. Sums over all tasks don't overflow int64.
func (v *VCSched) Units() *VCSchedUnits {
	n := v.Tasks()
	u := &VCSchedUnits{Hosts: v.Hosts, Scale: 1e13, CPU: make([]int64, 0, n), Memory: make([]int64, 0, n), Job: make([]int32, 0, n)}
	for float64(u.Scale)*float64(n) > math.MaxInt64/4 {
		u.Scale /= 10
	}
	for i := range v.Jobs {
		c := max(1, int64(v.Jobs[i].CPU*float64(u.Scale)))
		m := int64(v.Jobs[i].Memory * float64(u.Scale))
		for range v.Jobs[i].Tasks {
			u.CPU, u.Memory, u.Job = append(u.CPU, c), append(u.Memory, m), append(u.Job, int32(i))
		}
		u.Unit = gcd(u.Unit, c)
	}
	if v.MigrationBudget != nil {
		u.Budget = int64(*v.MigrationBudget*float64(u.Scale)) + 1
		for i := range v.Jobs {
			for k := range v.Jobs[i].Tasks {
				h := int32(-1)
				if len(v.Jobs[i].CurrentHosts) > 0 {
					h = int32(v.Jobs[i].CurrentHosts[k])
				}
				u.Current = append(u.Current, h)
			}
		}
	}
	u.MemoryCap = u.Scale + u.slack()
	return u
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Moves is the memory that moves when task i is placed on host h.
func (u *VCSchedUnits) Moves(i, h int32) int64 {
	if u.Current == nil || u.Current[i] < 0 || u.Current[i] == h {
		return 0
	}
	return u.Memory[i]
}

// slack is the number of units by which the sum of any set of tasks may exceed
// its exact value: a product below 2^44 is rounded by at most 2^-10 before its
// fraction is cut off.
func (u *VCSchedUnits) slack() int64 { return 1 + int64(len(u.CPU))/500 }

// YieldBound is the minimum yield that no placement exceeds if every placement
// has, in units, a host of at least the given CPU load.
func (u *VCSchedUnits) YieldBound(load int64) float64 {
	load -= u.slack()
	if load <= u.Scale {
		return 1
	}
	return math.Nextafter(float64(u.Scale)/float64(load), 2)
}

// MaxLoad is the largest CPU load of a host, in units, when task i is on
// hosts[i].
func (u *VCSchedUnits) MaxLoad(hosts []int32) int64 {
	load := make([]int64, u.Hosts)
	var largest int64
	for i, h := range hosts {
		load[h] += u.CPU[i]
		largest = max(largest, load[h])
	}
	return largest
}
