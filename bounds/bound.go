// SPDX-License-Identifier: MIT

// Package bounds defines a bound. The bounds live one folder down, by problem, beside the linear formulations, since
// their relaxations are bounds, too.
package bounds

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Bound is one proved statement on an instance.
type Bound struct {
	Name string // the method, as in "packing"
	// Value bounds every solution's objective: from above if the problem maximises, from below if it minimises. It has
	// no meaning if Infeasible.
	Value float64
	// Infeasible says that no solution exists, proved.
	Infeasible bool
	Reason     string // why no solution exists, in a few words
	// Evidence says how the bound follows from the instance; nil: there is none.
	Evidence *model.Evidence
}

// CheckSize returns an error that wraps model.ErrUnsupported if the formulation of that name would have n > most
// variables, rows or terms; what names the kind.
func CheckSize(name, what string, n, most int) error {
	if n <= most {
		return nil
	}
	return fmt.Errorf("formulation %s: %w: it would have %d %s, at most %d are built; the native search needs none",
		name, model.ErrUnsupported, n, what, most)
}
