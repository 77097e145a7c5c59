// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	consheur "github.com/gapwise/gapwise/heuristics/consolidation"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Bound is a lower bound, without a search, on the cost of plans with as few pods waiting as possible.
type Bound struct {
	PriceUnit string `json:"price_unit"`
	Now       int64  `json:"now"` // cost
	Nodes     int    `json:"nodes"`
	Waiting   int    `json:"waiting_pods"`
	Cost      int64  `json:"bound"`
	// Roomless counts the pods that aren't there for which room is to be kept.
	Roomless int `json:"pods_for_room,omitempty"`
	// Infeasible means that there is no plan by the limits; Why names the evidence of the bound.
	Infeasible bool            `json:"infeasible,omitempty"`
	Why        string          `json:"why"`
	Evidence   *model.Evidence `json:"evidence,omitempty"`
	// Empty are nodes with no pods but those of daemon sets and the like today.
	Empty []string `json:"empty_nodes,omitempty"`
	// EmptyCost is theirs: Now doesn't have it.
	EmptyCost int64 `json:"empty_cost,omitempty"`
	// Money is Now and Cost an hour, in the currency of the prices; nil if they have none.
	Money *BoundMoney `json:"money,omitempty"`
}

// BoundMoney is a bound in money.
type BoundMoney struct {
	Currency string  `json:"currency"`
	Now      float64 `json:"now_per_hour"`
	Bound    float64 `json:"bound_per_hour"`
	Empty    float64 `json:"empty_per_hour,omitempty"`
}

// Bound returns the bound on the cost. O(host sets × resources × nodes log nodes + pods).
func (in *Instance) Bound(ctx context.Context) *Bound {
	first := *in.Consolidation
	first.Goal = model.GoalCost
	c := view.OfConsolidation(&first, 0)
	now := in.state(c, c.Today())
	b := &Bound{PriceUnit: in.PriceUnit, Now: now.Cost, Nodes: now.Nodes, Waiting: now.Waiting, Roomless: now.Roomless}
	for _, h := range in.empty() {
		b.Empty, b.EmptyCost = append(b.Empty, in.Hosts[h].ID), b.EmptyCost+in.Hosts[h].Price
	}
	for k, x := range in.bounding(ctx, &first) {
		q := consbounds.Quick(ctx, x.Consolidation)[0]
		cost := max(0, int64(q.Value)-x.waits)
		if k > 0 && cost <= b.Cost {
			continue
		}
		b.Cost, b.Infeasible, b.Evidence = cost, q.Infeasible, q.Evidence
		switch n, paid := in.staying(); {
		case q.Infeasible:
			b.Why = "the nodes aren't enough, by " + in.why(q.Evidence)
		case b.Cost == paid:
			b.Why = fmt.Sprintf("%s kept, or with pods that can't move", words.Plural(n, "node"))
		default:
			b.Why = in.why(q.Evidence)
			if n > 0 {
				has := "have"
				if n == 1 {
					has = "has"
				}
				b.Why += fmt.Sprintf(", %d of which %s to stay", n, has)
			}
		}
	}
	if p := in.converter.Prices; p.Rate.Currency != "" {
		b.Money = &BoundMoney{p.Rate.Currency, p.hour(float64(b.Now)), p.hourDown(float64(b.Cost)), p.hour(float64(b.EmptyCost))}
	}
	return b
}

// bounding is an instance whose bound, less the cost of waiting pods, is a bound on the cost of nodes.
type bounding struct {
	*model.Consolidation
	waits int64
}

// bounding returns the instance in which waiting costs nothing. It adds the instance in which no more pods may wait
// than if all stay and the others go where they fit, provided that a bound shows this number to be the least. Without
// waiting pods it is the given one.
func (in *Instance) bounding(ctx context.Context, c *model.Consolidation) []bounding {
	if !slices.ContainsFunc(c.Jobs, func(j model.ConsolidationJob) bool { return j.LeaveOutCost != nil }) {
		return []bounding{{c, 0}}
	}
	all, free := []bounding{{in.with(c, 0), 0}}, in.free(c)
	stay, err := consheur.First(ctx, free, model.Settings{})
	if err != nil {
		return all // the limits don't allow it
	}
	fewest, _ := added(free, stay)
	if q := consbounds.Quick(ctx, free)[0]; !q.Infeasible && q.Value >= float64(fewest) {
		priced := in.priced(c, stay)
		waits, _ := added(priced, stay)
		all = append(all, bounding{priced, waits})
	}
	return all
}

// staying returns the number and price of the nodes that every plan has in use: those that are kept, or hold pods
// that can't move.
func (in *Instance) staying() (n int, price int64) {
	holds := map[string]bool{}
	for i := range in.Jobs {
		for k := 0; in.Jobs[i].Pinned && k < in.Jobs[i].Tasks; k++ {
			holds[in.Jobs[i].CurrentHosts[k]] = true
		}
	}
	for k := range in.Hosts {
		if h := &in.Hosts[k]; h.Kept || holds[h.ID] {
			n, price = n+1, price+h.Price
		}
	}
	return n, price
}

// why names the evidence of a bound.
func (in *Instance) why(e *model.Evidence) string {
	switch {
	case e == nil:
		return "nodes that have to stay"
	case e.Type == evidence.Apart:
		return fmt.Sprintf("pods that the rule %q keeps on different nodes", e.Elements[0])
	case len(e.Elements) == 0:
		return "the " + ResourceWords(e.Resource) + " of all nodes"
	}
	pods := 0
	for i := range in.Jobs {
		if in.Jobs[i].Allowed == e.Elements[0] {
			pods += in.Jobs[i].Tasks
		}
	}
	for _, s := range in.HostSets {
		if s.ID == e.Elements[0] {
			return fmt.Sprintf("the %s of the %s where %s may be placed", ResourceWords(e.Resource), words.Plural(len(s.Hosts), "node"), words.Plural(pods, "pod"))
		}
	}
	return "the " + ResourceWords(e.Resource) + " of the nodes where most pods may be placed"
}

// Text returns the bound in words.
func (b *Bound) Text() string {
	var t strings.Builder
	waiting := ""
	if b.Waiting > 0 {
		waiting = fmt.Sprintf("; waiting pods: %d", b.Waiting)
	}
	fmt.Fprintf(&t, "now        %s, %s%s\n", words.Plural(b.Nodes, "node"), Money(float64(b.Now), b.PriceUnit), waiting)
	t.WriteString(emptyText(b.Empty, mostNames, ""))
	if b.Infeasible {
		fmt.Fprintf(&t, "bound      there is no plan: %s\n", b.Why)
		return t.String()
	}
	others := (&Plan{Now: State{Waiting: b.Waiting}, Room: make([]Room, b.Roomless)}).Others()
	idle := idleText(len(b.Empty), b.EmptyCost, b.PriceUnit)
	wrapped(&t, "bound", fmt.Sprintf("%s costs less than %s, by %s", others, Money(float64(b.Cost), b.PriceUnit), b.Why))
	if saved := b.Now - b.Cost; saved > 0 && b.Now > 0 {
		fmt.Fprintf(&t, "saved      at most %s (%.0f %%)%s\n", Money(float64(saved), b.PriceUnit), 100*float64(saved)/float64(b.Now), idle)
	} else if idle != "" {
		t.WriteString("saved      " + strings.TrimPrefix(idle, ", and ") + "\n")
	} else {
		t.WriteString("saved      nothing can be\n")
	}
	return t.String()
}
