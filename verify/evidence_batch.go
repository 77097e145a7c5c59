// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// batchEvidence recomputes bounds on the mean response time, in ticks of a microsecond.
func batchEvidence(ctx context.Context, in *model.Batch, e *model.Evidence) (Followed, error) {
	t := view.OfBatch(in)
	switch e.Type {
	case evidence.Sum:
		sum := new(big.Int)
		for k := range t.Jobs {
			if stopped(ctx, k) {
				return Followed{}, ctx.Err()
			}
			j := &t.Jobs[k]
			rate := int64(view.FullRate)
			if t.Tiers == 2 {
				rate = max(j.Foreground, j.Efficiency)
			}
			// At its fastest, all the time: rounded up, for jobs end at whole ticks.
			work := new(big.Int).Mul(big.NewInt(j.Length), big.NewInt(view.FullRate))
			work.Add(work, big.NewInt(rate-1)).Quo(work, big.NewInt(rate))
			sum.Add(sum, work.Mul(work, big.NewInt(j.Weight)))
		}
		return batchMean(t, sum, "the least times that the jobs take"), nil
	}
	return batchPrices(ctx, t, e)
}

// batchMean returns what follows if the responses, times their weights, sum to at least so
// many ticks.
func batchMean(t *view.Batch, sum *big.Int, how string) Followed {
	weights := new(big.Int)
	for k := range t.Jobs {
		weights.Add(weights, big.NewInt(t.Jobs[k].Weight))
	}
	f := Followed{Bound: new(big.Rat), How: how}
	if weights.Sign() > 0 {
		f.Bound.SetFrac(sum, weights.Mul(weights, big.NewInt(1_000_000)))
	}
	return f
}

// batchPrices recomputes, on one tier, the Lagrangian relaxation of the capacity C: with a price
// λ(t) ≥ 0 of a processor at each time and Λ its integral, the responses sum to at least
//
//	Σ_k min_{s ≥ submit_k} (weight_k (s + length_k - submit_k) + width_k (Λ(s + length_k) - Λ(s))) - C Λ(all).
//
// For in some optimum each job runs through from a start s on, and at each time the widths
// sum to C at most. Between the times at which s or s + length_k is one of the tariff's the
// sum is linear in s, and no price is below 0: so the least is at one of these or at the
// submission, and not after weight_k (s + length_k - submit_k) alone is more than what is
// found. Prices are of weights over their greatest common divisor, of which the sum is a
// whole multiple.
func batchPrices(ctx context.Context, t *view.Batch, e *model.Evidence) (Followed, error) {
	if t.Tiers != 1 {
		return Followed{}, fmt.Errorf("prices of time are of one tier")
	}
	x := newTariff(e.Times, e.Prices)
	common := int64(0)
	for k := range t.Jobs {
		common = gcd(common, t.Jobs[k].Weight)
	}
	if common == 0 {
		return batchMean(t, new(big.Int), "no jobs"), nil
	}
	shift := uint(x.unit.shift)
	total := new(big.Int).Mul(x.all(), big.NewInt(-int64(t.Processors)))
	cost, value := new(big.Int), new(big.Int)
	work := 0
	for k := range t.Jobs {
		j := &t.Jobs[k]
		weight, width := big.NewInt(j.Weight/common), big.NewInt(int64(j.Processes))
		var best *big.Int
		a, _ := slices.BinarySearch(x.times, j.Submit+1)
		b, _ := slices.BinarySearch(x.times, j.Submit+j.Length+1)
		for s := j.Submit; ; {
			if work++; work > maxEvidenceWork/8 {
				return Followed{}, tooMuch("starts")
			}
			if stopped(ctx, work) {
				return Followed{}, ctx.Err()
			}
			cost.Mul(weight, cost.SetInt64(s+j.Length-j.Submit))
			cost.Lsh(cost, shift)
			if best != nil && cost.Cmp(best) >= 0 {
				break
			}
			value.Sub(x.at(s+j.Length), x.at(s))
			if value.Add(value.Mul(value, width), cost); best == nil || value.Cmp(best) < 0 {
				best = new(big.Int).Set(value)
			}
			// The next start at which the line bends.
			switch {
			case a < len(x.times) && (b == len(x.times) || x.times[a] <= x.times[b]-j.Length):
				s = x.times[a]
				a++
			case b < len(x.times):
				s = x.times[b] - j.Length
				b++
			default:
				s = -1
			}
			if s < 0 {
				break
			}
		}
		total.Add(total, best)
	}
	// Rounded up to a whole number, and no response is below 0.
	up := new(big.Int).Lsh(big.NewInt(1), shift)
	total.Add(total, up.Sub(up, big.NewInt(1))).Rsh(total, shift)
	total = maximum(total, new(big.Int))
	return batchMean(t, total.Mul(total, big.NewInt(common)), fmt.Sprintf("the prices of %d spans of time", len(e.Prices))), nil
}
