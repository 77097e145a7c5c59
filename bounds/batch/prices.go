// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// prices is the Lagrangian relaxation of the capacity of a machine on one tier
// (Fisher: Optimal solution of scheduling problems using Lagrange multipliers,
// Operations Research 21, 1973; for jobs that run through: Möhring, Schulz, Stork,
// Uetz: Solving project scheduling problems by minimum cut computations, Management
// Science 49, 2003).
//
// Let λ(t) ≥ 0 be the price of a unit of the capacity C, Λ its integral from the
// first submission on. Some optimum has job k run through from a start s_k ≥ r_k
// on, for p_k, with the demand q_k (see Serial). At every instant the demands sum to
// at most C. So its cost, c_k(s) for the start s, is at least
//
//	Σ_k c_k(s_k) + Σ_k q_k (Λ(s_k+p_k) - Λ(s_k)) - C Λ(∞)
//	  ≥ Σ_k min_{s ≥ r_k} [c_k(s) + q_k (Λ(s+p_k) - Λ(s))] - C Λ(∞).
//
// That is the bound, for any λ. c_k(s) is the weighted response w_k (s + p_k - r_k), or
// the bounded slowdown max(1, (s + p_k - r_k)/max(τ, p_k)).
//
// λ is constant between points of a grid. So what is in brackets is linear in s
// between the s and s + p_k on the grid, and the start from which on the slowdown
// is above 1; it is least at one of these or at r_k. As no price is negative, s
// isn't looked at once c_k(s) alone is as much as has been found.
//
// The first λ is the dual solution of the mean busy times (see dual). With it the
// bound of the responses is that of mean busy times or more, but for the grid, if all
// jobs count there: a job may work at any times there, and here it runs through. Subgradient steps make prices larger where
// the least starts use more than C, and smaller where they use less.
type prices struct {
	machine
	*jobs
	least  float64 // that each job costs at least: 0, or 1 for slowdowns, of weight 1
	first  int64   // submission, from which times count
	grid   []int64
	cell   []int     // of each job's release
	price  []float64 // λ in each cell
	sum    []float64 // Λ at each point of the grid
	use    []float64 // of the capacity by the least starts, in each cell
	starts []start
	tried  int // starts looked at; beyond most, bound gives up and is 0
	most   int
}

// start is a start with its cell and that of the end.
type start struct {
	at   int64
	a, b int
}

// mostSteps is how many subgradient steps All takes. Of ten workloads of 10,000 and
// 20,000 jobs the first prices gave 97 to 100 % of what 60 steps did, 20 steps 99 to
// 100 %.
const mostSteps = 20

// leastCells is the number of cells of the grid, or one for each job if these are
// more. Where jobs wait for many cells, mostTried starts for each of them, the grid
// is made coarser, but not below leastCells.
const (
	leastCells = 256
	mostTried  = 100
)

// pricesBound returns a bound of the weighted mean response time on one tier by so many
// subgradient steps; see prices.
func pricesBound(ctx context.Context, t *view.Batch, steps int) bounds.Bound {
	r := newJobs(t)
	b := bounds.Bound{Name: "prices"}
	if len(r.jobs) == 0 {
		return b
	}
	p := &prices{machine: machinesOf(t, 1)[0], jobs: r}
	value, price := p.ascend(ctx, steps)
	b = r.mean(t, "prices", value)
	if len(price) <= mostEvidence {
		b.Evidence = &model.Evidence{Type: evidence.Prices, Method: b.Name, Prices: slices.Clone(price)}
		for _, at := range p.grid {
			b.Evidence.Times = append(b.Evidence.Times, at+p.first)
		}
	}
	return b
}

// mostEvidence is the number of prices up to which they are kept.
const mostEvidence = 2000

// priced returns a bound of the sum of the costs of all jobs, and takes so many
// subgradient steps, until ctx ends. O(n log n), and for each step O(n) times the
// cells that a job might wait.
func (m machine) priced(ctx context.Context, r *jobs, least float64, steps int) float64 {
	if len(r.jobs) == 0 {
		return 0
	}
	p := &prices{machine: m, jobs: r, least: least}
	value, _ := p.ascend(ctx, steps)
	return value
}

// ascend returns the best bound and its prices.
func (p *prices) ascend(ctx context.Context, steps int) (best float64, price []float64) {
	m, r := p.machine, p.jobs
	value := 0.0
	for cells := max(leastCells, len(r.jobs)); ; cells /= 4 {
		if p.most = mostTried * len(r.jobs); cells <= leastCells {
			cells, p.most = leastCells, math.MaxInt
		}
		p.place(cells)
		p.dual()
		if value = p.bound(); p.tried <= p.most {
			break
		}
	}
	// A step changes a price by as much as a few jobs that wait make it, and less
	// from time to time (AdaGrad: Duchi, Hazan, Singer 2011; and 0.8 of that when
	// the bound becomes worse). It is all the same for what is proved.
	weights, areas := 0.0, 0.0
	for k, j := range r.jobs {
		area := float64(j.Duration) * float64(m.demand(k))
		weights += area * float64(j.Weight) / float64(j.Per)
		areas += area
	}
	length := 3 * weights / max(1, areas) / float64(m.capacity)
	squares := make([]float64, len(p.price))
	p.most = min(p.most, math.MaxInt/4) * 4
	for i := 0; ; i++ {
		if value < best {
			length *= 0.8
		}
		if value > best || i == 0 {
			best, price = max(0, value), append(price[:0], p.price...)
		}
		if i == steps || turns.Stop(ctx, int64(len(r.jobs)/2)) {
			return best, price
		}
		for c := range p.price {
			over := min(3, p.use[c]/float64(m.capacity)-1)
			if squares[c] += over * over; squares[c] > 0 && (over > 0 || p.price[c] > 0) {
				p.price[c] = max(0, p.price[c]+length*over/math.Sqrt(squares[c]))
			}
		}
		if value = p.bound(); p.tried > p.most {
			return best, price
		}
	}
}

