// SPDX-License-Identifier: MIT

package kubernetes

import (
	"context"
	"fmt"
	"math"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// RuleNames are the rules that Options.Without can leave out.
var RuleNames = []string{"budgets", "pins", "selectors", "taints", "apart", "spread", "together", "ports", "volumes"}

// Explanation says what each rule costs.
type Explanation struct {
	PriceUnit string     `json:"price_unit"`
	Now       int64      `json:"now"` // cost
	Rules     []RuleCost `json:"rules"`
	Pins      []Pin      `json:"pins"`
}

// RuleCost is the least cost without a rule.
type RuleCost struct {
	Without string  `json:"without,omitempty"` // empty: with all rules
	Cost    int64   `json:"cost"`
	Bound   float64 `json:"bound"`
	Status  string  `json:"status"`
}

// Explain finds the least cost with all rules and without each by itself, and without all of
// them. The time limit is for all together.
func Explain(ctx context.Context, c *Cluster, read Options, o gapwise.Options) (*Explanation, error) {
	questions := append([]string{""}, RuleNames...)
	questions = append(questions, "all of them")
	o.TimeLimit /= 12
	e := &Explanation{}
	for _, without := range questions {
		r := read
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
			e.PriceUnit, e.Pins = in.PriceUnit, in.pins()
			e.Now = in.now()
		}
		result, err := gapwise.Solve(ctx, in.Consolidation, o)
		if err != nil {
			return nil, err
		}
		if result.Solution == nil {
			return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, orText(result.Reason, string(result.Status)))
		}
		cost := RuleCost{Without: without, Cost: int64(result.Objective), Bound: result.Bound, Status: string(result.Status)}
		if math.IsNaN(cost.Bound) {
			cost.Bound = 0
		}
		e.Rules = append(e.Rules, cost)
	}
	return e, nil
}

// now returns what the nodes cost that have pods that count.
func (in *Instance) now() (cost int64) {
	used := map[string]bool{}
	for i := range in.Jobs {
		for _, h := range in.Jobs[i].CurrentHosts {
			used[h] = true
		}
	}
	for k := range in.Hosts {
		if h := &in.Hosts[k]; h.Kept || used[h.ID] {
			cost += h.Price
		}
	}
	return cost
}
