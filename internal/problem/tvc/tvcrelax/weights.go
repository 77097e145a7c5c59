// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"math/big"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Weights are the contributions of accepted requests to the objective in loss mode, in whole numbers: 1 for the goal
// requests; for the goal revenue N·B·duration in units of Unit. A request that never fits has weight 0.
//
// For the goal revenue the exact products, of VMs, bit/s and µs, are whole. Unit is their greatest common divisor u, as
// long as the sum of the products is at most 2^60 u. Otherwise it is u times the least power of 2 that keeps the sum of
// the weights to 2^60, and weights are rounded up. Then Rounded requests of weight w have products above (w - 1)·Unit.
type Weights struct {
	Of      []int64
	Total   int64
	Rounded bool
	unit    float64 // of a weight, in the objective's unit
	shift   int     // a unit is 2^shift greatest common divisors
}

// NewWeights returns the weights of an instance in loss mode.
func NewWeights(in *model.TVC, t *view.TVC) *Weights {
	w := &Weights{Of: make([]int64, len(t.Requests)), unit: 1}
	if in.EffectiveGoal() == model.GoalRequests {
		for k := range t.Requests {
			if t.Requests[k].Fits {
				w.Of[k] = 1
				w.Total++
			}
		}
		return w
	}
	products, unit, sum := make([]*big.Int, len(t.Requests)), new(big.Int), new(big.Int)
	for k := range t.Requests {
		q := &t.Requests[k]
		if !q.Fits {
			continue
		}
		p := big.NewInt(int64(q.VMs))
		p.Mul(p, big.NewInt(q.Bandwidth)).Mul(p, big.NewInt(q.Duration))
		unit.GCD(nil, nil, unit, p)
		sum.Add(sum, p)
		products[k] = p
	}
	if sum.Sign() == 0 {
		return w
	}
	// Each weight is rounded up by less than 1, so with n < 2^24 requests the sum
	// of the weights stays below 2^61.
	if bits := new(big.Int).Quo(sum, unit).BitLen(); bits > 60 {
		w.shift = bits - 60
		unit.Lsh(unit, uint(w.shift))
	}
	var rest big.Int
	for k, p := range products {
		if p == nil {
			continue
		}
		quotient, _ := new(big.Int).QuoRem(p, unit, &rest)
		w.Of[k] = quotient.Int64()
		if rest.Sign() > 0 {
			w.Of[k]++
			w.Rounded = true
		}
		w.Total += w.Of[k]
	}
	w.unit, _ = new(big.Float).SetInt(unit).Float64()
	w.unit /= 1e12 // bit/s times µs
	return w
}

// Value returns an upper bound, in the objective's unit, on the objective of requests with weights that sum to at most
// sum. For the goal revenue it is widened by more than the rounding of n terms and of the unit.
func (w *Weights) Value(sum int64) float64 {
	if w.unit == 1 {
		return float64(sum)
	}
	return float64(sum) * w.unit * (1 + 1e-15*float64(len(w.Of)+8))
}
