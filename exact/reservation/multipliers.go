// SPDX-License-Identifier: MIT

package reservation

// multipliers relax the capacity of the machine (Geoffrion 1974). At each moment t the running jobs are a set R_t with
// PEs that fit. A job j pays λ_j(t) = pes_j λ(t) for running, λ ≥ 0 and constant per tick in each cell of a grid. For
// every plan and any λ
//
//	Σ_{j accepted} w_j = Σ_{j accepted} (w_j - ∫_run λ_j) + ∫ Σ_{j in R_t} λ_j
//	                   ≤ Σ_j max(0, max_s (w_j - cost_j(s))) + PEs ∫ λ = L(λ),
//
// where cost_j(s) is the integral of λ_j over [s, s+length_j), and the starts s lie in the job's window (weak duality).
// So any multipliers give a bound; where they come from doesn't matter. The first sum is of the jobs' reduced profits,
// the integral is the capacity term. The least L is the bound of the linear relaxation with a variable for each job and
// start, as each job's inner problem is integral.
type multipliers struct {
	jobs []job
	grid grid
	sum  []float64 // of the boundaries: integral of λ from the first one on
}

// newMultipliers takes λ for each cell.
func newMultipliers(jobs []job, g grid, lambda []float64) *multipliers {
	u := &multipliers{jobs, g, make([]float64, len(g))}
	for c, x := range lambda {
		u.sum[c+1] = u.sum[c] + x*g.length(c)
	}
	return u
}

func (u *multipliers) integral(from, to tick) float64 {
	a, x := u.grid.cell(from)
	b, y := u.grid.cell(to)
	return interpolate(u.sum, b, y) - interpolate(u.sum, a, x)
}

// cost returns the integral of λ_i over [from, to).
func (u *multipliers) cost(i int, from, to tick) float64 {
	return float64(u.jobs[i].pes) * u.integral(from, to)
}

// all returns the integral of λ.
func (u *multipliers) all() float64 { return u.sum[len(u.sum)-1] }

// bound returns L(λ) for so many PEs, and more than rounding adds to it or takes away. Between corners (grid.corners) a
// cost is linear, so a job's largest profit is at one of them.
func (u *multipliers) bound(pes int, corners [][]tick) (most, rounding float64) {
	profits, costs := 0.0, 0.0
	for i := range u.jobs {
		j, best := &u.jobs[i], 0.0
		for _, s := range corners[i] {
			best = max(best, j.weight-u.cost(i, s, s+j.length))
		}
		profits += best
		costs += float64(j.pes) * u.all()
	}
	most = float64(pes)*u.all() + profits
	// Each addition rounds by 2^-53 of its sum at most: eight of these sums, λ's among them, and one for each job.
	return most, 0x1p-52 * (8*(most+costs) + float64(len(u.jobs))*(profits+totalWeight(u.jobs)))
}
