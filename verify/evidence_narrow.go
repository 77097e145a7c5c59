// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// narrowPrices is a price of time between times for all jobs. All figures that batchPrices computes of a job are below
// 2^126 units of 2^-shift: two machine words.
type narrowPrices struct {
	times []int64
	price []uint64
	sum   []wide // of the price up to each time
	shift uint
}

// newNarrowPrices takes prices of a form of evidence in a unit that has seen them. It reports false if numbers may
// be too large: of 126 bits the judge takes 8 ns for a start, of whole numbers of any size 300.
func newNarrowPrices(t *batchNumbers, e *model.Evidence, unit binary, common int64) (*narrowPrices, bool) {
	n := len(e.Prices)
	x := &narrowPrices{times: e.Times, price: make([]uint64, n), sum: make([]wide, n+1), shift: uint(unit.shift)}
	most := uint64(1) << (61 - min(61, bits.Len(uint(t.Processors)))) // above the sum's high word: no job is wider
	for i, price := range e.Prices {
		units, ok := unit.small(price)
		if !ok {
			return nil, false
		}
		x.price[i] = units
		if x.sum[i+1] = x.sum[i].plus(product(int64(units), e.Times[i+1]-e.Times[i])); x.sum[i+1].high >= most {
			return nil, false
		}
	}
	for k := range t.Jobs {
		j := &t.Jobs[k]
		late := max(j.Submit, e.Times[n]) + j.Length - j.Submit
		if bits.Len64(uint64(j.Weight/common))+bits.Len64(uint64(late)) > min(63, 125-unit.shift) {
			return nil, false
		}
	}
	return x, true
}

// total returns the sum of batchPrices, with weights over common.
func (x *narrowPrices) total(ctx context.Context, t *batchNumbers, common int64, work *int) (*big.Int, error) {
	var sum wideSum
	a := 0
	for k := range t.Jobs {
		if stopped(ctx, k) {
			return nil, ctx.Err()
		}
		j := &t.Jobs[k]
		if a > 0 && x.times[a-1] > j.Submit { // jobs come by their submissions, but needn't
			a = 0
		}
		a = x.after(a, j.Submit)
		best, ok := x.leastPaid(j, j.Weight/common, a, work)
		if !ok {
			return nil, tooMuch("starts")
		}
		sum.addWide(best)
	}
	all := x.sum[len(x.price)].times(uint64(t.Processors))
	paid := new(big.Int).SetUint64(all.high)
	paid.Lsh(paid, 64).Or(paid, new(big.Int).SetUint64(all.low))
	return paid.Sub(sum.integer(), paid), nil
}

// after returns the number of times up to s; those before the i-th are. O(log of how many more)
func (x *narrowPrices) after(i int, s int64) int {
	step := 1
	for i+step <= len(x.times) && x.times[i+step-1] <= s {
		i += step
		step *= 2
	}
	more, _ := slices.BinarySearch(x.times[i:min(i+step, len(x.times))], s+1)
	return i + more
}

// before returns the price of the time before s, before which are i times and at most one more at s.
func (x *narrowPrices) before(i int, s int64) wide {
	switch i {
	case 0:
		return wide{}
	case len(x.times):
		return x.sum[i-1]
	}
	high, low := bits.Mul64(x.price[i-1], uint64(s-x.times[i-1]))
	return x.sum[i-1].plus(wide{high, low})
}

// leastPaid computes the same as for numbers of any size. Up to the submission there are a times.
func (x *narrowPrices) leastPaid(j *jobNumbers, weight int64, a int, work *int) (best wide, ok bool) {
	b := x.after(a, j.Submit+j.Length)
	width := uint64(j.Processes)
	for s, first := j.Submit, true; ; first = false {
		if *work++; *work > maxEvidenceWork {
			return best, false
		}
		cost := product(weight, s+j.Length-j.Submit).up(x.shift)
		if !first && !cost.less(best) {
			return best, true
		}
		if value := x.before(b, s+j.Length).minus(x.before(a, s)).times(width).plus(cost); first || value.less(best) {
			best = value
		}
		switch { // the next start at which the line bends
		case a < len(x.times) && (b == len(x.times) || x.times[a] <= x.times[b]-j.Length):
			s = x.times[a]
			a++
		case b < len(x.times):
			s = x.times[b] - j.Length
			b++
		default:
			return best, true
		}
	}
}
