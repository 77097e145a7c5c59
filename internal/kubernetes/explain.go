// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/view"
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
			c := view.OfConsolidation(in.Consolidation, 0)
			e.Now = in.state(c, c.Today()).Cost
		}
		result, err := gapwise.Solve(ctx, in.Consolidation, o)
		if err != nil {
			return nil, err
		}
		if result.Solution == nil {
			return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, cmp.Or(result.Reason, string(result.Status)))
		}
		cost := RuleCost{Without: without, Cost: int64(result.Objective), Bound: result.Bound, Status: string(result.Status)}
		if math.IsNaN(cost.Bound) {
			cost.Bound = 0
		}
		e.Rules = append(e.Rules, cost)
	}
	return e, nil
}
