// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// allOfThem names the question without any rule.
const allOfThem = "all of them"

// RuleNames are the rules that Options.Without can leave out.
var RuleNames = []string{"budgets", "pins", "selectors", "taints", "apart", "spread", "together", "ports", "volumes", "survive"}

// Explanation states the cost of each rule.
type Explanation struct {
	PriceUnit string `json:"price_unit"`
	// Currency is that of the costs an hour; empty if the prices have none, and then those are 0.
	Currency string     `json:"currency,omitempty"`
	Now      int64      `json:"now"` // cost
	NowHour  float64    `json:"now_per_hour,omitempty"`
	Rules    []RuleCost `json:"rules"`
	Pins     []Pin      `json:"pins"`
	// Singles are the costs without one budget, annotation or rule, the least first. Needless counts those without
	// which nothing is saved as a bound shows, Untried those that weren't tried.
	Singles  []RuleCost `json:"single_rules"`
	Needless int        `json:"single_rules_that_cost_nothing"`
	Untried  int        `json:"single_rules_not_tried"`
	// Goals are what holding more than rules costs, those that mean something to the cluster.
	Goals []GoalCost `json:"goals,omitempty"`
	// Stopped means that questions were left open, or weren't asked, at Ctrl-C.
	Stopped bool `json:"stopped,omitempty"`
}

// GoalCost is the price of a goal: the least cost with it, less that without it.
type GoalCost struct {
	Goal string `json:"goal"` // the flag that asks for it, without dashes
	RuleCost
	// Fails counts the nodes that may not fail all the same, if the goal is that each may.
	Fails int `json:"nodes_that_may_not_fail,omitempty"`
	// Least and Most bound the price; they are equal if it is proved. They are null if no plan is known that reaches the goal,
	// or other numbers of pods wait, or have no room, with it and without.
	Least     *float64 `json:"price_at_least"`
	Most      *float64 `json:"price_at_most"`
	LeastHour float64  `json:"price_at_least_per_hour,omitempty"`
	MostHour  float64  `json:"price_at_most_per_hour,omitempty"`
}

// goal is one that options can ask for: its flag, whether they do, and the options with it or without.
type goal struct {
	flag  string
	asked bool
	other Options
	room  string // of Rooms
}

// goals returns the goals that mean something to a cluster.
func (in *Instance) goals() (all []goal) {
	o := in.converter.Options
	if slices.ContainsFunc(in.converter.preferred(), func(x *preference) bool { return in.converter.kept(x, in.converter.nodeOf) }) {
		all = append(all, o.goal("hold "+holdPreferences, func(o *Options) *[]string { return &o.Hold }, holdPreferences))
	}
	add := func(what string) {
		g := o.goal("slack "+what, func(o *Options) *[]string { return &o.Room }, what)
		g.room = what
		all = append(all, g)
	}
	if len(in.Hosts) > 1 {
		add(roomNode)
	}
	if len(in.converter.scaled()) > 0 {
		add(roomHPA)
	}
	if len(in.converter.surges()) > 0 {
		add(roomSurge)
	}
	return all
}

// mostGoals is how many goals there are.
const mostGoals = 4

// goal returns a goal by one of its options' lists, which is changed in the other options.
func (o Options) goal(flag string, list func(*Options) *[]string, word string) goal {
	g := goal{flag: flag, other: o}
	words := list(&g.other)
	if g.asked = slices.Contains(*words, word); g.asked {
		*words = slices.DeleteFunc(slices.Clone(*words), func(x string) bool { return x == word })
	} else {
		*words = append(slices.Clone(*words), word)
	}
	return g
}

// RuleCost is the least cost without a rule, of the plans under which as few pods wait.
type RuleCost struct {
	Without string  `json:"without,omitempty"` // empty: with all rules
	Cost    int64   `json:"cost"`
	Bound   float64 `json:"bound"`
	// CostHour and BoundHour are in the currency of the prices.
	CostHour  float64 `json:"cost_per_hour,omitempty"`
	BoundHour float64 `json:"bound_per_hour,omitempty"`
	Status    string  `json:"status"`
	Waiting   int     `json:"waiting_pods"`
	// Roomless counts the pods that aren't there without the room that is to be kept for them.
	Roomless int `json:"pods_without_room,omitempty"`
	// Change is the least change of a budget that has it allow an eviction, empty for others.
	Change string `json:"change,omitempty"`
}

