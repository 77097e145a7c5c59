// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/num/lagrange"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Job is a job of Multipliers. It runs over [start, start+Length) for a start from Ready to Latest.
type Job struct {
	Ready, Latest, Length int64
	PEs                   int
	Weight                float64
}

// Due returns the latest end.
func (j *Job) Due() int64 { return j.Latest + j.Length }

// Multipliers relax the capacity of the machine (Geoffrion 1974). At each moment t the running jobs are a set R_t with
// PEs that fit. A job j pays λ_j(t) ≥ 0 for running, constant per tick in each cell of a grid. For every plan and any λ
//
//	Σ_{j accepted} w_j = Σ_{j accepted} (w_j - ∫_run λ_j) + ∫ Σ_{j in R_t} λ_j
//	                   ≤ Σ_j max(0, max_s (w_j - cost_j(s))) + ∫ K = L(λ),
//
// where cost_j(s) is the integral of λ_j over [s, s+length_j), the starts s lie in the job's window, and jobs that fit
// together pay at most K(t) (weak duality). So any multipliers give a bound; where they come from doesn't matter.
//
// First all jobs pay the same for a PE, λ_j(t) = PEs_j λ(t), and K = PEs λ. The least L is the bound of the linear
// relaxation with a variable for each job and start, as each job's inner problem is integral. From there each job gets
// multipliers of its own, and K(t) is the most that a set of jobs pays whose windows meet the cell and whose PEs fit: a
// knapsack (Guignard, Kim: Lagrangean decomposition, Mathematical Programming 39, 1987). The least L is the bound of
// the linear relaxation over sets of jobs that may run together: a wide job no longer runs by halves beside others.
type Multipliers struct {
	Grid  []int64 // cell c is [Grid[c], Grid[c+1])
	jobs  []Job
	first []int       // of each job, the first cell of its window
	paid  [][]float64 // paid[i][k]: integral of λ_i over the first k cells of job i's window
	room  float64     // ∫ K
}

const (
	// uniformSteps and ownSteps are the most steps of the subgradient method, and newWeight is the weight of the newest
	// subgradient in their direction. With 0.1 the bound of 150 requests is 0.3 % higher.
	uniformSteps = 400
	ownSteps     = 1000
	newWeight    = 0.02
	// mostPacked is the largest number of PEs, in units of the jobs' common divisor, for multipliers of each job's own,
	// and mostPacking bounds the steps of the knapsacks of all cells.
	mostPacked  = 1024
	mostPacking = 20_000_000
	// Grids have fineCells cells and finePerJob more for each job as long as that is below fineLimit, then coarsePerJob
	// for each job, at most maxCells.
	fineCells    = 300
	finePerJob   = 2
	coarsePerJob = 1
	fineLimit    = 4300
	maxCells     = 20_000
	// maxWindowCells bounds the cells of all jobs' windows together: memory, and the time between two looks at ctx. Cells
	// are halved until it holds, down to minCells.
	maxWindowCells = 1_000_000
	minCells       = 50
)

// NewMultipliers returns multipliers for some jobs, at least one, on a machine of so many PEs. They are found by the
// subgradient method on the way to a target, the value of a known plan. It ends early with a bound below enough, and with
// ctx. A step is O(n c + cells · jobs in a cell · PEs), for c starts of a job at which it or its end meets the grid.
func NewMultipliers(ctx context.Context, pes int, jobs []Job, target, enough float64) *Multipliers {
	d := newDual(ctx, pes, jobs, gridOf(jobs))
	y := make([]float64, d.grid.cells())
	least := lagrange.Descend(d.uniform, y, newWeight, target, enough, uniformSteps)
	own := d.split(y)
	if d.packed != nil && least >= enough && ctx.Err() == nil {
		lagrange.Descend(d.own, own, newWeight, target, enough, ownSteps)
	} else {
		d.packed = nil
	}
	m := &Multipliers{Grid: d.grid, jobs: jobs, first: d.first, paid: d.paid}
	d.pay(own)
	if d.packed == nil {
		for _, x := range y {
			m.room += x
		}
	} else {
		for c := range d.grid.cells() {
			m.room += d.pack(c, own, nil)
		}
	}
	return m
}

