// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/dagplay"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// Improve is a local search on the realistic makespan (ours): simulated
// annealing over machines, orders and, under contention, the order of
// transfers, from the best of this package's other algorithms (OneMachine among them) or set.Start,
// whichever is better. It is any-time and never worse than what it starts from.
//
// A step changes something on the critical path: a task moves to another machine or
// place in the order, or changes places with a task of another machine, or a
// transfer waits for a critical one on a common link. Each step costs a replay.
// There are 4,000 + 400 V steps, fewer on large graphs: steps (V + E) ≤ 10^8.
func Improve(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(improve(ctx, d, set))
}

func improve(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, []model.Round, error) {
	s, err := improved(ctx, d, set)
	if err != nil {
		return nil, nil, err
	}
	best, rounds := played(d, s.g, s.best.Plan, s.best.holds)
	return best, rounds, nil
}

// improved runs the local search.
func improved(ctx context.Context, d *model.DAG, set model.Settings) (*search, error) {
	g := view.OfDAG(d)
	s, err := startSearch(ctx, d, g, set)
	if err != nil {
		return nil, err
	}
	s.anneal(ctx, set, stepsOf(g), 0)
	return s, nil
}

// stepsOf returns the number of steps that Improve takes.
func stepsOf(g *view.Graph) int {
	return max(1000, min(4000+400*g.Tasks, 100_000_000/(1+g.Tasks+len(g.Data))))
}

// BestPlan returns the best plan that list schedulers and a local search of at most the
// given steps, and no more than Improve's, find for a contention-free graph, and its makespan. The
// local search ends when the makespan is at most bound (seconds).
func BestPlan(ctx context.Context, d *model.DAG, g *view.Graph, set model.Settings, most int, bound float64) (dagplay.Plan, float64, error) {
	s, err := startSearch(ctx, d, g, set)
	if err != nil {
		return dagplay.Plan{}, 0, err
	}
	s.anneal(ctx, set, min(most, stepsOf(g)), bound)
	return s.best.Plan, s.lowest, nil
}

// state is a plan with its holds.
type state struct {
	dagplay.Plan
	holds []dagplay.Hold
}

func (s state) clone() state { return state{s.Plan.Clone(), slices.Clone(s.holds)} }

// search is the local search's state.
type search struct {
	d           *model.DAG
	g           *view.Graph
	replay      *dagplay.Replay
	now, best   state
	value       float64 // of now
	lowest      float64 // of best
	rng         *rand.Rand
	critical    []int32 // tasks of a critical path, last first
	transfers   []int32 // transfers of it that share links
	place       []int32 // of each task in its machine's order, updated by chain
	overlapping []int32 // scratch
	// The times of now, updated by chain: the replay's may be those of a step undone.
	start, sent, arrived []float64
}

func startSearch(ctx context.Context, d *model.DAG, g *view.Graph, set model.Settings) (*search, error) {
	s := &search{d: d, g: g, replay: dagplay.NewReplay(g), lowest: math.Inf(1), rng: rand.New(rand.NewPCG(set.Seed, 0x6461)), place: make([]int32, g.Tasks)}
	try := func(x state) {
		if v := s.replay.Run(x.Plan, x.holds); less(v, s.lowest) {
			s.best, s.lowest = x, v
		}
	}
	if start, ok := set.Start.(*model.Schedule); ok && start != nil && set.Others != nil { // the others have run
		p, err := dagplay.PlanOf(d, g, start)
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		try(state{Plan: p})
		if s.replay.Shares {
			try(state{Plan: p, holds: s.holdsOf(d, start, p)})
		}
		s.now, s.value = s.best.clone(), s.lowest
		return s, nil
	}
	// A plan for one machine takes linear time. Where data are long it is hard to beat, and
	// the local search would need many steps to get there from a plan that spreads.
	try(state{Plan: onBestMachine(g)})
	if p, err := heft(ctx, g, nil); err == nil {
		try(state{Plan: p})
	} else if ctx.Err() == nil {
		return nil, err
	}
	if start, ok := set.Start.(*model.Schedule); ok && start != nil {
		p, err := dagplay.PlanOf(d, g, start)
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		try(state{Plan: p})
	}
	for _, solve := range []func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error){CPOP, PEFT, DLS, Lookahead, SinnenSousa, NetworkAware} {
		const largest = 50_000_000 // of tasks times edges, for those that aren't near linear
		if turns.Stop(ctx, int64(g.Tasks)) || g.Tasks*len(g.Data) > largest {
			break
		}
		one, err := solve(ctx, d, set)
		if err != nil {
			break // interrupted, with HEFT's plan at hand
		}
		p, err := dagplay.PlanOf(d, g, one)
		if err != nil {
			return nil, err
		}
		try(state{Plan: p})
		if s.replay.Shares {
			try(state{Plan: p, holds: s.holdsOf(d, one, p)})
		}
	}
	s.now, s.value = s.best.clone(), s.lowest
	return s, nil
}

