package reservation

import "context"

// uniformDual is the dual function of uniform multipliers. A charge is what all
// PEs pay for a cell.
type uniformDual struct {
	pes  int
	jobs []job
	grid grid
}

func (d *uniformDual) at(y []float64) *uniform {
	lambda := make([]float64, len(y))
	for c := range y {
		lambda[c] = y[c] / (float64(d.pes) * d.grid.length(c))
	}
	return newUniform(d.jobs, d.grid, lambda)
}

func (d *uniformDual) capacity(ctx context.Context, y, g []float64) (multipliers, float64) {
	if ctx.Err() != nil {
		return nil, 0
	}
	sum := 0.0
	for c := range y {
		sum += y[c]
		g[c] = 1
	}
	return d.at(y), sum
}

func (d *uniformDual) charge(i, c int) (k int, share float64) {
	return c, float64(d.jobs[i].pes) / float64(d.pes)
}

// perJobDual is the dual function of multipliers of each job's own. A charge is
// what a job pays for a cell of its window.
type perJobDual struct {
	*windows
	pes    int
	offset []int // of each job's charges, and their number in the end
	costs  *perJob
	best   []float64 // scratch: of a knapsack
	taken  [][]bool  // scratch: taken[k][q]: item k is in the best knapsack of q PEs
}

func newPerJobDual(pes int, jobs []job, g grid) *perJobDual {
	w := newWindows(jobs, g)
	d := &perJobDual{windows: w, pes: pes, offset: []int{0}, best: make([]float64, pes+1),
		costs: &perJob{windows: w, paid: make([][]float64, len(jobs))}}
	for i := range jobs {
		d.offset = append(d.offset, d.offset[i]+w.last[i]-w.first[i]+1)
	}
	return d
}

// from returns the charges that other multipliers mean.
func (d *perJobDual) from(m multipliers) []float64 {
	y := make([]float64, d.offset[len(d.jobs)])
	for i := range d.jobs {
		for c := d.first[i]; c <= d.last[i]; c++ {
			k, _ := d.charge(i, c)
			y[k] = m.cost(i, d.grid[c], d.grid[c+1])
		}
	}
	return y
}

// at returns the multipliers at y; nil when ctx ends.
func (d *perJobDual) at(ctx context.Context, y []float64) *perJob {
	charge := make([][]float64, len(d.jobs))
	for i := range charge {
		charge[i] = y[d.offset[i]:d.offset[i+1]]
	}
	return newPerJob(ctx, d.pes, d.windows, charge)
}

func (d *perJobDual) capacity(ctx context.Context, y, g []float64) (multipliers, float64) {
	clear(g)
	sum := 0.0
	var items []int // charges
	var sizes []int
	for c, jobs := range d.inCell {
		if c%16 == 0 && ctx.Err() != nil {
			return nil, 0
		}
		items, sizes = items[:0], sizes[:0]
		for _, i := range jobs {
			if k, _ := d.charge(int(i), c); y[k] > 0 {
				items, sizes = append(items, k), append(sizes, d.jobs[i].pes)
			}
		}
		for len(d.taken) < len(items) {
			d.taken = append(d.taken, make([]bool, d.pes+1))
		}
		clear(d.best)
		for n, k := range items {
			clear(d.taken[n][:sizes[n]])
			for q := d.pes; q >= sizes[n]; q-- {
				v := d.best[q-sizes[n]] + y[k]
				if d.taken[n][q] = v > d.best[q]; d.taken[n][q] {
					d.best[q] = v
				}
			}
		}
		sum += d.best[d.pes]
		for n, q := len(items)-1, d.pes; n >= 0; n-- {
			if d.taken[n][q] {
				g[items[n]] = 1
				q -= sizes[n]
			}
		}
	}
	for i := range d.jobs {
		d.costs.paid[i] = runningSums(y[d.offset[i]:d.offset[i+1]], d.costs.paid[i])
	}
	return d.costs, sum
}

func (d *perJobDual) charge(i, c int) (k int, share float64) {
	return d.offset[i] + c - d.first[i], 1
}

// work returns about how many steps of a loop one evaluation takes.
func (d *perJobDual) work() int { return d.offset[len(d.jobs)] * (d.pes + 8) }
