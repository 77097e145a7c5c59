package reservation

const (
	// lpJobs is for how many jobs the linear program is solved; for more,
	// subgradient steps are faster.
	lpJobs = 150
	// uniformSteps and perJobSteps are how many steps of the subgradient method
	// are taken; of the latter fewer if evaluating the dual function takes so
	// many steps of a loop that together they were more than maxDualWork, some
	// seconds.
	uniformSteps = 400
	perJobSteps  = 600
	maxDualWork  = 3_000_000_000
	// A grid has baseCells + 2 per job, at most maxCells or what lets cells
	// stand for each job's window: maxWindowCells bounds the memory of all
	// jobs' cells and the time between two looks at ctx, as does maxKnapsacks,
	// of cells times PEs.
	baseCells      = 300
	manyCells      = 4300
	maxCells       = 20_000
	minCells       = 50
	maxWindowCells = 1_000_000
	maxKnapsacks   = 20_000_000
)

// gridOf returns the grid of a part's multipliers.
func gridOf(jobs []job) grid {
	n := len(jobs)
	cells := min(baseCells+2*n, max(manyCells, baseCells+n), maxCells)
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
	if len(p.jobs) > lpJobs || s.off&linearProgram != 0 {
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
