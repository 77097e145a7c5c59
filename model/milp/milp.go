// SPDX-License-Identifier: MIT

// Package milp holds mixed-integer linear models as data: variables with bounds, costs and integrality, rows with
// bounds, an objective. It also holds formulations: models of a problem with the way to its solutions and back. It is
// neutral to solvers: package highs solves its models, WriteMPS and WriteLP write them for others.
//
// It lies under model, not with one of the problems, since both bounds and exact use it. The formulations of bounds are
// data like the instances, and their relaxations are bounds; exact solves them.
package milp

import (
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/objective"
)

// ErrInvalid marks a model that breaks the rules of Validate.
var ErrInvalid = errors.New("milp: invalid model")

// Inf is the upper bound of a variable or row without one; -Inf the lower.
var Inf = math.Inf(1)

// Model is: minimise (or maximise) Offset + Σ_j Cost_j x_j subject to
// Lower_i ≤ Σ_j Coef_ij x_j ≤ Upper_i for each row i and Lower_j ≤ x_j ≤ Upper_j for
// each variable j. A point x has a value for each variable, in their order.
type Model struct {
	Name     string
	Maximise bool
	Offset   float64
	Vars     []Var
	Rows     []Row
	Scale    *objective.Scale // for comments of files; nil: the model is of no instance
}

// Var is a variable.
type Var struct {
	Name         string
	Lower, Upper float64
	Cost         float64
	Integer      bool
}

// Row is a linear constraint. Terms may come in any order, each variable once.
type Row struct {
	Name         string
	Lower, Upper float64
	Terms        []Term
}

// Term is one coefficient of a row.
type Term struct {
	Var  int // index in Vars
	Coef float64
}

// AddVar adds a variable and returns its index.
func (m *Model) AddVar(v Var) int {
	m.Vars = append(m.Vars, v)
	return len(m.Vars) - 1
}

// AddRow adds a row and returns its index.
func (m *Model) AddRow(name string, lower, upper float64, terms ...Term) int {
	m.Rows = append(m.Rows, Row{name, lower, upper, terms})
	return len(m.Rows) - 1
}

// Validate reports, as ErrInvalid, the first error. Errors are a NaN or misplaced infinity, a lower bound above its
// upper bound, a term with a variable that doesn't exist or is in the row twice, and a name that is taken (empty names
// may repeat).
func (m *Model) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	boundsOK := func(lo, hi float64) bool {
		return lo <= hi && !math.IsInf(lo, 1) && !math.IsInf(hi, -1)
	}
	if !finite(m.Offset) {
		return bad("the offset is %v", m.Offset)
	}
	names := map[string]bool{}
	for j, v := range m.Vars {
		if v.Name != "" && names[v.Name] {
			return bad("variable %d: the name %q is taken", j, v.Name)
		}
		names[v.Name] = true
		if !finite(v.Cost) {
			return bad("variable %d %q: cost is %v", j, v.Name, v.Cost)
		}
		if !boundsOK(v.Lower, v.Upper) {
			return bad("variable %d %q: bounds [%v, %v]", j, v.Name, v.Lower, v.Upper)
		}
	}
	names = map[string]bool{}
	last := make([]int, len(m.Vars))
	for i, r := range m.Rows {
		if r.Name != "" && names[r.Name] {
			return bad("row %d: the name %q is taken", i, r.Name)
		}
		names[r.Name] = true
		if !boundsOK(r.Lower, r.Upper) {
			return bad("row %d %q: bounds [%v, %v]", i, r.Name, r.Lower, r.Upper)
		}
		for _, t := range r.Terms {
			if t.Var < 0 || t.Var >= len(m.Vars) {
				return bad("row %d %q: variable %d isn't one of %d", i, r.Name, t.Var, len(m.Vars))
			}
			if last[t.Var] == i+1 {
				return bad("row %d %q: variable %q is there twice", i, r.Name, m.Vars[t.Var].Name)
			}
			last[t.Var] = i + 1
			if !finite(t.Coef) {
				return bad("row %d %q: the coefficient of %q is %v", i, r.Name, m.Vars[t.Var].Name, t.Coef)
			}
		}
	}
	return nil
}

// Objective returns the objective at the point x.
func (m *Model) Objective(x []float64) float64 {
	sum := m.Offset
	for j := range m.Vars {
		sum += m.Vars[j].Cost * x[j]
	}
	return sum
}

// Violation returns the largest amount by which the point x breaks a bound, a row or
// integrality.
func (m *Model) Violation(x []float64) float64 {
	worst := 0.0
	outside := func(v, lo, hi float64) { worst = max(worst, lo-v, v-hi) }
	for j, v := range m.Vars {
		outside(x[j], v.Lower, v.Upper)
		if v.Integer {
			worst = max(worst, math.Abs(x[j]-math.Round(x[j])))
		}
	}
	for i := range m.Rows {
		sum := 0.0
		for _, t := range m.Rows[i].Terms {
			sum += t.Coef * x[t.Var]
		}
		outside(sum, m.Rows[i].Lower, m.Rows[i].Upper)
	}
	return worst
}

// varName returns the variable's name, or one made from its index.
func (m *Model) varName(j int) string {
	if n := m.Vars[j].Name; n != "" {
		return n
	}
	return fmt.Sprintf("x%d", j)
}

// rowName returns the row's name, or one made from its index.
func (m *Model) rowName(i int) string {
	if n := m.Rows[i].Name; n != "" {
		return n
	}
	return fmt.Sprintf("r%d", i)
}
