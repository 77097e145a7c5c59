// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// RuleNames are the rules that Options.Without can leave out.
var RuleNames = []string{"budgets", "pins", "selectors", "taints", "apart", "spread", "together", "ports", "volumes", "survive"}

// Explanation states the cost of each rule.
type Explanation struct {
	PriceUnit string     `json:"price_unit"`
	Now       int64      `json:"now"` // cost
	Rules     []RuleCost `json:"rules"`
	Pins      []Pin      `json:"pins"`
	// Singles are the costs without one budget, annotation or rule, the least first. Needless counts those without
	// which nothing is saved as a bound shows, Untried those that weren't tried.
	Singles  []RuleCost `json:"single_rules"`
	Needless int        `json:"single_rules_that_cost_nothing"`
	Untried  int        `json:"single_rules_not_tried"`
}

// RuleCost is the least cost without a rule, of the plans under which as few pods wait.
type RuleCost struct {
	Without string  `json:"without,omitempty"` // empty: with all rules
	Cost    int64   `json:"cost"`
	Bound   float64 `json:"bound"`
	Status  string  `json:"status"`
	Waiting int     `json:"waiting_pods"`
	// Change is the least change of a budget that has it allow an eviction, empty for others.
	Change string `json:"change,omitempty"`
}

// costOf returns the cost of a solution without a rule.
func costOf(without string, x *least) RuleCost {
	return RuleCost{without, x.cost, x.bound, string(x.Status), x.waiting, ""}
}

// questionEffort is the effort for each question of Explain, if the options give none: its answers are the same
// whatever else a command does, and on any machine that has the time.
const questionEffort = 500_000

// Explain finds the least cost with all rules, without each kind of rules and without all of them, and then
// without each budget and rule by itself. The effort is for each question; the time limit for all together: half of it
// for the kinds, and an equal share of the rest for each question.
func Explain(ctx context.Context, c *Cluster, read Options, o gapwise.Options) (*Explanation, error) {
	questions := append([]string{""}, RuleNames...)
	questions = append(questions, "all of them")
	if o.Effort == 0 {
		o.Effort = questionEffort
	}
	limit := o.TimeLimit
	share, effort := sharing(limit/2, len(questions)), min(o.Effort, 1<<60)
	e := &Explanation{}
	var all *Instance
	var with *least
	for _, without := range questions {
		r := read
		if without == "" {
			read.ask("with all rules")
		} else {
			read.ask("without " + without)
		}
		if o.TimeLimit, o.Effort = share(), effort; without == "" { // all others are compared with it
			o.TimeLimit, o.Effort = 4*o.TimeLimit, 4*effort
		}
		switch without {
		case "":
		case "all of them":
			r.Without = RuleNames
		default:
			r.Without = append(slices.Clone(read.Without), without)
		}
		in, err := Convert(c, r)
		if err != nil {
			return nil, err
		}
		if without == "" {
			all, e.PriceUnit, e.Pins = in, in.PriceUnit, in.pins()
			c := view.OfConsolidation(in.Consolidation, 0)
			e.Now = in.state(c, c.Today()).Cost
		}
		result, err := in.leastCost(ctx, in.Consolidation, o)
		if err != nil {
			return nil, err
		}
		if result.Solution == nil {
			return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, cmp.Or(result.Reason, string(result.Status)))
		}
		if with == nil {
			with = result
		}
		e.Rules = append(e.Rules, costOf(without, result))
	}
	e.compare()
	o.TimeLimit = limit
	return e, e.explainSingles(ctx, all, with, o)
}

// compare has each question know the plans of those that keep more rules: a plan that keeps all of them is one
// without some, and each of these one without all.
func (e *Explanation) compare() {
	better := func(a, b RuleCost) bool {
		return cmp.Or(cmp.Compare(a.Waiting, b.Waiting), cmp.Compare(a.Cost, b.Cost)) < 0
	}
	best := e.Rules[0]
	for k := range e.Rules {
		r, known := &e.Rules[k], e.Rules[0]
		if k == len(e.Rules)-1 { // without all of them
			known = best
		}
		if better(known, *r) {
			if r.Waiting, r.Cost = known.Waiting, known.Cost; float64(r.Cost) <= r.Bound {
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
