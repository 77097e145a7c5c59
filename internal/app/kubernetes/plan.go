// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

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
	Money *PerMonth `json:"money,omitempty"`
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
	// Beyond is the cheapest plan that was found, if no waves reach it: it is no answer. Stuck are its moves that find no
	// order.
	Beyond *State `json:"out_of_reach,omitempty"`
	Stuck  []Move `json:"stuck,omitempty"`
	Pins   []Pin  `json:"pins"`
	// Waits are the pods that go on waiting.
	Waits []Wait `json:"waits,omitempty"`
	Risks Risks  `json:"risks"`
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

// mostRounds bounds how often a plan is sought without moves that find no order.
const mostRounds = 4

// MakePlan finds how few pods have to wait, then the least cost, and then the fewest moves to it. The plan is one that
// waves reach: if some moves of the cheapest find no order, it is sought again without these, and the cheapest of all ends
// is taken. The bounds are of all plans, reached or not. Most of the time limit is for the first round, half of it for
// each question.
// The error wraps model.ErrNoSolution if nothing was found in the time.
func MakePlan(ctx context.Context, in *Instance, o gapwise.Options) (*Plan, error) {
	limit, begun := o.TimeLimit, time.Now()
	stays := map[string]bool{} // pods
	var best *way
	least := int64(0) // the cost for which moves are bounded
	p := &Plan{PriceUnit: in.PriceUnit, Account: in.Account, Empty: in.empty(), Mend: in.converter.Mend}
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
			return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, cmp.Or(cost.Reason, string(cost.Status)))
		case cost.Solution == nil:
		case round == 0:
			least = cost.cost
			p.CostBound, p.CostStatus = cost.bound, string(cost.Status)
			p.MovesBound, p.MovesStatus = moves.Bound, string(moves.Status)
		}
		var stuck *way
		for _, r := range []*model.Result{moves, &cost.Result} {
			if r.Solution == nil {
				continue
			}
			w, err := in.way(ctx, r.Solution.(*model.Assignment))
			if err != nil {
				return nil, err
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
		if stuck == nil {
			break
		}
		for _, m := range stuck.stuck {
			stays[m.Pod] = true
		}
	}
	best.report(p, least)
	return p, nil
}

// least finds the least cost, and the fewest moves to it; those have no solution if none is found in the time.
func (in *Instance) least(ctx context.Context, c *model.Consolidation, o gapwise.Options) (*least, *model.Result, error) {
	first := *c
	first.Goal = model.GoalCost
	in.converter.ask("fewest waiting pods, then least cost")
	cost, err := in.leastCost(ctx, &first, o)
	if err != nil || cost.Solution == nil {
		return cost, nil, err
	}
	second := *cost.in
	most := int64(math.Round(cost.Objective))
	second.Goal, second.CostLimit = model.GoalMoves, &most
	o.Start = cost.Solution
	in.converter.ask("fewest moves to it")
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
		w.order(ctx, plan)
	}
	w.reached = w.in.state(w.c, w.end)
	_, w.moves = w.c.Figures(w.end)
	if len(w.stuck) == 0 {
		return w, nil
	}
	none := &way{in: in, c: view.OfConsolidation(in.Consolidation, 0), sought: w.sought, stuck: w.stuck}
	none.end = none.c.Today()
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
	return cmp.Or(cmp.Compare(w.reached.Waiting, than.reached.Waiting), cmp.Compare(w.reached.Cost, than.reached.Cost), cmp.Compare(w.moves, than.moves)) < 0
}

