// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/model"
)

// State is a cluster's use of nodes.
type State struct {
	Nodes int   `json:"nodes"` // with pods that count
	Cost  int64 `json:"cost"`  // of these, and of kept ones
	VCPU  int64 `json:"vcpu"`  // of nodes with pods that count
	// Waiting counts the pods without a node.
	Waiting int `json:"waiting_pods"`
}

// Move is a pod that is evicted, and the node on which the plan has its successor.
type Move struct {
	Pod  string `json:"pod"`
	From string `json:"from,omitempty"` // empty: it waits
	To   string `json:"to"`
	// Detour means that the node is one on the way: without it the moves go in a circle.
	Detour bool `json:"detour,omitempty"`
	// Why the move isn't in an earlier wave: a budget or room; empty in the first.
	After string `json:"after,omitempty"`
}

// Plan is a cheaper state of a cluster, the way to it, and the proofs.
type Plan struct {
	PriceUnit string `json:"price_unit"`
	Now       State  `json:"now"`
	Then      State  `json:"then"`
	// CostBound and MovesBound: no plan under which as few pods wait costs less, and none of that cost moves fewer pods.
	// Optimal ones are met.
	CostBound   float64  `json:"cost_bound"`
	CostStatus  string   `json:"cost_status"`
	Moves       int64    `json:"moves"`
	MovesBound  float64  `json:"moves_bound"`
	MovesStatus string   `json:"moves_status"`
	Emptied     []string `json:"emptied_nodes"` // in use now, not then
	// Empty are nodes with no pods but those of daemon sets and the like today: they are saved without a move.
	Empty []string `json:"empty_nodes,omitempty"`
	// Launch are the nodes to buy: they must be there before the first wave.
	Launch []Launch `json:"launch,omitempty"`
	// Waves are the moves in an order in which each finds room, no budget loses more pods
	// at once than it allows, and no rule is broken on the way. Moves of one wave may go at once: the next
	// begins when all successors are ready.
	Waves [][]Move `json:"waves"`
	// Steps are the waves as kube-scheduler has to be steered, Played where it ends with that and without.
	Steps  []Step `json:"steps"`
	Played Played `json:"played"`
	// Stuck are moves that find no order: each needs room that another has to leave first.
	Stuck []Move `json:"stuck,omitempty"`
	Pins  []Pin  `json:"pins"`
	// Waits are the pods that go on waiting.
	Waits []Wait `json:"waits,omitempty"`
	Risks Risks  `json:"risks"`
	// Removal tells what changes once nodes without pods are removed; nil if nothing does.
	Removal *Removal `json:"removal,omitempty"`
	// Account tells what the cluster has and the model doesn't.
	Account *model.Account `json:"account,omitempty"`

	// Solution is the plan and Today the present state, for the instance with the nodes to buy.
	Solution *model.Assignment    `json:"-"`
	Today    *model.Assignment    `json:"-"`
	Instance *model.Consolidation `json:"-"`

	fence []string // nodes that a drain cordons all the time
}

// Pin explains why pods can't move.
type Pin struct {
	Why   string `json:"why"`
	Pods  int    `json:"pods"`
	Nodes int    `json:"nodes"` // with such pods
}

