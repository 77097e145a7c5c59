// SPDX-License-Identifier: MIT

package batch

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/squashed"
)

// prices is a Lagrangian relaxation of one tier, by a decomposition into jobs and instants
// (Guignard, Kim: Lagrangean decomposition, Mathematical Programming 39, 1987).
//
// Jobs are in classes, and a job of class x pays λ_x(t) ≥ 0 for each processor that it holds at the time t. Some
// optimum has job k run through from a start s_k ≥ r_k on, for p_k, on q_k processors (see Serial). The jobs that run
// at an instant fit the machine. If each job is a class, they pay at most K(t), the largest Σ q_k λ_k(t) over sets of
// jobs submitted by then, with Σ q_k ≤ C. Let Λ_x be the integral of λ_x from the first submission on. Then its cost,
// c_k(s) for the start s, is at least
//
//	Σ_k c_k(s_k) + Σ_k q_k (Λ(s_k+p_k) - Λ(s_k)) - ∫ K(t) dt
//	  ≥ Σ_k min_{s ≥ r_k} [c_k(s) + q_k (Λ(s+p_k) - Λ(s))] - ∫ K(t) dt,  Λ of k's class.
//
// That is the bound, for any prices. c_k(s) is the weighted response w_k (s + p_k - r_k).
//
// If all jobs, whatever their widths, are in one class, K(t) ≤ C λ(t) is the relaxation of the capacity (Fisher:
// Optimal solution of scheduling problems using Lagrange multipliers, Operations Research 21, 1973; Möhring, Schulz,
// Stork, Uetz: Solving project scheduling problems by minimum cut computations, Management Science 49, 2003). Its best
// prices give no more than the linear relaxation of the time-indexed formulation. If each job has a class, the best
// prices give the value of that relaxation with all inequalities of the knapsack of each instant. For ten instances of
// 20 and 30 jobs, which left 8 to 16 % open, it leaves 1.4 to 6 %.
//
// λ is constant between points of a grid. So the value in brackets is linear in s between the s and s + p_k on the
// grid; it is least at one of these or at r_k. As no price is negative, s isn't looked at once c_k(s) alone is at least
// the least value found.
type prices struct {
	jobs     []squashed.Job // by release
	capacity int
	first    int64 // release, from which times count
	grid     []int64
	cell     []int32 // of each job's release
	class    []int32
	classes  []class
	unit     float64   // prices of one class are multiples of it, a power of two
	packer   *packer   // nil: there is one class
	room     []float64 // K in each cell
	paid     float64   // its integral
	tried    int       // starts looked at; beyond most, bound gives up and is 0
	most     int
}

// class is a set of jobs that pay the same prices.
type class struct {
	width  int       // of its jobs
	price  []float64 // of one processor, in each cell
	sum    []float64 // Λ at each point of the grid
	use    []float64 // processors in the least starts of its jobs, in each cell
	pack   []float64 // its processors in the largest payment, in each cell
	ready  []bool    // of a class of one job: it may run, by cell
	change []float64 // scratch of bound
}

// start is a start with its cell and the cell of the end.
type start struct {
	at   int64
	a, b int
}

// newPrices returns the relaxation with one class on a grid of about so many cells, with
// all prices 0. There is a job.
func newPrices(jobs []squashed.Job, capacity int, cells int) *prices {
	p := &prices{jobs: jobs, capacity: capacity, most: math.MaxInt, first: jobs[0].Release}
	p.place(cells)
	p.room = make([]float64, len(p.grid)-1)
	p.class = make([]int32, len(jobs))
	p.classes = []class{p.newClass(0)}
	return p
}

func (p *prices) newClass(width int) class {
	cells := len(p.grid) - 1
	return class{width: width, price: make([]float64, cells), sum: make([]float64, cells+1)}
}