// holdsOf makes the transfers on each link follow one another in the order in
// which the schedule sends them, where it sends one after another's arrival.
func (s *search) holdsOf(d *model.DAG, schedule *model.Schedule, p dagplay.Plan) []dagplay.Hold {
	g := s.g
	sent := map[[2]string]float64{}
	for _, x := range schedule.Transfers {
		sent[[2]string{x.From, x.To}] = x.StartS
	}
	byLink := make([][]int32, len(g.Links))
	at := make([]float64, len(g.Data))
	for e := range int32(len(g.Data)) {
		m, n := p.Machine[g.From[e]], p.Machine[g.To[e]]
		if m == n || !s.replay.Contends(m, n) || g.Data[e] == 0 {
			continue
		}
		at[e] = sent[[2]string{d.Edges[e].From, d.Edges[e].To}] + g.Startup[m]
		for _, l := range g.Route(m, n) {
			byLink[l] = append(byLink[l], e)
		}
	}
	var holds []dagplay.Hold
	for _, edges := range byLink {
		slices.SortStableFunc(edges, func(a, b int32) int { return cmp.Compare(at[a], at[b]) })
		for k := 1; k < len(edges); k++ {
			holds = append(holds, dagplay.Hold{Edge: edges[k], After: edges[k-1]})
		}
	}
	return holds
}

// anneal runs the given number of steps from s.now, or until the best makespan is at
// most bound. The temperature falls geometrically.
func (s *search) anneal(ctx context.Context, set model.Settings, steps int, bound float64) {
	if s.g.Tasks == 0 {
		return
	}
	const hot, cold = 0.1, 0.003 // of the makespan; from 0.03 to 0.3 makes little difference
	stale := 0
	for k := range steps {
		if s.lowest <= bound || turns.Stop(ctx, s.replay.Effort()) {
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
			s.best, s.lowest, stale = s.now.clone(), v, 0
			if set.Progress != nil {
				told := s.d.Schedule(s.best.Machine, s.replay.Start, s.replay.Sent)
				set.Progress(model.Progress{Algorithm: "improve", Incumbent: v, Bound: math.NaN(), Nodes: int64(k), Solution: told})
			}
		}
		s.critical = s.critical[:0] // the path is another one now
	}
}

// step changes something on the critical path and returns what undoes it, nil
// if nothing was changed.
func (s *search) step() func() {
	if len(s.critical) == 0 {
		s.chain()
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

// near returns the first place in a machine's order whose task starts no earlier than t.
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

// chain replays now and finds a critical path: from the task that ends last back to
// one whose end or data it waited for, and so on.
func (s *search) chain() {
	g, r := s.g, s.replay
	r.Run(s.now.Plan, s.now.holds)
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
		if k := s.place[t]; k > 0 {
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
		if before < 0 {
			return
		}
		t = before
	}
}
