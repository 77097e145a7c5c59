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
	all    float64
}

// priceSteps is how many subgradient steps are taken at the root.
const priceSteps = 200

func newPaid(ctx context.Context, j *jobs) *paid {
	n := len(j.release)
	p := &paid{jobs: j, priced: batchbounds.NewPriced(ctx, j.t, priceSteps, 1)[0], points: make([][]int64, n), least: make([][]float64, n)}
	p.all = p.priced.Paid()
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

// cost returns what job k costs and pays for a start.
func (p *paid) cost(k int, start int64) float64 {
	return p.priced.Cost(k, p.first+start*p.units.Time)
}

// from returns the least that job k costs and pays for a start, or any later one.
func (p *paid) from(k int, start int64) float64 {
	at := p.first + start*p.units.Time
	i, _ := slices.BinarySearch(p.points[k], at)
	if i == len(p.points[k]) {
		return p.priced.Cost(k, at)
	}
	return min(p.priced.Cost(k, at), p.least[k][i])
}

// of returns a bound of the weighted sum of responses of all completions of x, which
// hasn't started the listed jobs. Each of up to 64 costs has fewer than 32 roundings of
// numbers up to the sum of all costs and PΛ(∞). The sum is a whole number of units.
func (p *paid) of(x *node, left []int32, earliest []int64) int64 {
	sum := x.paid
	for _, k := range left {
		sum += p.from(int(k), earliest[k])
	}
	sum -= p.all + (sum+p.all)*0x1p-41
	return int64(math.Ceil(max(0, sum) / float64(p.units.Time) * (1 - 0x1p-50)))
}
