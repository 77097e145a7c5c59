package reservation

import (
	"context"
	"sort"
)

// narrow keeps what plans of at least the target's value may do: starts whose
// loss against the job's best is more than what the bound is above the target are cut from the ends of windows,
// jobs that have none left are dropped. Windows that are narrower leave the
// owner of the PEs less to choose from, so rents are improved after, and so on. It reports
// false if the bound falls below the target: there are no such plans. Without steps it does no more than that.
//
// Each round keeps every plan worth target or more: it starts each of its jobs within the narrower windows (narrowOne), so it is a plan of
// the jobs left, and any plan of theirs is one of all jobs. Rents found for them are prices of the jobs left, and bound the
// plans that matter. Rents that are so large that sums of them are rounded by more than slack aren't taken.
func narrow(ctx context.Context, p *prices, target, slack float64, steps int) (*prices, bool) {
	for range mostNarrowings {
		spare := p.bound() - (target - slack)
		if spare < 0 {
			return nil, false
		}
		if p.sum != nil || steps == 0 || ctx.Err() != nil {
			break
		}
		q := &prices{pes: p.pes, grid: p.grid, earn: p.earn}
		var order []int
		changed := 0
		narrowed := make([]sweepJob, len(p.jobs))
		for i := range p.jobs {
			j := p.jobs[i]
			if !p.narrowOne(i, &j, spare) {
				changed++
				continue
			}
			if j.latest-j.ready < (p.jobs[i].latest-p.jobs[i].ready)*9/10 {
				changed++
			}
			narrowed[i] = j
			order = append(order, i)
		}
		sort.SliceStable(order, func(a, b int) bool {
			x, y := &narrowed[order[a]], &narrowed[order[b]]
			return x.ready < y.ready || x.ready == y.ready && (x.latest < y.latest || x.latest == y.latest && x.id < y.id)
		})
		for _, i := range order {
			q.jobs = append(q.jobs, narrowed[i])
			q.first = append(q.first, p.first[i])
			q.paid = append(q.paid, p.paid[i])
		}
		q.corners = cornersOf(q.jobs, q.grid)
		q.settle()
		p = q
		if changed*50 < len(p.jobs)+1 || len(p.jobs) == 0 {
			break
		}
		from, free := make([]int64, len(q.jobs)), make([]int64, len(q.grid)-1)
		for i := range from {
			from[i] = q.jobs[i].ready
		}
		for c := range free {
			free[c] = q.pes
		}
		r := newRentals(q, free, from)
		r.descend(ctx, target-1, target-slack, steps)
		if better := r.prices(ctx); better != nil && better.rounding <= slack && better.bound() < q.bound() {
			p = better
		}
	}
	return p, p.bound() >= target-slack
}

// mostNarrowings is how often windows are narrowed in turn with better rents.
const mostNarrowings = 6

// narrowOne cuts the window of a job to the first and the last start that
// loses no more than spare, and reports whether there is one.
//
// A plan that starts job i at s is worth at most the bound with gain_i(s) in place of max(0, max gain_i):
// bound - max(0, max gain_i) + gain_i(s). That is at least the target less the slack of sums only if
// gain_i(s) ≥ max(0, max gain_i) - spare, spare = bound - (target - slack), the rule for reduced costs; what is just as much is kept. Its window is cut from the ends alone, so that it stays one, and the first and last good
// starts are found among the corners and, between two, by bisection, as the gain is linear there.
func (p *prices) narrowOne(i int, j *sweepJob, spare float64) bool {
	least := max(0, p.gain[i][0]) - spare
	fits := func(s int64) bool { return p.gainAt(i, s) >= least }
	corners := p.corners[i]
	a, b := -1, -1
	for k, s := range corners {
		if fits(s) {
			if a < 0 {
				a = k
			}
			b = k
		}
	}
	if a < 0 {
		return false
	}
	// Between corners the rent is linear.
	j.ready, j.latest = corners[a], corners[b]
	if a > 0 {
		from := corners[a-1]
		j.ready = from + 1 + int64(sort.Search(int(j.ready-from-1), func(d int) bool { return fits(from + 1 + int64(d)) }))
	}
	if b+1 < len(corners) {
		last := j.latest
		j.latest += int64(sort.Search(int(corners[b+1]-last-1), func(d int) bool { return !fits(last + 1 + int64(d)) }))
	}
	return true
}
