// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// pricesBound returns a bound of the weighted mean response time on one tier by so many
// subgradient steps of one class; see prices.
func pricesBound(ctx context.Context, t *view.Batch, r *jobs, steps int) bounds.Bound {
	if len(r.jobs) == 0 {
		return bounds.Bound{Name: "prices"}
	}
	p, value := r.ascend(ctx, t, steps)
	b := r.mean(t, "prices", value)
	b.Evidence = p.evidence("")
	return b
}

// classBound returns the bound with a class for each job, by more steps from there; false for more than mostOwn jobs,
// or if it takes too much work.
func classBound(ctx context.Context, t *view.Batch) (b bounds.Bound, ok bool) {
	r := newJobs(t)
	n := len(r.jobs)
	if n == 0 || n > mostOwn || ctx.Err() != nil {
		return b, false
	}
	p, _ := r.ascend(ctx, t, mostSteps)
	steps := min(mostClassSteps, 20*n)
	if !p.split(classWork / steps) {
		return b, false
	}
	goal := math.Inf(1)
	if u := UnitsOf(t); u.Fit(t) {
		goal = float64(someSum(t, u)) * float64(u.Time)
	}
	b = r.mean(t, "prices", max(0, p.deflect(ctx, goal, steps)))
	b.Evidence = p.evidence("job")
	return b, true
}

// The bound falls at first from its value with the prices of one class, and then needs some hundred steps to be better.
// For more jobs than mostOwn, with a class for each width, 300 steps raised it on one of 12 workloads by 0.1 %.
const (
	mostOwn        = 64
	mostClassSteps = 300
	classWork      = 2_000_000_000
)

// ascend returns the relaxation of all jobs on one tier with the best prices of so many
// steps, until ctx ends, and its bound of the sum of costs. O(n log n), and for each step O(n) times the cells that a job might wait.
func (r *jobs) ascend(ctx context.Context, t *view.Batch, steps int) (p *prices, best float64) {
	all := r.jobs
	for k := range all {
		all[k].Slots = t.Jobs[k].Processes
	}
	for cells := max(leastCells, len(all)); ; cells /= 4 {
		most := mostTried * len(all)
		if cells <= leastCells {
			cells, most = leastCells, math.MaxInt
		}
		p = newPrices(all, t.Processors, cells)
		p.most = most
		p.dual()
		first := p.classes[0].price
		p.unit = math.Ldexp(1, math.Ilogb(max(leastPrice, slices.Max(first)))-priceBits)
		for c, price := range first {
			first[c] = p.rounded(price)
		}
		if best = p.bound(); p.tried <= p.most {
			break
		}
	}
	if steps > 0 {
		p.most = min(p.most, math.MaxInt/4) * 4
		best = p.climb(ctx, steps)
		p.most = math.MaxInt
	}
	return p, max(0, best)
}

// mostEvidence is the number of prices up to which they are kept. The judge takes 2 s for the 122,149 of LANL-CM5. A
// test sets it lower.
var mostEvidence = 1 << 18

// evidence returns the prices of classes, or nil if there are many.
func (p *prices) evidence(by string) *model.Evidence {
	if len(p.room)*len(p.classes) > mostEvidence {
		return nil
	}
	e := &model.Evidence{Type: evidence.Prices, Method: "prices", Resource: by}
	e.Times, e.Prices = make([]int64, 0, len(p.grid)), make([]float64, 0, len(p.classes)*len(p.room))
	for _, at := range p.grid {
		e.Times = append(e.Times, at+p.first)
	}
	for x := range p.classes {
		e.Prices = append(e.Prices, p.classes[x].price...)
	}
	return e
}

// Priced gives bounds of schedules in part by prices. Each job of a schedule costs its response times its weight in
// Units, and pays for its processors; see prices.
type Priced struct {
	// Lost exceeds the joint rounding errors of Cost of all jobs and Free, except for 2^-46 of the sum of Cost.
	Lost float64
	p    *prices
	// free[f] is the integral, at each point of the grid, of the most that jobs pay
	// together on f units of free processors; of one processor without a packer.
	free [][]float64
}

// NewPriced returns prices of each job, for the weighted responses of the jobs on one tier: the best after so many
// steps towards a goal for their sum in ticks. There is a job. If the machine is too large to pack, all jobs pay the
// same.
func NewPriced(ctx context.Context, t *view.Batch, goal float64, steps int) *Priced {
	p, _ := newJobs(t).ascend(ctx, t, classSteps)
	if p.split(math.MaxInt) {
		p.deflect(ctx, goal, steps)
	}
	p.sums()
	x := &Priced{p: p}
	x.tabulate()
	x.Lost = p.paid * float64(len(p.jobs)) * 0x1p-46
	if p.packer != nil {
		x.Lost += p.paid * float64(p.packer.capacity+16) * float64(len(p.grid)+16) * 0x1p-50
	}
	return x
}

// classSteps is the number of steps on one class before there are more classes.
const classSteps = 100

// tabulate sets free.
func (x *Priced) tabulate() {
	p := x.p
	if p.packer == nil {
		x.free = [][]float64{p.classes[0].sum}
		return
	}
	for range p.packer.capacity + 1 {
		x.free = append(x.free, make([]float64, len(p.grid)))
	}
	for c := range p.room {
		p.packer.pack(p.classes, c)
		for f, value := range p.packer.value {
			x.free[f][c+1] = x.free[f][c] + value*float64(p.grid[c+1]-p.grid[c])
		}
	}
}

// Free returns the most that its jobs pay together for so many free processors between two ticks.
func (x *Priced) Free(free, from, to int64) float64 {
	p, by := x.p, float64(free)
	sum := x.free[0]
	if p.packer != nil {
		sum, by = x.free[free/int64(p.packer.unit)], 1
	}
	return by * (p.line(sum, to-p.first) - p.line(sum, from-p.first))
}

// Cost returns the cost and payment of job k if it starts at a tick.
func (x *Priced) Cost(k int, at int64) float64 {
	p := x.p
	j, f := &p.jobs[k], &p.classes[p.class[k]]
	from, to := at-p.first, at-p.first+j.Duration
	return float64(at+j.Duration-j.Release)*float64(j.Weight) + float64(j.Slots)*(p.line(f.sum, to)-p.line(f.sum, from))
}

// Points returns ascending starts of job k from its submission on. Between two of them
// Cost is linear, and after the last it grows.
func (x *Priced) Points(k int) []int64 {
	p := x.p
	j := &p.jobs[k]
	points := []int64{j.Release}
	for _, at := range p.grid {
		for _, s := range []int64{at + p.first, at + p.first - j.Duration} {
			if s > j.Release {
				points = append(points, s)
			}
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// Prices returns ascending ticks, and the payment of job k for a tick between each two of them, in Units of weight.
func (x *Priced) Prices(k int) (at []int64, price []float64) {
	p := x.p
	for _, t := range p.grid {
		at = append(at, p.first+t)
	}
	for _, y := range p.classes[p.class[k]].price {
		price = append(price, y*float64(p.jobs[k].Slots))
	}
	return at, price
}

// Room returns the most that jobs together pay for a tick, between each two ticks of Prices.
func (x *Priced) Room() []float64 { return x.p.room }
