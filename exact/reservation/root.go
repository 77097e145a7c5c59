package reservation

const (
	// fewJobs is how many jobs a linear program finds prices for fast.
	fewJobs = 150
	// rentSteps is how many steps of improving rents are taken, if rentWork isn't
	// more than they take.
	rentSteps   = 600
	rentWork    = 3_000_000_000
	narrowSteps = 150
	// mostWindowCells bounds the memory and the time between two looks at ctx, as does
	// mostEarnings, of cells times PEs.
	mostWindowCells = 1_000_000
	mostEarnings    = 20_000_000
)

// windowCells is how many cells the jobs' windows have together.
func windowCells(jobs []sweepJob, grid []int64) int {
	sum := 0
	for i := range jobs {
		a, _ := cell(grid, jobs[i].ready)
		b, _ := cell(grid, jobs[i].due())
		sum += b - a + 1
	}
	return sum
}

// root bounds a part by prices.
func (s *reservationSearch) root(p *sweepPart) error {
	n := len(p.jobs)
	from := make([]int64, n)
	for i := range from {
		from[i] = p.jobs[i].ready
	}
	cells := min(300+2*n, max(4300, 300+n), 20_000)
	grid := priceGrid(p.jobs, cells)
	for cells > 50 && windowCells(p.jobs, grid) > mostWindowCells {
		cells /= 2
		grid = priceGrid(p.jobs, cells)
	}
	if n > fewJobs {
		p.prices = descend(s.ctx, s.units.pes, p.jobs, grid, p.value, 400)
	} else {
		var err error
		if p.prices, err = lpPrices(s.ctx, s.units.pes, p.jobs, grid, capacity(s.units.pes, grid), from); err != nil {
			return err
		}
	}
	p.upper = max(p.value, min(p.upper, s.floor(p, p.prices.bound())))
	if p.closed() || s.ctx.Err() != nil || int(s.units.pes+1)*len(grid) > mostEarnings {
		return nil
	}
	free := make([]int64, len(grid)-1)
	for c := range free {
		free[c] = s.units.pes
	}
	p.rents = newRentals(p.prices, free, from)
	s.rent(p)
	return nil
}

// rent takes some steps towards better rents.
func (s *reservationSearch) rent(p *sweepPart) {
	if p.rents == nil {
		return
	}
	p.rents.descend(s.ctx, p.value, p.value+s.units.grain-p.slack(), min(rentSteps, rentWork/(p.rents.work()+1)))
	if better := p.rents.prices(s.ctx); better != nil && better.bound()+better.rounding < p.prices.bound()+p.prices.rounding {
		p.prices = better
	}
	p.upper = max(p.value, min(p.upper, s.floor(p, p.prices.bound())))
	s.progress()
}
