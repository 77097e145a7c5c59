// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// phaseSteps is after how many steps a round changes from cost to moves and back.
const phaseSteps = 2_000

// firstLooks is how many looks the cycles of the first two rounds of annealing have at most. Each two
// rounds later they are doubled, at most mostDoubled times.
const (
	firstLooks  = 4_000_000
	mostDoubled = 4
)

// stale is how many steps without a better plan end a search without a limit.
func (s *search) stale() int { return min(200_000, 2*phaseSteps+200*s.C.In.Tasks()) }

// LNS improves the better of Drain's and BestFit's plans, in rounds. A round anneals (annealing), from today's plan or
// from the best one, then takes steps for as long. Each step takes the tasks off a few hosts and places them again by
// best fit with noise, largest first. While it seeks a lower cost, one of the hosts is to stay empty. Among plans of
// one cost it keeps those with unequally full hosts (Σ load², after Falkenauer 1996). While it seeks fewer moves, it
// takes off tasks that left their hosts, with hosts of others, at no more than the best cost.
func LNS(r *run.Run, in *model.Consolidation) (*model.Assignment, error) {
	ctx, set := r.Ctx, r.Set
	p := start(ctx, in, set)
	if set.Start == nil {
		p.drain(ctx)
		p.rename()
		q := newPacker(in)
		if a, err := BestFit(ctx, in, set); err == nil {
			plan, err := q.C.PlanOf(a)
			if err != nil {
				return nil, err
			}
			q.reset(plan)
			q.drain(ctx)
			q.rename()
			if first, second := q.Value(); q.Feasible() {
				if a, b := p.Value(); !p.Feasible() || first < a || first == a && second < b {
					p = q
				}
			}
		}
	}
	s := search{packer: p, live: r}
	s.rng = rand.New(rand.NewPCG(set.Seed, 0x6c6e73))
	if p.Feasible() {
		s.keep()
	}
	s.run(ctx)
	if s.best == nil {
		return p.result("lns")
	}
	return p.C.Assignment(s.best), nil
}

// search is a large neighbourhood search.
type search struct {
	*packer
	live          *run.Run
	best          view.Plan
	first, second int64
	missing       []task // that are left out
	out           []task // what a step takes off
	from          []int32
	touched       []int // hosts that a step changes
	stamp         []int // step by which a host was touched last
	was           []float64
	step          int
	since         int      // steps without a better plan
	homes         [][]task // that each host has now
}

// keep stores the plan as the best, and reports it.
func (s *search) keep() {
	s.rename()
	s.best = s.Plan.Clone()
	s.first, s.second = s.Value()
	s.since = 0
	s.live.Tell(float64(s.first), math.NaN(), func() model.Solution { return s.C.Assignment(s.best) })
}

func (s *search) better() bool {
	a, b := s.Value()
	return s.Feasible() && (s.best == nil || a < s.first || a == s.first && b < s.second)
}

// run takes steps until ctx ends or none has brought anything for long.
func (s *search) run(ctx context.Context) {
	s.stamp, s.was = make([]int, len(s.C.Hosts)), make([]float64, len(s.C.Hosts))
	s.homes = make([][]task, len(s.C.Hosts))
	for i := range s.C.Jobs {
		for k, h := range s.C.Jobs[i].Current {
			if h >= 0 {
				s.homes[h] = append(s.homes[h], task{i, k})
			}
		}
	}
	first, looks := s.C.In.Goal == model.GoalMoves, min(firstLooks, 1000*s.C.In.Tasks())
	if ctx.Err() != nil {
		return
	}
	a := s.annealing(ctx)
	for round := 0; s.since < s.stale(); round++ {
		before := a.looks
		if !a.round(ctx, looks<<min(round/2, mostDoubled), round%2 > 0) {
			return
		}
		steps := (a.looks - before) / (200 + 6*len(s.used)) // which take as long
		s.since += steps
		for k := 0; k < 2 || k*phaseSteps < steps; k++ {
			if !s.phase(ctx, first == (k%2 == 0)) {
				return
			}
		}
	}
}

