// SPDX-License-Identifier: MIT

package reservation

import (
	"math"
	"slices"
)

// relaxation is the Lagrangian relaxation of the machine's capacity at fixed multipliers (Geoffrion 1974). At each
// moment t the running jobs are a set R_t with PEs that fit. Multipliers λ_j(t) ≥ 0, constant per tick in each cell of
// a grid, pay for running: for every plan and any λ
//
//	Σ_{j accepted} w_j = Σ_{j accepted} (w_j - ∫_run λ_j) + ∫ Σ_{j in R_t} λ_j
//	                   ≤ Σ_j max(0, max_s (w_j - cost_j(s))) + ∫ max_R Σ_{j in R} λ_j = L(λ),
//
// where cost_j(s) is the integral of λ_j over [s, s+length_j), the starts s lie in the job's window, and R ranges over
// the sets of jobs that fit (weak duality). So any multipliers give a bound; where they come from doesn't matter. The
// first sum is of the jobs' reduced profits, the integral is the capacity term.
type relaxation struct {
	pes  int
	jobs []job
	grid grid
	*uniform

	corners [][]tick    // of each job, see grid.corners
	profit  [][]float64 // most reduced profit from each corner on, may be negative
	later   []float64   // later[i]: sum of the positive reduced profits of jobs i and on

	rounding float64 // more than the rounding adds to a bound of any state, or takes away
}

func newRelaxation(pes int, jobs []job, g grid, corners [][]tick, m *uniform) *relaxation {
	r := &relaxation{pes: pes, jobs: jobs, grid: g, uniform: m, corners: corners,
		profit: make([][]float64, len(jobs)), later: make([]float64, len(jobs)+1)}
	for i := len(jobs) - 1; i >= 0; i-- {
		profit := make([]float64, len(corners[i]))
		best := math.Inf(-1)
		for k := len(profit) - 1; k >= 0; k-- {
			best = max(best, r.profitAt(i, corners[i][k]))
			profit[k] = best
		}
		r.profit[i] = profit
		r.later[i] = r.later[i+1] + max(0, best)
	}
	// Each addition rounds by 2^-53 of its sum at most.
	costs, additions := m.magnitude()
	size := r.bound() + costs
	r.rounding = 0x1p-52 * (float64(additions)*size + float64(len(jobs))*(r.later[0]+totalWeight(jobs)))
	return r
}

// profitAt returns the reduced profit of job i started at start: its weight
// less its cost.
func (r *relaxation) profitAt(i int, start tick) float64 {
	return r.jobs[i].weight - r.cost(i, start, start+r.jobs[i].length)
}

// profitFrom returns the most reduced profit of job i from a start in [from,
// latest], which may be negative; minus infinity if there is no such start.
// Between corners the cost is linear, so they and from suffice.
func (r *relaxation) profitFrom(i int, from tick) float64 {
	if from <= r.corners[i][0] {
		return r.profit[i][0]
	}
	k, _ := slices.BinarySearch(r.corners[i], from)
	if k == len(r.corners[i]) {
		return math.Inf(-1)
	}
	return max(r.profit[i][k], r.profitAt(i, from))
}

// bound returns L(λ) for all jobs, with all PEs free.
func (r *relaxation) bound() float64 {
	return r.capacity(r.pes, r.grid[0], r.grid.end()) + r.later[0]
}

// capacityOf returns the capacity term from the time of a state on, of the PEs
// that aren't blocked then.
func (r *relaxation) capacityOf(y *state) float64 {
	to := max(y.time, r.grid.end())
	free, sum := r.pes, 0.0
	for _, b := range y.blocked {
		if b.end < to {
			sum += r.capacity(free, b.end, to)
			to = b.end
		}
		free -= b.pes
	}
	return sum + r.capacity(free, y.time, to)
}

// reversed returns the relaxation of the same jobs with time running backwards: windows begin at minus their due times.
// A job that runs over [s, s+length) runs over [-s-length, -s) then. s ≥ ready becomes the end ≤ -ready, and s ≤ latest
// the start ≥ -(latest+length). As many PEs are in use at -t as at t (except at the ends of runs, which have no
// length). So a plan of the one is a plan of the other, of the same value, and either may be searched.
func (r *relaxation) reversed() *relaxation {
	cells := r.grid.cells()
	g := make(grid, cells+1)
	for c := range g {
		g[c] = -r.grid[cells-c]
	}
	backwards := func(i int) job {
		j := r.jobs[i]
		j.ready, j.latest = -j.due(), -j.ready-j.length
		return j
	}
	order := make([]int, len(r.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return byReady(backwards(a), backwards(b)) })
	jobs := make([]job, len(order))
	for k, i := range order {
		jobs[k] = backwards(i)
	}
	return newRelaxation(r.pes, jobs, g, g.corners(jobs), r.uniform.reversed(g, jobs))
}