// gridOf returns the grid of the multipliers of jobs.
func gridOf(jobs []Job) grid {
	n := len(jobs)
	cells := min(fineCells+finePerJob*n, max(fineLimit, fineCells+coarsePerJob*n), maxCells)
	g := newGrid(jobs, cells)
	for cells > minCells && windowCells(jobs, g) > maxWindowCells {
		cells /= 2
		g = newGrid(jobs, cells)
	}
	return g
}

// windowCells returns how many cells the jobs' windows meet, in all.
func windowCells(jobs []Job, g grid) int {
	sum := 0
	for i := range jobs {
		a, b := g.meets(&jobs[i])
		sum += b - a
	}
	return sum
}

// Cost returns the integral of λ_i over [from, to) within job i's window.
func (m *Multipliers) Cost(i int, from, to int64) float64 {
	g := grid(m.Grid)
	a, x := g.cell(from)
	b, y := g.cell(to)
	return interpolate(m.paid[i], b-m.first[i], y) - interpolate(m.paid[i], a-m.first[i], x)
}

// All returns the integral of λ_i over job i's window.
func (m *Multipliers) All(i int) float64 { return m.paid[i][len(m.paid[i])-1] }

// Bound returns L(λ), and more than rounding adds to it or takes away. Between corners (grid.corners) a cost is linear,
// so a job's largest profit is at one of them.
func (m *Multipliers) Bound() (most, rounding float64) {
	profits, costs, weights := 0.0, 0.0, 0.0
	for i, corners := range grid(m.Grid).corners(m.jobs) {
		j, best := &m.jobs[i], 0.0
		for _, s := range corners {
			best = max(best, j.Weight-m.Cost(i, s, s+j.Length))
		}
		profits += best
		costs += m.All(i)
		weights += j.Weight
	}
	most = m.room + profits
	// Each addition rounds by 2^-53 of its sum at most: of a job's cells, of a cell's jobs, of all cells and of all jobs.
	return most, 0x1p-52 * float64(len(m.jobs)+len(m.Grid)+8) * (most + 4*costs + weights)
}

// dual holds the Lagrangian dual functions of some jobs.
type dual struct {
	ctx     context.Context
	pes     int
	jobs    []Job
	grid    grid
	corners [][]int64
	first   []int
	offset  []int       // of each job's own charges, and their number in the end
	paid    [][]float64 // of each job's charges, the running sums
	inCell  [][]int32   // of each cell, the jobs with windows that meet it
	looked  int         // starts of all jobs at corners
	packing int         // steps of all cells' knapsacks
	packed  []float64   // scratch of pack: the most that jobs pay on so many PEs; nil: there are too many
	taken   [][]bool    // scratch of pack: taken[n][q]: the cell's job n is in the best knapsack of q PEs
}

func newDual(ctx context.Context, pes int, jobs []Job, g grid) *dual {
	d := &dual{ctx: ctx, pes: pes, jobs: jobs, grid: g, corners: g.corners(jobs), offset: []int{0}, inCell: make([][]int32, g.cells())}
	most := 0
	for i := range jobs {
		d.looked += len(d.corners[i])
		a, b := g.meets(&jobs[i])
		d.first = append(d.first, a)
		d.offset = append(d.offset, d.offset[i]+b-a)
		d.paid = append(d.paid, make([]float64, b-a+1))
		for c := a; c < b; c++ {
			d.inCell[c] = append(d.inCell[c], int32(i))
			most = max(most, len(d.inCell[c]))
		}
	}
	if d.packing = d.offset[len(jobs)] * pes; pes <= mostPacked && d.packing <= mostPacking {
		d.packed, d.taken = make([]float64, pes+1), make([][]bool, most)
		for n := range d.taken {
			d.taken[n] = make([]bool, pes+1)
		}
	}
	return d
}

