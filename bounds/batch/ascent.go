// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/run/meter"
)

// mostSteps is the number of subgradient steps that All takes. On 10,000 jobs of F96-R, KTH-SP2 and LANL-CM5, 60 steps
// give 0.4, 0.5 and 0.8 % more than 20; 150 steps give 0.0, 0.1 and 0.4 % more than 60.
const mostSteps = 60

// leastCells is the number of cells of the grid, or one for each job if these are more. If jobs wait for many cells,
// with mostTried starts for each of them, the grid is made coarser, but not below leastCells.
const (
	leastCells = 256
	mostTried  = 100
)

// ascent raises a bound by steps that change prices, and keeps the best.
type ascent struct {
	*prices
	best float64
	kept []float64 // prices of best, by class and cell
}

// note keeps prices if they give the best bound.
func (a *ascent) note(bound float64) bool {
	if bound <= a.best {
		return false
	}
	a.best = bound
	for x := range a.classes {
		copy(a.kept[x*len(a.room):], a.classes[x].price)
	}
	return true
}

// back sets the prices to the best.
func (a *ascent) back() {
	for x := range a.classes {
		copy(a.classes[x].price, a.kept[x*len(a.room):])
	}
}

func (p *prices) ascent() *ascent {
	p.counted()
	a := &ascent{p, math.Inf(-1), make([]float64, len(p.classes)*len(p.room))}
	a.note(p.bound())
	return a
}

// leastPrice is the least price that matters; smaller ones are 0.
const leastPrice = 1e-30

// priceBits is the number of binary digits of the largest of the first prices that remain when the prices of one class
// are rounded down. So the judge need not compute with numbers of any size; the bound loses less than the work of all
// jobs at 2^-44 of the largest price.
const priceBits = 44

// rounded returns a multiple of the unit of prices, at least 0.
func (p *prices) rounded(price float64) float64 {
	return max(0, math.Floor(price/p.unit)*p.unit)
}

// climb returns the best bound by so many subgradient steps on one class, until ctx ends. A step changes a price by as
// much as a few waiting jobs change it, and by less from time to time (AdaGrad: Duchi, Hazan, Singer 2011; and 0.8 of
// that when the bound becomes worse). Prices rise if the least starts use more than the capacity, and fall if they use
// less. None of this matters for the proof.
func (p *prices) climb(ctx context.Context, steps int) (best float64) {
	weights, areas := 0.0, 0.0
	for _, j := range p.jobs {
		area := float64(j.Duration) * float64(j.Slots)
		weights += area * float64(j.Weight) / float64(j.Per)
		areas += area
	}
	length := 3 * weights / max(1, areas) / float64(p.capacity)
	f := &p.classes[0]
	squares := make([]float64, len(p.room))
	a := p.ascent()
	for range steps {
		if meter.Stop(ctx, int64(len(p.jobs)/2)) {
			break
		}
		for c, use := range f.use[:len(f.price)] {
			over := min(3, (use-f.pack[c])/float64(p.capacity))
			if squares[c] += over * over; squares[c] > 0 && (over > 0 || f.price[c] > 0) {
				f.price[c] = p.rounded(f.price[c] + length*over/math.Sqrt(squares[c]))
			}
		}
		bound := p.bound()
		if p.tried > p.most {
			break
		}
		if !a.note(bound) && bound < a.best {
			length *= 0.8
		}
	}
	a.back()
	return a.best
}

// mostStep is the largest share of the bound by which a step tries to raise it. On ten instances of 20 and 30 jobs with
// 300 steps, 0.01 to 0.02 left least open; a share of a tenth takes twice the steps.
const mostStep = 0.01

// deflect returns the best bound by so many subgradient steps, until ctx ends or it reaches a goal. The direction is
// the mean of the last subgradients, with a share of 0.3 for the latest (Camerini, Fratta, Maffioli: On improving
// relaxation methods by modified gradient techniques, 1975). A step is the one that would bring the bound to the goal
// if it went on like this (Polyak 1969). After each 20 steps without success, it is smaller by a factor of 0.8 and
// starts from the best prices.
func (p *prices) deflect(ctx context.Context, goal float64, steps int) (best float64) {
	cells := len(p.room)
	direction := make([]float64, len(p.classes)*cells)
	a := p.ascent()
	effort := int64(p.work()/1000 + len(p.jobs)/2)
	share, part, stale, bound := 1.0, 1.0, 0, a.best
	for range steps {
		if bound >= goal || meter.Stop(ctx, effort) {
			break
		}
		norm := 0.0
		for x := range p.classes {
			f := &p.classes[x]
			for c := range f.price {
				if !f.ready[c] {
					continue
				}
				d := &direction[x*cells+c]
				if *d = share*(f.use[c]-f.pack[c])/float64(f.width) + (1-share)**d; f.price[c] <= 0 && *d < 0 {
					*d = 0
				}
				norm += *d * *d * float64(p.grid[c+1]-p.grid[c])
			}
		}
		if share = 0.3; norm == 0 {
			break
		}
		step := part * (min(goal, a.best+mostStep*math.Abs(a.best)) - bound) / norm
		for x := range p.classes {
			f := &p.classes[x]
			for c := range f.price {
				if f.price[c] += step * direction[x*cells+c] / float64(f.width); f.price[c] < leastPrice {
					f.price[c] = 0
				}
			}
		}
		before := a.best
		bound = p.bound()
		a.note(bound)
		if stale++; a.best > before+1e-4*math.Abs(before) {
			stale = 0
		}
		if stale > 20 {
			part, stale = part*0.8, 0
			a.back()
		}
	}
	a.back()
	return a.best
}
