// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// state is a plan with its holds.
type state struct {
	dagplay.Plan
	holds []dagplay.Hold
}

func (s state) clone() state { return state{s.Plan.Clone(), slices.Clone(s.holds)} }

// search is the local search's state.
type search struct {
	*run.Run
	d           *model.DAG
	g           *view.Graph
	replay      *dagplay.Replay
	now, best   state
	value       float64 // of now
	lowest      float64 // of best
	booked      *times  // of best; nil without contention: those of its replay
	booker      *booker // nil without contention
	heard       float64 // the best makespan that others have told
	tried       int64   // schedules of the booker
	machines    []int32 // of SinnenSousa, nil if that didn't run
	rng         *rand.Rand
	critical    []int32 // tasks of a critical path, last first
	transfers   []int32 // transfers of it that share links
	place       []int32 // of each task in its machine's order, updated by chain
	overlapping []int32 // scratch
	// These are the times of now, updated by chain: the replay's may belong to a step undone.
	start, sent, arrived []float64
}

// startSearch makes the search, from the best of other algorithms' schedules.
func startSearch(r *run.Run, d *model.DAG, g *view.Graph) (*search, error) {
	ctx, set := r.Ctx, r.Set
	s := &search{Run: r, d: d, g: g, replay: newReplay(ctx, g), lowest: math.Inf(1), heard: math.Inf(1), rng: rand.New(rand.NewPCG(set.Seed, 0x6461)), place: make([]int32, g.Tasks)}
	start, ok := set.Start.(*model.Schedule)
	if ok = ok && start != nil; ok && r.Beside() { // the others have run
		if err := s.takeSchedule(start); err != nil {
			return nil, err
		}
		s.news()
		return s, s.takeTimes(start)
	}
	// A plan for one machine takes linear time. It is hard to beat if data are long, and the local search would need
	// many steps to get there from a plan that spreads.
	one, err := startPlan(ctx, g)
	if err != nil {
		return nil, err
	}
	stop := s.replay.Stop
	s.replay.Stop = nil // there is a plan in any case
	s.adoptIfBetter(state{Plan: one})
	s.replay.Stop = stop
	if p, err := heft(ctx, g, nil); err == nil {
		s.adoptIfBetter(state{Plan: p})
	} else if ctx.Err() == nil && !errors.Is(err, errStuck) {
		return nil, err
	}
	if ok {
		if err := s.takeSchedule(start); err != nil {
			return nil, err
		}
	}
	for k, solve := range []func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error){SinnenSousa, CPOP, PEFT, DLS, Lookahead, NetworkAware} {
		const largest = 50_000_000 // of tasks times edges, for those that aren't near linear
		if meter.Stop(ctx, int64(g.Tasks)) || k > 0 && g.Tasks*len(g.Data) > largest {
			break
		}
		one, err := solve(ctx, d, set)
		if err != nil {
			break // interrupted, with HEFT's plan at hand
		}
		if err := s.takeSchedule(one); err != nil {
			return nil, err
		}
		if k == 0 && s.replay.Shares {
			if err := s.takeTimes(one); err != nil {
				return nil, err
			}
			if s.machines, err = d.MachineOf(one); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// takeSchedule takes the plan of a schedule, with the order of its transfers or without, if
// it is the best so far.
func (s *search) takeSchedule(x *model.Schedule) error {
	p, err := dagplay.PlanOf(s.d, s.g, x)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.adoptIfBetter(state{Plan: p})
	if s.replay.Shares {
		s.adoptIfBetter(state{Plan: p, holds: s.holdsOf(s.sentOf(x), p)})
	}
	return nil
}

// takeTimes takes a feasible schedule as it is, if it is the best so far.
func (s *search) takeTimes(x *model.Schedule) error {
	p, err := dagplay.PlanOf(s.d, s.g, x)
	if err != nil {
		return err
	}
	o, err := s.d.Objective(x)
	if err != nil {
		return err
	}
	if less(o.Value, s.lowest) {
		start := make([]float64, s.g.Tasks)
		for t := range start {
			start[t] = x.Tasks[t].StartS
		}
		s.best, s.lowest, s.booked = state{Plan: p}, o.Value, &times{start, s.sentOf(x)}
	}
	return nil
}

// adoptIfBetter takes a plan if its replay is the best so far, and reports whether it is.
func (s *search) adoptIfBetter(x state) bool {
	v := s.replay.Run(x.Plan, x.holds)
	if less(v, s.lowest) {
		s.keep(x, v)
		return true
	}
	return false
}

// keep makes a state, which was replayed last, the best. A replay under contention is long on
// large graphs, so its times are kept.
func (s *search) keep(x state, makespan float64) {
	s.best, s.lowest, s.booked = x.clone(), makespan, nil
	if s.replay.Shares {
		s.booked = &times{slices.Clone(s.replay.Start), slices.Clone(s.replay.Sent)}
	}
}

// sentOf returns when a schedule sends its transfers.
func (s *search) sentOf(schedule *model.Schedule) []float64 {
	at := map[[2]string]float64{}
	for _, x := range schedule.Transfers {
		at[[2]string{x.From, x.To}] = x.StartS
	}
	sent := make([]float64, len(s.g.Data))
	for e, x := range s.d.Edges {
		sent[e] = at[[2]string{x.From, x.To}]
	}
	return sent
}

// holdsOf makes the transfers on each link follow one another in the order in
// which they are sent, where one is sent after another's arrival.
func (s *search) holdsOf(sent []float64, p dagplay.Plan) []dagplay.Hold {
	g := s.g
	byLink := make([][]int32, len(g.Links))
	at := make([]float64, len(g.Data))
	for e := range int32(len(g.Data)) {
		m, n := p.Machine[g.From[e]], p.Machine[g.To[e]]
		if m == n || !s.replay.Contends(m, n) || g.Data[e] == 0 {
			continue
		}
		at[e] = sent[e] + g.Startup(m, n)
		for _, l := range g.Route(m, n) {
			byLink[l] = append(byLink[l], e)
		}
	}
	var holds []dagplay.Hold
	for _, edges := range byLink {
		order.By(edges, at)
		for k := 1; k < len(edges); k++ {
			holds = append(holds, dagplay.Hold{Edge: edges[k], After: edges[k-1]})
		}
	}
	return holds
}
