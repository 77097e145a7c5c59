// SPDX-License-Identifier: MIT

// Package objective relates the objective of a linear model to its instance's.
package objective

import (
	"fmt"
	"math"
	"strconv"
)

// OfInstance begins the comment of a file that relates the instance's objective to the solver's, obj.
const OfInstance = "the instance's objective = "

// Scale converts a model's objective to the problem's: Factor times it plus Constant, or, for the largest load of a
// host, the least share of its tasks.
type Scale struct {
	Factor, Constant float64
	Load             bool // 1 / max(1, the objective)
}

// Value returns the problem's objective.
func (s Scale) Value(objective float64) float64 {
	if s.Load {
		return 1 / max(1, objective)
	}
	return s.Factor*objective + s.Constant
}

// Formula writes the scale for obj, the objective as a file has it, which sign turns into the model's.
func (s Scale) Formula(sign float64) string {
	if s.Load {
		return "1 / max(1, obj)"
	}
	text := figure(sign*s.Factor) + " * obj"
	if s.Constant != 0 {
		op := "+"
		if s.Constant < 0 {
			op = "-"
		}
		text += fmt.Sprintf(" %s %s", op, figure(math.Abs(s.Constant)))
	}
	return text
}

func figure(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