// phase takes steps from the best plan on, if there is one, for moves or for cost. It reports whether
// there is more to do.
func (s *search) phase(ctx context.Context, moves bool) bool {
	if s.best != nil {
		s.reset(s.best)
	}
	s.list()
	for range phaseSteps {
		if len(s.used) == 0 || meter.Stop(ctx, effort(len(s.out), len(s.used))) {
			return false
		}
		s.since++
		s.step++
		if s.ruin(moves); s.better() {
			s.keep()
		}
	}
	return true
}

// list lists the tasks that are left out.
func (s *search) list() {
	s.missing = s.missing[:0]
	for i := range s.Plan {
		for k, h := range s.Plan[i] {
			if h < 0 {
				s.missing = append(s.missing, task{i, k})
			}
		}
	}
}

// load returns how full a host is, weighed.
func (s *search) load(h int) float64 {
	sum := 0.0
	for r, x := range s.C.Hosts[h].Capacity {
		sum += s.weight[r] * float64(x-s.Left[h*s.C.Resources+r])
	}
	return sum
}

// touch notes how full a host was before this step.
func (s *search) touch(h int) {
	if s.stamp[h] != s.step {
		s.stamp[h], s.was[h] = s.step, s.load(h)
		s.touched = append(s.touched, h)
	}
}

// ruin takes the tasks off some hosts and places them again; it is taken back if that is worse.
func (s *search) ruin(moves bool) {
	s.out, s.from, s.touched = s.out[:0], s.from[:0], s.touched[:0]
	victims, closed := s.victims(moves), view.Nowhere
	if !moves {
		closed = victims[0]
	}
	for _, h := range victims {
		s.touch(h)
		for _, t := range s.on[h] {
			if !s.C.Jobs[t.I].Pinned {
				s.out = append(s.out, t)
			}
		}
	}
	if home := s.home(); moves && home >= 0 {
		// Exchange: this host comes back into use, the first victim goes out.
		closed = victims[0]
		for _, t := range s.homes[home] {
			if h := int(s.Plan[t.I][t.K]); h >= 0 && !slices.Contains(victims, h) {
				s.touch(h)
				s.out = append(s.out, t)
			}
		}
	}
	s.out = append(s.out, s.missing[:min(len(s.missing), mostMissing)]...)
	s.rng.Shuffle(len(s.out), func(a, b int) { s.out[a], s.out[b] = s.out[b], s.out[a] })
	s.bySize(s.out)
	cost, moved, missing, broken, excess := s.Cost, s.Moves, s.Out, s.Broken, s.Excess
	for _, t := range s.out {
		h := s.Plan[t.I][t.K]
		if s.from = append(s.from, h); h >= 0 {
			s.remove(t)
		}
	}
	for pass := range 2 { // first without the first victim, then with it
		avoid := func(h int) bool { return pass == 0 && h == closed }
		for _, t := range s.out {
			if s.Plan[t.I][t.K] >= 0 {
				continue
			}
			if h := s.host(t, moves, avoid); h >= 0 {
				s.touch(h)
				s.put(t, h)
			}
		}
	}
	if s.worse(cost, moved, missing, broken, excess, moves) {
		for _, t := range s.out {
			if s.Plan[t.I][t.K] >= 0 {
				s.remove(t)
			}
		}
		for x, t := range s.out {
			if h := s.from[x]; h >= 0 {
				s.put(t, int(h))
			}
		}
	} else if len(s.missing) > 0 || s.Out > 0 {
		s.list()
	}
	s.tidy()
}

// mostMissing bounds the tasks without a host that a step tries to place.
const mostMissing = 100

