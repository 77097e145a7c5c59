// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// slowdownTicks is the least time that slowdowns are relative to, in ticks.
const slowdownTicks = int64(model.SlowdownFloor * 1_000_000)

// batchMeanSlowdown recomputes a bound on the mean bounded slowdown, max(1, response / D) of each
// job with D = max(τ, work). For whole weights w ≤ u τ / D, u a unit, it is w response / (u τ) at least. So a bound on
// the responses weighted by w holds for it; or for the jobs of at least τ alone, while the others count 1.
func batchMeanSlowdown(ctx context.Context, t *batchNumbers, e *model.Evidence) (Followed, error) {
	best := Followed{Bound: big.NewRat(1, 1)}
	for _, shortest := range []int64{0, slowdownTicks} {
		slowed, out := slowdownWeights(t, shortest)
		if slowed == nil || len(slowed.Jobs) == 0 || shortest > 0 && (out == 0 || e.Resource != "") {
			continue // prices of each job are of all jobs
		}
		f, err := batchResponses(ctx, slowed, e)
		if err != nil {
			return Followed{}, err
		}
		weights := new(big.Int)
		for k := range slowed.Jobs {
			weights.Add(weights, big.NewInt(slowed.Jobs[k].Weight))
		}
		x := new(big.Rat).SetFrac(weights.Mul(weights, big.NewInt(1_000_000)), bigProduct(1<<slowdownBits, slowdownTicks))
		x.Mul(x, f.Bound).Add(x, new(big.Rat).SetInt64(int64(out))).Quo(x, new(big.Rat).SetInt64(int64(len(t.Jobs))))
		if best.How = f.How + ", weighted for slowdowns"; x.Cmp(best.Bound) > 0 {
			best.Bound = x
		}
	}
	return best, nil
}

// slowdownBits makes the unit of weights for slowdowns, a power of two.
const slowdownBits = 40

// slowdownWeights returns the jobs of at least a length with the weight ⌊u τ / max(τ, length)⌋ each, and how many are
// left out. It returns nil if a weight is 0, which bounds nothing of its job.
func slowdownWeights(t *batchNumbers, shortest int64) (*batchNumbers, int) {
	weighted, out := *t, 0
	weighted.Jobs = nil
	for _, j := range t.Jobs {
		if j.Length < shortest {
			out++
			continue
		}
		w := bigProduct(1<<slowdownBits, slowdownTicks)
		w.Div(w, big.NewInt(max(slowdownTicks, j.Length)))
		if w.Sign() == 0 {
			return nil, 0
		}
		j.Weight = w.Int64() // at most the unit
		weighted.Jobs = append(weighted.Jobs, j)
	}
	return &weighted, out
}

// batchMostSlowdown recomputes a bound on the largest bounded slowdown S from a window [a, b). A job submitted at
// r ≥ a ends by r + S D, D = max(τ, work), which is b at the latest if S ≤ (b - r)/D. Take jobs in the order of this
// quotient until they need more than one machine as fast as all processors does in the window. S ≤ the quotient of the
// last one is then impossible: all would end in the window.
func batchMostSlowdown(ctx context.Context, t *batchNumbers, e *model.Evidence) (Followed, error) {
	type job struct {
		slack, base int64 // b - r and D
		work        *big.Int
	}
	w := e.Windows[0]
	capacity := int64(t.Processors)
	if t.Tiers == 2 {
		if capacity >= 1<<22 {
			return Followed{}, tooMuch("processors")
		}
		capacity *= sharedParts
	}
	var all []job
	f := Followed{Bound: big.NewRat(1, 1), How: "what is due in a window of time"}
	most := func(above, below int64) {
		if x := big.NewRat(above, below); x.Cmp(f.Bound) > 0 {
			f.Bound = x
		}
	}
	for k := range t.Jobs {
		if stopped(ctx, k) {
			return Followed{}, ctx.Err()
		}
		j := &t.Jobs[k]
		most(leastTicks(t, j), max(slowdownTicks, j.Length)) // by itself
		if j.Submit < w.From || j.Submit >= w.To {
			continue
		}
		demand := int64(j.Processes)
		if t.Tiers == 2 {
			demand = sharedDemand(j, 0)
		}
		all = append(all, job{w.To - j.Submit, max(slowdownTicks, j.Length), bigProduct(leastTicks(t, j), demand)})
	}
	sortFunc(ctx, all, func(a, b job) int { return product(b.slack, a.base).cmp(product(a.slack, b.base)) })
	left := bigProduct(w.To-w.From, capacity)
	for i := range all {
		if left.Sub(left, all[i].work).Sign() < 0 {
			most(all[i].slack, all[i].base)
			break
		}
	}
	return f, nil
}
