// SPDX-License-Identifier: MIT

package reservation

import (
	"math"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/internal/cp"
)

// chargeBits is the binary logarithm of the largest sum of all figures of a row of charges.
const chargeBits = 58

// charge adds the bound L of multipliers in whole numbers:
// with rates r_j(t) ≥ 0, each a multiple of job j's multiplier rounded, constant in the
// cells of the grid,
//
//	Σ_{j accepted} ∫_run r_j + Σ_{j declined} scale w_j ≤ scale lost + ∫ max_R Σ_{j in R} r_j
//
// where R ranges over the sets of jobs that may run at that time and fit. For the jobs that run at any time are such a
// set, and lost ≥ Σ_{j declined} w_j. Any rates are valid; good multipliers make the row tight. The knapsacks are
// solved in whole numbers.
func (k *kernelModel) charge(pes int, r *resbounds.Multipliers) {
	g, size := r.Grid, 0.0
	total := int64(0)
	for _, w := range k.weights {
		total += w
	}
	for i := range k.jobs {
		size += 2 * r.All(i) // what it pays, and its part of the knapsacks
	}
	unit := k.jobs[0].weight / float64(k.weights[0]) // weight of 1
	size += 2 * float64(total) * unit
	_, bits := math.Frexp(size / unit)
	if bits >= chargeBits {
		return
	}
	scale := int64(1) << (chargeBits - bits)
	row := &cp.Charges{Items: make([]cp.Charged, len(k.jobs)), Terms: []cp.Term{{Times: -scale, Var: k.Objective}}}
	rates := make([]int64, len(k.jobs)) // in the cell
	best := make([]int64, pes+1)        // of a knapsack
	for i := range row.Items {
		j := &k.jobs[i]
		row.Items[i] = cp.Charged{Start: cp.Start{If: k.in[i].Is(), At: k.starts[i]}, Length: int64(j.length), Absent: scale * k.weights[i]}
	}
	for c := range len(g) - 1 {
		clear(best)
		for i := range k.jobs {
			j, rate := &k.jobs[i], &row.Items[i].Rate
			if int64(j.due()) <= g[c] || int64(j.ready) >= g[c+1] {
				continue
			}
			rates[i] = int64(r.Cost(i, g[c], g[c+1]) / unit * float64(scale) / float64(g[c+1]-g[c]))
			if len(rate.Times) == 0 {
				rate.Times, rate.Paid = append(rate.Times, g[c]), append(rate.Paid, 0)
			}
			rate.Times = append(rate.Times, g[c+1])
			rate.Paid = append(rate.Paid, rate.Paid[len(rate.Paid)-1]+rates[i]*(g[c+1]-g[c]))
			if rates[i] > 0 {
				for q := pes; q >= j.pes; q-- {
					best[q] = max(best[q], best[q-j.pes]+rates[i])
				}
			}
		}
		row.AtMost += best[pes] * (g[c+1] - g[c])
	}
	k.AddAs("charges", row)
}
