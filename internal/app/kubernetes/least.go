// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"context"
	"math"
	"slices"
	"time"

	gapwise "github.com/gapwise/gapwise"
	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/model"
)

// least is a plan of least cost among those under which as few pods wait, by their ranks, as in it.
type least struct {
	model.Result
	in      *model.Consolidation // that was solved: its objective is the cost plus the addition of waiting pods
	cost    int64                // of nodes alone
	bound   float64              // on cost, of plans under which no more pods wait; 0: none is known
	waiting int
	room    int          // pods that aren't there without room
	fewest  model.Status // optimal: no plan has fewer of both
}

// leastCost first finds out how few pods have to wait, where nodes cost nothing, and then the least cost. There a pod
// that waits costs more than the plan that was found first: a plan under which more wait is worse than that one,
// whatever it saves. So cost never decides which pods wait.
func (in *Instance) leastCost(ctx context.Context, c *model.Consolidation, o gapwise.Options) (*least, error) {
	return in.leastCostTold(ctx, c, o, func(string, float64) {})
}

// leastCostTold is leastCost that reports both questions (see Options.Asks), and the progress of each in its unit.
func (in *Instance) leastCostTold(ctx context.Context, c *model.Consolidation, o gapwise.Options, ask func(string, float64)) (*least, error) {
	fewest, waits, given := model.StatusOptimal, int64(0), c
	if slices.ContainsFunc(c.Jobs, func(j model.ConsolidationJob) bool { return j.LeaveOutCost != nil }) {
		first := o
		first.TimeLimit, o.TimeLimit = o.TimeLimit/2, o.TimeLimit/2
		first.Effort, o.Effort = o.Effort/2, o.Effort/2
		ask("fewest waiting pods, by rank", 1)
		free := in.free(c)
		if x, some := in.roomFree(free); some { // a search that is stopped is to have room for the pods that are there first
			o, begun := first, time.Now()
			o.TimeLimit, o.Effort, o.Progress = o.TimeLimit/2, o.Effort/2, nil
			r, err := gapwise.Solve(ctx, x, o)
			if err != nil {
				return nil, err
			}
			if r.Solution != nil {
				first.Start = r.Solution
			}
			if first.TimeLimit > 0 {
				first.TimeLimit = max(first.TimeLimit/2, first.TimeLimit-time.Since(begun))
			}
		}
		r, err := gapwise.Solve(ctx, free, first)
		if err != nil {
			return nil, err
		}
		fewest = r.Status
		if a, ok := r.Solution.(*model.Assignment); ok {
			o.Start, c = a, in.priced(c, a)
			waits, _ = added(c, a)
		}
	}
	unit, per := unitOf(in.PriceUnit)
	ask("least cost, in "+unit, per)
	if told := o.Progress; told != nil && waits > 0 {
		o.Progress = func(x model.Progress) {
			x.Incumbent, x.Bound = x.Incumbent-float64(waits), math.Max(0, x.Bound-float64(waits))
			told(x)
		}
	}
	r, err := gapwise.Solve(ctx, c, o)
	if err != nil || r.Solution == nil {
		return &least{Result: r, in: c, fewest: fewest}, err
	}
	x := &least{Result: r, in: c, fewest: fewest}
	waits, _ = added(c, r.Solution.(*model.Assignment))
	x.cost = int64(math.Round(r.Objective)) - waits
	x.waiting, x.room = in.unplaced(r.Solution.(*model.Assignment))
	if b := r.Bound - float64(waits); b > 0 { // a plan under which fewer wait has no less
		x.bound = b
	}
	if given != c && x.Status != model.StatusOptimal { // the search's bound is one on cost and waiting together
		for _, q := range consbounds.Quick(ctx, in.with(given, 0)) {
			if x.bound = math.Max(x.bound, q.Value); float64(x.cost) <= x.bound {
				x.Status = model.StatusOptimal
			}
		}
	}
	return x, nil
}

// unguarded lowers the bound of an answer to that of an answer without empty nodes kept for the loss of one (see guard):
// these are sufficient, not necessary, so that their bound isn't one of each plan after which any node may fail.
func (x *least) unguarded(without *least) {
	if without.Solution == nil {
		without.bound = 0
	}
	if x.bound = math.Min(x.bound, without.bound); float64(x.cost) > x.bound && x.Status == model.StatusOptimal {
		x.Status = model.StatusFeasible
	}
}

