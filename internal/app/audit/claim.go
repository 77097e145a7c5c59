// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// claim is the knowledge of an instance's optimum: that it lies between low and high, that there is a solution, or that
// there is none. Use unknown for a claim without content; the zero claim means that the optimum is 0.
type claim struct {
	low, high          float64
	solved, infeasible bool
}

// unknown returns the claim without content.
func unknown() claim { return claim{low: math.Inf(-1), high: math.Inf(1)} }

// claimOf returns a result's claim on the optimum.
func claimOf(sense model.Sense, r model.Result) claim {
	c := unknown()
	if r.Status == model.StatusInfeasible {
		c.infeasible = true
		return c
	}
	if r.Solution != nil {
		c = c.withSolution(sense, r.Objective)
	}
	if !math.IsNaN(r.Bound) {
		c = c.withBound(sense, r.Bound)
	}
	return c
}

// withSolution adds that there is a solution of the given value.
func (c claim) withSolution(sense model.Sense, value float64) claim {
	c.solved = true
	return c.withBound(-sense, value)
}

// withBound adds that no solution is better than the given value.
func (c claim) withBound(sense model.Sense, value float64) claim {
	if sense == model.Maximise {
		c.high = min(c.high, value)
	} else {
		c.low = max(c.low, value)
	}
	return c
}

// proved reports whether the claim is a proof of optimality, to within the gap
// at which results call themselves optimal, or of infeasibility.
func (c claim) proved() bool {
	return c.infeasible || c.solved && c.high-c.low <= 2*model.DefaultGap*max(math.Abs(c.low), math.Abs(c.high))
}

func (c claim) String() string {
	switch {
	case c.infeasible:
		return "infeasible"
	case !c.solved:
		return fmt.Sprintf("from %.12g to %.12g if feasible", c.low, c.high)
	}
	return fmt.Sprintf("from %.12g to %.12g", c.low, c.high)
}

// slop is the largest relative difference between two sums of the same figures
// in another order. A difference of one tick is much larger.
const slop = 1e-9

// implies reports whether d follows from c, both of bounds alone.
func (c claim) implies(d claim) bool {
	return c.low >= d.low-slop*math.Abs(d.low) && c.high <= d.high+slop*math.Abs(d.high)
}

// agrees reports whether both claims can be true.
func (c claim) agrees(d claim) bool {
	if c.infeasible || d.infeasible {
		return !(c.solved || d.solved)
	}
	low, high := max(c.low, d.low), min(c.high, d.high)
	return low <= high || low-high <= slop*max(math.Abs(low), math.Abs(high))
}
