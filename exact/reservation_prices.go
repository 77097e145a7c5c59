package exact

import (
	"math"
	"slices"
	"sort"
)

// prices puts a price on the PEs at each moment and so bounds what can be
// accepted (the Lagrangian relaxation of the PEs' limit): who owns all PEs and
// rents them to the jobs gains no more than the worth of all PEs and, for each job alone, its weight
// less the rent at its cheapest start. With the best prices this is the bound of the linear
// relaxation with a variable for each job and start. Any prices of at least zero give a
// bound; where they come from doesn't matter.
//
// The price of a PE for a tick is constant in each cell of a grid.
type prices struct {
	pes   int64
	jobs  []sweepJob
	grid  []int64   // ascending, from the first ready time to the last due time
	rate  []float64 // of each cell
	sum   []float64 // price of one PE from grid[0] to grid[i]
	gain  [][]float64
	later []float64 // later[i]: the most that jobs i and on gain together

	corners [][]int64 // of each job
}

// newPrices takes a rate for each cell of the grid.
func newPrices(pes int64, jobs []sweepJob, grid []int64, corners [][]int64, rate []float64) *prices {
	p := &prices{pes: pes, jobs: jobs, grid: grid, rate: rate, corners: corners, sum: make([]float64, len(grid))}
	for c, r := range rate {
		p.sum[c+1] = p.sum[c] + r*float64(grid[c+1]-grid[c])
	}
	p.gain = make([][]float64, len(jobs))
	p.later = make([]float64, len(jobs)+1)
	for i := len(jobs) - 1; i >= 0; i-- {
		g := make([]float64, len(corners[i]))
		best := 0.0
		for k := len(g) - 1; k >= 0; k-- {
			best = max(best, p.gainAt(&jobs[i], corners[i][k]))
			g[k] = best
		}
		p.gain[i] = g
		p.later[i] = p.later[i+1] + best
	}
	return p
}

// cornersOf is, for each job, the starts at which its rent has corners: those at which it begins or
// ends on the grid, the first and the last.
func cornersOf(jobs []sweepJob, grid []int64) [][]int64 {
	all := make([][]int64, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		out := []int64{j.ready, j.latest}
		for _, shift := range [...]int64{0, j.length} {
			k, _ := slices.BinarySearch(grid, j.ready+shift)
			for ; k < len(grid) && grid[k]-shift <= j.latest; k++ {
				out = append(out, grid[k]-shift)
			}
		}
		slices.Sort(out)
		all[i] = slices.Compact(out)
	}
	return all
}

// at is the price of one PE from the beginning to t.
func (p *prices) at(t int64) float64 {
	if t <= p.grid[0] {
		return 0
	}
	k := sort.Search(len(p.grid), func(i int) bool { return p.grid[i] > t }) - 1
	if k >= len(p.rate) {
		return p.sum[len(p.rate)]
	}
	return p.sum[k] + p.rate[k]*float64(t-p.grid[k])
}

// gainAt is a job's weight less its rent.
func (p *prices) gainAt(j *sweepJob, start int64) float64 {
	return j.weight - float64(j.pes)*(p.at(start+j.length)-p.at(start))
}

// gainFrom is the most that job i gains from a start in [from, latest], at
// least 0. Between corners the rent is linear, so they and from suffice.
func (p *prices) gainFrom(i int, from int64) float64 {
	if from <= p.corners[i][0] {
		return p.gain[i][0]
	}
	k, _ := slices.BinarySearch(p.corners[i], from)
	if k == len(p.corners[i]) {
		return 0
	}
	return max(p.gain[i][k], p.gainAt(&p.jobs[i], from))
}

// bound is that of all jobs with all PEs free.
func (p *prices) bound() float64 {
	return float64(p.pes)*p.sum[len(p.rate)] + p.later[0]
}

// best is a job's cheapest start and its gain there, which may be negative.
func (p *prices) best(i int) (start int64, gain float64) {
	gain = math.Inf(-1)
	for _, s := range p.corners[i] {
		if g := p.gainAt(&p.jobs[i], s); g > gain {
			start, gain = s, g
		}
	}
	return start, gain
}
