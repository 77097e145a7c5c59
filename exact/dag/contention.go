// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"context"

	"github.com/gapwise/gapwise/exact"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/dagplay"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// maxContended is the number of tasks up to which every plan is tried under
// contention: 8 tasks on 3 machines take seconds.
const maxContended = 8

// contended solves d under contention. The bound is what s proves of the optimum
// without contention. The schedule is the best of the local search, of the plan that
// s finds and, up to maxContended tasks, of all plans.
//
// A plan is a machine for each task and an order on each machine, played with
// every task and transfer as early as possible. Delaying a transfer may be better
// still, so the best plan is called optimal only if it meets the bound.
func (s *dagSearch) contended(d *model.DAG) error {
	g := view.OfDAG(d)
	best, ok := s.Set.Start.(*model.Schedule)
	if !ok || s.Set.Others == nil { // else the heuristics run beside it
		var err error
		if best, err = dagheur.Improve(s.Ctx, d, s.Set); err != nil {
			return err
		}
	}
	if err := s.SetSolution(d, best); err != nil {
		return err
	}
	if tell := s.Set.Progress; tell != nil {
		// What the search finds is of use without contention.
		s.Set.Progress = func(p model.Progress) {
			p.Incumbent, p.Solution = s.Objective, nil
			tell(p)
		}
	}
	if err := s.run(); err != nil {
		return err
	}
	x := dagplay.NewReplay(g)
	x.Stop = func(effort int64) bool { return turns.Stop(s.Ctx, effort) }
	if x.Run(s.plan, nil) < s.Objective {
		if err := s.SetSolution(d, d.Schedule(s.plan.Machine, x.Start, x.Sent)); err != nil {
			return err
		}
	}
	if s.g.Tasks <= maxContended {
		p, makespan, complete := s.bestPlan(s.Ctx, g, s.Objective)
		if makespan < s.Objective {
			x := dagplay.NewReplay(g)
			x.Run(p, nil)
			if err := s.SetSolution(d, d.Schedule(p.Machine, x.Start, x.Sent)); err != nil {
				return err
			}
		}
		if complete && s.Reason == "" && s.Ctx.Err() == nil {
			s.Reason = "no machines and orders are better unless transfers are held back; the bound is without contention"
		}
	}
	s.Reason = cmp.Or(s.Reason, exact.StopReason(s.Ctx), "the bound is without contention")
	p, err := dagplay.PlanOf(d, g, s.Solution.(*model.Schedule))
	if err != nil {
		return err
	}
	s.Details = model.NewDAGDetails([]model.Round{{Round: 1, Planned: dagplay.Ideal(g, p), Realistic: s.Objective, Kept: true}})
	return nil
}

// bestPlan enumerates the plans of g, and replays those whose bound without
// contention is below the best makespan so far, until one meets s.lower. It
// returns the best plan if its makespan is below upper, and whether the
// enumeration is complete.
//
// Plans are made by appending tasks in topological orders. Of the orders that make
// the same plan, those are left out in which a task with a lower place in the graph's order than
// the one just before it could have come before that one.
func (s *dagSearch) bestPlan(ctx context.Context, g *view.Graph, upper float64) (dagplay.Plan, float64, bool) {
	k := newTicks(s.g, upper, s.off)
	order := k.Graph.Order
	replay := dagplay.NewReplay(g)
	var best dagplay.Plan
	plan := dagplay.Plan{Machine: make([]int32, k.n), Order: make([][]int32, k.m)}
	start, placed := make([]int64, k.n), make([]bool, k.n)
	free := make([]int64, k.m)
	complete := true
	var walk func(left, before int)
	walk = func(left, before int) {
		if upper <= s.lower || !complete {
			return
		}
		if turns.Stop(ctx, 1) {
			complete = false
			return
		}
		if left == 0 {
			s.Nodes++
			if v := replay.Run(plan, nil); v < upper*(1-1e-12) {
				best, upper = plan.Clone(), v
			}
			return
		}
	next:
		for i, t := range order {
			if placed[t] {
				continue
			}
			after := false // t needs the task just before it
			for _, e := range g.Pred(t) {
				f := g.From[e]
				if !placed[f] {
					continue next
				}
				after = after || before >= 0 && f == order[before]
			}
			for a := range k.m {
				// The task could have come before the one just before it: they
				// are on two machines, and it doesn't need that one. Of all
				// orders of a plan the least by numbers has no such pair.
				if before >= 0 && i < before && !after && int32(a) != plan.Machine[order[before]] {
					continue
				}
				begin, was := k.Earliest(t, a, free[a], start, plan.Machine), free[a]
				stop := begin + k.Cost(t, a)
				if float64(stop+k.tail[int(t)*k.m+a])*k.Ticks.Unit >= upper {
					continue
				}
				placed[t], start[t], free[a], plan.Machine[t] = true, begin, stop, int32(a)
				plan.Order[a] = append(plan.Order[a], t)
				walk(left-1, i)
				plan.Order[a] = plan.Order[a][:len(plan.Order[a])-1]
				placed[t], free[a] = false, was
			}
		}
	}
	walk(k.n, -1)
	return best, upper, complete
}
