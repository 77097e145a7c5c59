// SPDX-License-Identifier: MIT

package reservation

// uniform are multipliers λ_j(t) = pes_j·λ(t): one per PE, the same for all jobs. The capacity term is free·∫λ, as the
// jobs of a set R have at most as many PEs as are free. The least bound is the bound of the linear relaxation with a
// variable for each job and start (Geoffrion 1974: each job's inner problem is integral).
type uniform struct {
	jobs []job
	grid grid
	sum  []float64 // of the boundaries: integral of λ from the first one on
}

// newUniform takes λ for each cell.
func newUniform(jobs []job, g grid, lambda []float64) *uniform {
	u := &uniform{jobs, g, make([]float64, len(g))}
	for c, x := range lambda {
		u.sum[c+1] = u.sum[c] + x*g.length(c)
	}
	return u
}

func (u *uniform) integral(from, to tick) float64 {
	a, x := u.grid.cell(from)
	b, y := u.grid.cell(to)
	return interpolate(u.sum, b, y) - interpolate(u.sum, a, x)
}

// cost returns the integral of λ_i over [from, to).
func (u *uniform) cost(i int, from, to tick) float64 {
	return float64(u.jobs[i].pes) * u.integral(from, to)
}

// capacity returns the most that jobs running on free PEs pay over [from, to).
func (u *uniform) capacity(free int, from, to tick) float64 {
	return float64(free) * u.integral(from, to)
}

// reversed returns λ with time running backwards, for the same jobs in that order.
func (u *uniform) reversed(g grid, jobs []job) *uniform {
	sum := make([]float64, len(u.sum))
	for k := range sum {
		sum[k] = u.sum[len(sum)-1] - u.sum[len(sum)-1-k]
	}
	return &uniform{jobs, g, sum}
}

// magnitude returns the sum of all jobs' costs from the first tick to the last, and how many additions a bound takes.
// It counts the additions to the running sum as rounded, which is λ.
func (u *uniform) magnitude() (costs float64, additions int) {
	for i := range u.jobs {
		costs += float64(u.jobs[i].pes) * u.sum[len(u.sum)-1]
	}
	return costs, 8
}
