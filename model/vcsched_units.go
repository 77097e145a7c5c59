package model

import (
	"math"
	"math/bits"

	"github.com/gapwise/gapwise/internal/units"
)

// FitTolerance is by how much of a host the memory needs on a host may exceed
// it, and the memory that moves the migration budget. A set of needs fits
// exactly when the sum of its float64 figures, as rational numbers, is at most
// 1 + FitTolerance (also a float64): so the judge has it at its default
// tolerance, so bounds and proofs mean it, and so every solver's placements are
// held against it (VCSchedUnits.Fits).
const FitTolerance = 1e-9

// minNeed is the smallest CPU need and the smallest memory need above 0: such
// figures are multiples of 2^-92, so that sums of any 2^23 tasks are exact in 128 bits.
const minNeed = 1e-12

// Memory is an amount of memory in units of 2^-92 of a host, in 128 bits: the
// exact value of a float64 figure, or of a sum of them.
type Memory struct{ hi, lo uint64 }

// exactMemory is x, rounded down to a unit if x is below minNeed; the largest
// Memory if x is above any sum of needs.
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

// Add is m + x.
func (m Memory) Add(x Memory) Memory {
	lo, carry := bits.Add64(m.lo, x.lo, 0)
	hi, over := bits.Add64(m.hi, x.hi, carry)
	if over > 0 { // the largest Memory and something
		return Memory{math.MaxUint64, math.MaxUint64}
	}
	return Memory{hi, lo}
}

// Sub is m - x, for x of at most m.
func (m Memory) Sub(x Memory) Memory {
	lo, borrow := bits.Sub64(m.lo, x.lo, 0)
	hi, _ := bits.Sub64(m.hi, x.hi, borrow)
	return Memory{hi, lo}
}

// Less reports whether m is less than x.
func (m Memory) Less(x Memory) bool { return m.hi < x.hi || m.hi == x.hi && m.lo < x.lo }

// Floor is m in units of 2^-k of a host, for k of at most 62, rounded down.
func (m Memory) Floor(k uint) int64 {
	if shift := 92 - k; shift < 64 {
		return int64(m.hi<<(64-shift) | m.lo>>shift)
	} else {
		return int64(m.hi >> (shift - 64))
	}
}

// VCSchedUnits are the needs of a VCSched instance's tasks in fixed point,
// task by task in the instance's order, for solvers that add, compare and hash
// them.
//
// Needs are rounded down to a unit of 1/Scale of a host, and the capacity is
// rounded up, so the instance in units is a relaxation of the real one: what
// can't be done in units can't be done at all, and a bound in units is a bound
// (YieldBound widens it by the rounding). What fits in units fits but for sums
// that come within some units of the capacity, tolerance included: Fits decides,
// and Strict is the view in which there are no such sums.
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
	// MemoryCap is a host's memory, rounded up: Scale, the tolerance, and the
	// units by which the conversion to fixed point may have rounded needs up.
	MemoryCap int64

	// Exact is the memory need of each job's tasks, ExactCap and ExactBudget
	// what the sums of such needs may come to.
	Exact                 []Memory
	ExactCap, ExactBudget Memory

	tiny int // tasks whose CPU need was rounded up to a unit
}

// Units converts the needs. Sums over all tasks don't overflow int64.
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

// Fits reports whether the placement of task i on hosts[i] fits in the hosts'
// memory and the migration budget, exactly. O(tasks + hosts).
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

// Strict is a view of the same needs in which the memory and the budget are so
// much smaller that what fits in its units fits exactly: each need was rounded
// down by less than a unit and a thousandth, and what may be used was rounded
// up by slack and, a budget, a unit and a part in 2^52.
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

// Moves is the memory that moves when task i is placed on host h.
func (u *VCSchedUnits) Moves(i, h int32) int64 {
	if u.Current == nil || u.Current[i] < 0 || u.Current[i] == h {
		return 0
	}
	return u.Memory[i]
}

// slack is the number of units by which the sum of any set of tasks may exceed
// its exact value: a product below 2^44 is rounded by at most 2^-10 before its
// fraction is cut off, and a CPU need of no whole unit counts as one.
func (u *VCSchedUnits) slack() int64 { return 1 + int64(len(u.CPU))/500 + int64(u.tiny) }

// YieldBound is the minimum yield that no placement exceeds if every placement
// has, in units, a host of at least the given CPU load.
func (u *VCSchedUnits) YieldBound(load int64) float64 {
	load -= u.slack()
	if load <= u.Scale {
		return 1
	}
	// The load's conversion and the division round by half a unit in the last place each.
	return math.Nextafter(math.Nextafter(float64(u.Scale)/float64(load), 2), 2)
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