// costOf returns the cost of a solution without a rule.
func costOf(without string, x *least) RuleCost {
	return RuleCost{Without: without, Cost: x.cost, Bound: x.bound, Status: string(x.Status), Waiting: x.waiting, Roomless: x.room}
}

// questionEffort is the effort for each question of Explain, if the options give none: its answers are the same
// whatever else a command does, and on any machine that has the time.
const questionEffort = 500_000

// Explain finds the least cost with all rules, without each kind of rules and without all of them, and then
// without each budget and rule by itself. The effort is for each question; the time limit for all together: half of it
// for the kinds, and an equal share of the rest for each question.
func Explain(ctx context.Context, c *Cluster, read Options, o gapwise.Options) (*Explanation, error) {
	e, err := explain(ctx, c, read, o)
	if err == nil {
		e.inMoney(read.Prices)
	}
	return e, err
}

// inMoney adds the costs an hour in the currency of the prices, if they have one.
func (e *Explanation) inMoney(p Prices) {
	e.Currency, e.NowHour = p.Rate.Currency, p.hour(float64(e.Now))
	for _, all := range [][]RuleCost{e.Rules, e.Singles} {
		for k := range all {
			all[k].inMoney(p)
		}
	}
	for k := range e.Goals {
		x := &e.Goals[k]
		x.inMoney(p)
		if x.Least != nil {
			x.LeastHour, x.MostHour = p.hourDown(*x.Least), p.hour(*x.Most)
		}
	}
}

func (r *RuleCost) inMoney(p Prices) {
	r.CostHour, r.BoundHour = p.hour(float64(r.Cost)), p.hourDown(r.Bound)
}

// explain is Explain without money.
func explain(ctx context.Context, c *Cluster, read Options, o gapwise.Options) (*Explanation, error) {
	questions := append([]string{""}, RuleNames...)
	questions = append(questions, allOfThem)
	if o.Effort == 0 {
		o.Effort = questionEffort
	}
	limit := o.TimeLimit
	if slices.Contains(read.Room, roomNode) {
		var err error
		first := o
		first.TimeLimit /= time.Duration(len(questions)) * mostGuards
		if read.guards, err = guards(ctx, c, read, first); err != nil {
			return nil, err
		}
	}
	share, effort := sharing(limit/2, len(questions)+mostGoals), min(o.Effort, 1<<60)
	e := &Explanation{}
	var all *Instance
	var with *least
	for _, without := range questions {
		r := read
		if without == "" {
			read.ask("with all rules", 1)
		} else {
			read.ask("without "+without, 1)
		}
		if o.TimeLimit, o.Effort = share(), effort; without == "" { // all others are compared with it
			o.TimeLimit, o.Effort = 4*o.TimeLimit, 4*effort
		}
		switch without {
		case "":
		case allOfThem:
			r.Without = RuleNames
		default:
			r.Without = append(slices.Clone(read.Without), without)
		}
		in, result, err := answer(ctx, c, r, o, nil)
		if in == nil {
			return nil, err
		}
		if without == "" {
			all, e.PriceUnit, e.Pins = in, in.PriceUnit, in.pins()
			c := view.OfConsolidation(in.Consolidation, 0)
			e.Now = in.state(c, c.Today()).Cost
		}
		if e.Stopped = ctx.Err() != nil; e.Stopped && with != nil { // its answer says little
			break
		}
		if err != nil {
			return nil, err
		}
		if result.Solution == nil {
			return nil, in.none(&result.Result)
		}
		if with == nil {
			with = result
		}
		e.Rules = append(e.Rules, costOf(without, result))
	}
	e.compare()
	if e.Stopped {
		return e, nil
	}
	if err := e.explainGoals(ctx, c, all, with, o, share); err != nil || e.Stopped {
		return e, err
	}
	o.TimeLimit = limit
	var unguarded []single
	if len(read.guards) > 0 {
		read.guards = nil
		in, err := Convert(c, read)
		if err != nil {
			return nil, err
		}
		unguarded = in.singles()
	}
	return e, e.explainSingles(ctx, all, unguarded, with, o)
}

