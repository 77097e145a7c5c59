// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// State is a cluster's use of nodes.
type State struct {
	Nodes int   `json:"nodes"` // with pods that count
	Cost  int64 `json:"cost"`  // of these, and of kept ones
	VCPU  int64 `json:"vcpu"`  // of nodes with pods that count
	// PerHour is the cost in the currency of the prices; 0 if they have none.
	PerHour float64 `json:"cost_per_hour,omitempty"`
	// Waiting counts the pods without a node.
	Waiting int `json:"waiting_pods"`
	// Roomless counts the pods that aren't there, of those for which room is to be kept, without any.
	Roomless int `json:"pods_without_room,omitempty"`
}

// Move is a pod that is evicted, and the node on which the plan has its successor.
type Move struct {
	Pod  string `json:"pod"`
	From string `json:"from,omitempty"` // empty: it waits
	To   string `json:"to"`
	// Detour means that the node is one on the way: without it the moves go in a circle.
	Detour bool `json:"detour,omitempty"`
	// AtOnce means that all pods of the wave have to be gone before the first successor starts.
	AtOnce bool `json:"at_once,omitempty"`
	// Why the move isn't in an earlier wave: a budget or room; empty in the first.
	After string `json:"after,omitempty"`
}

// Plan is a cheaper state of a cluster, the way to it, and the proofs.
type Plan struct {
	PriceUnit string `json:"price_unit"`
	Now       State  `json:"now"`
	// Then is the end that the waves reach.
	Then State `json:"then"`
	// Money is of prices with a currency.
	Money *InMoney `json:"money,omitempty"`
	// CostBound and MovesBound: no plan under which as few pods wait costs less, and none of that cost moves fewer pods.
	// Optimal ones are met.
	CostBound  float64 `json:"cost_bound"`
	CostStatus string  `json:"cost_status"`
	// WaitingStatus is optimal if it is proved that no plan has fewer pods waiting, and as many of those with room for more
	// pods to come.
	WaitingStatus string   `json:"waiting_status"`
	Moves         int64    `json:"moves"`
	MovesBound    float64  `json:"moves_bound"`
	MovesStatus   string   `json:"moves_status"`
	Emptied       []string `json:"emptied_nodes"` // in use now, not then
	// Empty are nodes with no pods but those of daemon sets and the like, today and after the plan: they are saved without a
	// move.
	Empty []string `json:"empty_nodes,omitempty"`
	// EmptyCost is theirs. Neither Now nor Then has it: it is saved besides their difference.
	EmptyCost int64 `json:"empty_cost,omitempty"`
	// Filled are nodes that are empty today, and that the plan needs: for pods, or for room that is kept. Then has their cost.
	Filled []string `json:"filled_nodes,omitempty"`
	// Launch are the nodes to buy: they must be there before the first wave.
	Launch []Launch `json:"launch,omitempty"`
	// Waves are the moves in an order in which each finds room, no budget loses more pods
	// at once than it allows, and no rule is broken on the way. Moves of one wave may go at once: the next
	// begins when all successors are ready.
	Waves [][]Move `json:"waves"`
	// Steps are the waves as kube-scheduler has to be steered, Played where it ends with that and without.
	Steps  []Step `json:"steps"`
	Played Played `json:"played"`
	// Beyond is the cheapest plan that was found, if no waves reach it: it is no answer. Stuck are its moves that find no
	// order.
	Beyond *State `json:"out_of_reach,omitempty"`
	Stuck  []Move `json:"stuck,omitempty"`
	Pins   []Pin  `json:"pins"`
	// Waits are the pods that go on waiting.
	Waits []Wait `json:"waits,omitempty"`
	// Offered means that nodes could be bought for them.
	Offered bool  `json:"offered,omitempty"`
	Risks   Risks `json:"risks"`
	// Room is what is kept for pods that aren't there. NodeFails, if that is for the loss of a node, names the nodes in use
	// whose pods then have no other place.
	Room      []Room   `json:"room,omitempty"`
	NodeFails []string `json:"nodes_that_may_not_fail"`
	// Preferences is nil if no pod has any.
	Preferences *Preferences `json:"preferences,omitempty"`
	// Used is nil without measures. A plan by use has no waves: no evictions lead to it.
	Used *Used `json:"use,omitempty"`
	// Mend means that the plan is the one of fewest moves that mends: CostBound is of nodes beyond those in use today.
	Mend bool `json:"mend,omitempty"`
	// Broken are the rules that running pods break, the nodes with less than their pods ask for, and the pods that their
	// node wouldn't take: today, and after the plan.
	Broken struct {
		Now  planstate.Broken `json:"now"`
		Then planstate.Broken `json:"then"`
	} `json:"broken"`
	// Stopped means that questions were left open at Ctrl-C, so that a better plan may be found.
	Stopped bool `json:"stopped,omitempty"`
	// Removal tells what changes once nodes without pods are removed; nil if nothing does.
	Removal *Removal `json:"removal,omitempty"`
	// Account tells what the cluster has and the model doesn't.
	Account *model.Account `json:"account,omitempty"`

	// Solution is the plan and Today the present state, for the instance with the nodes to buy.
	Solution *model.Assignment    `json:"-"`
	Today    *model.Assignment    `json:"-"`
	Instance *model.Consolidation `json:"-"`

	comes      []bool   // jobs whose pods aren't there: room is kept for them
	fence      []string // nodes that a drain cordons all the time
	fewest     [2]int   // pods that wait, and that have no room, of the cheapest plan found, reached or not
	slack      bool     // a share of each node is to stay free
	unbudgeted bool     // the cluster was read without any PodDisruptionBudget
}

