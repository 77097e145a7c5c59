package reservation

import (
	"cmp"
	"slices"
)

// mirror is the prices of the same jobs with time running backwards: windows
// from minus their due times on. A job that runs over [s, s+length) runs over
// [-s-length, -s) then: s ≥ ready becomes the end ≤ -ready, s ≤ latest the start ≥ -(latest+length), and as many PEs are in use at -t as at t
// (but at the ends of runs, which have no length). So a plan of the one is a plan of the other, of the same
// value, and either may be searched. A rent for a cell is that for its image, and so are earnings and gains. Which is easier differs from one instance to the next by
// a factor of ten either way.
func (p *prices) mirror() *prices {
	cells := len(p.grid) - 1
	q := &prices{pes: p.pes, grid: make([]int64, cells+1)}
	for c := range q.grid {
		q.grid[c] = -p.grid[cells-c]
	}
	flip := func(sum []float64) []float64 {
		out := make([]float64, len(sum))
		for k := range out {
			out[k] = sum[len(sum)-1] - sum[len(sum)-1-k]
		}
		return out
	}
	order := make([]int, len(p.jobs))
	for i := range order {
		order[i] = i
	}
	backwards := func(j sweepJob) sweepJob {
		j.ready, j.latest = -j.due(), -j.ready-j.length
		return j
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := backwards(p.jobs[a]), backwards(p.jobs[b])
		return cmp.Or(cmp.Compare(x.ready, y.ready), cmp.Compare(x.latest, y.latest), cmp.Compare(x.id, y.id))
	})
	for _, i := range order {
		q.jobs = append(q.jobs, backwards(p.jobs[i]))
		if p.sum == nil {
			q.first = append(q.first, cells-(p.first[i]+len(p.paid[i])-1))
			q.paid = append(q.paid, flip(p.paid[i]))
		}
	}
	if p.sum != nil {
		q.sum = flip(p.sum)
	} else {
		for f := range int(p.pes) + 1 {
			q.earn = append(q.earn, flip(p.earn[f*(cells+1):(f+1)*(cells+1)])...)
		}
	}
	q.corners = cornersOf(q.jobs, q.grid)
	q.settle()
	return q
}
