// SPDX-License-Identifier: MIT

package gapwise

import (
	"cmp"
	"context"
	"math"

	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// sessionTolerance is the share of the yield that a step of a Session may give up for
// fewer moves.
const sessionTolerance = 0.01

// fewMoves solves a step of a Session of placements without a migration budget: by the
// rule that Session states.
type fewMoves struct {
	*Case
	in    *model.VCSched
	o     Options // the session's
	home  []int32 // [task]: its host in the last placement; -1: it is new
	quick bool    // the search is the local one
}

// few returns the solver of a step, nil if the rule isn't for the instance.
func (s *Session) few(c *Case) model.Solver {
	v, isVCSched := c.Instance.(*model.VCSched)
	last, isPlacement := s.last.(*model.Placement)
	if !isVCSched || !isPlacement || v.MigrationBudget != nil || s.Options.Proof != nil || s.Options.Trace != nil {
		return nil
	}
	return &fewMoves{Case: c, in: v, o: s.Options, home: homes(v, last), quick: s.Options.auto() && s.Options.TimeLimit == 0}
}

// homes returns the hosts of the tasks in a placement, [task]; -1 where lastHosts has none.
func homes(in *model.VCSched, last *model.Placement) []int32 {
	home := make([]int32, 0, in.Tasks())
	for i, hosts := range lastHosts(in, last) {
		for k := range in.Jobs[i].Tasks {
			if hosts == nil {
				home = append(home, -1)
			} else {
				home = append(home, int32(hosts[k]))
			}
		}
	}
	return home
}

// Name implements model.Solver.
func (f *fewMoves) Name() string { return "session" }

// repairLooks is how many moves and swaps the repair of a placement looks at for each
// task; at least leastLooks and at most mostLooks in all, 5 and 100 ms or so.
const (
	repairLooks = 1000
	leastLooks  = 500_000
	mostLooks   = 8_000_000
)

// Solve implements model.Solver.
func (f *fewMoves) Solve(ctx context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(f.Name(), set.Seed)
	if f.o.TimeLimit > 0 { // SessionTimeLimit is for the local search: repairs are short
		var cancel context.CancelFunc
		ctx, cancel = set.WithTimeLimit(ctx)
		defer cancel()
	}
	u := view.Shared(ctx, f.in, view.OfVCSched)
	bound := math.NaN()
	for _, b := range f.computeQuick(ctx) {
		if b.Infeasible {
			r.Status, r.Reason, r.Evidence = model.StatusInfeasible, b.Reason, b.Evidence
			return r, nil
		}
		bound = b.Value
	}
	tolerance := cmp.Or(set.Gap, sessionTolerance)
	// worse returns the largest load with a yield that is that little below the one of a load.
	worse := func(load int64) int64 {
		if load <= u.Scale {
			return u.Scale
		}
		return int64(float64(load) / (1 - tolerance))
	}
	start := set.Start.(*model.Placement).TaskHosts()
	looks := min(max(leastLooks, repairLooks*len(start)), mostLooks)
	s := placement.NewImprover(u, start, set.Seed)
	most, _, fits := s.Best()
	if !fits {
		most = math.MaxInt64
	}
	if limit := worse(int64(float64(u.Scale) / bound)); s.Repair(ctx, limit, f.home, looks) {
		return f.close(ctx, r, bound, s.Return(ctx, min(most, limit), f.home))
	}
	if _, _, ok := s.Best(); !ok {
		s.Repair(ctx, math.MaxInt64/8, f.home, looks) // any load will do
	}
	found, err := f.search(ctx, set, s)
	if err != nil || found.Solution == nil {
		return found, err
	}
	hosts := found.Solution.(*model.Placement).TaskHosts()
	limit := min(most, worse(u.MaxLoad(hosts)))
	// Few moves from the last placement, or as few as the placement found allows.
	hosts = placement.NewImprover(u, hosts, set.Seed).Return(ctx, limit, f.home)
	if s = placement.NewImprover(u, start, set.Seed); s.Repair(ctx, limit, f.home, looks) {
		if few := s.Return(ctx, limit, f.home); away(few, f.home) < away(hosts, f.home) {
			hosts = few
		}
	}
	r.Nodes, r.Evidence = found.Nodes, found.Evidence
	if !math.IsNaN(found.Bound) {
		bound = min(bound, found.Bound)
	}
	return f.close(ctx, r, bound, hosts)
}

// search looks for a better yield, from the best placement so far.
func (f *fewMoves) search(ctx context.Context, set model.Settings, s *placement.Improver) (model.Result, error) {
	if _, hosts, ok := s.Best(); ok {
		set.Start = f.in.NewPlacement(hosts, f.in.Yield(hosts))
	}
	if f.quick {
		r, err := run.Heuristic("anneal", vcheur.Anneal).Solve(ctx, f.in, set)
		if err != nil || r.Solution != nil {
			return r, err
		}
	}
	o := f.o
	o.Settings = set
	return f.Case.Solve(ctx, o)
}

// close completes the result.
func (f *fewMoves) close(ctx context.Context, r model.Result, bound float64, hosts []int32) (model.Result, error) {
	p, err := placement.RaiseAverage(ctx, f.in, f.in.NewPlacement(hosts, f.in.Yield(hosts)))
	if err != nil {
		return r, err
	}
	if err := r.SetSolution(f.in, p); err != nil {
		return r, err
	}
	r.SetBound(f.in.Metrics()[0], bound, f.o.GapLimit())
	return r, nil
}

// away returns how many tasks aren't at home.
func away(hosts, home []int32) (n int) {
	for i, h := range hosts {
		if home[i] >= 0 && home[i] != h {
			n++
		}
	}
	return n
}