// Comes reports whether the pods of a job of Instance aren't there: room is kept for them.
func (p *Plan) Comes(job int) bool { return job < len(p.comes) && p.comes[job] }

// Pin explains why pods can't move.
type Pin struct {
	Why   string `json:"why"`
	Pods  int    `json:"pods"`
	Nodes int    `json:"nodes"` // with such pods
}

// mostRounds bounds how often a plan is sought without moves that find no order.
const mostRounds = 4

// MakePlan finds how few pods have to wait, then the least cost, and then the fewest moves to it. The plan is one that
// waves reach: if some moves of the cheapest find no order, it is sought again without these, and the cheapest of all ends
// is taken. The bounds are of all plans, reached or not. Most of the time limit is for the first round, half of it for
// each question.
// The error wraps model.ErrNoSolution if nothing was found in the time.
//
// If any one node is to be allowed to fail, more plans are made until one lets each, see guard: the bound is the first one's.
func MakePlan(ctx context.Context, in *Instance, o gapwise.Options) (*Plan, error) {
	if !slices.Contains(in.converter.Room, roomNode) {
		return makePlan(ctx, in, o)
	}
	var best *Plan
	limit, begun := o.TimeLimit, time.Now()
	err := in.guard(func(x *Instance) ([]string, bool, error) {
		left := limit - time.Since(begun)
		if o.TimeLimit = max(0, min(limit/2, left)); limit > 0 && best != nil && left < limit/20 {
			return nil, true, nil // it is as it is
		}
		p, err := makePlan(ctx, x, o)
		switch {
		case err != nil:
			return nil, false, err
		case best == nil:
			best = p
			return p.NodeFails, p.NodeFails != nil, nil
		}
		if p.CostBound = best.CostBound; p.CostStatus != string(model.StatusOptimal) || float64(p.Then.Cost) > p.CostBound {
			p.CostStatus = string(model.StatusFeasible)
		}
		if p.NodeFails == nil || cmp.Or(cmp.Compare(len(p.NodeFails), len(best.NodeFails)), cmp.Compare(p.Then.Cost, best.Then.Cost)) < 0 {
			best = p
		}
		return p.NodeFails, p.NodeFails != nil, nil
	})
	if best != nil {
		best.Stopped = ctx.Err() != nil
	}
	return best, err
}

