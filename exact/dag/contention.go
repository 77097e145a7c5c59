package dag

import (
	"context"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
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
func (s *dagSearch) contended(d *model.DAG, r *model.Result) error {
	g := d.Graph()
	best, _, err := dagheur.Improve(s.ctx, d, s.set)
	if err != nil {
		return err
	}
	if err := r.SetSolution(d, best); err != nil {
		return err
	}
	if tell := s.set.Progress; tell != nil {
		// What the search finds is of use without contention.
		s.set.Progress = func(p model.Progress) {
			p.Incumbent, p.Solution = r.Objective, nil
			tell(p)
		}
	}
	if err := s.run(); err != nil {
		return err
	}
	if x := dagheur.NewReplay(g); x.Run(s.plan, nil) < r.Objective {
		if err := r.SetSolution(d, d.Schedule(s.plan.Machine, x.Start, x.Sent)); err != nil {
			return err
		}
	}
	if s.g.Tasks <= maxContended {
		p, makespan, complete := s.bestPlan(s.ctx, g, r.Objective)
		if makespan < r.Objective {
			x := dagheur.NewReplay(g)
			x.Run(p, nil)
			if err := r.SetSolution(d, d.Schedule(p.Machine, x.Start, x.Sent)); err != nil {
				return err
			}
		}
		if complete && s.reason == "" {
			s.reason = "no machines and orders are better unless transfers are held back; the bound is without contention"
		}
	}
	if s.reason == "" {
		s.reason = "the bound is without contention"
	}
	p, err := dagheur.PlanOf(d, g, r.Solution.(*model.Schedule))
	if err != nil {
		return err
	}
	r.Details = model.NewDAGDetails([]model.Round{{Round: 1, Planned: dagheur.Ideal(g, p), Realistic: r.Objective, Kept: true}})
	return nil
}

// bestPlan enumerates the plans of g, and replays those whose bound without
// contention is below the best makespan so far, until one meets s.lower. It
// returns the best plan if its makespan is below upper, and whether the
// enumeration is complete.
//
// Plans are made by appending tasks in topological orders. Of the orders that make
// the same plan, those are left out in which a task with a lower number than the
// one just before it could have come before that one.
func (s *dagSearch) bestPlan(ctx context.Context, g *model.Graph, upper float64) (dagheur.Plan, float64, bool) {
	k := newTicks(s.g, upper, s.tuning.off)
	replay := dagheur.NewReplay(g)
	var best dagheur.Plan
	plan := dagheur.Plan{Machine: make([]int32, k.n), Order: make([][]int32, k.m)}
	end, placed := make([]int32, k.n), make([]bool, k.n)
	free, on := make([]int32, k.m), make([]int8, k.n)
	complete := true
	var walk func(left, before int)
	walk = func(left, before int) {
		if upper <= s.lower || !complete {
			return
		}
		if ctx.Err() != nil {
			complete = false
			return
		}
		if left == 0 {
			s.nodes++
			if v := replay.Run(plan, nil); v < upper*(1-1e-12) {
				best, upper = plan.Clone(), v
			}
			return
		}
	next:
		for t := range k.n {
			if placed[t] {
				continue
			}
			after := false // t needs the task just before it
			for i := range k.pred[t] {
				if !placed[k.pred[t][i].to] {
					continue next
				}
				after = after || int(k.pred[t][i].to) == before
			}
			id := k.task[t]
			for a := range k.m {
				// The task could have come before the one just before it: they
				// are on two machines, and it doesn't need that one. Of all
				// orders of a plan the least by numbers has no such pair.
				if before >= 0 && t < before && !after && int32(a) != plan.Machine[k.task[before]] {
					continue
				}
				stop := k.earliest(t, a, on, end, free[a]) + k.cost[t*k.m+a]
				if float64(stop+k.tail[t*k.m+a])*k.unit >= upper {
					continue
				}
				was := free[a]
				placed[t], on[t], end[t], free[a], plan.Machine[id] = true, int8(a), stop, stop, int32(a)
				plan.Order[a] = append(plan.Order[a], id)
				walk(left-1, t)
				plan.Order[a] = plan.Order[a][:len(plan.Order[a])-1]
				placed[t], free[a] = false, was
			}
		}
	}
	walk(k.n, -1)
	return best, upper, complete
}