// report fills in a plan, for which the moves at a cost are bounded.
func (w *way) report(p *Plan, least int64) {
	in, c := w.in, w.c
	p.Now, p.Then, p.Moves, p.Launch, p.Waves = in.state(c, c.Today()), w.reached, w.moves, w.launch, w.waves
	p.Money = in.converter.Prices.money(p.Now.Cost, p.Then.Cost, p.CostBound)
	if p.Beyond != nil && *p.Beyond == p.Then {
		p.Beyond, p.Stuck = nil, nil
	}
	if p.Beyond != nil && (float64(p.Then.Cost) > p.CostBound || p.Then.Waiting > p.Beyond.Waiting) {
		p.CostStatus = string(model.StatusFeasible)
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
	p.Pins, p.Waits, p.Risks, p.Removal = in.pins(), in.waits(w.end), in.risks(c.Today(), w.end), in.removal(c, w.end)
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
// under the budgets. If none does, pods that want each other's company go at once, or a pod takes a detour over a node
// that has room, once; if there is none, the rest is stuck. It changes which pod of a job goes where.
func (w *way) order(ctx context.Context, plan view.Plan) {
	c := w.c
	m := &mover{in: w.in, s: planstate.Of(c, c.Today()), plan: plan, after: map[move]string{}, detoured: map[move]bool{}}
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
			wave = m.company()
		}
		if len(wave) == 0 {
			wave = m.detour()
		}
		if len(wave) == 0 {
			break
		}
		w.waves = append(w.waves, wave)
	}
	for _, x := range m.left {
		w.stuck = append(w.stuck, m.named(x, int(m.plan[x.i][x.k])))
	}
	w.end = m.s.Plan
}

// company moves the pods of jobs that want each other's company and no other's, if all of them are left and their
// budgets allow that all go at once: when none is there any more, the first may start anywhere it fits.
func (m *mover) company() []Move {
	for q := range m.in.Rules {
		r := &m.in.Rules[q]
		if r.Type != model.RuleTogether || !slices.Contains(r.Others, r.Jobs[0]) {
			continue
		}
		var all []move
		there := 0
		for i := range m.in.Jobs {
			if !slices.Contains(r.Others, m.in.Jobs[i].ID) {
				continue
			}
			for k, h := range m.s.Plan[i] {
				if h < 0 {
					continue
				}
				there++
				if x := (move{i, k}); slices.Contains(m.left, x) {
					all = append(all, x)
				}
			}
		}
		taken := map[int]int{}
		if len(all) < there || len(all) == 0 || slices.ContainsFunc(all, func(x move) bool {
			why := m.blocked(x, taken)
			for _, b := range m.in.Budgets[m.in.Pods[x.i][x.k]] {
				taken[b]++
			}
			return why != ""
		}) {
			continue
		}
		if wave := m.together(all); wave != nil {
			m.left = slices.DeleteFunc(m.left, func(x move) bool { return slices.Contains(all, x) })
			return wave
		}
	}
	return nil
}

// together takes pods away and has their successors start one after another where the plan has them; nil if they can't.
func (m *mover) together(all []move) (wave []Move) {
	broken, from := m.s.Broken, make([]int32, len(all))
	for n, x := range all {
		said := m.named(x, int(m.plan[x.i][x.k]))
		said.AtOnce = true
		wave = append(wave, said)
		from[n] = m.s.Plan[x.i][x.k]
	}
	for _, x := range all {
		m.s.Remove(x.i, x.k)
	}
	left := slices.Clone(all)
	for again := true; again; {
		n := len(left)
		left = slices.DeleteFunc(left, func(x move) bool { return m.shift(x, int(m.plan[x.i][x.k])) })
		again = len(left) < n
	}
	if len(left) == 0 && m.s.Broken <= broken {
		return wave
	}
	for _, x := range all {
		if m.s.Plan[x.i][x.k] >= 0 {
			m.s.Remove(x.i, x.k)
		}
	}
	for n, x := range all {
		m.s.Add(x.i, x.k, int(from[n]))
	}
	return nil
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
	taken, gone := map[int]int{}, map[string]bool{} // of each budget; workloads without one
	var left []move
	for again := true; again; {
		again, left = false, nil
		for _, x := range m.left {
			why, only := m.blocked(x, taken), m.unguarded(x)
			if gone[only] {
				why = "the pod of " + only + " that goes first"
			}
			if why != "" {
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
			if only != "" {
				gone[only] = true
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

// unguarded names the workload of a pod that is to be evicted if no budget protects it, so that one pod of it goes at a
// time; "" for others, and for Jobs.
func (m *mover) unguarded(x move) string {
	p := m.in.converter.jobs[x.i].pods[x.k]
	if kind, _ := owned(p.Pod); m.in.converter.SameStep || m.s.Plan[x.i][x.k] < 0 || kind == "Job" || len(m.in.Budgets[p.id]) > 0 {
		return ""
	}
	return workload(p.Pod)
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