// host returns a host for a task. The task's own comes first while moves are sought, in use or not if that is paid for.
func (s *search) host(t task, moves bool, avoid func(int) bool) int {
	own := int(s.C.Jobs[t.I].Current[t.K])
	if moves && own >= 0 && !avoid(own) && (s.Tasks[own] > 0 || s.C.Hosts[own].Kept || s.Cost+s.C.Hosts[own].Price <= s.dearest()) && s.Can(t.I, t.K, own) {
		return own
	}
	if h := s.packer.best(t, false, avoid); h >= 0 {
		return h
	}
	h := s.open(t)
	if h >= 0 && (avoid(h) || s.dear(t, h)) {
		return view.Nowhere
	}
	return h
}

// dearest returns the most that a plan may cost where moves are sought.
func (s *search) dearest() int64 {
	switch {
	case s.C.In.Goal != model.GoalMoves:
		return s.first
	case s.C.In.CostLimit != nil:
		return *s.C.In.CostLimit
	}
	return math.MaxInt64 / 2
}

// worse reports whether the plan is worse than it was before a step.
func (s *search) worse(cost, moved int64, missing, broken int, excess int64, moves bool) bool {
	in := s.C.In
	switch {
	case s.Out != missing:
		return s.Out > missing
	case s.Broken != broken:
		return s.Broken > broken
	case s.Excess != excess:
		return s.Excess > excess
	case s.Over > 0:
		return true
	case in.CostLimit != nil && s.Cost > max(cost, *in.CostLimit):
		return true
	case in.MoveBudget != nil && s.Moves > max(moved, *in.MoveBudget):
		return true
	case moves && in.Goal == model.GoalMoves:
		return s.Moves > moved || s.Moves == moved && s.Cost > cost
	case moves:
		return s.Cost > cost || s.Cost == cost && s.Moves > moved
	case s.Cost != cost:
		return s.Cost > cost
	}
	before, now := 0.0, 0.0
	for _, h := range s.touched {
		x := s.load(h)
		before, now = before+s.was[h]*s.was[h], now+x*x
	}
	return now < before*(1-0.02*s.rng.Float64())
}

// victims returns the hosts to ruin. The first is one of the least full of some random ones while a lower cost is
// sought.
func (s *search) victims(moves bool) []int {
	n := len(s.used)
	draw := func() int { return s.used[s.rng.IntN(n)] }
	var all []int
	if moves {
		first := s.moved()
		for range 2 {
			if h := s.moved(); s.stays(h) < s.stays(first) {
				first = h
			}
		}
		all = append(all, first)
	} else {
		first := draw()
		for range 4 {
			if h := draw(); !s.C.Hosts[h].Kept && (s.C.Hosts[first].Kept || s.load(h) < s.load(first)) {
				first = h
			}
		}
		all = append(all, first)
	}
	for range 1 + s.rng.IntN(4) {
		if h := draw(); !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// stays counts the tasks of a host that stay.
func (s *search) stays(h int) (n int) {
	for _, t := range s.on[h] {
		if s.C.Jobs[t.I].Current[t.K] == int32(h) {
			n++
		}
	}
	return n
}

// home returns, every other time, a host out of use that has tasks now: of two random ones, the host with more tasks;
// -1 without one.
func (s *search) home() int {
	best := view.Nowhere
	if s.C.Existing == 0 || s.rng.IntN(2) == 0 {
		return best
	}
	for range 6 {
		h := s.rng.IntN(s.C.Existing)
		if s.Tasks[h] > 0 || s.C.Hosts[h].Kept || len(s.homes[h]) == 0 {
			continue
		}
		if best >= 0 {
			if len(s.homes[h]) > len(s.homes[best]) {
				best = h
			}
			break
		}
		best = h
	}
	return best
}

// moved returns a host with a task that doesn't stay, or any.
func (s *search) moved() int {
	for range 20 {
		i := s.rng.IntN(len(s.C.Jobs))
		k := s.rng.IntN(len(s.Plan[i]))
		if h := s.Plan[i][k]; h >= 0 && s.C.Jobs[i].Current[k] >= 0 && s.C.Jobs[i].Current[k] != h {
			return int(h)
		}
	}
	return s.used[s.rng.IntN(len(s.used))]
}
