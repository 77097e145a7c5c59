// Package bounds says what a bound is and holds what the bounds of several
// problems share: dual solutions of linear programs turned into proofs, and
// dual-feasible functions. The bounds live one folder down, by problem, beside
// the linear formulations whose relaxations are bounds, too.
package bounds

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Bound is one proved statement on an instance.
type Bound struct {
	Name string // of the method
	// Value is what no solution's objective exceeds or, for a problem that
	// minimises, undercuts. It is meaningless if Infeasible.
	Value float64
	// Infeasible is a proof that no solution exists.
	Infeasible bool
	Reason     string // of infeasibility, in a few words
}

// CheckSize returns an error that wraps model.ErrUnsupported if a formulation
// would have more than most variables, rows or terms (what says which).
func CheckSize(name, what string, n, most int) error {
	if n <= most {
		return nil
	}
	return fmt.Errorf("formulation %s: %w: it would have %d %s, at most %d are built; the native search needs none",
		name, model.ErrUnsupported, n, what, most)
}
