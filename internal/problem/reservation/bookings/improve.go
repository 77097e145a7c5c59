// SPDX-License-Identifier: MIT

package bookings

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Improve takes steps of destroying and repairing the plan around a declined job (iterated greedy: Ruiz, Stützle: A
// simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem, 2007). A step takes
// out some of the jobs booked in its window. It books them, the declined job and other declined jobs there again, in a
// random order, each as early or as late as it fits. A step that loses weight is undone. Improve ends after the given
// number of steps, when enough weight is booked, when nothing is declined, or with ctx.
func (p *Offline) Improve(ctx context.Context, steps int, enough float64) {
	var declined []int32
	for step := range steps {
		if step%16 == 0 && meter.Stop(ctx, 16*(3+int64(len(p.key))/100)) || p.value >= enough {
			return
		}
		if step%len(p.starts) == 0 { // a scan costs as much as a step
			declined = declined[:0]
			for i, s := range p.starts {
				if s == view.Declined {
					declined = append(declined, int32(i))
				}
			}
			if len(declined) == 0 {
				return
			}
		}
		i := declined[p.rng.IntN(len(declined))]
		if p.starts[i] == view.Declined {
			p.step(i)
		}
	}
}

// mostOut is the largest number of booked jobs that a step takes out, and of declined ones that it tries beside its
// own.
const mostOut = 12

// step tries to book a declined job.
func (p *Offline) step(target int32) {
	j := &p.t.Jobs[target]
	// The jobs with windows that touch the target's; the ones booked in it.
	first, _ := slices.BinarySearchFunc(p.byReady, j.Ready-p.longest, func(i int32, t int64) int { return cmp.Compare(p.t.Jobs[i].Ready, t) })
	booked := p.found[:0]
	out := p.out[:0]
	from, to := j.Ready, j.Due
	if span := to - from; span > 2*j.Length && p.rng.IntN(2) == 0 {
		// Take one place in the window, rather than all of it.
		from += p.rng.Int64N(span - 2*j.Length + 1)
		to = from + 2*j.Length
	}
	for _, i := range p.byReady[first:] {
		q := &p.t.Jobs[i]
		if q.Ready >= to {
			break
		}
		if s := p.starts[i]; s == view.Declined {
			if q.Due > from && i != target {
				out = append(out, i)
			}
		} else if s < to && s+q.Length > from {
			booked = append(booked, i)
		}
	}
	// Take any of the declined, but not too many.
	if len(out) > mostOut {
		p.rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
		out = out[:mostOut]
	}
	p.rng.Shuffle(len(booked), func(a, b int) { booked[a], booked[b] = booked[b], booked[a] })
	remove := min(len(booked), 1+p.rng.IntN(mostOut))
	out = append(out, target)
	declined := len(out)
	out = append(out, booked[:remove]...)
	p.found, p.out = booked, out
	value := p.value
	p.before = p.before[:0]
	for _, i := range out {
		p.before = append(p.before, p.starts[i])
	}
	for _, i := range out[declined:] {
		p.unbook(i)
	}
	rule := p.rng.IntN(rules + 1)
	noise := []float64{0, 0.2, 1}[p.rng.IntN(3)]
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range out {
		if rule == rules {
			p.key[i] = 0
		} else {
			p.key[i] = p.keyOf(i, rule)
		}
		low, high = min(low, p.key[i]), max(high, p.key[i])
	}
	for _, i := range out {
		p.key[i] += (noise*(high-low) + 1e-9) * p.rng.Float64()
		if rule == rules {
			p.key[i] = p.rng.Float64()
		}
	}
	if p.rng.IntN(2) == 0 {
		p.key[target] = math.Inf(-1)
	}
	p.found = order.By(append(p.found[:0], out...), p.key) // booked isn't needed any more
	late := p.rng.IntN(3)
	for _, i := range p.found {
		p.bookFirst(i, late == 0 || late == 1 && p.rng.IntN(2) == 0)
	}
	if p.value >= value-1e-12*math.Abs(value) || p.heat > 0 && p.value >= value-p.heat*p.rng.ExpFloat64() {
		return
	}
	for _, i := range out {
		if p.starts[i] != view.Declined {
			p.unbook(i)
		}
	}
	for k, i := range out {
		if p.before[k] != view.Declined {
			p.book(i, p.before[k])
		}
	}
	p.value = value
}

// anneal takes steps around declined jobs near a drawn one, and steps that lose weight, too, with a probability that
// falls from step to step (Kirkpatrick, Gelatt, Vecchi: Optimization by simulated annealing, Science 220, 1983). It
// keeps the best plan that it meets. Near are jobs with the middles of their windows no further apart than twice the
// longest window: further away the plan stays as it is, so that a gain there isn't lost for one here.
func (p *Offline) anneal(ctx context.Context, enough float64) {
	var near []int32
	mean := 0.0
	for i, s := range p.starts {
		if s == view.Declined {
			near = append(near, int32(i))
		}
		mean += p.t.Jobs[i].Weight / float64(len(p.starts))
	}
	middle := func(i int32) int64 { return p.t.Jobs[i].Ready/2 + p.t.Jobs[i].Due/2 }
	of := middle(near[p.rng.IntN(len(near))])
	near = near[:0]
	for _, i := range p.byReady {
		if m := middle(i); m-of <= 2*p.longest && of-m <= 2*p.longest {
			near = append(near, i)
		}
	}
	best, starts := p.value, slices.Clone(p.starts)
	for step := 0; step < annealed && p.value < enough; step++ {
		if step%16 == 0 && meter.Stop(ctx, 16*(3+int64(len(p.key))/100)) {
			break
		}
		k := p.rng.IntN(len(near))
		for range near {
			if p.starts[near[k]] == view.Declined {
				break
			}
			k = (k + 1) % len(near)
		}
		if p.starts[near[k]] != view.Declined {
			break
		}
		p.heat = mean * firstHeat * (1 - float64(step)/annealed)
		if p.step(near[k]); p.value > best {
			best = p.value
			copy(starts, p.starts)
		}
	}
	if p.heat = 0; p.value < best {
		p.Set(starts)
	}
}

const (
	// annealed is the number of steps of anneal, and firstHeat the loss of a step, in the jobs' mean weight, that it takes
	// at first with a probability of 1/e. Of 1,000 to 4,000 steps and 0.1 to 0.5 these brought most.
	annealed  = 2000
	firstHeat = 0.2
)

// ShiftLeft moves jobs to earlier starts, which shortens waiting: it repeats
// view.Reservation.ShiftLeft until no job moves, at most 20 times, or until ctx
// ends.
func (p *Offline) ShiftLeft(ctx context.Context) {
	starts, value := slices.Clone(p.starts), p.value
	for range 20 {
		next := p.t.ShiftLeft(starts)
		moved := !slices.Equal(next, starts)
		if starts = next; !moved || ctx.Err() != nil {
			break
		}
	}
	p.Set(starts)
	p.value = value
}
