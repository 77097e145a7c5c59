// SPDX-License-Identifier: MIT

package cp

import (
	"errors"
	"fmt"
	"math"
)

// ErrOverflow says that the sums of a model don't fit in the whole numbers that solvers
// compute with.
var ErrOverflow = errors.New("sums of the model may exceed 2^61")

// Check reports, as ErrOverflow, the first linear constraint with figures that may add up to about 2^61 or more in
// absolute value, whatever the variables are within their bounds. It tests |AtMost| + Σ_groups max value + Σ_terms
// |times|·max(|low|, |high|). If it passes, no sum of a solver that takes a variable at one of its bounds overflows,
// nor does the difference of two such sums.
func (m *Model) Check() error {
	for i, c := range m.Constraints {
		if c, ok := c.(*Linear); ok && m.size(c) >= 1<<61 {
			return fmt.Errorf("constraint %d, %q: %w", i, m.Names[i], ErrOverflow)
		}
	}
	return nil
}

func (m *Model) size(c *Linear) float64 {
	sum := math.Abs(float64(c.AtMost))
	for _, g := range c.Groups {
		most := 0.0
		for _, x := range g {
			most = max(most, math.Abs(float64(x.Value)))
		}
		sum += most
	}
	for _, t := range c.Terms {
		sum += math.Abs(float64(t.Times)) * max(math.Abs(float64(m.Low[t.Var])), math.Abs(float64(m.High[t.Var])))
	}
	return sum
}
