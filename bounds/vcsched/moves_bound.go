// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// proved notes the means by which a load was refuted.
func (m *Moves) proved(load int64, weights []int64, lambda float64) {
	m.refuted, m.weights, m.lambda = load, slices.Clone(weights), lambda
}

// evidence returns the weights and the price by which no placement has the load last refuted; CPU decides that or not.
func (m *Moves) evidence(in *model.VCSched, byCPU bool) *model.Evidence {
	u := m.t.units
	e := &model.Evidence{Type: evidence.Moves, Load: m.refuted, Scale: u.Scale}
	if byCPU {
		e.Load = m.t.judged(in, m.refuted)
	}
	if m.lambda > 0 && m.now != nil {
		e.Prices = []float64{m.lambda}
	}
	type place struct {
		host int32
		job  int32
	}
	weights := map[place]int64{}
	for k, w := range m.weights {
		for _, i := range m.t.Tasks[k] {
			at := place{-1, u.Job[i]}
			if u.Current != nil {
				at.host = u.Current[i]
			}
			if w > 0 {
				weights[at] = w
			}
		}
	}
	places := slices.SortedFunc(maps.Keys(weights), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.job, b.job))
	})
	for _, at := range places {
		if n := len(e.Parts); n == 0 || e.Parts[n-1].Count != int(at.host)+1 {
			e.Parts = append(e.Parts, model.Evidence{Type: evidence.Moves, Count: int(at.host) + 1})
		}
		p := &e.Parts[len(e.Parts)-1]
		p.Elements, p.Weights = append(p.Elements, in.Jobs[at.job].ID), append(p.Weights, float64(weights[at]))
	}
	return e
}

// pricedMoves returns the bound by Moves for an instance with a migration budget, to a relative width of 1e-4, or a
// larger one if ctx ends.
func pricedMoves(ctx context.Context, in *model.VCSched) bounds.Bound {
	b := bounds.Bound{Name: "priced-moves"}
	u := view.Shared(ctx, in, view.OfVCSched)
	t := NewTasks(u)
	packing := t.packing(ctx, in)
	if b.Evidence = packing.by(in); packing.why != "" {
		b.Infeasible, b.Reason = true, packing.why
		return b
	}
	lower := packing.load
	m := NewMoves(u)
	all := t.TotalLoad()
	if m.Refute(ctx, all) {
		b.Infeasible, b.Reason, b.Evidence = true, overBudget, m.evidence(in, false)
		return b
	}
	if lower = max(lower, u.Scale); lower < all {
		lower = m.Raise(ctx, m.Keep(ctx, lower, all), all, 1e-4)
	}
	b.Value = u.YieldBound(lower)
	if m.refuted > 0 && m.refuted < lower && lower-m.refuted <= t.Unit {
		b.Evidence = m.evidence(in, true)
	}
	return b
}

// overBudget is the reason why there is no placement if Moves refutes every load.
const overBudget = "the migration budget is too small for what the hosts' memory makes move"
