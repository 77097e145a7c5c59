// SPDX-License-Identifier: MIT

package batch

import (
	"math"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// dual sets the prices to a dual solution of the linear program of the mean busy times (see package squashed). The job
// of the largest ρ_k works at each instant, and λ(t) + ρ_k t is the same whenever job k works. Backwards in time, λ is
// 0 at the end of a busy period. Before that it grows by ρ_k while job k works, and when an interrupted job works again
// it takes up that job's line. The bound of the responses by these prices is at least the bound of mean busy times, up
// to the grid, if all jobs count there. A job may work at any times there, and here it runs through.
func (p *prices) dual() {
	n := len(p.jobs)
	type piece struct {
		from, to float64
		job      int32
		ends     bool
	}
	pieces := make([]piece, 0, 2*n) // each ends at a release or at an end
	left, density, line := make([]float64, n), make([]float64, n), make([]float64, n)
	for k, j := range p.jobs {
		left[k] = float64(j.Duration) * float64(j.Slots) / float64(p.capacity)
		density[k] = float64(j.Weight) / (float64(j.Per) * left[k])
	}
	queue := heap.Heap[int]{Less: func(a, b int) bool { return density[a] > density[b] || density[a] == density[b] && a < b }}
	release := func(k int) float64 { return float64(p.jobs[k].Release - p.first) }
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
	prices := p.classes[0].price
	c, begins, price := len(prices)-1, math.Inf(1), 0.0
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
				prices[d] += mean * (to - from) / float64(p.grid[d+1]-p.grid[d]) / float64(p.capacity)
			}
		}
		price, begins = line[x.job]-density[x.job]*x.from, x.from
	}
}