// answer finds the least cost of a cluster by some options, from an assignment of its pods' nodes (nil: none). If empty
// nodes are kept, its bound is that without these. It has an instance unless that isn't to be had.
func answer(ctx context.Context, c *Cluster, read Options, o gapwise.Options, from func(*Instance) model.Solution) (*Instance, *least, error) {
	in, err := Convert(c, read)
	if err != nil {
		return nil, nil, err
	}
	guarded := len(read.guards) > 0
	if guarded {
		o.TimeLimit /= 2
	}
	if from != nil {
		o.Start = from(in)
	}
	x, err := in.leastCost(ctx, in.Consolidation, o)
	if err != nil || !guarded || x.Solution == nil {
		return in, x, err
	}
	read.guards = nil
	o.Start = nil
	_, without, err := answer(ctx, c, read, o, nil)
	if err != nil {
		return in, nil, err
	}
	x.unguarded(without)
	return in, x, nil
}

// startOf returns the assignment by which the pods of another instance of the cluster are where a solution has them. Those
// that aren't there have no room.
func (in *Instance) startOf(a *model.Assignment) func(*Instance) model.Solution {
	return func(x *Instance) model.Solution {
		at := map[string]string{}
		for i := range a.Jobs {
			for k, h := range a.Jobs[i].Hosts {
				at[in.Pods[i][k]] = h
			}
		}
		s := &model.Assignment{Bought: a.Bought}
		for i := range x.Jobs {
			j := model.JobAssignment{ID: x.Jobs[i].ID}
			for _, pod := range x.Pods[i] {
				j.Hosts = append(j.Hosts, at[pod])
			}
			s.Jobs = append(s.Jobs, j)
		}
		return s
	}
}

// explainGoals finds the price of each goal, with the effort of a question.
func (e *Explanation) explainGoals(ctx context.Context, c *Cluster, in *Instance, base *least, o gapwise.Options, share func() time.Duration) error {
	for _, g := range in.goals() {
		in.converter.ask("price of "+g.flag, 1)
		o.TimeLimit = share()
		if slices.Contains(g.other.Room, roomNode) {
			if o.Effort == 0 { // else the effort limits each answer, the same on every machine
				o.TimeLimit /= mostGuards + 1
			}
			var err error
			if g.other.guards, err = guards(ctx, c, g.other, o); err != nil {
				return err
			}
		}
		other, x, err := answer(ctx, c, g.other, o, in.startOf(base.Solution.(*model.Assignment)))
		if e.Stopped = ctx.Err() != nil; e.Stopped {
			return nil
		}
		if err != nil {
			return err
		}
		if x.Solution == nil {
			continue
		}
		cost := priceOf(g, base, x)
		if own := other.roomless(x, g.room) - in.roomless(base, g.room); x.waiting != base.waiting || x.room-base.room != own {
			cost.Least, cost.Most = nil, nil
		}
		if g.room == roomNode {
			with, holder := x, other
			if g.asked {
				with, holder = base, in
			}
			fails, _, err := holder.failing(with.Solution.(*model.Assignment))
			if err != nil {
				return err
			}
			if cost.Fails, cost.Roomless = len(fails), 0; cost.Fails > 0 {
				cost.Status, cost.Least, cost.Most = string(model.StatusUnknown), nil, nil // no plan is known that reaches it
			}
		}
		e.Goals = append(e.Goals, cost)
	}
	return nil
}