// MakePlan finds how few pods have to wait, then the least cost, and then the fewest moves to it. Half of the time limit is for each.
// The error wraps model.ErrNoSolution if nothing was found in the time.
func MakePlan(ctx context.Context, in *Instance, o gapwise.Options) (*Plan, error) {
	limit := o.TimeLimit
	o.TimeLimit = limit / 2
	first := *in.Consolidation
	first.Goal = model.GoalCost
	in.converter.ask("fewest waiting pods, then least cost")
	cost, err := in.leastCost(ctx, &first, o)
	if err != nil {
		return nil, err
	}
	if cost.Solution == nil {
		return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, cmp.Or(cost.Reason, string(cost.Status)))
	}
	second := *cost.in
	most := int64(math.Round(cost.Objective))
	second.Goal, second.CostLimit = model.GoalMoves, &most
	o.Start = cost.Solution
	in.converter.ask("fewest moves to it")
	moves, err := gapwise.Solve(ctx, &second, o)
	if err != nil {
		return nil, err
	}
	solution := cost.Solution.(*model.Assignment)
	if moves.Solution != nil {
		solution = moves.Solution.(*model.Assignment)
	}
	p := &Plan{PriceUnit: in.PriceUnit, CostBound: cost.bound, CostStatus: string(cost.Status), MovesBound: moves.Bound, MovesStatus: string(moves.Status), Account: in.Account, Empty: in.empty()}
	if math.IsNaN(p.MovesBound) {
		p.MovesBound = 0
	}
	if len(solution.Bought) > 0 { // all that follows is of the cluster with these nodes
		if in, solution, p.Launch, err = in.launched(solution); err != nil {
			return nil, err
		}
	}
	c := view.OfConsolidation(in.Consolidation, 0)
	plan, err := c.PlanOf(solution)
	if err != nil {
		return nil, err
	}
	p.Now, p.Then = in.state(c, c.Today()), in.state(c, plan)
	_, p.Moves = c.Figures(plan)
	now, then := c.Used(c.Today()), c.Used(plan)
	for h := range c.Existing {
		if now.Has(h) && !then.Has(h) {
			p.Emptied = append(p.Emptied, in.Hosts[h].ID)
		}
	}
	p.Pins, p.Waits, p.Risks, p.Removal = in.pins(), in.waits(plan), in.risks(c.Today(), plan), in.removal(c, plan)
	in.order(ctx, c, plan, p)
	in.steer(plan, p)
	p.Instance, p.Today, p.Solution = in.Consolidation, c.Assignment(c.Today()), c.Assignment(plan)
	return p, nil
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
			if h < 0 {
				s.Waiting++
			}
		}
	}
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

// mover finds an order of moves. Pods of a job are alike: which of those that move goes to which of their nodes
// is open until it goes.
type mover struct {
	in       *Instance
	s        *planstate.State
	plan     view.Plan
	left     []move
	after    map[move]string
	detoured map[move]bool
}

type move struct{ i, k int }

// order makes the waves: in each, as many of the moves that are left as find room after those before,
// under the budgets. If none does, a pod takes a detour over a node that has room, once; if there is none, the rest is
// stuck. It only changes which pod of a job goes where.
func (in *Instance) order(ctx context.Context, c *view.Consolidation, plan view.Plan, p *Plan) {
	m := &mover{in: in, s: planstate.Of(c, c.Today()), plan: plan, after: map[move]string{}, detoured: map[move]bool{}}
	for i := range plan {
		for k, h := range plan[i] {
			if h != c.Jobs[i].Current[k] && h >= 0 {
				m.left = append(m.left, move{i, k})
			}
		}
	}
	for len(m.left) > 0 && ctx.Err() == nil {
		wave := m.wave()
		if len(wave) == 0 {
			wave = m.detour()
		}
		if len(wave) == 0 {
			break
		}
		p.Waves = append(p.Waves, wave)
	}
	for _, x := range m.left {
		p.Stuck = append(p.Stuck, m.named(x, int(m.plan[x.i][x.k])))
	}
}

// named returns a move in names.
func (m *mover) named(x move, to int) Move {
	s := Move{Pod: m.in.Pods[x.i][x.k], To: m.host(to), After: m.after[x]}
	if from := m.s.Plan[x.i][x.k]; from >= 0 {
		s.From = m.host(int(from))
	}
	return s
}

func (m *mover) host(h int) string { return m.s.C.In.Hosts[h].ID }

// wave takes the moves that can be made at once, one after another.
func (m *mover) wave() (wave []Move) {
	taken := map[int]int{} // of each budget
	var left []move
	for again := true; again; {
		again, left = false, nil
		for _, x := range m.left {
			if why := m.blocked(x, taken); why != "" {
				m.after[x] = why
				left = append(left, x)
				continue
			}
			said, ok := m.send(x)
			if !ok {
				to := int(m.plan[x.i][x.k])
				m.after[x] = roomOn + m.host(to)
				if m.fits(x, to) {
					m.after[x] = "the pods that it must be with, or away from, on " + m.host(to)
				}
				left = append(left, x)
				continue
			}
			again = true
			for _, b := range m.in.Budgets[m.in.Pods[x.i][x.k]] {
				taken[b]++
			}
			wave = append(wave, said)
		}
		m.left = left
	}
	return wave
}

