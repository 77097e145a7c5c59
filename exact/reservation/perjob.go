package reservation

import "context"

// perJob are multipliers λ_j of each job's own. The capacity term is a knapsack
// problem in each cell: the set R that pays most. The least bound is that of
// the linear relaxation over sets of jobs that may run together (Dantzig and
// Wolfe 1960), which is tighter than that of uniform multipliers: a job of all
// PEs no longer runs by halves beside others.
type perJob struct {
	*windows
	paid [][]float64 // paid[i][k]: integral of λ_i over the first k cells of the job's window
	// knapsack[f*len(grid)+c] is the capacity term of f free PEs from grid[0]
	// to grid[c].
	knapsack []float64
}

// windows are the cells that the jobs' windows meet.
type windows struct {
	jobs   []job
	grid   grid
	first  []int     // of each job, the first cell of its window
	last   []int     // and the last
	inCell [][]int32 // of each cell, the jobs whose windows meet it
}

func newWindows(jobs []job, g grid) *windows {
	w := &windows{jobs: jobs, grid: g, inCell: make([][]int32, g.cells())}
	for i := range jobs {
		a, _ := g.cell(jobs[i].ready)
		b, share := g.cell(jobs[i].due())
		if share == 0 && b > a {
			b--
		}
		w.first, w.last = append(w.first, a), append(w.last, b)
		for c := a; c <= b; c++ {
			w.inCell[c] = append(w.inCell[c], int32(i))
		}
	}
	return w
}

// newPerJob takes what each job pays for all of each cell of its window. It
// returns nil when ctx ends. O(pes) per job and cell.
func newPerJob(ctx context.Context, pes int, w *windows, charge [][]float64) *perJob {
	m := &perJob{windows: w, paid: make([][]float64, len(w.jobs)), knapsack: make([]float64, (pes+1)*len(w.grid))}
	for i, x := range charge {
		m.paid[i] = runningSums(x, nil)
	}
	best := make([]float64, pes+1)
	for c, jobs := range w.inCell {
		if c%16 == 0 && ctx.Err() != nil {
			return nil
		}
		clear(best)
		for _, i := range jobs {
			pack(best, w.jobs[i].pes, charge[i][c-w.first[i]])
		}
		for f, v := range best {
			row := m.knapsack[f*len(w.grid):]
			row[c+1] = row[c] + v
		}
	}
	return m
}

// runningSums returns 0 and the sums of the first values, in the space of into.
func runningSums(values, into []float64) []float64 {
	into = append(into[:0], 0)
	for k, x := range values {
		into = append(into, into[k]+x)
	}
	return into
}

// pack adds an item to a knapsack of which best[q] is the most that fits in q.
func pack(best []float64, size int, value float64) {
	if value <= 0 {
		return
	}
	for q := len(best) - 1; q >= size; q-- {
		best[q] = max(best[q], best[q-size]+value)
	}
}

func (m *perJob) cost(i int, from, to tick) float64 {
	a, x := m.grid.cell(from)
	b, y := m.grid.cell(to)
	f := m.first[i]
	return interpolate(m.paid[i], b-f, y) - interpolate(m.paid[i], a-f, x)
}

func (m *perJob) capacity(free int, from, to tick) float64 {
	a, x := m.grid.cell(from)
	b, y := m.grid.cell(to)
	row := m.knapsack[free*len(m.grid) : (free+1)*len(m.grid)]
	return interpolate(row, b, y) - interpolate(row, a, x)
}

func (m *perJob) reversed(g grid, jobs []job, order []int) multipliers {
	r := &perJob{windows: newWindows(jobs, g), knapsack: make([]float64, 0, len(m.knapsack))}
	for _, i := range order {
		r.paid = append(r.paid, reverseSums(m.paid[i]))
	}
	for n := len(m.grid); len(r.knapsack) < len(m.knapsack); {
		r.knapsack = append(r.knapsack, reverseSums(m.knapsack[len(r.knapsack):len(r.knapsack)+n])...)
	}
	return r
}

func (m *perJob) magnitude() (costs float64, additions int) {
	for _, paid := range m.paid {
		costs += paid[len(paid)-1]
	}
	return costs, 8 + len(m.grid)
}
