package reservation

import "github.com/gapwise/gapwise/model/milp/highs"

const (
	// lpJobs is the largest number of jobs for which the linear program is
	// solved. It is worth it: of the 30 crowds of 40 to 100 requests of the plan
	// reservation-exact it takes 18 s of CPU in all, the subgradient method 23 s.
	// For more jobs the linear program takes too long.
	lpJobs = 150
	// uniformSteps and perJobSteps are the steps of the subgradient method. Of
	// the latter there are fewer if together they would take more than
	// maxDualWork steps of the innermost loop, some seconds.
	uniformSteps = 400
	perJobSteps  = 600
	maxDualWork  = 3_000_000_000
	// Grids have fineCells cells and finePerJob more for each job as long as
	// that is below fineLimit, then coarsePerJob for each job, at most maxCells.
	fineCells    = 300
	finePerJob   = 2
	coarsePerJob = 1
	fineLimit    = 4300
	maxCells     = 20_000
	// maxWindowCells bounds the cells of all jobs' windows together, and
	// maxKnapsacks the cells times PEs: memory, and the time between two looks
	// at ctx. Cells are halved until the former holds, down to minCells.
	maxWindowCells = 1_000_000
	maxKnapsacks   = 20_000_000
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

// bound finds a part's multipliers: uniform ones first, then, from those, some
// of each job's own.
func (s *searcher) bound(p *part) error {
	g := gridOf(p.jobs)
	if !highs.Built || len(p.jobs) > lpJobs || s.off&linearProgram != 0 {
		d := &uniformDual{s.scale.pes, p.jobs, g}
		corners := g.corners(p.jobs)
		y := make([]float64, g.cells())
		descend(s.lagrangian(d, p.jobs, g, corners), y, p.value, p.value, uniformSteps)
		p.relax = newRelaxation(s.scale.pes, p.jobs, g, corners, d.at(y))
	} else {
		var err error
		if p.relax, err = lpRelaxation(s.ctx, s.scale.pes, p.jobs, g); err != nil {
			return err
		}
	}
	p.lower(s.floor(p, p.relax.bound()))
	if s.off&perJobMultipliers != 0 || p.closed() || s.ctx.Err() != nil || (s.scale.pes+1)*len(g) > maxKnapsacks {
		return nil
	}
	p.dual = newPerJobDual(s.scale.pes, p.jobs, g)
	p.charges = p.dual.from(p.relax.multipliers)
	s.improveBound(p)
	return nil
}

// improveBound takes some steps towards better multipliers of each job's own.
func (s *searcher) improveBound(p *part) {
	if p.dual == nil {
		return
	}
	f := s.lagrangian(p.dual, p.jobs, p.relax.grid, p.relax.corners)
	descend(f, p.charges, p.value, p.value+s.scale.grain-p.slack(), min(perJobSteps, maxDualWork/(p.dual.work()+1)))
	if m := p.dual.at(s.ctx, p.charges); m != nil {
		better := newRelaxation(s.scale.pes, p.jobs, p.relax.grid, p.relax.corners, m)
		if better.bound()+better.rounding < p.relax.bound()+p.relax.rounding {
			p.relax = better
		}
	}
	p.lower(s.floor(p, p.relax.bound()))
	s.progress()
}

func (s *searcher) lagrangian(d dual, jobs []job, g grid, corners [][]tick) func(y, sub []float64) float64 {
	return func(y, sub []float64) float64 { return lagrangian(s.ctx, d, jobs, g, corners, y, sub) }
}
