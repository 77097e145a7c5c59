// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// batchEvidence recomputes bounds on the mean response time, in ticks of a microsecond, and on slowdowns.
func batchEvidence(ctx context.Context, in *model.Batch, e *model.Evidence) (Followed, error) {
	t, err := pooledNumbers(in, e)
	switch {
	case err != nil:
		return Followed{}, err
	case e.Figure == evidence.MostSlowdown:
		return batchMostSlowdown(ctx, t, e)
	case e.Figure == evidence.MeanSlowdown:
		return batchMeanSlowdown(ctx, t, e)
	}
	return batchResponses(ctx, t, e)
}

// batchResponses recomputes bounds on the weighted mean response time.
func batchResponses(ctx context.Context, t *batchNumbers, e *model.Evidence) (Followed, error) {
	switch e.Type {
	case evidence.Sum:
		sum := new(big.Int)
		for k := range t.Jobs {
			if stopped(ctx, k) {
				return Followed{}, ctx.Err()
			}
			j := &t.Jobs[k]
			rate := int64(dedicated)
			if t.Tiers == 2 {
				rate = max(j.Foreground, j.Efficiency)
			}
			// At its fastest, all the time: rounded up, for jobs end at whole ticks.
			work := new(big.Int).Mul(big.NewInt(j.Length), big.NewInt(dedicated))
			work.Add(work, big.NewInt(rate-1)).Quo(work, big.NewInt(rate))
			sum.Add(sum, work.Mul(work, big.NewInt(j.Weight)))
		}
		return batchMean(t, sum, "the least times that the jobs take"), nil
	}
	if e.Type == evidence.Machine {
		return batchMachine(ctx, t, e)
	}
	return batchPrices(ctx, t, e)
}

// batchMachine recomputes the needs of one machine that is as fast as all processors. On one tier a job's demand is its
// width under a dual-feasible function f. The widths of running jobs sum to at most P, so their f sum to at most f(P).
// On two tiers sharedDemand returns it.
func batchMachine(ctx context.Context, t *batchNumbers, e *model.Evidence) (Followed, error) {
	capacity := int64(t.Processors)
	demand := func(j *jobNumbers) int64 { return sharedDemand(j, int64(e.Count)) }
	how := "one machine as fast as all processors"
	if t.Tiers == 1 {
		if e.Count != 0 {
			return Followed{}, fmt.Errorf("count: %d is of two tiers", e.Count)
		}
		f, bin, err := dualFunction(e.Function, capacity)
		if err != nil {
			return Followed{}, err
		}
		demand, capacity = func(j *jobNumbers) int64 { return f(int64(j.Processes)) }, bin
	} else {
		if e.Function != nil {
			return Followed{}, fmt.Errorf("function: it is of one tier")
		}
		if capacity >= 1<<22 {
			return Followed{}, tooMuch("processors")
		}
		capacity *= sharedParts
	}
	if e.Function != nil {
		how += ", widths under the dual-feasible function " + e.Function.Name
	}
	common := int64(0)
	for k := range t.Jobs {
		common = gcd(common, t.Jobs[k].Weight)
	}
	if common == 0 {
		return batchMean(t, new(big.Int), how), nil
	}
	jobs := make([]squashedJob, len(t.Jobs))
	for k := range jobs {
		if stopped(ctx, k) {
			return Followed{}, ctx.Err()
		}
		j := &t.Jobs[k]
		jobs[k] = squashedJob{release: j.Submit, duration: leastTicks(t, j), demand: demand(j), weight: j.Weight / common}
	}
	sum, err := squashedResponses(ctx, jobs, capacity)
	if err != nil {
		return Followed{}, err
	}
	return batchMean(t, sum.Mul(sum, big.NewInt(common)), how), nil
}

// leastTicks returns a number of whole ticks that a job doesn't beat, not rounded up.
func leastTicks(t *batchNumbers, j *jobNumbers) int64 {
	if t.Tiers == 1 {
		return j.Length
	}
	x := bigProduct(j.Length, dedicated)
	x.Quo(x, big.NewInt(max(j.Foreground, j.Efficiency)))
	return minimum(x, big.NewInt(max(j.Length, 1<<61/int64(len(t.Jobs))))).Int64()
}

// sharedParts is the capacity of a processor of two tiers.
const sharedParts = 1 << 40

