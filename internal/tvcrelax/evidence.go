// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"math"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/model"
)

// Evidence returns multipliers of slots and of the servers' links, the resources of
// a Relaxation of few, as prices of a slot and of a bit/s at instants, in greatest
// common divisors of the weights; nil if nothing costs anything: then all requests may
// be accepted.
func (r *Relaxation) Evidence(in *model.TVC, m *Multipliers) *model.Evidence {
	at := make([]int64, r.Instants)
	for i, s := range r.spans {
		at[s.From] = max(at[s.From], r.ticks.Requests[r.requests[i]].Arrival)
	}
	e := &model.Evidence{Type: evidence.Prices}
	for k, name := range []string{"slots", "links"} {
		if k >= len(m.lambda) || k >= len(r.Resources) {
			break
		}
		capacity := float64(r.tree.Slots[r.tree.Root()])
		if k == 1 {
			capacity = float64(r.tree.Servers(r.tree.Root())) * float64(r.tree.Rate[0])
		}
		p := model.Evidence{Type: evidence.Prices, Resource: name}
		for t, y := range m.lambda[k] {
			if y > 0 {
				p.Times, p.Prices = append(p.Times, at[t]), append(p.Prices, math.Ldexp(y, r.shift)/capacity)
			}
		}
		if len(p.Times) > 0 {
			e.Parts = append(e.Parts, p)
		}
	}
	if len(e.Parts) == 0 {
		return nil
	}
	for _, k := range r.requests {
		e.Elements = append(e.Elements, in.Requests[k].ID)
	}
	return e
}
