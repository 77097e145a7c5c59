// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"slices"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
)

// paid bounds weighted sums of responses by prices of the processors.
type paid struct {
	*jobs
	priced *batchbounds.Priced
	points [][]int64   // in ticks, by job: Cost is linear between them
	least  [][]float64 // of Cost from the point on
}

// priceSteps returns how many subgradient steps are taken at the root for so many jobs.
func priceSteps(jobs int) int { return min(600, 20*jobs) }

func newPaid(ctx context.Context, j *jobs, target int64) *paid {
	n := len(j.release)
	p := &paid{jobs: j, points: make([][]int64, n), least: make([][]float64, n)}
	p.priced = batchbounds.NewPriced(ctx, j.t, float64(target)*float64(j.units.Time), priceSteps(n))
	for k := range n {
		p.points[k] = p.priced.Points(k)
		p.least[k] = make([]float64, len(p.points[k]))
		least := math.Inf(1)
		for i, at := range slices.Backward(p.points[k]) {
			least = min(least, p.priced.Cost(k, at))
			p.least[k][i] = least
		}
	}
	return p
}

// tick returns a time in ticks.
func (p *paid) tick(at int64) int64 { return p.first + at*p.units.Time }

// from returns the least cost and payment of job k for a start at a time or any later one.
func (p *paid) from(k int, start int64) float64 {
	at := p.tick(start)
	i, _ := slices.BinarySearch(p.points[k], at)
	if i == len(p.points[k]) {
		return p.priced.Cost(k, at)
	}
	return min(p.priced.Cost(k, at), p.least[k][i])
}

// bound returns a bound of the weighted sum of responses of all completions of x, which hasn't started the listed jobs.
// They start at x.now or later, each from its earliest start on. At each time they pay at most the most that any jobs
// can pay for the F(t) processors that the started ones leave free: with costs and payments as in batchbounds.Priced,
//
//	Σ_k c_k(s_k) ≥ Σ_k min_{s ≥ earliest_k} [c_k(s) + pay_k(s)] - ∫_{now} K(F(t), t) dt.
//
// Only ends of started jobs change F(t). The sum is a whole number of units.
func (p *paid) bound(x *node, left []int32, earliest []int64) int64 {
	sum, from, free := 0.0, x.now, p.processors
	for _, k := range left {
		sum += p.from(int(k), earliest[k])
	}
	for _, e := range x.ends {
		free -= p.width[e.job]
	}
	lost := p.priced.Lost + sum*0x1p-46
	for _, e := range x.ends {
		if e.at > from {
			sum -= p.priced.Free(free, p.tick(from), p.tick(e.at))
			from = e.at
		}
		free += p.width[e.job]
	}
	sum -= p.priced.Free(free, p.tick(from), math.MaxInt64) + lost
	return x.cost + int64(math.Ceil(max(0, sum)/float64(p.units.Time)*(1-0x1p-50)))
}
