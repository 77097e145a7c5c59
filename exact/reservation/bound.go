// SPDX-License-Identifier: MIT

package reservation

import "github.com/gapwise/gapwise/internal/num/lagrange"

const (
	// manyJobs is the number of jobs above which multipliers may take all the time that
	// there is.
	manyJobs = 150
	// uniformSteps are the steps of the subgradient method, and newWeight is the weight
	// of the newest subgradient in their direction. With 0.1 the crowds of the plan
	// reservation-exact take 12 % more nodes.
	uniformSteps = 400
	newWeight    = 0.02
	// Grids have fineCells cells and finePerJob more for each job as long as
	// that is below fineLimit, then coarsePerJob for each job, at most maxCells.
	fineCells    = 300
	finePerJob   = 2
	coarsePerJob = 1
	fineLimit    = 4300
	maxCells     = 20_000
	// maxWindowCells bounds the cells of all jobs' windows together: memory, and the
	// time between two looks at ctx. Cells are halved until it holds, down to
	// minCells.
	maxWindowCells = 1_000_000
	minCells       = 50
)

// gridOf returns the grid of a part's multipliers.
func gridOf(jobs []job) grid {
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
func windowCells(jobs []job, g grid) int {
	sum := 0
	for i := range jobs {
		a, _ := g.cell(jobs[i].ready)
		b, _ := g.cell(jobs[i].due())
		sum += b - a + 1
	}
	return sum
}

// bound finds a part's multipliers, by the subgradient method, and lowers its bound by them.
func (s *searcher) bound(p *part) {
	if s.off&charges != 0 {
		return
	}
	g := gridOf(p.jobs)
	corners := g.corners(p.jobs)
	y := make([]float64, g.cells())
	lagrange.Descend(lagrangian(s.Ctx, s.scale.pes, p.jobs, g, corners), y, newWeight, p.value, p.value, uniformSteps)
	p.relax = charged(s.scale.pes, p.jobs, g, y)
	most, rounding := p.relax.bound(s.scale.pes, corners)
	p.rounding = rounding
	p.lower(s.floor(p, most))
}
