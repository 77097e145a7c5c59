package reservation

import (
	"context"
	"math"
	"slices"
)

// rentals looks for rents of each job's own with a low bound (see prices), for
// jobs to be started from given times on, with some PEs free in each cell.
type rentals struct {
	pes   int64
	jobs  []sweepJob
	grid  []int64
	free  []int64     // of each cell
	from  []int64     // of each job; later than its latest start: it isn't there
	first []int       // of each job, the first cell of its window
	rate  [][]float64 // from there on, per tick

	corners [][]int64
	inCell  [][]int32 // jobs of each cell
	paid    []float64 // scratch
	use     [][]float64
}

// newRentals begins with the rents of p, which are those of all jobs.
func newRentals(p *prices, free, from []int64) *rentals {
	cells := len(p.grid) - 1
	r := &rentals{pes: p.pes, jobs: p.jobs, grid: p.grid, free: free, from: from, corners: p.corners, inCell: make([][]int32, cells)}
	for i := range r.jobs {
		j := &r.jobs[i]
		a, _ := cell(r.grid, j.ready)
		b, into := cell(r.grid, j.due())
		if into == 0 && b > a {
			b--
		}
		rate := make([]float64, b-a+1)
		for c := range rate {
			if length := float64(r.grid[a+c+1] - r.grid[a+c]); p.sum != nil {
				rate[c] = float64(j.pes) * (p.sum[a+c+1] - p.sum[a+c]) / length
			} else if k := a + c - p.first[i]; k >= 0 && k+1 < len(p.paid[i]) {
				rate[c] = (p.paid[i][k+1] - p.paid[i][k]) / length
			}
			r.inCell[a+c] = append(r.inCell[a+c], int32(i))
		}
		r.first, r.rate = append(r.first, a), append(r.rate, rate)
		r.use = append(r.use, make([]float64, len(rate)))
	}
	return r
}

// payments is a job's rent from its first cell to the beginning of each.
func (r *rentals) payments(i int, into []float64) []float64 {
	into = append(into[:0], 0)
	for c, x := range r.rate[i] {
		into = append(into, into[c]+x*float64(r.grid[r.first[i]+c+1]-r.grid[r.first[i]+c]))
	}
	return into
}

// evaluate is the bound at the rents, and leaves in use, for each job and
// cell, 1 if the owner rents to it, less the share of the cell in which it runs. It is infinite
// when ctx ends.
func (r *rentals) evaluate(ctx context.Context) float64 {
	bound := 0.0
	for i := range r.use {
		clear(r.use[i])
	}
	dp := make([]float64, r.pes+1)
	var items []int32
	var take [][]bool
	for c, jobs := range r.inCell {
		if c%16 == 0 && ctx.Err() != nil {
			return math.Inf(1)
		}
		items = items[:0]
		room := int(r.free[c])
		for _, i := range jobs {
			if r.rate[i][c-r.first[i]] > 0 && r.from[i] <= r.jobs[i].latest && r.from[i] < r.grid[c+1] && int(r.jobs[i].pes) <= room {
				items = append(items, i)
			}
		}
		for len(take) < len(items) {
			take = append(take, make([]bool, r.pes+1))
		}
		clear(dp[:room+1])
		for k, i := range items {
			need, pays := int(r.jobs[i].pes), r.rate[i][c-r.first[i]]
			clear(take[k][:need])
			for q := room; q >= need; q-- {
				v := dp[q-need] + pays
				if take[k][q] = v > dp[q]; take[k][q] {
					dp[q] = v
				}
			}
		}
		bound += dp[room] * float64(r.grid[c+1]-r.grid[c])
		for k, q := len(items)-1, room; k >= 0; k-- {
			if i := items[k]; take[k][q] {
				r.use[i][c-r.first[i]] = 1
				q -= int(r.jobs[i].pes)
			}
		}
	}
	for i := range r.jobs {
		j := &r.jobs[i]
		if r.from[i] > j.latest {
			continue
		}
		r.paid = r.payments(i, r.paid)
		start, best := int64(0), 0.0
		try := func(s int64) {
			a, x := cell(r.grid, s)
			b, y := cell(r.grid, s+j.length)
			if g := j.weight - (between(r.paid, b-r.first[i], y) - between(r.paid, a-r.first[i], x)); g > best {
				start, best = s, g
			}
		}
		try(r.from[i])
		k, _ := slices.BinarySearch(r.corners[i], r.from[i])
		for ; k < len(r.corners[i]); k++ {
			try(r.corners[i][k])
		}
		if best <= 0 {
			continue
		}
		bound += best
		for c := range r.rate[i] {
			from, to := r.grid[r.first[i]+c], r.grid[r.first[i]+c+1]
			if over := min(to, start+j.length) - max(from, start); over > 0 {
				r.use[i][c] -= float64(over) / float64(to-from)
			}
		}
	}
	return bound
}