// sharedDemand returns a number of parts of processors, rounded down. A job takes so many while it works at its fastest
// rate R = max(F, E), F and E its rates in the foreground and in the background, and in proportion when it is slower. A
// process of use u takes
//
//	c g(u), g(u) = α + (1 - α) u, α = tenths/10, c = min over processes of min(1, (1 - α) u R / (E g(u))).
//
// The processes on one processor take at most all of it: in the foreground alone g(u) ≤ 1. With a foreground process
// of use v, one in the background works at rate E min(1, (1-v)/u), and both take at most
// h(v) = g(v) + c g(u) (E/R) min(1, (1-v)/u). It grows with v up to v = 1 - u and is linear from there to h(1) = 1;
// and the choice of c makes h(1-u) = 1 - (1 - α) u + c g(u) E/R ≤ 1.
func sharedDemand(j *jobNumbers, tenths int64) int64 {
	// g and (1 - α) u in 1/(10 FullRate).
	g := func(u int64) int64 { return tenths*dedicated + (10-tenths)*u }
	above, below, sum := int64(1), int64(1), int64(0) // c = above/below
	for _, u := range j.Use {
		sum += g(u)
		a, b := (10-tenths)*u*max(j.Foreground, j.Efficiency), j.Efficiency*g(u) // at most 10^9
		if a < b && a*below < above*b {
			above, below = a, b
		}
	}
	if len(j.Use) == 1 {
		sum *= int64(j.Processes)
	}
	x := bigProduct(sum, above)
	x.Mul(x, big.NewInt(sharedParts))
	return x.Quo(x, bigProduct(below, 10*dedicated)).Int64()
}

