package reservation

import (
	"math"
	"slices"
	"sort"
)

// prices bound what can be accepted, by a Lagrangian relaxation: someone owns
// the PEs and rents them to the jobs. He and the jobs together gain no less
// than a plan is worth, whatever the rents: what he earns from the jobs of a
// plan is what they pay, and their weights remain. So a bound is the most that he can
// earn at each moment, added up, plus for each job alone its weight less
// the rent at its cheapest start, if that is above 0.
//
// The rent of a job is so much per tick in each cell of a grid. With one rent
// per PE for all jobs, the owner earns that for each free PE, and with the best
// rents the bound is that of the linear relaxation with a variable for each job and
// start. With rents of each job's own, he earns what the most profitable jobs pay that fit in the PEs
// together (a knapsack for each cell), and the bound is that of the linear
// relaxation over sets of jobs that may run at the same time, which is much less: a job of all PEs no
// longer runs by halves beside others.
//
// Any rents give a bound; where they come from doesn't matter.
type prices struct {
	pes  int64
	jobs []sweepJob
	grid []int64 // ascending, from the first ready time to the last due time

	sum []float64 // rent of one PE from grid[0] to grid[c], if it is the same for all jobs

	first  []int       // else: of each job, the first cell of its window,
	inCell [][]int32   // the jobs of each cell,
	paid   [][]float64 // each job's rent from its first cell to the beginning of each,
	earn   []float64   // and what f free PEs earn from grid[0] to grid[c], at f*len(grid)+c

	corners [][]int64   // starts of each job at which its rent has corners
	gain    [][]float64 // the most that it gains from each corner on, which may be negative
	later   []float64   // later[i]: the most that jobs i and on gain together

	rounding float64 // more than what rounding adds to a bound of any state, or takes away
}

// newPrices takes a rent per PE and tick for each cell.
func newPrices(pes int64, jobs []sweepJob, grid []int64, corners [][]int64, rate []float64) *prices {
	p := &prices{pes: pes, jobs: jobs, grid: grid, corners: corners, sum: make([]float64, len(grid))}
	for c, r := range rate {
		p.sum[c+1] = p.sum[c] + r*float64(grid[c+1]-grid[c])
	}
	p.settle()
	return p
}

// settle finds the gains, and which jobs pay in each cell.
func (p *prices) settle() {
	if p.sum == nil {
		p.inCell = make([][]int32, len(p.grid)-1)
		for i := range p.jobs {
			for c := range len(p.paid[i]) - 1 {
				p.inCell[p.first[i]+c] = append(p.inCell[p.first[i]+c], int32(i))
			}
		}
	}
	p.gain = make([][]float64, len(p.jobs))
	p.later = make([]float64, len(p.jobs)+1)
	for i := len(p.jobs) - 1; i >= 0; i-- {
		g := make([]float64, len(p.corners[i]))
		best := math.Inf(-1)
		for k := len(g) - 1; k >= 0; k-- {
			best = max(best, p.gainAt(i, p.corners[i][k]))
			g[k] = best
		}
		p.gain[i] = g
		p.later[i] = p.later[i+1] + max(0, best)
	}
	// Each addition rounds by 2^-53 of its sum at most. One rent for all is what its running sum says, as rounded: only what is
	// made of that counts, some additions for each job. Rents of each job's own are added up in each cell, and
	// what the owner earns from them there as well.
	size, cells := p.later[0], 8
	if p.sum == nil {
		cells += len(p.grid)
	}
	for i := range p.jobs {
		if p.sum == nil {
			size += p.paid[i][len(p.paid[i])-1]
		} else {
			size += float64(p.jobs[i].pes) * p.sum[len(p.sum)-1]
		}
	}
	if p.sum == nil {
		size += p.earn[len(p.earn)-1]
	} else {
		size += float64(p.pes) * p.sum[len(p.sum)-1]
	}
	p.rounding = 0x1p-52 * (float64(cells)*size + float64(len(p.jobs))*(p.later[0]+worth(p.jobs)))
}

// cornersOf is, for each job, the starts at which it begins or ends on the
// grid, the first and the last.
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

// cell is where t is: in cell c, so far into it. Outside of the grid it is at its ends.
func cell(grid []int64, t int64) (c int, into float64) {
	if t <= grid[0] {
		return 0, 0
	}
	c = sort.Search(len(grid), func(i int) bool { return grid[i] > t }) - 1
	if c >= len(grid)-1 {
		return len(grid) - 2, 1
	}
	return c, float64(t-grid[c]) / float64(grid[c+1]-grid[c])
}

