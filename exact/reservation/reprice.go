package reservation

import "slices"

// Prices age: those that are best for all jobs are not for what is left of
// them beside the PEs in use at some later time. So now and then the best
// prices for an open state are found, and kept for others, which are
// much like it if they are of about the same time. Any rents of the whole instance give a bound of
// any state (see prices), whatever state they were found for, so a state is bounded by the
// least of all that are kept.
const (
	repriceNodes = 3000 // states searched between two looks
	mostPrices   = 4    // kept at a time, the first prices among them
	repriceSteps = 60
)

// repriceOne finds the best prices of some open state.
func (s *sweep) repriceOne() {
	if s.open.Len() == 0 {
		return
	}
	x := s.open.states[int(s.seq*7919%int64(s.open.Len()))]
	x.copyTo(&s.child) // the queue goes by its time
	if x = &s.child; x.epoch != s.epoch && !s.settle(x) {
		return
	}
	// The grid of the first prices, with the PEs in use at the beginning of each cell.
	root := s.prices[0]
	from, free := make([]int64, len(s.jobs)), make([]int64, len(root.grid)-1)
	for i := range s.jobs {
		j := &s.jobs[i]
		from[i] = j.latest + 1
		if i >= int(x.base)<<6 && x.can(x.wanted, i) {
			from[i] = s.firstFit(x, j.pes, max(x.time, j.ready))
		}
	}
	for c := range free {
		if root.grid[c+1] <= x.time {
			continue
		}
		free[c] = s.pes
		for _, r := range x.lost {
			if r.end > root.grid[c] {
				free[c] -= r.pes
			}
		}
	}
	// Jobs that no open state wants pay nothing any more.
	some := make([]uint64, (len(s.jobs)+63)/64+s.words)
	last := 0
	for _, y := range s.open.states {
		for w, v := range y.wanted {
			some[int(y.base)+w] |= v
		}
		last = max(last, int(y.base)+s.words)
	}
	for w := last; w < len(some); w++ {
		some[w] = ^uint64(0)
	}
	r := newRentals(root, free, from)
	for i := range r.rate {
		if some[i>>6]>>(i&63)&1 == 0 {
			clear(r.rate[i])
		}
	}
	r.descend(s.ctx, s.best-x.value, s.target-s.slack-x.value, repriceSteps)
	p := r.prices(s.ctx)
	if p == nil || p.rounding > s.slack {
		return
	}
	if len(s.prices) == mostPrices {
		s.prices = slices.Delete(slices.Clone(s.prices), 1, 2)
	}
	s.prices = append(s.prices, p)
	s.epoch++
}