// makePlan makes one plan.
func makePlan(ctx context.Context, in *Instance, o gapwise.Options) (*Plan, error) {
	limit, begun := o.TimeLimit, time.Now()
	stays := map[string]bool{} // pods
	var best *way
	least := int64(0) // the cost for which moves are bounded
	ordering, end := meter.Late(ctx, grace)
	defer end()
	p := &Plan{PriceUnit: in.PriceUnit, Account: in.Account, Mend: in.converter.Mend, Offered: in.converter.Offers != nil,
		unbudgeted: len(in.Cluster.Budgets) == 0, slack: in.converter.Slack > 0}
	for round := range mostRounds {
		if o.TimeLimit = limit * 9 / 20; round > 0 && limit > 0 {
			if o.TimeLimit = (limit - time.Since(begun)) / time.Duration(2*(mostRounds-round)); o.TimeLimit < time.Millisecond {
				break
			}
		}
		cost, moves, err := in.least(ctx, in.mended(in.unmoved(stays)), o)
		switch {
		case err != nil:
			return nil, err
		case cost.Solution == nil && round == 0:
			return nil, in.none(&cost.Result)
		case cost.Solution == nil:
		case round == 0:
			least = cost.cost
			p.CostBound, p.CostStatus, p.WaitingStatus = cost.bound, string(cost.Status), string(cost.fewest)
			p.fewest = [2]int{cost.waiting, cost.room}
			p.MovesBound, p.MovesStatus = moves.Bound, string(moves.Status)
		}
		var stuck *way
		for _, r := range []*model.Result{moves, &cost.Result} {
			if r.Solution == nil {
				continue
			}
			w, err := in.way(ordering, r.Solution.(*model.Assignment))
			if err != nil {
				return nil, err
			}
			if w.cut { // moves that weren't looked at aren't stuck
				continue
			}
			if len(w.stuck) > 0 && (stuck == nil || len(w.stuck) < len(stuck.stuck)) {
				stuck = w
			}
			if round == 0 && p.Beyond == nil && len(w.stuck) > 0 {
				p.Beyond, p.Stuck = &w.sought, w.stuck
			}
			if best == nil || w.better(best) {
				best = w
			}
			if len(w.stuck) == 0 {
				stuck = nil
				break
			}
		}
		if stuck == nil || ctx.Err() != nil {
			break
		}
		for _, m := range stuck.stuck {
			stays[m.Pod] = true
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%w: stopped before the moves of the plan had their order", model.ErrNoSolution)
	}
	best.report(p, in, least)
	p.Stopped = ctx.Err() != nil
	return p, in.priceHolding(ctx, p, o)
}

// ErrNone means a proof that no plan has what is asked.
var ErrNone = errors.New("proved")

// none returns the error of a result without a plan: it wraps ErrNone or model.ErrNoSolution.
func (in *Instance) none(r *model.Result) error {
	switch {
	case r.Status != model.StatusInfeasible:
		return fmt.Errorf("%w: %s", model.ErrNoSolution, cmp.Or(r.Reason, string(r.Status)))
	case in.converter.Mend:
		return fmt.Errorf("%w: no plan mends all that is broken on these nodes; plan without --mend tells what is", ErrNone)
	case in.converter.MaxNodes > 0:
		return fmt.Errorf("%w: no plan has %s in use, or fewer", ErrNone, words.Plural(in.converter.MaxNodes, "node"))
	}
	return fmt.Errorf("%w: no plan keeps all that is asked", ErrNone)
}

// grace is the time for the order of a plan that a search had when it was stopped.
const grace = 2 * time.Second

// least finds the least cost, and the fewest moves to it; those have no solution if none is found in the time.
func (in *Instance) least(ctx context.Context, c *model.Consolidation, o gapwise.Options) (*least, *model.Result, error) {
	first := *c
	first.Goal = model.GoalCost
	cost, err := in.leastCostTold(ctx, &first, o, in.converter.ask)
	if err != nil || cost.Solution == nil {
		return cost, nil, err
	}
	second := *cost.in
	most := int64(math.Round(cost.Objective))
	second.Goal, second.CostLimit = model.GoalMoves, &most
	o.Start = cost.Solution
	in.converter.ask("fewest moves to it, in pods", 1)
	moves, err := gapwise.Solve(ctx, &second, o)
	return cost, &moves, err
}

// mended returns an instance in which today's plan is to be mended, if the options ask for that: nodes in use today cost
// nothing, as none is to become empty.
func (in *Instance) mended(c *model.Consolidation) *model.Consolidation {
	if !in.converter.Mend {
		return c
	}
	x := *c
	x.Mend, x.Hosts = true, slices.Clone(c.Hosts)
	used := map[string]bool{}
	for i := range c.Jobs {
		for _, h := range c.Jobs[i].CurrentHosts {
			used[h] = true
		}
	}
	for h := range x.Hosts {
		if used[x.Hosts[h].ID] || x.Hosts[h].Kept {
			x.Hosts[h].Price = 0
		}
	}
	return &x
}

// unmoved returns the instance in which the jobs of some pods stay as they are: where they run, or waiting.
func (in *Instance) unmoved(pods map[string]bool) *model.Consolidation {
	if len(pods) == 0 {
		return in.Consolidation
	}
	x := *in.Consolidation
	x.Jobs = slices.Clone(x.Jobs)
	const nowhere = "none of the nodes"
	x.HostSets = append(slices.Clone(x.HostSets), model.HostSet{ID: nowhere})
	for i := range x.Jobs {
		if j := &x.Jobs[i]; slices.ContainsFunc(in.Pods[i], func(pod string) bool { return pods[pod] }) {
			if j.Allowed = nowhere; j.LeaveOutCost == nil {
				j.Pinned = true
			}
		}
	}
	return &x
}

// way is the way to a plan: waves, and the end that they reach.
type way struct {
	in      *Instance // with the nodes to buy
	c       *view.Consolidation
	end     view.Plan
	sought  State // of the plan, reached or not
	reached State
	moves   int64
	launch  []Launch
	waves   [][]Move
	stuck   []Move // that find no order
	cut     bool   // it was stopped before all moves had been tried
}

// way orders the moves to a plan.
func (in *Instance) way(ctx context.Context, a *model.Assignment) (*way, error) {
	w := &way{in: in}
	if len(a.Bought) > 0 { // all that follows is of the cluster with these nodes
		var err error
		if w.in, a, w.launch, err = in.launched(a); err != nil {
			return nil, err
		}
	}
	w.c = view.OfConsolidation(w.in.Consolidation, 0)
	plan, err := w.c.PlanOf(a)
	if err != nil {
		return nil, err
	}
	w.sought = w.in.state(w.c, plan)
	if w.end = plan; !w.in.converter.ByUse {
		if w.order(ctx, plan); ctx.Err() != nil {
			return &way{cut: true}, nil
		}
	}
	w.reached = w.in.state(w.c, w.end)
	_, w.moves = w.c.Figures(w.end)
	if len(w.stuck) == 0 {
		return w, nil
	}
	none := &way{in: in, c: view.OfConsolidation(in.Consolidation, 0), sought: w.sought, stuck: w.stuck}
	today := planstate.Of(none.c, none.c.Today())
	in.settle(today, nil, false)
	none.end = today.Plan
	if none.reached = in.state(none.c, none.end); !w.better(none) { // half of the way is no better than none
		return none, nil
	}
	return w, nil
}

// better reports whether a way ends at a better plan than another one. What mends is the better the fewer pods it moves.
func (w *way) better(than *way) bool {
	if w.in.converter.Mend {
		return cmp.Or(cmp.Compare(w.reached.Waiting, than.reached.Waiting), cmp.Compare(len(w.stuck), len(than.stuck)), cmp.Compare(w.moves, than.moves)) < 0
	}
	return cmp.Or(cmp.Compare(w.reached.Waiting, than.reached.Waiting), cmp.Compare(w.reached.Roomless, than.reached.Roomless), cmp.Compare(w.reached.Cost, than.reached.Cost), cmp.Compare(w.moves, than.moves)) < 0
}

// report fills in a plan for a cluster, for which the moves at a cost are bounded.
func (w *way) report(p *Plan, of *Instance, least int64) {
	in, c := w.in, w.c
	p.Now, p.Then, p.Moves, p.Launch, p.Waves = in.state(c, c.Today()), w.reached, w.moves, w.launch, w.waves
	p.Now.Roomless = 0 // none is asked of today
	if p.Beyond != nil && *p.Beyond == p.Then {
		p.Beyond, p.Stuck = nil, nil
	}
	if p.Beyond != nil && (float64(p.Then.Cost) > p.CostBound || p.Then.Waiting > p.Beyond.Waiting || p.Then.Roomless > p.Beyond.Roomless) {
		p.CostStatus = string(model.StatusFeasible)
	}
	if p.Then.Waiting > p.fewest[0] || p.Then.Roomless > p.fewest[1] {
		p.WaitingStatus = string(model.StatusFeasible)
	}
	if p.Then.Cost > least && !p.Mend || math.IsNaN(p.MovesBound) {
		p.MovesBound, p.MovesStatus = 0, string(model.StatusFeasible)
	}
	if float64(p.Moves) > p.MovesBound {
		p.MovesStatus = string(model.StatusFeasible)
	}
	now, then := c.Used(c.Today()), c.Used(w.end)
	for h := range c.Existing {
		if now.Has(h) && !then.Has(h) {
			p.Emptied = append(p.Emptied, in.Hosts[h].ID)
		}
	}
	for _, h := range of.empty() {
		if id := in.Hosts[h].ID; then.Has(h) {
			p.Filled = append(p.Filled, id)
		} else {
			p.Empty, p.EmptyCost = append(p.Empty, id), p.EmptyCost+in.Hosts[h].Price
		}
	}
	p.Money = in.converter.Prices.money(p.Now.Cost, p.Then.Cost, p.EmptyCost, p.CostBound)
	p.Pins, p.Risks, p.Removal = in.pins(), in.risks(c.Today(), w.end), in.removal(c, w.end)
	p.Waits, p.Room = in.waits(w.end)
	for i := range in.Jobs {
		p.comes = append(p.comes, in.isRoom(i))
	}
	if slices.Contains(in.converter.Room, roomNode) {
		if nodes, ok := in.fails(w.end); ok {
			p.NodeFails = append([]string{}, nodes...)
		}
	}
	p.Preferences = in.preferences(c.Today(), w.end)
	p.Broken.Now, p.Broken.Then = in.broken(c, c.Today()), in.broken(c, w.end)
	if p.Used = in.used(); !in.converter.ByUse {
		in.steer(w.end, p)
	}
	p.Instance, p.Today, p.Solution = in.Consolidation, c.Assignment(c.Today()), c.Assignment(w.end)
}

// state returns the state after a plan.
func (in *Instance) state(c *view.Consolidation, p view.Plan) (s State) {
	used := c.Used(p)
	for h := range c.Hosts {
		if used.Has(h) || c.Hosts[h].Kept {
			s.Cost += c.Hosts[h].Price
		}
		if used.Has(h) {
			s.Nodes++
			if price, err := PriceByVCPU.Of(&in.Cluster.Nodes[h]); err == nil {
				s.VCPU += price
			}
		}
	}
	for i := range p {
		for _, h := range p[i] {
			switch {
			case h >= 0:
			case in.isRoom(i):
				s.Roomless++
			default:
				s.Waiting++
			}
		}
	}
	s.PerHour = in.converter.Prices.hour(float64(s.Cost))
	return s
}

// pins sums up why pods can't move, those that hold most nodes first.
func (in *Instance) pins() (all []Pin) {
	pods, nodes := map[string]int{}, map[string]map[string]bool{}
	for i := range in.Jobs {
		why, ok := in.Pins[in.Jobs[i].ID]
		if !ok {
			continue
		}
		if nodes[why] == nil {
			nodes[why] = map[string]bool{}
		}
		pods[why] += in.Jobs[i].Tasks
		for _, h := range in.Jobs[i].CurrentHosts {
			nodes[why][h] = true
		}
	}
	for _, why := range slices.Sorted(maps.Keys(pods)) {
		all = append(all, Pin{why, pods[why], len(nodes[why])})
	}
	slices.SortStableFunc(all, func(a, b Pin) int { return b.Nodes - a.Nodes })
	return all
}