// between is a running sum at a moment; outside of its cells it stays.
func between(sum []float64, c int, into float64) float64 {
	switch {
	case c < 0:
		return sum[0]
	case c+1 >= len(sum):
		return sum[len(sum)-1]
	}
	return sum[c] + into*(sum[c+1]-sum[c])
}

// gainAt is a job's weight less its rent.
func (p *prices) gainAt(i int, start int64) float64 {
	j := &p.jobs[i]
	a, x := cell(p.grid, start)
	b, y := cell(p.grid, start+j.length)
	if p.sum != nil {
		return j.weight - float64(j.pes)*(between(p.sum, b, y)-between(p.sum, a, x))
	}
	f := p.first[i]
	return j.weight - (between(p.paid[i], b-f, y) - between(p.paid[i], a-f, x))
}

// gainFrom is the most that job i gains from a start in [from, latest], which
// may be negative; minus infinity if there is no such start. Between corners the
// rent is linear, so they and from suffice.
func (p *prices) gainFrom(i int, from int64) float64 {
	if from <= p.corners[i][0] {
		return p.gain[i][0]
	}
	k, _ := slices.BinarySearch(p.corners[i], from)
	if k == len(p.corners[i]) {
		return math.Inf(-1)
	}
	return max(p.gain[i][k], p.gainAt(i, from))
}

// earns is the most that the owner earns from some free PEs over [from, to).
func (p *prices) earns(free int64, from, to int64) float64 {
	a, x := cell(p.grid, from)
	b, y := cell(p.grid, to)
	if p.sum != nil {
		return float64(free) * (between(p.sum, b, y) - between(p.sum, a, x))
	}
	row := p.earn[int(free)*len(p.grid) : int(free+1)*len(p.grid)]
	return between(row, b, y) - between(row, a, x)
}

// beside is what he earns from the time of a state on.
func (p *prices) beside(y *sweepState) float64 {
	to := max(y.time, p.grid[len(p.grid)-1])
	free, sum := p.pes, 0.0
	for _, r := range y.lost {
		if r.end < to {
			sum += p.earns(free, r.end, to)
			to = r.end
		}
		free -= r.pes
	}
	return sum + p.earns(free, y.time, to)
}

// nearCells is how many cells are looked at closely after the last end.
const nearCells = 10

// closely is what the owner earns from the time of a state on, from the jobs
// that it wants alone as long as some PEs are in use and some cells more.
func (p *prices) closely(y *sweepState, dp []float64) float64 {
	total := 0.0
	a, _ := cell(p.grid, y.time)
	last := p.grid[len(p.grid)-1]
	for c := a; c < len(p.grid)-1; c++ {
		lo, hi := max(p.grid[c], y.time), p.grid[c+1]
		clear(dp)
		others := false
		for _, i := range p.inCell[c] {
			if int(i) < int(y.base)<<6 || !y.can(y.wanted, int(i)) {
				others = true
				continue
			}
			k := c - p.first[i]
			need, pays := int(p.jobs[i].pes), (p.paid[i][k+1]-p.paid[i][k])/float64(p.grid[c+1]-p.grid[c])
			for q := len(dp) - 1; q >= need && pays > 0; q-- {
				dp[q] = max(dp[q], dp[q-need]+pays)
			}
		}
		if (!others || c > a+nearCells) && (len(y.lost) == 0 || y.lost[0].end <= lo) {
			return total + p.earns(p.pes, lo, last)
		}
		free := p.pes
		for _, r := range y.lost {
			if r.end < hi {
				if r.end <= lo {
					break
				}
				total += dp[free] * float64(hi-r.end)
				hi = r.end
			}
			free -= r.pes
		}
		total += dp[free] * float64(hi-lo)
	}
	return total
}

// bound is that of all jobs with all PEs free.
func (p *prices) bound() float64 {
	return p.earns(p.pes, p.grid[0], p.grid[len(p.grid)-1]) + p.later[0]
}

// best is a job's cheapest start and its gain there, which may be negative.
func (p *prices) best(i int) (start int64, gain float64) {
	gain = math.Inf(-1)
	for _, s := range p.corners[i] {
		if g := p.gainAt(i, s); g > gain {
			start, gain = s, g
		}
	}
	return start, gain
}