// added returns the addition of waiting pods to the objective, and how many there are.
func added(c *model.Consolidation, a *model.Assignment) (cost int64, pods int) {
	for i := range a.Jobs {
		for _, h := range a.Jobs[i].Hosts {
			if h == "" {
				pods++
				if x := c.Jobs[i].LeaveOutCost; x != nil {
					cost += *x
				}
			}
		}
	}
	return cost, pods
}

// with returns a copy of an instance in which a task that is left out costs its rank times so much; negative: none may be.
func (in *Instance) with(c *model.Consolidation, each int64) *model.Consolidation {
	x := *c
	x.Jobs = slices.Clone(x.Jobs)
	for i := range x.Jobs {
		j := &x.Jobs[i]
		switch {
		case j.LeaveOutCost == nil:
		case each < 0:
			j.LeaveOutCost = nil
		default:
			cost := min(mostLeaveOut, *j.LeaveOutCost/in.outUnit*each)
			j.LeaveOutCost = &cost
		}
	}
	return &x
}

// free returns an instance in which nodes cost nothing, only waiting does.
func (in *Instance) free(c *model.Consolidation) *model.Consolidation {
	x := in.with(c, 1)
	x.Hosts, x.Offers = slices.Clone(x.Hosts), slices.Clone(x.Offers)
	for k := range x.Hosts {
		x.Hosts[k].Price = 0
	}
	for k := range x.Offers {
		x.Offers[k].Price = 0
	}
	x.CostLimit = nil
	return x
}

// roomFree returns an instance in which no room is kept, and whether some was to be.
func (in *Instance) roomFree(c *model.Consolidation) (x *model.Consolidation, some bool) {
	y := *c
	y.Jobs = slices.Clone(c.Jobs)
	const nowhere = "no room"
	y.HostSets = append(slices.Clone(y.HostSets), model.HostSet{ID: nowhere})
	for i := range y.Jobs {
		if in.isRoom(i) && y.Jobs[i].LeaveOutCost != nil {
			y.Jobs[i].Allowed, some = nowhere, true
		}
	}
	return &y, some
}

// priced returns an instance in which a plan under which more pods wait than under a given one is worse than that, and
// where none waits under it, none may; if it lacks room alone, the pods that are there may not.
func (in *Instance) priced(c *model.Consolidation, a *model.Assignment) *model.Consolidation {
	value, err := c.Objective(a)
	waits, n := added(c, a)
	switch {
	case err != nil:
		return c
	case n == 0:
		return in.with(c, -1)
	}
	x := in.with(c, int64(math.Round(value.Value))-waits+1)
	if waiting, _ := in.unplaced(a); waiting == 0 {
		for i := range x.Jobs {
			if !in.isRoom(i) {
				x.Jobs[i].LeaveOutCost = nil
			}
		}
	}
	return x
}

// mostPriced bounds nodes times pods of a cluster for which a plan tells the price of what it loses.
const mostPriced = 20_000

// priceHolding finds the cost of holding what a plan loses if that is cheap: with the effort of a question in a small
// cluster, and proved.
func (in *Instance) priceHolding(ctx context.Context, p *Plan, o gapwise.Options) error {
	if p.Preferences == nil || len(p.Preferences.Lost) == 0 || p.CostStatus != string(model.StatusOptimal) || p.Mend || in.Tasks()*len(in.Hosts) > mostPriced || ctx.Err() != nil {
		return nil
	}
	read := in.converter.Options
	if read.Hold = Holds; len(in.Held) > 0 {
		return nil // it couldn't hold them
	}
	held, err := Convert(in.Cluster, read)
	if err != nil {
		return err
	}
	held.MoveBudget, held.Goal = in.MoveBudget, model.GoalCost
	o.TimeLimit, o.Effort, o.Start = 0, questionEffort, nil
	x, err := held.leastCost(ctx, held.Consolidation, o)
	if ctx.Err() != nil { // the plan stands without it
		return nil
	}
	if err != nil || x.Status != model.StatusOptimal || x.waiting != p.Then.Waiting || x.room != p.Then.Roomless {
		return err
	}
	price := x.cost - p.Then.Cost
	p.Preferences.Price = &price
	return nil
}
