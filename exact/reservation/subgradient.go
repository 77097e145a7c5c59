package reservation

import (
	"context"
	"math"
	"slices"
)

// lagrangian returns the Lagrangian dual function L of uniform multipliers: at charges
// y ≥ 0, what all PEs pay for a cell, it returns L(y), and writes a subgradient to sub:
// how much of each charge the capacity term has less how much of it the jobs pay at
// their best starts. L is convex and piecewise linear. It is infinity when ctx ends.
func lagrangian(ctx context.Context, pes int, jobs []job, g grid, corners [][]tick) func(y, sub []float64) float64 {
	return func(y, sub []float64) float64 {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		m, bound := charged(pes, jobs, g, y), 0.0
		for c := range y {
			bound += y[c]
			sub[c] = 1
		}
		for i := range jobs {
			j := &jobs[i]
			start, profit := tick(0), 0.0
			for _, s := range corners[i] {
				if p := j.weight - m.cost(i, s, s+j.length); p > profit {
					start, profit = s, p
				}
			}
			if profit <= 0 {
				continue
			}
			bound += profit
			share := float64(j.pes) / float64(pes)
			for c := g.first(start); c < g.cells() && g[c] < start+j.length; c++ {
				sub[c] -= share * g.overlap(c, start, start+j.length)
			}
		}
		return bound
	}
}

// charged returns the multipliers of charges.
func charged(pes int, jobs []job, g grid, y []float64) *uniform {
	lambda := make([]float64, len(y))
	for c := range y {
		lambda[c] = y[c] / (float64(pes) * g.length(c))
	}
	return newUniform(jobs, g, lambda)
}

const (
	// The step factor starts at firstStep, grows by stepGrowth up to maxStep
	// after a step that lowers L further along the direction, and shrinks by
	// stepDecay when patience steps in a row haven't lowered L; below minStep
	// the descent ends.
	firstStep  = 0.3
	maxStep    = 2
	minStep    = 1e-3
	stepGrowth = 1.1
	stepDecay  = 0.8
	patience   = 6
	// newWeight is the weight of the newest subgradient in the direction. With
	// 0.1 the crowds of the plan reservation-exact take 12 % more nodes.
	newWeight = 0.02
)

// descend lowers f from y, which becomes the best point met, by the volume
// algorithm (Barahona and Anbil 2000): from the best point it steps against an
// average of all subgradients seen, by Polyak's length towards the target. It
// ends when the value is below enough, after the given number of steps, or when
// f returns infinity. f writes a subgradient to its second argument.
func descend(f func(y, g []float64) float64, y []float64, target, enough float64, steps int) float64 {
	x, g := slices.Clone(y), make([]float64, len(y))
	least := f(x, g)
	direction := slices.Clone(g)
	factor, stuck := firstStep, 0
	for range steps {
		norm := dot(direction, direction)
		if least < enough || math.IsInf(least, 1) || factor < minStep || norm == 0 {
			break
		}
		step := factor * max(least-target, 1e-3*math.Abs(least)) / norm
		for k := range x {
			x[k] = max(0, y[k]-step*direction[k])
		}
		value := f(x, g)
		if math.IsInf(value, 1) {
			break
		}
		along := dot(g, direction)
		for k := range direction {
			direction[k] += newWeight * (g[k] - direction[k])
		}
		if value < least {
			stuck = 0
			if along > 0 {
				factor = min(maxStep, factor*stepGrowth)
			}
			least = value
			copy(y, x)
		} else if stuck++; stuck > patience {
			stuck = 0
			factor *= stepDecay
		}
	}
	return least
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}
