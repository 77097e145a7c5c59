// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// crowds checks that the tasks of a machine have room, in the order of their starts: each with all that overlap it and
// started no later, since of intervals that meet in pairs all have a common moment, the last start. A task that takes
// no time needs no room. Tasks that end by the exact start of another one leave, as those after it start no sooner.
// O(n log n) if all ends are so, O(n²) for n at a time otherwise.
func (j *dagJudge) crowds(r *Report, m int, list []stay) {
	in, capacity := j.in, j.in.Machines[m].Capacity
	var open []*stay // by falling ends
	used := make([]int64, len(capacity))
	for k := range list {
		b := &list[k]
		if stopped(j.ctx, k) {
			return
		}
		if j.length[b.task] == 0 {
			continue
		}
		for n := len(open); n > 0 && !(double{hi: b.start}).less(open[n-1].finish); n-- {
			for i, need := range in.Needs(int(open[n-1].task), m) {
				used[i] -= need
			}
			open = open[:n-1]
		}
		for i, need := range in.Needs(int(b.task), m) {
			used[i] += need
			if used[i] <= capacity[i] {
				continue
			}
			sum := need
			for _, a := range open {
				if j.overlap(a, b) > 0 {
					sum += in.Needs(int(a.task), m)[i]
				}
			}
			if sum > capacity[i] {
				r.add(machineCapacity, float64(sum-capacity[i]), "task %q and those that run with it from %v s on need %d of %s on machine %q, which has %d",
					in.Tasks[b.task].ID, b.start, sum, in.Resources[i], in.Machines[m].ID, capacity[i])
			}
		}
		at, _ := slices.BinarySearchFunc(open, b, func(a, b *stay) int { return b.finish.compare(a.finish) })
		open = slices.Insert(open, at, b)
	}
}

// severalAtOnce reports whether some machine could run two tasks at a time: it has no resource of which each task that
// runs there takes more than half, or one of them takes no time.
func severalAtOnce(in *model.DAG) bool {
	for m := range in.Machines {
		several := len(in.Resources) > 0
		for r := range in.Resources {
			small := false
			for t := range in.Tasks {
				cost := in.Cost(t, m)
				small = small || cost == 0 || !math.IsInf(cost, 1) && 2*in.Needs(t, m)[r] <= in.Machines[m].Capacity[r]
			}
			several = several && small
		}
		if several {
			return true
		}
	}
	return false
}

// part is how much of a machine's time tasks take there by one resource, as shares in units: all of it is whole.
//
// Tasks that run at a time need no more than the capacity, so their needs over it, each times the task's cost, add up to
// no more than the time from 0 to the makespan. Without a resource, of machines that run one task at a time, a task
// takes all of its time.
type part struct {
	in       *model.DAG
	resource int
	whole    *big.Int // a common multiple of the capacities
	units    []*big.Int
	machines int // that have the resource
}

// partOf returns the part of evidence: its resource is one of the instance if machines run several tasks at once, else
// none.
func partOf(in *model.DAG, resource string) (*part, error) {
	p := &part{in: in, resource: -1, whole: big.NewInt(1), machines: len(in.Machines)}
	if !severalAtOnce(in) {
		if resource != "" {
			return nil, fmt.Errorf("machines run one task at a time, and it is of the resource %q", resource)
		}
		return p, nil
	}
	if p.resource = slices.Index(in.Resources, resource); p.resource < 0 {
		return nil, fmt.Errorf("machines run several tasks at once, and the resource %q isn't one of theirs", resource)
	}
	p.machines = 0
	for m := range in.Machines {
		if c := in.Machines[m].Capacity[p.resource]; c > 0 {
			x := big.NewInt(c)
			divisor := new(big.Int).GCD(nil, nil, p.whole, x)
			p.whole.Mul(p.whole, x.Quo(x, divisor))
			p.machines++
		}
	}
	p.units = make([]*big.Int, len(in.Machines))
	for m := range in.Machines {
		if c := in.Machines[m].Capacity[p.resource]; c > 0 {
			p.units[m] = new(big.Int).Quo(p.whole, big.NewInt(c))
		}
	}
	return p, nil
}

// of returns the share of machine m that a task takes there; it can run there.
func (p *part) of(t, m int) *big.Int {
	if p.resource < 0 {
		return p.whole
	}
	need := p.in.Needs(t, m)[p.resource]
	if need == 0 {
		return new(big.Int)
	}
	return new(big.Int).Mul(big.NewInt(need), p.units[m])
}

// least returns the least share of a task anywhere.
func (p *part) least(t int) (least *big.Int) {
	for m := range p.in.Machines {
		if math.IsInf(p.in.Cost(t, m), 1) {
			continue
		}
		if x := p.of(t, m); least == nil || x.Cmp(least) < 0 {
			least = x
		}
	}
	return least
}

// errOneAtATime refuses evidence whose rule adds up the times of tasks on a machine.
var errOneAtATime = errors.New("it is of machines that run one task at a time")
