// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Improve is a local search on the realistic makespan (ours), from the best of this package's other algorithms
// (OneMachine among them) or set.Start, whichever is better. It is any-time and never worse than its start.
//
// Under contention it begins with machines by an estimate of their work and the links' (spread), and simulated
// annealing on schedules that book links (annealBooked). Then comes simulated annealing over machines, orders and,
// under contention, the order of transfers, by replays: a step changes something on the critical path. A task moves to
// another machine or place in the order, or changes places with a task of another machine. Or a transfer waits for a
// critical one on a common link. There are 4,000 + 400 V such steps, fewer on large graphs: steps (V + E) ≤ 10^8.
func Improve(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	s, err := improved(run.New(ctx, "improve", d, set), d)
	if err != nil {
		return nil, err
	}
	return s.schedule(), nil
}

// improve is Improve, which under contention goes on as long as it has time, if there is a
// deadline or others work on the instance.
func improve(r *run.Run, d *model.DAG) (*model.Schedule, error) {
	s, err := improved(r, d)
	if err != nil {
		return nil, err
	}
	if (r.Limited() || r.Beside()) && s.booker != nil {
		s.goOn()
	}
	if s.g.Transfer != model.TransferIdeal {
		r.Details = model.NewDAGDetails([]model.Round{{Round: 1, Planned: dagplay.Ideal(s.g, s.best.Plan), Realistic: s.lowest, Kept: true}})
	}
	return s.schedule(), nil
}

// improved runs the local search.
func improved(r *run.Run, d *model.DAG) (*search, error) {
	g := view.Shared(r.Ctx, d, view.OfDAG)
	s, err := startSearch(r, d, g)
	if err != nil {
		return nil, err
	}
	if s.replay.Shares && g.Machines > 1 && g.Tasks > 1 {
		s.booker = newBooker(g, s.replay)
		s.startBooked()
	}
	s.justify(s.steps()/3, 0)
	s.anneal(s.steps(), 0)
	return s, nil
}

// stepsOf returns the number of steps that Improve takes.
func stepsOf(g *view.Graph) int {
	return max(1000, min(4000+400*g.Tasks, 100_000_000/(1+g.Tasks+len(g.Data))))
}

// steps is stepsOf, less where a search on bookings comes first.
func (s *search) steps() int {
	if s.booker != nil {
		return min(stepsOf(s.g)/4, max(1000, 5_000_000/(1+s.g.Tasks+len(s.g.Data))))
	}
	return stepsOf(s.g)
}

// BestPlan returns the best plan of list schedulers and a local search for a contention-free graph, and its makespan.
// The search takes at most the given steps, and no more than Improve's. The local search ends when the makespan is at
// most bound (seconds).
func BestPlan(r *run.Run, d *model.DAG, g *view.Graph, most int, bound float64) (dagplay.Plan, float64, error) {
	s, err := startSearch(r, d, g)
	if err != nil {
		return dagplay.Plan{}, 0, err
	}
	if g.Tasks > 64 { // the learning kernel proves smaller graphs sooner
		s.justify(min(most, stepsOf(g))/3, bound)
	}
	s.anneal(min(most, stepsOf(g)), bound)
	return s.best.Plan, s.lowest, nil
}

// anneal runs the given number of steps from s.now, or until the best makespan is at
// most bound. The temperature falls geometrically.
func (s *search) anneal(steps int, bound float64) {
	if s.g.Tasks == 0 {
		return
	}
	hot, cold := 0.1, 0.003 // of the makespan; from 0.03 to 0.3 makes little difference
	if s.booker != nil {    // what it starts from is good
		hot, cold = 0.01, 0.0005
	}
	s.now, s.value = s.best.clone(), s.replay.Run(s.best.Plan, s.best.holds)
	s.critical = s.critical[:0]
	stale := 0
	for k := range steps {
		if s.lowest <= bound || meter.Stop(s.Ctx, s.replay.Effort()) {
			return
		}
		if stale > steps/8 { // a fresh start from the best
			s.now, s.value, stale = s.best.clone(), s.lowest, 0
			s.critical = s.critical[:0]
		}
		undo := s.step()
		if undo == nil {
			stale++
			continue
		}
		v := s.replay.Run(s.now.Plan, s.now.holds)
		warmth := s.lowest * hot * math.Pow(cold/hot, float64(k)/float64(steps))
		if v > s.value && !(s.rng.Float64() < math.Exp((s.value-v)/warmth)) {
			undo()
			stale++
			continue
		}
		s.value = v
		stale++
		if less(v, s.lowest) {
			s.keep(s.now, v)
			stale = 0
			s.report(func() *model.Schedule { return s.d.Schedule(s.best.Machine, s.replay.Start, s.replay.Sent) })
		}
		s.critical = s.critical[:0] // the path is another one now
	}
}

// step changes something on the critical path and returns a function that undoes it, nil if nothing was changed.
func (s *search) step() func() {
	if len(s.critical) == 0 && !s.chain() {
		return nil
	}
	if s.replay.Shares && s.rng.IntN(4) == 0 {
		return s.moveHold()
	}
	t := s.critical[s.rng.IntN(len(s.critical))]
	if s.g.Machines > 1 && s.rng.IntN(4) == 0 {
		return s.exchange(t)
	}
	from := s.now.Machine[t]
	to := from
	if s.g.Machines > 1 && s.rng.IntN(3) > 0 {
		if to = int32(s.rng.IntN(s.g.Machines - 1)); to >= from {
			to++
		}
	}
	if !s.g.Runs(t, to) {
		return nil
	}
	order := s.now.Order[to]
	// The starts are a topological order: a task inserted by its start makes no
	// circle, one a few places off rarely does.
	at := int32(0)
	if to == from {
		at = s.place[t] - 1 - int32(s.rng.IntN(3))
		if s.rng.IntN(4) == 0 {
			at = s.place[t] + 1 + int32(s.rng.IntN(2))
		}
		if at < 0 || int(at) >= len(order) {
			return nil
		}
	} else {
		at = int32(min(len(order), max(0, s.near(order, t)+s.rng.IntN(4)-2)))
	}
	old := s.place[t]
	s.move(t, from, to, old, at)
	return func() { s.move(t, to, from, at, old) }
}