// counted has bound count the processors that the jobs of each class use, for subgradients.
func (p *prices) counted() {
	cells := len(p.grid) - 1
	for x := range p.classes {
		if f := &p.classes[x]; f.use == nil {
			f.use, f.pack, f.change = make([]float64, cells+1), make([]float64, cells), make([]float64, cells+2)
			for c := range f.pack {
				f.pack[c] = float64(p.capacity)
			}
		}
	}
}

// place makes the grid of about so many cells. They are of one length, except that all times long after the end of all
// jobs on the machine are in one cell.
func (p *prices) place(cells int) {
	type span struct{ from, to int64 }
	var spans []span
	busy := 0.0
	for _, j := range p.jobs {
		at := j.Release - p.first
		busy = max(busy, float64(at)) + float64(j.Duration)*float64(j.Slots)/float64(p.capacity)
		to := int64(min(busy, 1<<61)) + 2*j.Duration // below 2^63: newJobs
		if n := len(spans); n > 0 && at <= spans[n-1].to {
			spans[n-1].to = max(spans[n-1].to, to)
		} else {
			spans = append(spans, span{at, to})
		}
	}
	length := int64(0)
	for _, x := range spans {
		length += x.to - x.from
	}
	width := length/int64(cells) + 1
	p.grid = make([]int64, 0, cells+2*len(spans)+1)
	for _, x := range spans {
		for at := x.from; at < x.to; at += width {
			p.grid = append(p.grid, at)
		}
		p.grid = append(p.grid, x.to)
	}
	c := 0
	p.cell = make([]int32, len(p.jobs))
	for k, j := range p.jobs {
		for c+1 < len(p.grid) && p.grid[c+1] <= j.Release-p.first {
			c++
		}
		p.cell[k] = int32(c)
	}
}

// split makes a class of each job. They begin with the prices of the one class. It returns false, and there is one
// class, if the machine is too large to be packed, or if packing takes more than so much work.
func (p *prices) split(most int) bool {
	packer := newPacker(p.capacity, p.jobs)
	if packer.capacity > mostPacked || packer.capacity*len(p.jobs)*len(p.room) > most {
		return false
	}
	first := p.classes[0].price
	p.classes = nil
	for k := range p.jobs {
		f := p.newClass(p.jobs[k].Slots)
		f.ready = make([]bool, len(first))
		for c := int(p.cell[k]); c < len(first); c++ {
			f.ready[c], f.price[c] = true, first[c]
		}
		p.class[k] = int32(k)
		p.classes = append(p.classes, f)
	}
	packer.reserve(len(p.classes))
	p.packer = packer
	p.counted()
	return true
}

// work returns the approximate number of steps of a bound with classes.
func (p *prices) work() int { return p.packer.capacity * len(p.classes) * len(p.room) }

// bound returns the bound for the prices and sets use and pack, if they are there. Each value in brackets has fewer
// than 32 roundings of numbers up to cost + q Λ(∞). Λ has its values on the grid, with lines between. If no job of a
// class may run, its price is 0, so that q Λ(∞) is at most ∫ K. The sum has n roundings. On the lines between, prices
// err by 2^-52 Λ(∞) over the cell's length, and K by C times that.
func (p *prices) bound() float64 {
	p.sums()
	cells := len(p.grid) - 1
	p.tried = 0
	for x := range p.classes {
		clear(p.classes[x].use)
		clear(p.classes[x].change)
	}
	total := 0.0
	for k := range p.jobs {
		cost, at := p.best(k)
		if total += cost; p.tried > p.most {
			return 0
		}
		p.count(k, at)
	}
	for x := range p.classes {
		f := &p.classes[x]
		now := 0.0
		for c := range f.pack {
			now += f.change[c]
			f.use[c] = now + f.use[c]/float64(p.grid[c+1]-p.grid[c])
		}
	}
	n := float64(len(p.jobs))
	lost := (total+n*p.paid)*0x1p-48 + total*n*0x1p-52
	if p.packer != nil {
		lost += p.paid * float64(p.packer.capacity+16) * float64(cells+16) * 0x1p-51
	}
	return total - p.paid - lost
}

