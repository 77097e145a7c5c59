package cp

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrOverflow says that the sums of a model don't fit in the whole numbers that solvers
// compute with.
var ErrOverflow = errors.New("sums of the model exceed 2^62")

// Check reports, as ErrOverflow, the first linear constraint whose figures may add up
// to 2^62 or more in absolute value, whatever the variables are within their bounds:
// |AtMost| + Σ_groups max value + Σ_terms |times|·max(|low|, |high|). With it, no sum
// of a solver that takes a variable at one of its bounds overflows, nor does the
// difference of two such sums.
func (m *Model) Check() error {
	for i, c := range m.Constraints {
		c, ok := c.(*Linear)
		if !ok {
			continue
		}
		sum := size(c.AtMost)
		add := func(x, y uint64) {
			hi, lo := bits.Mul64(x, y)
			if sum += lo; hi > 0 || lo >= limit || sum >= limit {
				sum = limit
			}
		}
		for _, g := range c.Groups {
			most := uint64(0)
			for _, x := range g {
				most = max(most, size(x.Value))
			}
			add(most, 1)
		}
		for _, t := range c.Terms {
			add(size(t.Times), max(size(m.Low[t.Var]), size(m.High[t.Var])))
		}
		if sum >= limit {
			name := ""
			if i < len(m.Names) && m.Names[i] != "" {
				name = fmt.Sprintf(" (%q)", m.Names[i])
			}
			return fmt.Errorf("constraint %d%s: %w", i, name, ErrOverflow)
		}
	}
	return nil
}

const limit = 1 << 62

// size is the absolute value.
func size(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
