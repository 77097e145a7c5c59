// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"math"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/model"
)

// Evidence returns multipliers of the resources of a Relaxation of few, as prices of a slot, of
// a bit/s and of what servers have of both at instants, in greatest
// common divisors of the weights; nil if nothing costs anything: then all requests may
// be accepted.
func (r *Relaxation) Evidence(in *model.TVC, m *Multipliers) *model.Evidence {
	at := make([]int64, r.Instants)
	for i, s := range r.spans {
		at[s.From] = max(at[s.From], r.ticks.Requests[r.requests[i]].Arrival)
	}
	e := &model.Evidence{Type: evidence.Prices}
	for k, lambda := range m.lambda {
		x := &r.Resources[k]
		p := model.Evidence{Type: evidence.Prices, Resource: x.Name, Count: x.Share}
		for t, y := range lambda {
			if y > 0 {
				p.Times, p.Prices = append(p.Times, at[t]), append(p.Prices, math.Ldexp(y, r.shift)/x.units)
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