// roomOn begins the reason of a move that waits for room.
const roomOn = "room on "

// fits reports whether a node has room for a pod that moves there.
func (m *mover) fits(x move, to int) bool {
	if from := m.s.Plan[x.i][x.k]; from >= 0 {
		m.s.Remove(x.i, x.k)
		defer m.s.Add(x.i, x.k, int(from))
	}
	return m.s.Fits(x.i, to)
}

// send moves a pod to its node, or to the node of another waiting pod of its job, which then gets its node.
func (m *mover) send(x move) (Move, bool) {
	to := m.plan[x.i][x.k]
	if said := m.named(x, int(to)); m.shift(x, int(to)) {
		return said, true
	}
	for _, y := range m.left {
		other := m.plan[y.i][y.k]
		if y.i != x.i || y.k == x.k || other == to || m.s.Plan[y.i][y.k] == other || m.s.Plan[x.i][x.k] == other || m.s.C.Jobs[y.i].Current[y.k] == to {
			continue
		}
		if said := m.named(x, int(other)); m.shift(x, int(other)) {
			m.plan[x.i][x.k], m.plan[y.i][y.k] = other, to
			return said, true
		}
	}
	return Move{}, false
}

// blocked names the budget that allows no more evictions at once, "" if none does.
func (m *mover) blocked(x move, taken map[int]int) string {
	if m.s.Plan[x.i][x.k] < 0 {
		return ""
	}
	for _, b := range m.in.Budgets[m.in.Pods[x.i][x.k]] {
		if budget := &m.in.Cluster.Budgets[b]; taken[b] >= max(1, int(budget.Status.DisruptionsAllowed)) {
			return "budget " + budget.Name
		}
	}
	return ""
}

// shift moves a task if it may be there, and reports whether it does.
func (m *mover) shift(x move, to int) bool {
	from := m.s.Plan[x.i][x.k]
	broken := m.s.Broken
	if from >= 0 {
		m.s.Remove(x.i, x.k)
	}
	first := !m.s.Can(x.i, x.k, to) && m.first(x.i) && m.s.Fits(x.i, to) && m.s.C.Jobs[x.i].Allowed.Has(to) && !m.s.C.Jobs[x.i].Pinned
	if first || m.s.Can(x.i, x.k, to) {
		m.s.Add(x.i, x.k, to)
		if m.s.Broken <= broken || first {
			return true
		}
		m.s.Remove(x.i, x.k)
	}
	if from >= 0 {
		m.s.Add(x.i, x.k, int(from))
	}
	return false
}

// first reports whether a pod of a job is the first of those that its affinity asks for, itself among them, and has no
// other rules: kube-scheduler lets it start alone, and the others follow.
func (m *mover) first(i int) (is bool) {
	id := m.in.Jobs[i].ID
	for k := range m.in.Rules {
		r := &m.in.Rules[k]
		if !slices.Contains(r.Jobs, id) {
			if r.Type != model.RuleTogether && slices.Contains(r.Others, id) {
				return false
			}
			continue
		}
		if r.Type != model.RuleTogether {
			return false
		}
		if is = slices.Contains(r.Others, id) && len(r.Standing) == 0; !is {
			return false
		}
		for j := range m.in.Jobs {
			if slices.Contains(r.Others, m.in.Jobs[j].ID) && slices.ContainsFunc(m.s.Plan[j], func(h int32) bool { return h >= 0 }) {
				return false
			}
		}
	}
	return is
}

// detour moves the first task that can go somewhere else than it should, on a node in use if there is one.
func (m *mover) detour() []Move {
	for _, x := range m.left {
		if m.s.Plan[x.i][x.k] < 0 || m.detoured[x] {
			continue
		}
		var inUse, others []int
		for h := range m.s.C.Existing {
			if from := m.s.Plan[x.i][x.k]; int(from) == h || h == int(m.plan[x.i][x.k]) {
				continue
			}
			if m.s.Tasks[h] > 0 {
				inUse = append(inUse, h)
			} else {
				others = append(others, h)
			}
		}
		for _, h := range append(inUse, others...) {
			said := m.named(x, h)
			if said.Detour = true; m.shift(x, h) {
				m.detoured[x] = true
				return []Move{said}
			}
		}
	}
	return nil
}