// guards returns the nodes for whose kinds an empty one is kept, by the least costs.
func guards(ctx context.Context, c *Cluster, read Options, o gapwise.Options) (all []string, err error) {
	in, err := Convert(c, read)
	if err != nil {
		return nil, err
	}
	return all, in.guard(func(x *Instance) ([]string, bool, error) {
		all = x.converter.guards
		r, err := x.leastCost(ctx, x.Consolidation, o)
		if err != nil || r.Solution == nil {
			return nil, true, err
		}
		return x.failing(r.Solution.(*model.Assignment))
	})
}

// priceOf returns the price of a goal by the answers with the options as they are, and with the other ones. Whatever has
// the goal is a plan without it, too.
func priceOf(g goal, base, other *least) GoalCost {
	with, without := costOf("", other), costOf("", base)
	if g.asked {
		with, without = without, with
	}
	if with.Waiting <= without.Waiting && with.Cost < without.Cost {
		without.Cost = with.Cost
	}
	if with.Waiting == without.Waiting {
		with.Bound = math.Max(with.Bound, without.Bound)
	}
	if g.room == roomNode { // the empty nodes are sufficient, not necessary
		if with.Bound = without.Bound; float64(with.Cost) > with.Bound {
			with.Status = string(model.StatusFeasible)
		}
	}
	least, most := math.Max(0, with.Bound-float64(without.Cost)), float64(with.Cost)-without.Bound
	return GoalCost{Goal: g.flag, RuleCost: with, Least: &least, Most: &most}
}

// GoalRows returns a table's rows of the goals: flag, cost, bound, status, and the price.
func (e *Explanation) GoalRows() (rows [][]string) {
	cost := e.number()
	for _, g := range e.Goals {
		price := "unknown"
		if g.Least != nil {
			if price = cost(*g.Least); cost(*g.Most) != price {
				price += " to " + cost(*g.Most)
			}
		}
		name := g.Goal
		if g.Waiting != e.Rules[0].Waiting {
			name += fmt.Sprintf(" (waiting pods: %d)", g.Waiting)
		}
		switch {
		case g.Fails > 0:
			name += fmt.Sprintf(" (%s may not fail)", words.Plural(g.Fails, "node"))
		case g.Roomless > 0:
			name += fmt.Sprintf(" (no room found for %d)", g.Roomless)
		}
		rows = append(rows, []string{name, cost(float64(g.Cost)), cost(g.Bound), g.Status, price})
	}
	return rows
}

// compare has each question know the plans of those that keep more rules: a plan that keeps all of them is one
// without some, and each of these one without all.
func (e *Explanation) compare() {
	better := func(a, b RuleCost) bool {
		return cmp.Or(cmp.Compare(a.Waiting, b.Waiting), cmp.Compare(a.Roomless, b.Roomless), cmp.Compare(a.Cost, b.Cost)) < 0
	}
	best := e.Rules[0]
	for k := range e.Rules {
		r, known := &e.Rules[k], e.Rules[0]
		if r.Without == allOfThem {
			known = best
		}
		if better(known, *r) {
			if r.Waiting, r.Roomless, r.Cost = known.Waiting, known.Roomless, known.Cost; float64(r.Cost) <= r.Bound {
				r.Status = string(model.StatusOptimal)
			}
		}
		if better(*r, best) {
			best = *r
		}
	}
}

// sharing returns a function that gives each of n questions its time limit, so that all together take no more than the
// limit (0: none).
func sharing(limit time.Duration, n int) func() time.Duration {
	end := time.Now().Add(limit)
	return func() time.Duration {
		n--
		if limit <= 0 {
			return 0
		}
		return max(time.Millisecond, time.Until(end)/time.Duration(n+1))
	}
}

// roomless counts the pods for which an answer lacks room of a kind (see Rooms).
func (in *Instance) roomless(x *least, what string) (n int) {
	a := x.Solution.(*model.Assignment)
	for i := range a.Jobs {
		for _, h := range a.Jobs[i].Hosts {
			if h == "" && in.isRoom(i) && in.converter.jobs[i].pods[0].room == what {
				n++
			}
		}
	}
	return n
}