// near returns the first place in a machine's order with a task that starts no earlier than t.
func (s *search) near(order []int32, t int32) int {
	return sort.Search(len(order), func(k int) bool { return s.start[order[k]] >= s.start[t] })
}

// exchange exchanges t with a task of another machine that starts at about the same
// time, or with any.
func (s *search) exchange(t int32) func() {
	from := s.now.Machine[t]
	to := int32(s.rng.IntN(s.g.Machines - 1))
	if to >= from {
		to++
	}
	order := s.now.Order[to]
	if len(order) == 0 {
		return nil
	}
	k := s.rng.IntN(len(order))
	if s.rng.IntN(2) == 0 {
		k = min(max(0, s.near(order, t)+s.rng.IntN(3)-1), len(order)-1)
	}
	u, at := order[k], s.place[t]
	if !s.g.Runs(t, to) || !s.g.Runs(u, from) {
		return nil
	}
	s.now.Order[from][at], s.now.Order[to][k] = u, t
	s.now.Machine[t], s.now.Machine[u] = to, from
	return func() {
		s.now.Order[from][at], s.now.Order[to][k] = t, u
		s.now.Machine[t], s.now.Machine[u] = from, to
	}
}

// move removes task t from place old of machine from and inserts it at place at of
// machine to.
func (s *search) move(t, from, to, old, at int32) {
	s.now.Order[from] = slices.Delete(s.now.Order[from], int(old), int(old)+1)
	s.now.Order[to] = slices.Insert(s.now.Order[to], int(at), t)
	s.now.Machine[t] = to
}

// moveHold adds a hold, of a transfer that overlaps a critical one on a common link,
// or removes one.
func (s *search) moveHold() func() {
	holds := s.now.holds
	if len(holds) > 0 && (len(s.transfers) == 0 || s.rng.IntN(2) == 0) {
		k := s.rng.IntN(len(holds))
		s.now.holds = slices.Delete(slices.Clone(holds), k, k+1)
		return func() { s.now.holds = holds }
	}
	if len(s.transfers) == 0 {
		return nil
	}
	g := s.g
	e := s.transfers[s.rng.IntN(len(s.transfers))]
	route := g.Route(s.now.Machine[g.From[e]], s.now.Machine[g.To[e]])
	meets := func(l int32) bool { return slices.Contains(route, l) }
	s.overlapping = s.overlapping[:0]
	for f := range int32(len(g.Data)) {
		m, n := s.now.Machine[g.From[f]], s.now.Machine[g.To[f]]
		if f == e || m == n || s.sent[f] >= s.arrived[e] || s.arrived[f] <= s.sent[e] || !slices.ContainsFunc(g.Route(m, n), meets) {
			continue
		}
		s.overlapping = append(s.overlapping, f)
	}
	if len(s.overlapping) == 0 {
		return nil
	}
	f := s.overlapping[s.rng.IntN(len(s.overlapping))]
	s.now.holds = append(slices.Clone(holds), dagplay.Hold{Edge: f, After: e})
	return func() { s.now.holds = holds }
}

// chain replays now and finds a critical path, back from the task that ends last. Each task on it waited for the end or
// the data of the one before, on machines that run several at once perhaps for its start. It reports whether the replay
// wasn't stopped.
func (s *search) chain() bool {
	g, r := s.g, s.replay
	if math.IsInf(r.Run(s.now.Plan, s.now.holds), 1) {
		return false
	}
	s.start = append(s.start[:0], r.Start...)
	s.sent, s.arrived = append(s.sent[:0], r.Sent...), append(s.arrived[:0], r.Arrived...)
	for _, order := range s.now.Order {
		for k, t := range order {
			s.place[t] = int32(k)
		}
	}
	s.critical, s.transfers = s.critical[:0], s.transfers[:0]
	last := int32(0)
	for t := range int32(g.Tasks) {
		if r.Finish[t] > r.Finish[last] {
			last = t
		}
	}
	for t := last; ; {
		s.critical = append(s.critical, t)
		before := int32(-1)
		m := s.now.Machine[t]
		if k := s.place[t]; k > 0 && g.Room == nil {
			if p := s.now.Order[m][k-1]; r.Finish[p] >= r.Start[t] {
				before = p
			}
		}
		if before < 0 {
			for _, e := range g.Pred(t) {
				if r.Arrived[e] >= r.Start[t] {
					before = g.From[e]
					if n := s.now.Machine[before]; n != m && r.Contends(n, m) {
						s.transfers = append(s.transfers, e)
					}
					break
				}
			}
		}
		if before < 0 && g.Room != nil {
			before = s.blocker(t)
		}
		if before < 0 {
			return true
		}
		t = before
	}
}

// blocker returns the task that t, whose data were there before, waited for on a machine that runs several at once: the
// one before it in the order, if both start together, or else the last one in the order whose end made room; -1 if t
// starts first. Starts rise in an order, so all calls of chain pass each place once. O(tasks before it).
func (s *search) blocker(t int32) int32 {
	r, order := s.replay, s.now.Order[s.now.Machine[t]]
	for k := s.place[t] - 1; k >= 0; k-- {
		if u := order[k]; r.Finish[u] == r.Start[t] || k == s.place[t]-1 && r.Start[u] == r.Start[t] {
			return u
		}
	}
	return -1
}
