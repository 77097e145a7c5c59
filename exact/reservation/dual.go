package reservation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// priceGrid is the cells of prices: all moments at which a window opens or
// closes, or a job at the edge of its window begins or ends, and evenly spread
// ones, up to the given number.
func priceGrid(jobs []sweepJob, most int) []int64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	var grid []int64
	for i := range jobs {
		j := &jobs[i]
		first, last = min(first, j.ready), max(last, j.due())
		grid = append(grid, j.ready, j.latest, j.ready+j.length, j.due())
	}
	if last-first < int64(most) {
		grid = grid[:0]
		for t := first; t <= last; t++ {
			grid = append(grid, t)
		}
		return grid
	}
	slices.Sort(grid)
	grid = slices.Compact(grid)
	if len(grid) > most {
		thin := make([]int64, most)
		for k := range thin {
			thin[k] = grid[int(float64(len(grid)-1)*float64(k)/float64(most-1))]
		}
		thin[most-1] = last
		return slices.Compact(thin)
	}
	step := float64(last-first) / float64(most-len(grid)+1)
	for k := range most - len(grid) {
		grid = append(grid, first+int64(step*float64(k+1)))
	}
	slices.Sort(grid)
	return slices.Compact(grid)
}

// capacity is the PE-ticks of each cell.
func capacity(pes int64, grid []int64) []float64 {
	free := make([]float64, len(grid)-1)
	for c := range free {
		free[c] = float64(pes) * float64(grid[c+1]-grid[c])
	}
	return free
}

// lpPrices are the prices with the least bound on a grid, for jobs to be
// started from the given times on (or not, if that is too late) on PEs that are free in
// part: the duals of the linear relaxation, which is solved by HiGHS with columns for jobs and starts that
// are priced out until no gain is missing. Whatever HiGHS says, prices give a bound.
//
// HiGHS's tolerances are for figures of middling size: of cells of 10^12 ticks it makes no end. So
// where figures are large the rows are in shares of a cell and the weights in shares of the largest.
func lpPrices(ctx context.Context, pes int64, jobs []sweepJob, grid []int64, free []float64, from []int64) (*prices, error) {
	cells := len(grid) - 1
	corners := cornersOf(jobs, grid)
	m := &milp.Model{Maximise: true}
	row, weight := make([]float64, cells), 1.0 // what a row's and the objective's figures are divided by
	for c := range row {
		row[c] = 1
	}
	if slices.Max(free) > largeFigure {
		for c := range row {
			row[c] = float64(grid[c+1] - grid[c])
		}
	}
	for i := range jobs {
		if jobs[i].weight > largeFigure {
			weight = max(weight, jobs[i].weight)
		}
	}
	for c, f := range free {
		m.AddRow("", math.Inf(-1), f/row[c])
	}
	for range jobs {
		m.AddRow("", math.Inf(-1), 1)
	}
	lp, err := highs.NewLP(m)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	defer lp.Close()
	rate := make([]float64, cells)
	now := newPrices(pes, jobs, grid, corners, rate)
	best, least := now, math.Inf(1)
	for range 100 {
		bound := 0.0
		for c, r := range rate {
			bound += r * free[c]
		}
		var cols []highs.Column
		scale := 0.0
		for i := range jobs {
			scale = max(scale, jobs[i].weight)
			if from[i] > jobs[i].latest {
				continue
			}
			start, gain := from[i], now.gainAt(i, from[i])
			k, _ := slices.BinarySearch(corners[i], from[i])
			for ; k < len(corners[i]); k++ {
				if g := now.gainAt(i, corners[i][k]); g > gain {
					start, gain = corners[i][k], g
				}
			}
			bound += max(0, gain)
			if gain > 1e-9*scale {
				cols = append(cols, startColumn(&jobs[i], i, start, grid, row, weight))
			}
		}
		if bound < least {
			best, least = now, bound
		}
		if err := lp.AddColumns(cols); err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
		r, err := lp.Solve(ctx)
		if err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
		if r.Status != highs.Optimal || least <= r.Objective*weight*(1+1e-6) {
			break
		}
		for c := range rate {
			rate[c] = max(0, r.Duals[c]*weight/row[c])
		}
		now = newPrices(pes, jobs, grid, corners, rate)
	}
	return best, nil
}

// largeFigure is what HiGHS is spared.
const largeFigure = 1e9

// startColumn is job i started at the given time.
func startColumn(j *sweepJob, i int, start int64, grid []int64, row []float64, weight float64) highs.Column {
	col := highs.Column{Cost: j.weight / weight, Upper: milp.Inf, Terms: []highs.RowTerm{{Row: len(grid) - 1 + i, Coef: 1}}}
	k, found := slices.BinarySearch(grid, start)
	if !found {
		k--
	}
	for ; k < len(grid)-1 && grid[k] < start+j.length; k++ {
		over := min(grid[k+1], start+j.length) - max(grid[k], start)
		col.Terms = append(col.Terms, highs.RowTerm{Row: k, Coef: float64(j.pes) * float64(over) / row[k]})
	}
	return col
}

// descend are prices by subgradient steps (Polyak's, with the target that is a plan's value;
// Camerini, Fratta and Maffioli's direction), for so many jobs that the linear program takes
// long. Each step costs as much as there are corners.
func descend(ctx context.Context, pes int64, jobs []sweepJob, grid []int64, target float64, steps int) *prices {
	cells := len(grid) - 1
	free := capacity(pes, grid)
	corners := cornersOf(jobs, grid)
	rate, best := make([]float64, cells), make([]float64, cells)
	now := newPrices(pes, jobs, grid, corners, rate)
	least, eager, stuck := now.bound(), 1.0, 0
	was, dir := make([]float64, cells), make([]float64, cells)
	for range steps {
		if ctx.Err() != nil {
			break
		}
		// The price of all of a cell is what is moved: cells of any length alike.
		use := make([]float64, cells)
		value := now.earns(pes, grid[0], grid[cells])
		for i := range jobs {
			start, gain := now.best(i)
			if gain <= 0 {
				continue
			}
			value += gain
			j := &jobs[i]
			k, found := slices.BinarySearch(grid, start)
			if !found {
				k--
			}
			for ; k < cells && grid[k] < start+j.length; k++ {
				use[k] += float64(j.pes) * float64(min(grid[k+1], start+j.length)-max(grid[k], start)) / free[k]
			}
		}
		if value < least {
			if value < least-1e-4*(least-target) {
				stuck = 0
			}
			least = value
			copy(best, rate)
		} else if stuck++; stuck > 8 {
			eager, stuck = eager*0.7, 0
		}
		if least <= target || eager < 1e-3 {
			break
		}
		norm := 0.0
		for c := range dir {
			dir[c] = 0.7*was[c] + 0.3*(use[c]-1)
			was[c] = dir[c]
			norm += dir[c] * dir[c]
		}
		if norm == 0 {
			break
		}
		for c := range rate {
			rate[c] = max(0, rate[c]+eager*(value-target)/norm*dir[c]/free[c])
		}
		now = newPrices(pes, jobs, grid, corners, rate)
	}
	return newPrices(pes, jobs, grid, corners, best)
}