// place makes the grid of about so many cells. They are of one length, but for times
// long after all jobs have ended on the machine: those are in one cell.
func (p *prices) place(cells int) {
	p.grid = p.grid[:0]
	p.first = p.jobs.jobs[0].Release
	type span struct{ from, to int64 }
	var spans []span
	busy := 0.0
	for k, j := range p.jobs.jobs {
		at := j.Release - p.first
		busy = max(busy, float64(at)) + float64(j.Duration)*float64(p.demand(k))/float64(p.capacity)
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
	for _, x := range spans {
		for at := x.from; at < x.to; at += width {
			p.grid = append(p.grid, at)
		}
		p.grid = append(p.grid, x.to)
	}
	c := 0
	cells = len(p.grid) - 1
	p.price, p.sum, p.use = make([]float64, cells), make([]float64, cells+1), make([]float64, cells+1)
	p.cell, p.starts = make([]int, len(p.jobs.jobs)), make([]start, len(p.jobs.jobs))
	for k, j := range p.jobs.jobs {
		for c+1 < len(p.grid) && p.grid[c+1] <= j.Release-p.first {
			c++
		}
		p.cell[k] = c
	}
}

// dual sets the prices to a dual solution of the linear program of the mean busy
// times (see package squashed): the job of the largest ρ_k works at each instant,
// and λ(t) + ρ_k t is the same whenever job k works. Backwards in time, λ is 0 at
// the end of a busy period; before that it grows by ρ_k while job k works, and when
// an interrupted job works again it takes up that job's line.
func (p *prices) dual() {
	n := len(p.jobs.jobs)
	type piece struct {
		from, to float64
		job      int32
		ends     bool
	}
	pieces := make([]piece, 0, n+n/4) // 2n at most
	left, density, line := make([]float64, n), make([]float64, n), make([]float64, n)
	for k, j := range p.jobs.jobs {
		left[k] = float64(j.Duration) * float64(p.demand(k)) / float64(p.capacity)
		density[k] = float64(j.Weight) / (float64(j.Per) * left[k])
	}
	queue := heap.Heap[int]{Less: func(a, b int) bool { return density[a] > density[b] || density[a] == density[b] && a < b }}
	release := func(k int) float64 { return float64(p.jobs.jobs[k].Release - p.first) }
	now := 0.0
	for next := 0; next < n || queue.Len() > 0; {
		if queue.Len() == 0 {
			now = max(now, release(next))
		}
		for ; next < n && release(next) <= now; next++ {
			if left[next] > 0 {
				queue.Push(next)
			}
		}
		if queue.Len() == 0 {
			continue
		}
		x := piece{now, now + left[queue.Items[0]], int32(queue.Items[0]), true}
		if next < n && release(next) < x.to {
			x.to, x.ends = release(next), false
			left[x.job] -= x.to - now
		} else {
			queue.Pop()
		}
		pieces = append(pieces, x)
		now = x.to
	}
	c, begins, price := len(p.price)-1, math.Inf(1), 0.0
	for i := len(pieces) - 1; i >= 0; i-- {
		x := &pieces[i]
		switch {
		case !x.ends:
			price = line[x.job] - density[x.job]*x.to
		case begins != x.to:
			price = 0
		}
		line[x.job] = price + density[x.job]*x.to
		for c >= 0 && float64(p.grid[c]) >= x.to {
			c--
		}
		for d := c; d >= 0 && float64(p.grid[d+1]) > x.from; d-- {
			from, to := max(float64(p.grid[d]), x.from), min(float64(p.grid[d+1]), x.to)
			if mean := line[x.job] - density[x.job]*(from+to)/2; to > from && mean > 0 {
				p.price[d] += mean * (to - from) / float64(p.grid[d+1]-p.grid[d]) / float64(p.capacity)
			}
		}
		price, begins = line[x.job]-density[x.job]*x.from, x.from
	}
}

// bound returns the bound for the prices and sets use. Each value in brackets has
// fewer than 32 roundings of numbers up to cost + q Λ(∞); and Λ is what it is on the
// grid, with lines between, so that sum is exact. The sum has n roundings.
func (p *prices) bound() float64 {
	p.sums()
	cells := len(p.price)
	clear(p.use)
	p.tried = 0
	change := make([]float64, cells+2) // of the use, from each cell on
	total, paid := 0.0, float64(p.capacity)*p.sum[cells]
	for k := range p.jobs.jobs {
		total += p.best(k)
		if p.tried > p.most {
			return 0
		}
		p.count(k, change)
	}
	now := 0.0
	for c := range p.price {
		now += change[c]
		p.use[c] = now + p.use[c]/float64(p.grid[c+1]-p.grid[c])
	}
	n := float64(len(p.jobs.jobs))
	return total - paid - (total+n*paid)*0x1p-48 - total*n*0x1p-52
}

// sums computes Λ.
func (p *prices) sums() {
	for c, x := range p.price {
		p.sum[c+1] = p.sum[c] + x*float64(p.grid[c+1]-p.grid[c])
	}
}

// at returns Λ at a time, which is in cell c.
func (p *prices) at(c int, time int64) float64 {
	if c >= len(p.price) {
		return p.sum[len(p.price)]
	}
	return p.sum[c] + p.price[c]*float64(time-p.grid[c])
}

// best sets the least start of job k and returns what it costs and pays.
func (p *prices) best(k int) float64 {
	j := &p.jobs.jobs[k]
	release, demand := j.Release-p.first, float64(p.demand(k))
	a, last := p.cell[k], len(p.price)
	b := p.cellOf(release + j.Duration)
	kink := int64(-1)
	if p.least > 0 {
		kink = release + j.Per - j.Duration
	}
	best := math.Inf(1)
	for s := release; ; p.tried++ {
		cost := max(p.least, float64(s+j.Duration-release)*float64(j.Weight)/float64(j.Per))
		if cost >= best {
			return best
		}
		if value := cost + demand*(p.at(b, s+j.Duration)-p.at(a, s)); value < best {
			best, p.starts[k] = value, start{s, a, b}
		}
		if a == last {
			return best // Λ is constant from here on
		}
		next := p.grid[a+1]
		if b < last {
			next = min(next, p.grid[b+1]-j.Duration)
		}
		if s < kink && kink < next {
			s = kink
			continue
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

// count adds what job k uses.
func (p *prices) count(k int, change []float64) {
	x, demand := p.starts[k], float64(p.demand(k))
	end := x.at + p.jobs.jobs[k].Duration
	if x.a == x.b {
		p.use[x.a] += demand * float64(end-x.at)
		return
	}
	p.use[x.a] += demand * float64(p.grid[x.a+1]-x.at) // b is later, so a isn't the last
	change[x.a+1] += demand
	change[x.b] -= demand
	if x.b < len(p.price) {
		p.use[x.b] += demand * float64(end-p.grid[x.b])
	}
}

// Priced gives bounds of schedules in part by prices. Each job of a schedule costs its
// response times its weight in Units, and pays for what it uses of the capacity; see
// prices.
type Priced struct{ p *prices }

// NewPriced returns the best prices of so many steps for the weighted responses of
// some jobs on one tier: of the processors, and of at most most - 1 dual-feasible
// functions of the widths (see widths).
func NewPriced(ctx context.Context, t *view.Batch, steps, most int) []*Priced {
	var all []*Priced
	for _, m := range machinesOf(t, most) {
		p := &prices{machine: m, jobs: newJobs(t)}
		_, p.price = p.ascend(ctx, steps)
		p.sums()
		all = append(all, &Priced{p})
	}
	return all
}

// Paid returns CΛ(∞): the weighted sum of the responses of a schedule is at least what all its
// jobs cost and pay, less that.
func (x *Priced) Paid() float64 { return float64(x.p.capacity) * x.p.sum[len(x.p.price)] }

// Cost returns what job k costs and pays if it starts at a tick.
func (x *Priced) Cost(k int, at int64) float64 {
	p := x.p
	j := &p.jobs.jobs[k]
	from, to := at-p.first, at-p.first+j.Duration
	return float64(at+j.Duration-j.Release)*float64(j.Weight) + float64(p.demand(k))*(p.at(p.cellOf(to), to)-p.at(p.cellOf(from), from))
}

// Points returns ascending starts of job k from its submission on. Between two of them
// Cost is linear, and after the last it grows.
func (x *Priced) Points(k int) []int64 {
	p := x.p
	j := &p.jobs.jobs[k]
	points := []int64{j.Release}
	for _, at := range p.grid {
		for _, s := range []int64{at + p.first, at + p.first - j.Duration} {
			if s > j.Release {
				points = append(points, s)
			}
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// Capacity returns that of the machine, C.
func (x *Priced) Capacity() int64 { return int64(x.p.capacity) }

// Demand returns that of job k on the machine.
func (x *Priced) Demand(k int) int64 { return int64(x.p.demand(k)) }

// Prices returns ascending ticks and the price between each two of them: of a unit of
// the capacity for a tick, in Units of weight.
func (x *Priced) Prices() (at []int64, price []float64) {
	for _, t := range x.p.grid {
		at = append(at, x.p.first+t)
	}
	return at, x.p.price[:max(0, len(at)-1)]
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