// descend looks for rents with a low bound (the volume algorithm, Barahona and Anbil 2000): from the best
// rents known it steps in a direction that averages all subgradients seen, a length
// that is Polyak's towards the target. It ends early when the bound is below enough.
func (r *rentals) descend(ctx context.Context, target, enough float64, steps int) float64 {
	best := make([][]float64, len(r.rate))
	dir := make([][]float64, len(r.rate))
	least := r.evaluate(ctx)
	for i := range r.rate {
		best[i] = slices.Clone(r.rate[i])
		dir[i] = slices.Clone(r.use[i])
	}
	eager, stuck := 0.3, 0
	for range steps {
		if least < enough || ctx.Err() != nil || eager < 1e-3 {
			break
		}
		norm := 0.0
		for i := range dir {
			for _, d := range dir[i] {
				norm += d * d
			}
		}
		if norm == 0 {
			break
		}
		step := eager * max(least-target, 1e-3*math.Abs(least)) / norm
		for i := range r.rate {
			for c := range r.rate[i] {
				length := float64(r.grid[r.first[i]+c+1] - r.grid[r.first[i]+c])
				r.rate[i][c] = max(0, best[i][c]-step*dir[i][c]/length)
			}
		}
		bound := r.evaluate(ctx)
		green := 0.0
		for i := range dir {
			for c, u := range r.use[i] {
				green += u * dir[i][c]
				dir[i][c] = 0.98*dir[i][c] + 0.02*u
			}
		}
		if bound < least {
			stuck = 0
			if green > 0 {
				eager = min(2, eager*1.1)
			}
			least = bound
			for i := range r.rate {
				copy(best[i], r.rate[i])
			}
		} else if stuck++; stuck > 6 {
			stuck = 0
			eager *= 0.8
		}
	}
	r.rate = best
	return least
}

// work is about how many steps of a loop evaluate takes.
func (r *rentals) work() int {
	sum := 0
	for _, jobs := range r.inCell {
		sum += len(jobs) * int(r.pes+8)
	}
	return sum
}

// prices are those at the rents, for any PEs free; nil when ctx ends.
func (r *rentals) prices(ctx context.Context) *prices {
	n := len(r.grid)
	p := &prices{pes: r.pes, jobs: r.jobs, grid: r.grid, first: r.first, corners: r.corners}
	for i := range r.jobs {
		p.paid = append(p.paid, r.payments(i, nil))
	}
	p.earn = make([]float64, int(r.pes+1)*n)
	dp := make([]float64, r.pes+1)
	for c, jobs := range r.inCell {
		if c%16 == 0 && ctx.Err() != nil {
			return nil
		}
		clear(dp)
		for _, i := range jobs {
			need, pays := int(r.jobs[i].pes), r.rate[i][c-r.first[i]]
			for q := len(dp) - 1; q >= need && pays > 0; q-- {
				dp[q] = max(dp[q], dp[q-need]+pays)
			}
		}
		for f, v := range dp {
			p.earn[f*n+c+1] = p.earn[f*n+c] + v*float64(r.grid[c+1]-r.grid[c])
		}
	}
	p.settle()
	return p
}
