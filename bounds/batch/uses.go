// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// parts is the capacity of a processor on machines with fractional demands.
const parts = 1 << 40

// uses returns the machines of two tiers. A process of use u has the demand
//
//	g(u) = c (α + (1 - α) u),  0 ≤ α ≤ 1,
//
// of a processor while its job works at its fastest rate R, and in proportion when
// it is slower. R is the larger of the foreground's rate F and of the background
// efficiency E. Processes of one job may have different uses; c, at most 1, is the
// job's own. The capacity is P.
//
// Proof that the processes on one processor take at most 1. A process works at most at rate F ≤ R in the foreground, so
// alone it takes g(u) ≤ 1. In the background under a foreground process of use v it works at most at rate E·min(1,
// (1-v)/u); with e = E/R both take at most
//
//	h(v) = α + (1 - α) v + c e (α + (1 - α) u) min(1, (1-v)/u),
//
// where c of the foreground process was taken as 1. On [0, 1-u] and on [1-u, 1] it
// is linear in v. On the first its slope is 1 - α ≥ 0, and h(1) = 1. So h ≤ 1 if
//
//	h(1-u) = 1 - (1 - α) u + c e (α + (1 - α) u) ≤ 1, that is,
//	c e (α + (1 - α) u) ≤ (1 - α) u.
//
// c is the largest for which that holds for all processes of the job. The pace of a job is the pace of its slowest
// process, which only lowers the amounts that its other processes take. Whether a process may start in the background
// isn't looked at.
//
// If α = 0, it holds with c = 1: a demand is the CPU time that the job uses, and a processor has one second of it in a
// second. A larger α accounts for how little the background can make of the foreground's idle time if e is small; α = 1
// is for jobs without a background.
func uses(t *view.Batch, most int) []machine {
	var all []ranked
	for i := range 11 {
		demand, area := make([]int, len(t.Jobs)), 0.0
		for k := range demand {
			demand[k] = demandOf(&t.Jobs[k], float64(i)/10)
			area += float64(demand[k]) * float64(t.Jobs[k].Length)
		}
		all = append(all, ranked{machine{func(k int) int { return demand[k] }, t.Processors * parts,
			model.Evidence{Type: evidence.Machine, Count: i}}, area})
	}
	return largest(all, most)
}

// demandOf returns a job's demand in parts of a processor, rounded down.
func demandOf(j *view.BatchJob, alpha float64) int {
	e := float64(j.Efficiency) / float64(max(j.Foreground, j.Efficiency))
	c, sum := 1.0, 0.0
	for _, x := range j.Use {
		u := float64(x) / view.FullRate
		g := alpha + (1-alpha)*u
		sum += g
		if e*g > (1-alpha)*u {
			c = min(c, (1-alpha)*u/(e*g))
		}
	}
	if len(j.Use) == 1 {
		sum *= float64(j.Processes)
	}
	// Each sum has up to Processes + 8 roundings.
	return int(sum * c * parts * (1 - float64(j.Processes+16)*0x1p-52))
}
