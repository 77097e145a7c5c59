// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// vcschedProof builds the objects in proofs of placements. The unit is the number U of units in a host. A need d counts
// as ⌊d U (1 + ε)⌋. A capacity c, with the tolerance τ = Tolerance of a sum of needs, counts as ⌊(c + τ) U (1 + ε)⌋; ε
// is 2^-50. A placement that fits hence fits in units. If the largest load is at least b units, some host's needs sum
// to b / (U (1 + ε)) or more, and the least yield is at most one by that.
//
// Variables: "on T H", 1 if task T (counted through the jobs) is on host H; "load", at
// least U, since no yield is above 1. Constraints: "one T"; "memory H"; "need H": Σ CPU
// on(T, H) ≤ load; "area": Σ CPU ≤ hosts · load; "budget": Σ memory (1 - on(T, its host
// now)) ≤ budget. The hosts on which nothing runs now are all alike, so no placement needs more of them than there are
// tasks: the first ones.
type vcschedProof struct {
	s           *proofState
	hosts       int
	column      map[int]int // of a host
	cpu, memory []int64     // of a task
	now         []int       // its host now, or -1
	capacity    int64
	budget      int64
	limited     bool // there is a budget
	load        int32
	scale       *big.Rat
	all         int64 // no placement's load is greater
}

const maxVCSchedProof = 1 << 22 // variables

var errVCSchedProofSize = fmt.Errorf("the tasks times the hosts of use are more than %d, the most that the checker takes", maxVCSchedProof)

func newVCSchedProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	v, ok := in.(*model.VCSched)
	if !ok {
		return nil, errors.New("the instance is none of placements")
	}
	scale, err := proofUnit(unit, 1e14)
	if err != nil {
		return nil, err
	}
	n := v.Tasks()
	if int64(n) >= maxProofNumber/scale {
		return nil, fmt.Errorf("the unit %q times %d tasks is 2^60 or more", unit, n)
	}
	if n*min(n, v.Hosts) > maxVCSchedProof {
		return nil, errVCSchedProofSize
	}
	if len(v.Resources) > 0 || len(v.HostSizes) > 0 {
		return nil, errors.New("the checker knows no further resources and no hosts of different sizes")
	}
	k := &vcschedProof{s: s, hosts: v.Hosts, column: map[int]int{}, limited: v.MigrationBudget != nil}
	k.scale = new(big.Rat).Mul(new(big.Rat).SetInt64(scale), proofEpsilon)
	units := func(x *big.Rat) int64 {
		x.Mul(x, k.scale)
		return new(big.Int).Quo(x.Num(), x.Denom()).Int64()
	}
	tolerance := exact(Tolerance)
	k.capacity = units(new(big.Rat).Add(big.NewRat(1, 1), tolerance))
	for i := range v.Jobs {
		j := &v.Jobs[i]
		cpu, memory := units(exact(j.CPU)), units(exact(j.Memory))
		for t := range j.Tasks {
			now := -1
			if k.limited && len(j.CurrentHosts) > 0 {
				now = j.CurrentHosts[t]
			}
			k.cpu, k.memory, k.now = append(k.cpu, cpu), append(k.memory, memory), append(k.now, now)
			k.all += cpu
		}
	}
	k.all = max(k.all, scale)
	if k.limited {
		k.budget = units(tolerance.Add(tolerance, exact(min(*v.MigrationBudget, float64(n)))))
	}
	for _, h := range k.now {
		if _, ok := k.column[h]; h >= 0 && !ok {
			k.column[h] = len(k.column)
		}
	}
	for idle, h := 0, 0; h < v.Hosts && idle < n; h++ {
		if _, busy := k.column[h]; !busy {
			k.column[h] = len(k.column)
			idle++
		}
	}
	if n*len(k.column) > maxVCSchedProof {
		return nil, errVCSchedProofSize
	}
	for range n * len(k.column) {
		s.add(0, 1, always)
	}
	k.load = s.add(scale, upper, always)
	return k, nil
}

func (k *vcschedProof) objective() string { return "load" }

func (k *vcschedProof) claim(below int64) (string, float64) {
	if below > k.all {
		return "there is no placement", 0
	}
	r := new(big.Rat).Quo(k.scale, new(big.Rat).SetInt64(max(below, 1)))
	if one := big.NewRat(1, 1); r.Cmp(one) > 0 {
		r = one
	}
	x := -roundDown(r.Neg(r))
	return fmt.Sprintf("no placement has a minimum yield above %v", x), x
}

// on returns the variable of a task on a host.
func (k *vcschedProof) on(t, h int) bound {
	c, ok := k.column[h]
	if !ok {
		return never
	}
	return atLeast(int32(t*len(k.column)+c), 1)
}

func (k *vcschedProof) variable(name []string) (int32, error) {
	switch {
	case len(name) == 1 && name[0] == "load":
		return k.load, nil
	case len(name) == 3 && name[0] == "on":
		t, err1 := proofIndex(name[1], len(k.cpu))
		h, err2 := proofIndex(name[2], k.hosts)
		if b := k.on(t, h); err1 == nil && err2 == nil && b != never {
			return b.sv / 2, nil
		}
	}
	return 0, errUnknownName
}

func (k *vcschedProof) constraint(name []string) (proofRule, error) {
	row := &proofLinear{}
	switch {
	case len(name) == 1 && name[0] == "area":
		row.terms = []proofTerm{{-int64(k.hosts), k.load}}
		for _, need := range k.cpu {
			row.allow(-1, need)
		}
		return row, nil
	case len(name) == 1 && name[0] == "budget" && k.limited:
		row.allow(1, k.budget)
		for t, h := range k.now {
			if h >= 0 {
				row.allow(-1, k.memory[t])
				row.terms = append(row.terms, proofTerm{-k.memory[t], k.on(t, h).sv / 2})
			}
		}
		return row, nil
	case len(name) != 2:
		return nil, errUnknownName
	case name[0] == "one":
		t, err := proofIndex(name[1], len(k.cpu))
		if err != nil {
			return nil, err
		}
		var one proofOne
		for h := range k.column {
			one = append(one, k.on(t, h))
		}
		return one, nil
	}
	h, err := proofIndex(name[1], k.hosts)
	if _, ok := k.column[h]; err != nil || !ok {
		return nil, errUnknownName
	}
	needs := k.cpu
	switch name[0] {
	case "memory":
		needs = k.memory
		row.allow(1, k.capacity)
	case "need":
		row.terms = []proofTerm{{-1, k.load}}
	default:
		return nil, errUnknownName
	}
	for t, need := range needs {
		row.terms = append(row.terms, proofTerm{need, k.on(t, h).sv / 2})
	}
	return row, nil
}
