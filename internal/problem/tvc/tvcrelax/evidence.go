// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// Evidence returns multipliers of a Relaxation as prices of a slot, of a bit/s, and of other resources, at instants,
// and of weights in patterns, in greatest common divisors of the requests' weights. It is nil if nothing costs
// anything: then all requests may be accepted.
func (r *Relaxation) Evidence(in *model.TVC, m *Multipliers) *model.Evidence {
	at := make([]int64, r.Instants)
	for i, s := range r.spans {
		at[s.From] = max(at[s.From], r.ticks.Requests[r.requests[i]].Arrival)
	}
	e := &model.Evidence{Type: evidence.Prices}
	for k, lambda := range m.lambda {
		x := &r.Resources[k]
		p := x.Evidence(evidence.Prices)
		for t, y := range lambda {
			if price := math.Ldexp(y, r.shift) / x.units; price > leastPrice {
				p.Times, p.Prices = append(p.Times, at[t]), append(p.Prices, price)
			}
		}
		if len(p.Times) > 0 {
			e.Parts = append(e.Parts, p)
		}
	}
	for k, y := range m.cuts {
		c := &r.Cuts[k]
		if price := math.Ldexp(y, r.shift) / c.all; price > leastPrice {
			p := model.Evidence{Type: evidence.Prices, Resource: evidence.PatternsOfServers, Weights: c.weights, Prices: []float64{price}}
			for _, i := range c.Members {
				p.Elements = append(p.Elements, in.Requests[r.requests[i]].ID)
			}
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

// leastPrice is the least price in evidence. Smaller ones make no difference to PricesAt, which is widened by more.
const leastPrice = 1e-50
