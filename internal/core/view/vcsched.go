// SPDX-License-Identifier: MIT

package view

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/model"
)

// FitTolerance bounds two excesses: the needs of memory or of a further resource above a host's amount, as a share of
// that amount; and the moved memory above the migration budget, as a share of the smallest host's memory. A set of
// needs fits on a host if and only if Σ need ≤ capacity (1 + FitTolerance), all of them float64 figures taken as
// rational numbers. The judge, at its default tolerance, the bounds and proofs, and the solvers (VCSched.Fits) all mean
// this.
const FitTolerance = 1e-9

// Memory is an amount of memory, or of another rigid resource, in units of 2^-92 of a host, in 128 bits: the
// exact value of a float64 figure, or of a sum of them.
type Memory struct{ hi, lo uint64 }

// exactMemory returns x, rounded down to a unit if it is below the smallest need, and the largest Memory
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

// fitting returns the largest sum of needs, which are multiples of 2^-92, that doesn't
// exceed x by more than FitTolerance of an amount.
func fitting(x, amount float64) Memory {
	most := new(big.Rat).SetFloat64(FitTolerance)
	most.Mul(most, new(big.Rat).SetFloat64(amount)).Add(most, new(big.Rat).SetFloat64(x))
	n := new(big.Int).Lsh(most.Num(), 92)
	if n.Quo(n, most.Denom()); n.BitLen() > 128 {
		return Memory{math.MaxUint64, math.MaxUint64}
	}
	return Memory{new(big.Int).Rsh(n, 64).Uint64(), n.Uint64()}
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

// Compare returns -1 if m < x, 1 if m > x, else 0.
func (m Memory) Compare(x Memory) int {
	return cmp.Or(cmp.Compare(m.hi, x.hi), cmp.Compare(m.lo, x.lo))
}

// Floor returns m in units of 2^-k of a host, k ≤ 62, rounded down.
func (m Memory) Floor(k uint) int64 {
	if shift := 92 - k; shift < 64 {
		return int64(m.hi<<(64-shift) | m.lo>>shift)
	} else {
		return int64(m.hi >> (shift - 64))
	}
}

// VCSched holds the needs of a model.VCSched instance's tasks as integers, in the
// instance's order, for solvers that add, compare and hash them.
//
// Needs are rounded down to a unit of 1/Scale of a reference host, and capacities up.
// So the instance in units is a relaxation: if it is infeasible in units it is infeasible, and a bound in units is a
// bound (YieldBound widens it by the rounding). A set of needs that fits in units may fail to fit exactly if its sum is
// within some units of the capacity, tolerance included: Fits decides that, and Strict excludes such sums.
//
// A load is the CPU needs on a host over the host's CPU: a relative load. It is rounded up in units (HostClass.Load) to
// a whole number L. A host's needs have at most that load if and only if they sum to at most HostClass.Room(L).
type VCSched struct {
	Hosts  int
	Scale  int64   // units in a reference host
	CPU    []int64 // [task]: CPU need in units, at least 1
	Memory []int64 // [task]: memory need in units; Rigid[0]
	Job    []int32 // [task]: index of its job
	Unit   int64   // every load is a multiple: 1, or the greatest common divisor of the CPU needs
	// Current is the host on which each task runs now, -1 for a new arrival,
	// and Budget the memory that may move, in units, rounded up; nil and 0
	// without a migration budget.
	Current []int32
	Budget  int64
	// Rigid is [resource][task]: the needs of the resources that can keep tasks
	// from a host, in units. Memory is the first, then the resources of VCSched.Resources but for the ones that follow
	// from others (RigidResources).
	Rigid [][]int64
	Names []string // [resource of Rigid]: "memory", or the name in VCSched.Resources
	// Classes are the hosts by size, equal ones together, in the order of the
	// first host of each.
	Classes []HostClass

	// ExactRigid is [resource][job]: the exact need of one of its tasks, and Exact the need of memory. ExactBudget is
	// the largest sum that may move.
	ExactRigid  [][]Memory
	Exact       []Memory
	ExactBudget Memory

	class []int32 // [host]: its class; nil if there is one
	tiny  int     // tasks with a CPU need rounded up to a unit
}

// HostClass is a number of hosts of equal size.
type HostClass struct {
	Hosts []int32 // their numbers, increasing
	// Cap is [resource] of VCSched.Rigid: the room of such a host, in units, rounded up. It includes its size, the
	// tolerance, and the units by which the conversion to fixed point may have rounded needs up. ExactCap are the
	// largest sums of exact needs that fit.
	Cap      []int64
	ExactCap []Memory

	// The host's CPU is mantissa 2^-shift reference hosts, the mantissa odd.
	mantissa uint64
	shift    int
}

// reference reports whether the hosts have the CPU of a reference host.
func (c *HostClass) reference() bool { return c.mantissa == 1 && c.shift == 0 }

// unlimitedLoad is above every load; Room's results are at most this.
const unlimitedLoad = math.MaxInt64 / 4

// Room returns the largest CPU load that a host of the class can have, in units of a
// reference host, for a relative load of at most the given one: ⌊load CPU⌋.
func (c *HostClass) Room(load int64) int64 {
	if c.reference() || load <= 0 {
		return load
	}
	hi, lo := bits.Mul64(uint64(load), c.mantissa)
	switch {
	case c.shift >= 64:
		hi, lo = 0, hi>>(c.shift-64)
	case c.shift > 0:
		hi, lo = hi>>c.shift, lo>>c.shift|hi<<(64-c.shift)
	case c.shift < 0:
		if hi > 0 || lo > unlimitedLoad>>-c.shift {
			return unlimitedLoad
		}
		lo <<= -c.shift
	}
	if hi > 0 || lo > unlimitedLoad {
		return unlimitedLoad
	}
	return int64(lo)
}

// Load returns the relative load of a host of the class if its tasks' CPU needs sum to cpu units, rounded up: ⌈cpu /
// CPU⌉. So Load(cpu) ≤ L if and only if cpu ≤ Room(L).
func (c *HostClass) Load(cpu int64) int64 {
	load, whole := c.divide(cpu)
	if !whole {
		load++
	}
	return load
}

// LoadDown is Load rounded down: ⌊cpu / CPU⌋.
func (c *HostClass) LoadDown(cpu int64) int64 {
	load, _ := c.divide(cpu)
	return load
}

// divide returns ⌊cpu / CPU⌋, less than unlimitedLoad, and whether that is cpu / CPU.
func (c *HostClass) divide(cpu int64) (load int64, whole bool) {
	if c.reference() || cpu <= 0 {
		return cpu, true
	}
	var hi, lo, cut uint64
	switch {
	case c.shift >= 64:
		hi = uint64(cpu) << (c.shift - 64)
	case c.shift >= 0:
		hi, lo = uint64(cpu)>>(64-c.shift), uint64(cpu)<<c.shift
	default: // a whole number of reference hosts
		lo = uint64(cpu) >> -c.shift
		cut = uint64(cpu) - lo<<-c.shift
	}
	if hi >= c.mantissa {
		return unlimitedLoad - 1, false
	}
	q, rest := bits.Div64(hi, lo, c.mantissa)
	if q >= unlimitedLoad {
		return unlimitedLoad - 1, false
	}
	return int64(q), rest|cut == 0
}

// ClassOf returns the index of a host's class.
func (u *VCSched) ClassOf(h int32) int32 {
	if u.class == nil {
		return 0
	}
	return u.class[h]
}

// OfVCSched converts the needs to integers. Sums over all tasks don't overflow int64.
func OfVCSched(v *model.VCSched) *VCSched {
	n := v.Tasks()
	u := &VCSched{Hosts: v.Hosts, Scale: 1e13, CPU: make([]int64, 0, n), Job: make([]int32, 0, n)}
	u.classes(v)
	// A need has at most 1e13 units (slack); sums of needs, of capacities (of as many
	// hosts of a class as tasks) and of loads are far from overflowing.
	most, memory, least := 1.0, 1.0, 1.0
	for _, s := range v.Sizes() {
		most, memory = max(most, s.CPU, s.Memory), max(memory, s.Memory)
		for _, x := range s.Resources {
			most = max(most, x)
		}
	}
	for _, s := range v.HostSizes {
		least = min(least, s.CPU)
	}
	for i := range v.Jobs { // above the largest host where Oversized allows it
		most = max(most, v.Jobs[i].Memory)
		for _, x := range v.Jobs[i].Resources {
			most = max(most, x)
		}
	}
	for float64(u.Scale)*most > 1e13 || float64(u.Scale)*float64(n)*(most/least)*float64(len(u.Classes)) > math.MaxInt64/4 {
		u.Scale /= 10
	}
	for i := range v.Jobs {
		c := int64(v.Jobs[i].CPU * float64(u.Scale))
		if c == 0 {
			c = 1
			u.tiny += v.Jobs[i].Tasks
		}
		for range v.Jobs[i].Tasks {
			u.CPU, u.Job = append(u.CPU, c), append(u.Job, int32(i))
		}
		u.Unit = units.GCD(u.Unit, c)
	}
	if len(u.Classes) > 1 || !u.Classes[0].reference() {
		u.Unit = 1
	}
	// The tolerance's float64 is above 1e-9 by less than a unit's share.
	tolerance := func(amount float64) int64 { return int64(float64(u.Scale)/1e9*amount) + u.slack() }
	for _, r := range RigidResources(v) {
		needs, exact := make([]int64, 0, n), make([]Memory, len(v.Jobs))
		for i := range v.Jobs {
			x := v.Jobs[i].Rigid(r)
			m := int64(x * float64(u.Scale))
			for range v.Jobs[i].Tasks {
				needs = append(needs, m)
			}
			exact[i] = exactMemory(x)
		}
		u.Rigid, u.ExactRigid = append(u.Rigid, needs), append(u.ExactRigid, exact)
		name := "memory"
		if r >= 0 {
			name = v.Resources[r]
		}
		u.Names = append(u.Names, name)
		for k := range u.Classes {
			c := &u.Classes[k]
			has := v.Capacity(int(c.Hosts[0])).Rigid(r)
			whole := int64(math.Ceil(has * float64(u.Scale)))
			if has != math.Trunc(has) {
				whole++ // the product was rounded
			}
			c.Cap = append(c.Cap, whole+tolerance(has))
			c.ExactCap = append(c.ExactCap, fitting(has, has))
		}
	}
	u.Memory, u.Exact = u.Rigid[0], u.ExactRigid[0]
	if v.MigrationBudget != nil {
		b := min(*v.MigrationBudget, float64(n)*memory) // more can't move
		smallest := v.Sizes()[0].Memory
		for _, s := range v.HostSizes {
			smallest = min(smallest, s.Memory)
		}
		u.Budget = int64(math.Nextafter(b*float64(u.Scale), math.MaxFloat64)) + 1 + tolerance(smallest)
		u.ExactBudget = fitting(b, smallest)
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

// classes finds the classes of hosts.
func (u *VCSched) classes(v *model.VCSched) {
	sizes := v.Sizes()
	index := make(map[string]int32, len(sizes))
	if len(sizes) > 1 {
		u.class = make([]int32, 0, v.Hosts)
	}
	h := int32(0)
	for _, s := range sizes {
		key := fmt.Sprint(s.CPU, s.Memory, s.Resources)
		k, ok := index[key]
		if !ok {
			k = int32(len(u.Classes))
			index[key] = k
			m, exponent := math.Frexp(s.CPU)
			c := HostClass{mantissa: uint64(m * (1 << 53)), shift: 53 - exponent}
			zeros := bits.TrailingZeros64(c.mantissa)
			c.mantissa, c.shift = c.mantissa>>zeros, c.shift-zeros
			u.Classes = append(u.Classes, c)
		}
		for range s.Count {
			u.Classes[k].Hosts = append(u.Classes[k].Hosts, h)
			if u.class != nil {
				u.class = append(u.class, k)
			}
			h++
		}
	}
	if len(u.Classes) == 1 {
		u.class = nil
	}
}

// RigidResources returns the indices in Resources of those that VCSched.Rigid
// holds, after -1 for memory.
func RigidResources(v *model.VCSched) []int {
	rigid := []int{-1}
	for r := range v.Resources {
		if !redundant(v, r) {
			rigid = append(rigid, r)
		}
	}
	return rigid
}

// redundant reports whether tasks that fit by memory and the other resources fit by resource r, too. Either no task
// needs any of it, or it has a twin q, memory or another resource. Every task needs at least as much of q and every
// host has at most as much, so that Σ need_r ≤ Σ need_q ≤ capacity_q (1 + FitTolerance) ≤ capacity_r (1 +
// FitTolerance). The first of two equal resources stays.
func redundant(v *model.VCSched, r int) bool {
	twin := func(q int) bool {
		equal := true
		for i := range v.Jobs {
			x, y := v.Jobs[i].Rigid(r), v.Jobs[i].Rigid(q)
			if x > y {
				return false
			}
			equal = equal && x == y
		}
		for _, s := range v.Sizes() {
			x, y := s.Rigid(r), s.Rigid(q)
			if x < y {
				return false
			}
			equal = equal && x == y
		}
		return !equal || q < r
	}
	none := true
	for i := range v.Jobs {
		none = none && v.Jobs[i].Rigid(r) == 0
	}
	if none {
		return true
	}
	for q := -1; q < len(v.Resources); q++ {
		if q != r && twin(q) {
			return true
		}
	}
	return false
}

// Fits reports whether the placement of each task i on hosts[i] fits in the hosts'
// memory and further resources and in the migration budget, exactly.
// O(resources (tasks + hosts)).
func (u *VCSched) Fits(hosts []int32) bool {
	for r, needs := range u.ExactRigid {
		use := make([]Memory, u.Hosts)
		for i, h := range hosts {
			if use[h] = use[h].Add(needs[u.Job[i]]); u.Classes[u.ClassOf(h)].ExactCap[r].Less(use[h]) {
				return false
			}
		}
	}
	if u.Current == nil {
		return true
	}
	var moved Memory
	for i, h := range hosts {
		if u.Current[i] >= 0 && u.Current[i] != h {
			moved = moved.Add(u.Exact[u.Job[i]])
		}
	}
	return !u.ExactBudget.Less(moved)
}

// Strict returns the same needs with so much less of each resource and budget that tasks that fit in units fit exactly.
// Each need was rounded down by less than 1.001 units, and capacities were rounded up by slack and up to two units, the
// budget by one more unit and 2^-52 of itself.
func (u *VCSched) Strict() *VCSched {
	s := *u
	n := int64(len(u.CPU))
	rounding := n + n/100 + 2*u.slack() + 2
	s.Classes = slices.Clone(u.Classes)
	for k := range s.Classes {
		c := &s.Classes[k]
		c.Cap = slices.Clone(c.Cap)
		for r := range c.Cap {
			c.Cap[r] = max(0, c.Cap[r]-rounding)
		}
	}
	if s.Current != nil {
		s.Budget = max(0, u.Budget-rounding)
	}
	return &s
}

// Moves returns the memory, in units, that moves if task i is placed on host h.
func (u *VCSched) Moves(i, h int32) int64 {
	if u.Current == nil || u.Current[i] < 0 || u.Current[i] == h {
		return 0
	}
	return u.Memory[i]
}

// slack returns by how many units the sum over any set of tasks may exceed its exact value. A product below 2^44 is
// rounded by at most 2^-10 before its fraction is cut off, and a CPU need below a unit counts as one.
func (u *VCSched) slack() int64 { return 1 + int64(len(u.CPU))/500 + int64(u.tiny) }

// YieldBound returns an upper bound on the minimum yield of every placement, given a
// lower bound on the largest relative load of every placement, in units. If hosts
// differ, that is rounded up by less than a unit, and slack counts by the host's CPU.
func (u *VCSched) YieldBound(load int64) float64 {
	slack := u.slack()
	for k := range u.Classes {
		if c := &u.Classes[k]; !c.reference() {
			slack = max(slack, c.Load(u.slack())+1)
		}
	}
	load -= slack
	if load <= u.Scale {
		return 1
	}
	// The load's conversion and the division round by half an ulp each.
	return math.Nextafter(math.Nextafter(float64(u.Scale)/float64(load), 2), 2)
}

// MaxLoad returns the largest relative load of a host, in units, with each task i on
// hosts[i].
func (u *VCSched) MaxLoad(hosts []int32) int64 {
	var largest int64
	load := make([]int64, u.Hosts)
	for i, h := range hosts {
		load[h] += u.CPU[i]
	}
	for h, load := range load {
		largest = max(largest, u.Classes[u.ClassOf(int32(h))].Load(load))
	}
	return largest
}
