// SPDX-License-Identifier: MIT

package duals

import (
	"math"

	"github.com/gapwise/gapwise/model/milp"
)

// SafeLower returns a lower bound on the minimum of the linear relaxation of m from
// any dual values y of its rows, however wrong.
//
// It is the Lagrangian bound Σ_i y_i b_i + Σ_j min(d_j l_j, d_j u_j). Here b_i is the lower bound of row i for y_i ≥ 0
// and the upper for y_i < 0, and d_j = c_j - Σ_i y_i a_ij is the reduced cost of variable j in [l_j, u_j]. A y_i with
// an infinite b_i counts as 0 (Neumaier, Shcherbina: Safe bounds in linear and mixed-integer linear programming, 2004).
// It is -Inf if d_j asks for a bound that variable j doesn't have.
//
// Rounding: let k be the most terms of a variable and u = 2^-53. Then d_j is off by at most (k + 2) u (|c_j| + Σ_i |y_i
// a_ij|), including coefficients that are rounded themselves. The sum, which is compensated (Neumaier 1974), is off by
// 3 u of the size of its terms. The bound is lowered by twice that, and by 1e-12 of the size of its terms at least.
// O(terms).
func SafeLower(m *milp.Model, y []float64) float64 {
	bound, _ := Reduced(m, y)
	return bound
}

// Reduced returns SafeLower and the reduced costs d: with x_j at least k from the bound that d_j asks for, no point is
// below the bound + k |d_j|, its rounding included.
func Reduced(m *milp.Model, y []float64) (bound float64, reduced []float64) {
	return lagrangian(m, y, 1)
}

// Refutes reports whether multipliers y of the rows prove that no point satisfies the rows and the bounds of
// variables (Farkas): without costs the Lagrangian bound is above 0.
func Refutes(m *milp.Model, y []float64) bool {
	bound, _ := lagrangian(m, y, 0)
	return bound > 0
}

// lagrangian is SafeLower with the costs and the offset times a factor.
func lagrangian(m *milp.Model, y []float64, costs float64) (bound float64, reduced []float64) {
	sum, lost, size, worst := costs*m.Offset, 0.0, 0.0, 0.0 // worst: of all terms, those of reduced costs that are 0 too
	add := func(v float64) {
		total := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += sum - total + v
		} else {
			lost += v - total + sum
		}
		sum = total
		size += math.Abs(v)
	}
	reduced = make([]float64, len(m.Vars))
	sizes, terms := make([]float64, len(m.Vars)), make([]int, len(m.Vars))
	for j := range m.Vars {
		reduced[j] = costs * m.Vars[j].Cost
		sizes[j] = math.Abs(reduced[j])
	}
	for i := range m.Rows {
		y, side := y[i], m.Rows[i].Lower
		if y < 0 {
			side = m.Rows[i].Upper
		}
		if y == 0 || math.IsInf(side, 0) {
			continue
		}
		add(y * side)
		for _, t := range m.Rows[i].Terms {
			reduced[t.Var] -= y * t.Coef
			part := math.Abs(y * t.Coef)
			sizes[t.Var] += part
			if upper := m.Vars[t.Var].Upper; !math.IsInf(upper, 0) {
				size += part * math.Abs(upper)
			}
			terms[t.Var]++
		}
	}
	most := 0
	for j, v := range m.Vars {
		most = max(most, terms[j])
		d, far := reduced[j], max(math.Abs(v.Lower), math.Abs(v.Upper))
		if math.IsInf(far, 0) {
			off := 0x1p-52 * float64(terms[j]+8) * sizes[j]
			switch {
			case d > off && !math.IsInf(v.Lower, 0):
				far = math.Abs(v.Lower)
			case d < -off && !math.IsInf(v.Upper, 0):
				far = math.Abs(v.Upper)
			case sizes[j] == 0:
				continue
			default:
				return math.Inf(-1), reduced
			}
		}
		worst += sizes[j] * far
		switch {
		case d > 0:
			add(d * v.Lower)
		case d < 0:
			add(d * v.Upper)
		}
	}
	bound = sum + lost - max(1e-12*size, 0x1p-51*float64(most+8)*(size+worst))
	if math.IsNaN(bound) {
		return math.Inf(-1), reduced
	}
	return bound, reduced
}
