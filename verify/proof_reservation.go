// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// reservationProof builds the objects in proofs of reservations: the requests that hold PEs (heldRequests), in ticks,
// which relax times of many digits. All weights are multiples of the unit W, in PE-ticks; with the goal accepted they
// are 1.
//
// Variables: "in R", 1 if request R is accepted; "start R", optional with it, in its
// window; "lost", the weight of the others. Constraints: "lost": Σ weight (1 - in) ≤
// lost; "capacity", with PEs in units of the greatest common divisor of the requests'.
type reservationProof struct {
	job       map[string]int32 // of a request that holds PEs
	lost      int32
	capacity  *proofCumulative
	row       *proofLinear
	total     int64
	weight    *big.Rat // objective of a weight of 1
	withdrawn *big.Rat // objective of the requests that cost nothing
}

var errProofWeights = errors.New("the weights of the requests sum to 2^60 or more")

func newReservationProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	r, ok := in.(*model.Reservation)
	if !ok {
		return nil, errors.New("the instance is none of reservations")
	}
	w, err := proofUnit(unit, maxProofNumber)
	if err != nil {
		return nil, err
	}
	held, withdrawn, read := heldRequests(r)
	goal := r.EffectiveGoal()
	counts := goal.PESeconds()
	if goal == model.GoalAll || counts && !read.exact || len(held) > 1<<16 {
		return nil, fmt.Errorf("there is no checker for the goal %s, of PE-seconds with rounded times, or more than %d requests", goal, 1<<16)
	}
	k := &reservationProof{job: map[string]int32{}, capacity: &proofCumulative{}, row: &proofLinear{}, withdrawn: withdrawn, weight: big.NewRat(1, 1)}
	if counts {
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(read.places)), nil)
		k.weight.SetFrac(big.NewInt(w), ten)
	}
	common := new(big.Int)
	for i := range held {
		common.GCD(nil, nil, common, big.NewInt(int64(held[i].pes)))
	}
	pes := max(1, common.Int64())
	k.capacity.capacity = int64(r.PEs) / pes
	k.capacity.about = func(v int32) int {
		if int(v) < 2*len(held) {
			return int(v) / 2
		}
		return -1
	}
	for i := range held {
		j := &held[i]
		weight := int64(1)
		if counts {
			area, rest := new(big.Int), new(big.Int)
			area.Mul(big.NewInt(int64(j.pes)), big.NewInt(j.counted)).QuoRem(area, big.NewInt(w), rest)
			if rest.Sign() != 0 {
				return nil, fmt.Errorf("the unit %q doesn't divide the weight of request %d", unit, j.request)
			}
			if !area.IsInt64() || area.Int64() >= maxProofNumber {
				return nil, errProofWeights
			}
			weight = area.Int64()
		}
		on := atLeast(s.add(0, 1, always), 1)
		start := s.add(j.ready, j.due-j.length, on)
		k.job[strconv.Itoa(j.request)] = int32(i)
		k.capacity.starts = append(k.capacity.starts, proofStart{on, start})
		k.capacity.lengths, k.capacity.demands = append(k.capacity.lengths, j.length), append(k.capacity.demands, int64(j.pes)/pes)
		k.row.groups = append(k.row.groups, []proofChoice{{on, 0}, {on.not(), weight}})
		if k.total += weight; k.total >= maxProofNumber {
			return nil, errProofWeights
		}
	}
	k.lost = s.add(0, min(upper, k.total), always)
	k.row.terms = []proofTerm{{-1, k.lost}}
	return k, nil
}

func (k *reservationProof) objective() string { return "lost" }

func (k *reservationProof) claim(below int64) (string, float64) {
	r := new(big.Rat).SetInt64(k.total - min(max(below, 0), k.total))
	r.Mul(r, k.weight).Add(r, k.withdrawn)
	x := -roundDown(r.Neg(r))
	return fmt.Sprintf("no bookings are worth more than %v", x), x
}

func (k *reservationProof) variable(name []string) (int32, error) {
	if len(name) == 1 && name[0] == "lost" {
		return k.lost, nil
	}
	if len(name) == 2 {
		if i, ok := k.job[name[1]]; ok && name[0] == "in" {
			return 2 * i, nil
		} else if ok && name[0] == "start" {
			return 2*i + 1, nil
		}
	}
	return 0, errUnknownName
}

func (k *reservationProof) constraint(name []string) (proofRule, error) {
	switch strings.Join(name, " ") {
	case "lost":
		return k.row, nil
	case "capacity":
		return k.capacity, nil
	}
	return nil, errUnknownName
}
