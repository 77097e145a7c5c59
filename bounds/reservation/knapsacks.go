// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// knapsacks bounds the accepted weight by multipliers of each job's own, with a knapsack in each cell of time; see
// Multipliers. The method steps towards the weight of a serial schedule. ok is false without jobs, or if ctx ended
// before.
func (w *work) knapsacks(ctx context.Context) (b bounds.Bound, ok bool) {
	if len(w.jobs) == 0 || ctx.Err() != nil || w.resources[0].capacity == 0 {
		return b, false
	}
	sizes, unit := w.resources[0].size, int64(0)
	for _, x := range sizes {
		unit = units.GCD(unit, x)
	}
	jobs := make([]Job, len(w.jobs))
	for k := range w.jobs {
		j := &w.jobs[k]
		jobs[k] = Job{j.ready, j.due - j.length, j.length, int(sizes[k] / unit), j.weight}
	}
	known := w.serial(ctx)
	enough := known + 0.99*w.unit
	if w.ticks.Goal == model.GoalAll {
		enough = known - 0.01 // then they don't all fit
	}
	m := NewMultipliers(ctx, int(w.resources[0].capacity/unit), jobs, known, enough)
	most, rounding := m.Bound()
	// The judge's sums are exact, of prices that are rounded.
	accepted := w.down(most + rounding + 1e-9*w.total)
	why := fmt.Sprintf("sets of requests that fit together pay for their time less than all %d requests have to pay", len(w.jobs))
	return w.proved(w.bound("knapsacks", accepted, why), w.ownPrices(m, float64(unit))), true
}

// serial returns the weight of a serial schedule, the densest jobs first, or all weight if none may be declined.
func (w *work) serial(ctx context.Context) float64 {
	if w.ticks.Goal == model.GoalAll {
		return w.total
	}
	jobs := order.Of[int](len(w.ticks.Jobs))
	order.Stable(jobs, func(a, b int) int {
		x, y := &w.ticks.Jobs[a], &w.ticks.Jobs[b]
		return cmp.Compare(x.Area()/x.Weight, y.Area()/y.Weight)
	})
	value := 0.0
	for i, s := range w.ticks.Serial(ctx, jobs) {
		if s >= 0 {
			value += w.ticks.Jobs[i].Weight
		}
	}
	return min(value, w.total)
}

// ownPrices returns the evidence of multipliers of each job's own, for PEs in a unit; nil if there are more prices than
// the judge reads.
func (w *work) ownPrices(m *Multipliers, unit float64) *model.Evidence {
	if w.in == nil {
		return nil
	}
	e := model.Evidence{Type: evidence.Prices, Resource: "job"}
	for _, at := range m.Grid {
		e.Times = append(e.Times, at+w.origin)
	}
	for i, paid := range m.paid {
		e.Elements = append(e.Elements, w.in.Requests[w.ticks.Jobs[w.number[i]].Request].ID)
		for k := range len(paid) - 1 {
			c := m.first[i] + k
			price := (paid[k+1] - paid[k]) / (float64(m.jobs[i].PEs) * unit * float64(m.Grid[c+1]-m.Grid[c]))
			if price < leastOwn {
				price = 0
			}
			e.Prices = append(e.Prices, price)
		}
	}
	if n := len(e.Elements); n+len(e.Times)+len(e.Prices) > evidence.MostEntries(n, 0) {
		return nil
	}
	return &model.Evidence{Type: evidence.Prices, Parts: []model.Evidence{e}}
}

// leastOwn is the least price that the judge reads.
var leastOwn = math.Ldexp(1, -190)
