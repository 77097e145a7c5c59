// SPDX-License-Identifier: MIT

// Package lagrange minimises Lagrangian dual functions: convex and piecewise linear, of
// multipliers that are at least 0.
package lagrange

import (
	"math"
	"slices"
)

const (
	// The step factor starts at firstStep and grows by stepGrowth up to maxStep after a step that lowers L further
	// along the direction. It shrinks by stepDecay when patience steps in a row haven't lowered L; below minStep the
	// descent ends.
	firstStep  = 0.3
	maxStep    = 2
	minStep    = 1e-3
	stepGrowth = 1.1
	stepDecay  = 0.8
	patience   = 6
)

// Descend lowers f from y, which becomes the best point met, by the volume algorithm (Barahona and Anbil 2000). From
// the best point it steps against an average of all subgradients seen, with a weight for the newest, by Polyak's length
// towards the target. It ends when the value is below enough, after the given number of steps, or when f returns
// infinity. f writes a subgradient to its second argument.
func Descend(f func(y, g []float64) float64, y []float64, weight, target, enough float64, steps int) float64 {
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
			direction[k] += weight * (g[k] - direction[k])
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
