// SPDX-License-Identifier: MIT

package reservation

import (
	"math"

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
func (k *kernelModel) charge(pes int, r *multipliers) {
	g, size := r.grid, 0.0
	total := int64(0)
	for _, w := range k.weights {
		total += w
	}
	for i := range k.jobs {
		size += r.cost(i, k.jobs[i].ready, k.jobs[i].due())
	}
	size += float64(pes)*r.all() + 2*float64(total)*r.jobs[0].weight/float64(k.weights[0])
	unit := r.jobs[0].weight / float64(k.weights[0]) // weight of 1
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
	for c := range g.cells() {
		clear(best)
		for i := range k.jobs {
			j, rate := &k.jobs[i], &row.Items[i].Rate
			if j.due() <= g[c] || j.ready >= g[c+1] {
				continue
			}
			rates[i] = int64(r.cost(i, g[c], g[c+1]) / unit * float64(scale) / g.length(c))
			if len(rate.Times) == 0 {
				rate.Times, rate.Paid = append(rate.Times, int64(g[c])), append(rate.Paid, 0)
			}
			rate.Times = append(rate.Times, int64(g[c+1]))
			rate.Paid = append(rate.Paid, rate.Paid[len(rate.Paid)-1]+rates[i]*int64(g[c+1]-g[c]))
			if rates[i] > 0 {
				for q := pes; q >= j.pes; q-- {
					best[q] = max(best[q], best[q-j.pes]+rates[i])
				}
			}
		}
		row.AtMost += best[pes] * int64(g[c+1]-g[c])
	}
	k.AddAs("charges", row)
}
