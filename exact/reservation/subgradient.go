// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/run/meter"
)

// lagrangian returns the Lagrangian dual function L of uniform multipliers. At charges y ≥ 0, which all PEs pay for a
// cell, it returns L(y) and writes a subgradient to sub: how much of each charge the capacity term has less how much of
// it the jobs pay at their best starts. L is convex and piecewise linear. It is infinity when ctx ends.
func lagrangian(ctx context.Context, pes int, jobs []job, g grid, corners [][]tick) func(y, sub []float64) float64 {
	looked := 0
	for i := range corners {
		looked += len(corners[i])
	}
	return func(y, sub []float64) float64 {
		if meter.Stop(ctx, int64(looked/50+1)) {
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
func charged(pes int, jobs []job, g grid, y []float64) *multipliers {
	lambda := make([]float64, len(y))
	for c := range y {
		lambda[c] = y[c] / (float64(pes) * g.length(c))
	}
	return newMultipliers(jobs, g, lambda)
}
