package model

import (
	"math"
	"math/bits"

	"github.com/gapwise/gapwise/internal/units"
)

// FitTolerance is what the memory needs on a host may exceed the host by, and the
// memory that moves the migration budget, as a share of a host. A set of needs fits if
// and only if Σ need ≤ 1 + FitTolerance, all of them float64 figures taken as rational
// numbers. The judge, at its default tolerance, the bounds and proofs, and the solvers
// (VCSchedUnits.Fits) all mean this.
const FitTolerance = 1e-9

// minNeed is the smallest CPU need and the smallest memory need above 0. Such figures
// are multiples of 2^-92, so that sums over 2^23 tasks are exact in 128 bits.
const minNeed = 1e-12

// Memory is an amount of memory in units of 2^-92 of a host, in 128 bits: the
// exact value of a float64 figure, or of a sum of them.
type Memory struct{ hi, lo uint64 }

// exactMemory returns x, rounded down to a unit if x < minNeed, and the largest Memory
// if x exceeds every sum of needs.
func exactMemory(x float64) Memory {
	mantissa, exponent := math.Frexp(x) // x = mantissa 2^exponent
	m, shift := uint64(mantissa*(1<<53)), exponent-53+92
	switch {
	case shift > 74:
		return Memory{math.MaxUint64, math.MaxUint64}
	case shift >= 64:
		return Memory{m << (shift - 64), 0}
	case shift >= 0:
		return Memory{m >> (64 - shift), m << shift}
	}
	return Memory{0, m >> -shift}
}

// Add returns m + x, at most the largest Memory.
func (m Memory) Add(x Memory) Memory {
	lo, carry := bits.Add64(m.lo, x.lo, 0)
	hi, over := bits.Add64(m.hi, x.hi, carry)
	if over > 0 { // the largest Memory and something
		return Memory{math.MaxUint64, math.MaxUint64}
	}
	return Memory{hi, lo}
}

// Sub returns m - x, for x ≤ m.
func (m Memory) Sub(x Memory) Memory {
	lo, borrow := bits.Sub64(m.lo, x.lo, 0)
	hi, _ := bits.Sub64(m.hi, x.hi, borrow)
	return Memory{hi, lo}
}

// Less reports whether m < x.
func (m Memory) Less(x Memory) bool { return m.hi < x.hi || m.hi == x.hi && m.lo < x.lo }

// Floor returns m in units of 2^-k of a host, k ≤ 62, rounded down.
func (m Memory) Floor(k uint) int64 {
	if shift := 92 - k; shift < 64 {
		return int64(m.hi<<(64-shift) | m.lo>>shift)
	} else {
		return int64(m.hi >> (shift - 64))
	}
}

// VCSchedUnits holds the needs of a VCSched instance's tasks as integers, in the
// instance's order, for solvers that add, compare and hash them.
//
// Needs are rounded down to a unit of 1/Scale of a host, and capacities up. So the
// instance in units is a relaxation: what is infeasible in units is infeasible, and a
// bound in units is a bound (YieldBound widens it by the rounding). A set of needs that
// fits in units may fail to fit exactly if its sum is within some units of the
// capacity, tolerance included: Fits decides that, and Strict excludes such sums.
type VCSchedUnits struct {
	Hosts  int
	Scale  int64   // units in a host
	CPU    []int64 // [task]: CPU need in units, at least 1
	Memory []int64 // [task]: memory need in units
	Job    []int32 // [task]: index of its job
	Unit   int64   // greatest common divisor of the CPU needs
	// Current is the host on which each task runs now, -1 for a new arrival,
	// and Budget the memory that may move, in units, rounded up; nil and 0
	// without a migration budget.
	Current []int32
	Budget  int64
	// MemoryCap is a host's memory, rounded up: Scale, the tolerance, and the
	// units by which the conversion to fixed point may have rounded needs up.
	MemoryCap int64

	// Exact is [job]: the memory need of one of its tasks. ExactCap and
	// ExactBudget are the largest sums of such needs that fit and may move.
	Exact                 []Memory
	ExactCap, ExactBudget Memory

	tiny int // tasks whose CPU need was rounded up to a unit
}