// sums computes Λ of each class and ∫ K.
func (p *prices) sums() {
	for x := range p.classes {
		f := &p.classes[x]
		for c, price := range f.price {
			f.sum[c+1] = f.sum[c] + price*float64(p.grid[c+1]-p.grid[c])
		}
	}
	if p.packer == nil {
		f := &p.classes[0]
		for c, price := range f.price {
			p.room[c] = float64(p.capacity) * price
		}
		p.paid = float64(p.capacity) * f.sum[len(f.price)]
		return
	}
	p.paid = 0
	for c := range p.room {
		p.room[c] = p.packer.pack(p.classes, c)
		p.paid += p.room[c] * float64(p.grid[c+1]-p.grid[c])
	}
}

// priceAt returns Λ of a class at a time, which is in cell c.
func (p *prices) priceAt(f *class, c int, time int64) float64 {
	if c >= len(f.price) {
		return f.sum[len(f.price)]
	}
	return f.sum[c] + f.price[c]*float64(time-p.grid[c])
}

// line returns the function that has some values on the grid, is 0 before it, and is linear in between.
func (p *prices) line(sum []float64, time int64) float64 {
	c := p.cellOf(time)
	switch {
	case c < 0:
		return 0
	case c >= len(p.room):
		return sum[len(p.room)]
	}
	return sum[c] + (sum[c+1]-sum[c])*float64(time-p.grid[c])/float64(p.grid[c+1]-p.grid[c])
}

// best returns the least start of job k, and its cost and payment.
func (p *prices) best(k int) (best float64, x start) {
	j, f := &p.jobs[k], &p.classes[p.class[k]]
	release, demand := j.Release-p.first, float64(p.jobs[k].Slots)
	a, last := int(p.cell[k]), len(f.price)
	b := p.cellFrom(a, release+j.Duration)
	best = math.Inf(1)
	for s := release; ; p.tried++ {
		cost := float64(s+j.Duration-release) * float64(j.Weight) / float64(j.Per)
		if cost >= best {
			return best, x
		}
		if value := cost + demand*(p.priceAt(f, b, s+j.Duration)-p.priceAt(f, a, s)); value < best {
			best, x = value, start{s, a, b}
		}
		if a == last {
			return best, x // Λ is constant from here on
		}
		next := p.grid[a+1]
		if b < last {
			next = min(next, p.grid[b+1]-j.Duration)
		}
		s = next
		if p.grid[a+1] == s {
			a++
		}
		if b < last && p.grid[b+1] == s+j.Duration {
			b++
		}
	}
}

// count adds the processors that job k uses from a start on.
func (p *prices) count(k int, x start) {
	f, demand := &p.classes[p.class[k]], float64(p.jobs[k].Slots)
	if f.use == nil {
		return
	}
	end := x.at + p.jobs[k].Duration
	if x.a == x.b {
		f.use[x.a] += demand * float64(end-x.at)
		return
	}
	f.use[x.a] += demand * float64(p.grid[x.a+1]-x.at) // b is later, so a isn't the last
	f.change[x.a+1] += demand
	f.change[x.b] -= demand
	if x.b < len(f.price) {
		f.use[x.b] += demand * float64(end-p.grid[x.b])
	}
}

// cellFrom is cellOf of a time that isn't before cell a. O(log of how many cells later)
func (p *prices) cellFrom(a int, time int64) int {
	step := 1
	for a+step < len(p.grid) && p.grid[a+step] <= time {
		a += step
		step *= 2
	}
	c, found := slices.BinarySearch(p.grid[a:min(a+step, len(p.grid))], time)
	if !found {
		c--
	}
	return a + c
}

// cellOf returns the cell of a time, or the number of cells from the end of the grid
// on.
func (p *prices) cellOf(time int64) int {
	c, found := slices.BinarySearch(p.grid, time)
	if !found {
		c--
	}
	return c
}