// split returns charges of each job's own, which are its shares of charges for all PEs.
func (d *dual) split(y []float64) []float64 {
	own := make([]float64, d.offset[len(d.jobs)])
	for i := range d.jobs {
		for k, c := d.offset[i], d.first[i]; k < d.offset[i+1]; k, c = k+1, c+1 {
			own[k] = y[c] * float64(d.jobs[i].PEs) / float64(d.pes)
		}
	}
	return own
}

// pay sets the running sums of the jobs' own charges.
func (d *dual) pay(own []float64) {
	for i, paid := range d.paid {
		for k, x := range own[d.offset[i]:d.offset[i+1]] {
			paid[k+1] = paid[k] + x
		}
	}
}

// uniform is L at charges y ≥ 0, which all PEs together pay for a cell. It writes a subgradient: how much of each charge
// the capacity term has, less how much of it the jobs pay at their best starts. L is convex and piecewise linear. It is
// infinity when ctx ends.
func (d *dual) uniform(y, sub []float64) float64 {
	if meter.Stop(d.ctx, int64(d.looked/50+1)) {
		return math.Inf(1)
	}
	sum, sums := 0.0, make([]float64, 1, len(y)+1)
	for c := range y {
		sub[c] = 1
		sum += y[c]
		sums = append(sums, sum)
	}
	for i := range d.jobs {
		share := float64(d.jobs[i].PEs) / float64(d.pes)
		sum += d.best(i, sums, 0, share, func(c int, part float64) { sub[c] -= share * part })
	}
	return sum
}

// own is L at charges of each job's own, and writes a subgradient.
func (d *dual) own(y, sub []float64) float64 {
	if meter.Stop(d.ctx, int64(d.looked/50+d.packing/1000+1)) {
		return math.Inf(1)
	}
	clear(sub)
	sum := 0.0
	for c := range d.inCell {
		sum += d.pack(c, y, sub)
	}
	d.pay(y)
	for i := range d.jobs {
		from := d.offset[i] - d.first[i]
		sum += d.best(i, d.paid[i], d.first[i], 1, func(c int, part float64) { sub[from+c] -= part })
	}
	return sum
}

// best returns the largest profit of job i, at least 0, if it pays a share of sums, running sums of the cells from first
// on. It passes on each cell of the best start, with the part of it that the job runs in.
func (d *dual) best(i int, sums []float64, first int, share float64, run func(c int, part float64)) float64 {
	j, start, profit := &d.jobs[i], int64(0), 0.0
	for _, s := range d.corners[i] {
		a, x := d.grid.cell(s)
		b, y := d.grid.cell(s + j.Length)
		if p := j.Weight - share*(interpolate(sums, b-first, y)-interpolate(sums, a-first, x)); p > profit {
			start, profit = s, p
		}
	}
	if profit > 0 {
		for c := d.grid.first(start); c < d.grid.cells() && d.grid[c] < start+j.Length; c++ {
			run(c, d.grid.overlap(c, start, start+j.Length))
		}
	}
	return profit
}

// pack returns the most that jobs pay for a cell if their PEs fit, by dynamic programming over PEs. If there is a
// subgradient, it gets 1 for the charges of these jobs.
func (d *dual) pack(c int, y, sub []float64) float64 {
	clear(d.packed)
	jobs := d.inCell[c]
	for n, i := range jobs {
		size, pays, taken := d.jobs[i].PEs, y[d.offset[i]+c-d.first[i]], d.taken[n]
		clear(taken)
		if pays <= 0 {
			continue
		}
		for q := d.pes; q >= size; q-- {
			if v := d.packed[q-size] + pays; v > d.packed[q] {
				d.packed[q], taken[q] = v, true
			}
		}
	}
	if sub != nil {
		q := d.pes
		for n := len(jobs) - 1; n >= 0; n-- {
			if i := jobs[n]; d.taken[n][q] {
				sub[d.offset[i]+c-d.first[i]]++
				q -= d.jobs[i].PEs
			}
		}
	}
	return d.packed[d.pes]
}