// Units converts the needs to integers. Sums over all tasks don't overflow int64.
func (v *VCSched) Units() *VCSchedUnits {
	n := v.Tasks()
	u := &VCSchedUnits{Hosts: v.Hosts, Scale: 1e13, CPU: make([]int64, 0, n), Memory: make([]int64, 0, n), Job: make([]int32, 0, n),
		Exact: make([]Memory, len(v.Jobs)), ExactCap: exactMemory(1).Add(exactMemory(FitTolerance))}
	for float64(u.Scale)*float64(n) > math.MaxInt64/4 {
		u.Scale /= 10
	}
	for i := range v.Jobs {
		c := int64(v.Jobs[i].CPU * float64(u.Scale))
		if c == 0 {
			c = 1
			u.tiny += v.Jobs[i].Tasks
		}
		m := int64(v.Jobs[i].Memory * float64(u.Scale))
		for range v.Jobs[i].Tasks {
			u.CPU, u.Memory, u.Job = append(u.CPU, c), append(u.Memory, m), append(u.Job, int32(i))
		}
		u.Unit = units.GCD(u.Unit, c)
		u.Exact[i] = exactMemory(v.Jobs[i].Memory)
	}
	// The tolerance's float64 is above 1e-9 by less than a unit's share.
	tolerance := u.Scale/1e9 + u.slack()
	u.MemoryCap = u.Scale + tolerance
	if v.MigrationBudget != nil {
		b := min(*v.MigrationBudget, float64(n)) // more can't move
		u.Budget = int64(math.Nextafter(b*float64(u.Scale), math.MaxFloat64)) + 1 + tolerance
		u.ExactBudget = exactMemory(b).Add(exactMemory(FitTolerance))
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
	return u
}

// Fits reports whether the placement of each task i on hosts[i] fits in the hosts'
// memory and in the migration budget, exactly. O(tasks + hosts).
func (u *VCSchedUnits) Fits(hosts []int32) bool {
	use := make([]Memory, u.Hosts)
	var moved Memory
	for i, h := range hosts {
		m := u.Exact[u.Job[i]]
		if use[h] = use[h].Add(m); u.ExactCap.Less(use[h]) {
			return false
		}
		if u.Current != nil && u.Current[i] >= 0 && u.Current[i] != h {
			moved = moved.Add(m)
		}
	}
	return u.Current == nil || !u.ExactBudget.Less(moved)
}

// Strict returns the same needs with so much less memory and budget that what fits in
// units fits exactly: each need was rounded down by less than 1.001 units, and
// capacities were rounded up by slack, the budget by one more unit and 2^-52 of itself.
func (u *VCSchedUnits) Strict() *VCSchedUnits {
	s := *u
	n := int64(len(u.CPU))
	rounding := n + n/100 + 2*u.slack() + 2
	s.MemoryCap = u.MemoryCap - rounding
	if s.Current != nil {
		s.Budget = max(0, u.Budget-rounding)
	}
	return &s
}

// Moves returns the memory, in units, that moves if task i is placed on host h.
func (u *VCSchedUnits) Moves(i, h int32) int64 {
	if u.Current == nil || u.Current[i] < 0 || u.Current[i] == h {
		return 0
	}
	return u.Memory[i]
}

// slack returns by how many units the sum over any set of tasks may exceed its exact
// value: a product below 2^44 is rounded by at most 2^-10 before its fraction is cut
// off, and a CPU need below a unit counts as one.
func (u *VCSchedUnits) slack() int64 { return 1 + int64(len(u.CPU))/500 + int64(u.tiny) }

// YieldBound returns an upper bound on the minimum yield of every placement, given a
// lower bound on the largest CPU load of every placement, in units.
func (u *VCSchedUnits) YieldBound(load int64) float64 {
	load -= u.slack()
	if load <= u.Scale {
		return 1
	}
	// The load's conversion and the division round by half an ulp each.
	return math.Nextafter(math.Nextafter(float64(u.Scale)/float64(load), 2), 2)
}

// MaxLoad returns the largest CPU load of a host, in units, with each task i on
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