// batchMean returns the conclusion if the responses, times their weights, sum to at least so many ticks.
func batchMean(t *batchNumbers, sum *big.Int, how string) Followed {
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

// batchPrices recomputes, on one tier, a Lagrangian relaxation of the processors: jobs are in classes,
// and one of class x pays a price λ_x(t) ≥ 0 for each processor at each time. Let Λ_x be its integral. The responses
// then sum to at least
//
//	Σ_k min_{s ≥ submit_k} (weight_k (s + length_k - submit_k) + width_k (Λ(s + length_k) - Λ(s))) - ∫ K(t) dt,
//
// with Λ the integral of k's class, if the jobs that run at the time t pay at most K(t). For in some optimum each job
// runs through from a start s on. Either one class holds all jobs, and K = C λ, or each job has its own class, and
// roomFor returns the integral of K. The sum is linear in s between the times at which s or s + length_k is one of the
// tariff's, and no price is below 0. So the least is at one of these or at the submission, and not after weight_k (s +
// length_k - submit_k) alone exceeds the least found. Prices are for weights divided by their greatest common divisor;
// the sum is a whole multiple of it.
func batchPrices(ctx context.Context, t *batchNumbers, e *model.Evidence) (Followed, error) {
	if t.Tiers != 1 {
		return Followed{}, fmt.Errorf("prices of time are of one tier")
	}
	common := int64(0)
	for k := range t.Jobs {
		common = gcd(common, t.Jobs[k].Weight)
	}
	if common == 0 {
		return batchMean(t, new(big.Int), "no jobs"), nil
	}
	classes, cells := 1, len(e.Times)-1
	if e.Resource != "" {
		classes = len(t.Jobs)
	}
	if len(e.Prices) != cells*classes {
		return Followed{}, fmt.Errorf("prices: there are %d for %d classes of jobs and %d spans of time", len(e.Prices), classes, cells)
	}
	var unit binary
	for _, x := range e.Prices {
		unit.see(x)
	}
	total, err := payments(ctx, t, e, unit, common)
	if err != nil {
		return Followed{}, err
	}
	// Rounded up to a whole number, and no response is below 0.
	up := new(big.Int).Lsh(big.NewInt(1), uint(unit.shift))
	total.Add(total, up.Sub(up, big.NewInt(1))).Rsh(total, uint(unit.shift))
	total = maximum(total, new(big.Int))
	how := fmt.Sprintf("the prices of %d spans of time", cells)
	if e.Resource != "" {
		how += " for each " + e.Resource
	}
	return batchMean(t, total.Mul(total, big.NewInt(common)), how), nil
}

// payments returns the sum of batchPrices in units, with weights over common.
func payments(ctx context.Context, t *batchNumbers, e *model.Evidence, unit binary, common int64) (*big.Int, error) {
	work := 0
	if e.Resource == "" {
		if x, ok := newNarrowPrices(t, e, unit, common); ok {
			return x.total(ctx, t, common, &work)
		}
	}
	return wholePayments(ctx, t, e, unit, common, &work)
}

// wholePayments is payments by numbers of any size.
func wholePayments(ctx context.Context, t *batchNumbers, e *model.Evidence, unit binary, common int64, work *int) (*big.Int, error) {
	classes, class := priceClasses(t, e.Resource)
	cells := len(e.Times) - 1
	for x := range classes {
		classes[x].tariff = tariffIn(unit, e.Times, e.Prices[x*cells:(x+1)*cells])
	}
	total, err := roomFor(ctx, t, classes, e, work)
	if err != nil {
		return nil, err
	}
	total.Neg(total)
	for k := range t.Jobs {
		best, err := leastPaid(ctx, &t.Jobs[k], classes[class[k]].tariff, t.Jobs[k].Weight/common, uint(unit.shift), work)
		if err != nil {
			return nil, err
		}
		total.Add(total, best)
	}
	return total, nil
}

// priceClass is a class of jobs that pay the same prices.
type priceClass struct {
	width  int
	submit int64
	tariff *tariff
}

// priceClasses returns the classes, and the class of each job: all in one, or one for each job.
func priceClasses(t *batchNumbers, by string) (classes []priceClass, class []int) {
	class = make([]int, len(t.Jobs))
	if by == "" {
		return make([]priceClass, 1), class
	}
	for k := range t.Jobs {
		class[k] = k
		classes = append(classes, priceClass{width: t.Jobs[k].Processes, submit: t.Jobs[k].Submit})
	}
	return classes, class
}

// roomFor returns ∫ K(t) dt. With one class of all jobs K(t) = C λ(t), for the widths of running jobs sum to C at most.
// With a class for each job K(t) is the most that a set of jobs submitted before the end of the span pays if its widths
// sum to C at most. It is computed job after job, from the most that so many processors pay without it:
// best[c] = max(best[c], best[c - width] + price).
func roomFor(ctx context.Context, t *batchNumbers, classes []priceClass, e *model.Evidence, work *int) (*big.Int, error) {
	total := new(big.Int)
	if e.Resource == "" {
		return total.Mul(classes[0].tariff.all(), big.NewInt(int64(t.Processors))), nil
	}
	part := 0
	for x := range classes {
		part = int(gcd(int64(part), int64(classes[x].width)))
	}
	capacity := t.Processors / part
	best := make([]*big.Int, capacity+1)
	for i := range best {
		best[i] = new(big.Int)
	}
	sum, paid := new(big.Int), new(big.Int)
	for c := range len(e.Times) - 1 {
		for i := range best {
			best[i].SetInt64(0)
		}
		for x := range classes {
			f := &classes[x]
			if f.tariff.price[c].Sign() == 0 || f.submit >= e.Times[c+1] {
				continue
			}
			if *work += capacity; *work > maxEvidenceWork {
				return nil, tooMuch("sets of jobs")
			}
			if stopped(ctx, c*len(classes)+x) {
				return nil, ctx.Err()
			}
			width := f.width / part
			paid.Mul(f.tariff.price[c], big.NewInt(int64(f.width)))
			for i := capacity; i >= width; i-- {
				if sum.Add(best[i-width], paid); sum.Cmp(best[i]) > 0 {
					best[i].Set(sum)
				}
			}
		}
		total.Add(total, sum.Mul(best[capacity], big.NewInt(e.Times[c+1]-e.Times[c])))
	}
	return total, nil
}

// leastPaid returns the least of a job's weighted response and its payment, over its starts.
func leastPaid(ctx context.Context, j *jobNumbers, x *tariff, weight int64, shift uint, work *int) (best *big.Int, err error) {
	times, width := big.NewInt(weight), big.NewInt(int64(j.Processes))
	cost, value := new(big.Int), new(big.Int)
	a, _ := slices.BinarySearch(x.times, j.Submit+1)
	b, _ := slices.BinarySearch(x.times, j.Submit+j.Length+1)
	for s, i := j.Submit, 0; s >= 0; i++ {
		if *work++; *work > maxEvidenceWork {
			return nil, tooMuch("starts")
		}
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		cost.Mul(times, cost.SetInt64(s+j.Length-j.Submit))
		cost.Lsh(cost, shift)
		if best != nil && cost.Cmp(best) >= 0 {
			break
		}
		value.Sub(x.before(s+j.Length), x.before(s))
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
	}
	return best, nil
}
