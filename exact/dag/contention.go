package dag

import (
	"context"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
)

// maxContended is the number of tasks up to which every plan is tried under
// contention.
const maxContended = 8

// contended solves d, under contention: the bound is the optimum without
// contention (s), or what is proved of it; the schedule is the best of the
// local search and, up to maxContended tasks, of all plans.
//
// A plan is a machine for each task and an order on each machine, played with
// every task and transfer as early as it can. Holding a transfer back may be better
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
	if err := s.run(); err != nil {
		return err
	}
	if s.g.Tasks <= maxContended {
		p, makespan, whole := s.bestPlan(s.ctx, g, r.Objective)
		if makespan < r.Objective {
			x := dagheur.NewReplay(g)
			x.Run(p, nil)
			if err := r.SetSolution(d, d.Schedule(p.Machine, x.Start, x.Sent)); err != nil {
				return err
			}
		}
		if whole && s.reason == "" {
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

// bestPlan tries every plan of g whose makespan without contention, by a
// bound, is below the best yet, until one meets s.lower. It returns the best plan if its
// makespan is below upper, and whether all were tried.
//
// Plans are made by appending tasks in topological orders; of the orders that
// make the same plan, those are left out in which a task could have come before
// the task just before it and has the lower number.
func (s *dagSearch) bestPlan(ctx context.Context, g *model.Graph, upper float64) (dagheur.Plan, float64, bool) {
	k := newTicks(s.g, upper, s.tuning.off)
	replay := dagheur.NewReplay(g)
	var best dagheur.Plan
	plan := dagheur.Plan{Machine: make([]int32, k.n), Order: make([][]int32, k.m)}
	end, placed := make([]int32, k.n), make([]bool, k.n)
	free := make([]int32, k.m)
	whole := true
	var walk func(left, before int)
	walk = func(left, before int) {
		if upper <= s.lower || !whole {
			return
		}
		if ctx.Err() != nil {
			whole = false
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
				start := free[a]
				for i := range k.pred[t] {
					p := &k.pred[t][i]
					start = max(start, end[p.to]+k.length(p, int(plan.Machine[k.task[p.to]]), a))
				}
				stop := start + k.cost[t*k.m+a]
				if float64(stop+k.tail[t*k.m+a])*k.unit >= upper {
					continue
				}
				was := free[a]
				placed[t], end[t], free[a], plan.Machine[id] = true, stop, stop, int32(a)
				plan.Order[a] = append(plan.Order[a], id)
				walk(left-1, t)
				plan.Order[a] = plan.Order[a][:len(plan.Order[a])-1]
				placed[t], free[a] = false, was
			}
		}
	}
	walk(k.n, -1)
	return best, upper, whole
}
