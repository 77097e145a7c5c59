// SPDX-License-Identifier: MIT

package duals

import (
	"math"

	"github.com/gapwise/gapwise/model/milp"
)

// SafeLower returns a lower bound on the minimum of the linear relaxation of m from
// any dual values y of its rows, however wrong. All variables must have bounds.
//
// It is the Lagrangian bound Σ_i y_i b_i + Σ_j min(d_j l_j, d_j u_j), where b_i is the
// lower bound of row i for y_i ≥ 0 and the upper for y_i < 0, and d_j = c_j - Σ_i y_i
// a_ij is the reduced cost of variable j in [l_j, u_j]; a y_i whose b_i is infinite
// counts as 0 (Neumaier, Shcherbina: Safe bounds in linear and mixed-integer linear
// programming, 2004). The sum is lowered by 1e-12 of the size of its terms, more than
// rounding can add. O(terms).
func SafeLower(m *milp.Model, duals []float64) float64 {
	sum, size := m.Offset, 0.0
	add := func(v float64) { sum += v; size += math.Abs(v) }
	reduced := make([]float64, len(m.Vars))
	for j := range m.Vars {
		reduced[j] = m.Vars[j].Cost
	}
	for i := range m.Rows {
		y, side := duals[i], m.Rows[i].Lower
		if y < 0 {
			side = m.Rows[i].Upper
		}
		if y == 0 || math.IsInf(side, 0) {
			continue
		}
		add(y * side)
		for _, t := range m.Rows[i].Terms {
			reduced[t.Var] -= y * t.Coef
			size += math.Abs(y * t.Coef * m.Vars[t.Var].Upper)
		}
	}
	for j, v := range m.Vars {
		add(min(reduced[j]*v.Lower, reduced[j]*v.Upper))
	}
	return sum - 1e-12*size
}
